import type { JSX } from 'preact';
import type { CriticRow } from '../../../../../src/critic/review/messages.js';
import { Badge } from '../../parts/badge.js';
import { Empty, Loadable } from '../../parts/states.js';
import { Table, type Column } from '../../parts/table.js';
import { Time } from '../../parts/time.js';
import { linkTo, type PageProps } from '../../address.js';
import { useCall } from '../../use-call.js';
import { Artifact } from './artifact.js';
import { scoreText } from './score-text.js';
import '../ops.css';

/** `/critic`: what was reviewed; with `?artifact=` the cycle of one. */
export function CriticPage({ route: { query } }: PageProps): JSX.Element {
  const artifact = query.get('artifact') ?? '';
  return artifact === '' ? <List /> : <Artifact key={artifact} artifact={artifact} query={query} />;
}

const columns: readonly Column<CriticRow>[] = [
  {
    head: 'Artifact',
    cell: ({ artifact }) => (
      <a class="mono" href={linkTo('critic', [], { artifact })}>
        {artifact}
      </a>
    ),
    by: ({ artifact }) => artifact,
  },
  {
    head: 'State',
    cell: ({ state, needs_person, done, total }) => (
      <>
        <Badge tone={needs_person ? 'warn' : state === 'accepted' ? 'good' : 'plain'}>
          {state}
        </Badge>
        {total > 0 && (
          <div class="dim small">
            {done} of {total} modes
          </div>
        )}
        {needs_person && <div class="small">a person decides</div>}
      </>
    ),
    by: ({ state }) => state,
  },
  {
    head: 'Iteration',
    cell: ({ iteration }) => iteration,
    by: ({ iteration }) => iteration,
    isNumber: true,
  },
  {
    head: 'Score',
    cell: ({ score, threshold }) => (
      <>
        <b>{scoreText(score)}</b> <span class="dim">of {threshold}</span>
      </>
    ),
    by: ({ score }) => score ?? -1,
    isNumber: true,
  },
  {
    head: 'When',
    cell: ({ at_ms }) => <Time ms={at_ms || Number.NaN} />,
    by: ({ at_ms }) => at_ms,
  },
];

function List(): JSX.Element {
  const loaded = useCall('critique_history', {}, ['tasks']);
  return (
    <section class="page">
      <div class="page-head">
        <h1>Critic</h1>
      </div>
      <Loadable loaded={loaded} what="Asking the critic">
        {({ artifacts, more }) => (
          <>
            <Table
              caption="Artifacts that were reviewed, latest first"
              columns={columns}
              rows={artifacts.toSorted((one, other) => other.at_ms - one.at_ms)}
              keyOf={({ artifact }) => artifact}
              empty={
                <Empty title="Nothing was reviewed yet">
                  <p>
                    <code>sigma critic --artifact FILE</code> has a file reviewed.
                  </p>
                </Empty>
              }
            />
            {more && <p class="dim">There are more than are shown.</p>}
          </>
        )}
      </Loadable>
    </section>
  );
}
