import type { JSX } from 'preact';
import { useId, useState } from 'preact/hooks';
import type { History } from '../../../../../src/operations/critique-history.js';
import type { PersonJudgement } from '../../../../../src/critic/shapes.js';
import { call, session } from '../../call.js';
import { Badge } from '../../parts/badge.js';
import { Confirm } from '../../parts/dialog.js';
import { Empty, ErrorBox, Loadable } from '../../parts/states.js';
import { Table, type Column } from '../../parts/table.js';
import { duration } from '../../parts/time-text.js';
import { Time } from '../../parts/time.js';
import { linkTo } from '../../address.js';
import { useCall } from '../../use-call.js';
import { scoreText } from './score-text.js';
import { Findings } from './findings.js';
import { Scores } from './scores.js';

/** The cycle of one artifact: its scores, and what each review found. */
export function Artifact({
  artifact,
  query,
}: {
  artifact: string;
  query: URLSearchParams;
}): JSX.Element {
  const loaded = useCall('critique_history', { path: artifact }, ['tasks']);
  return (
    <section class="page">
      <nav class="trail dim" aria-label="Way">
        <a href={linkTo('critic')}>Critic</a> / {artifact}
      </nav>
      <Loadable loaded={loaded} what="Asking the critic">
        {(history) => (
          <Cycle artifact={artifact} history={history} query={query} onRatified={loaded.reload} />
        )}
      </Loadable>
    </section>
  );
}

type Iteration = History['tracking']['iterations'][number];

function Cycle({
  artifact,
  history,
  query,
  onRatified,
}: {
  artifact: string;
  history: History;
  query: URLSearchParams;
  onRatified: () => void;
}): JSX.Element {
  const { tracking, state, why, needs_person, ratifications, trend } = history;
  const { iterations, threshold } = tracking;
  const last = iterations.at(-1)?.critique ?? '';
  const shown = query.get('critique') ?? last;
  return (
    <>
      <div class="page-head">
        <h1 class="mono">{artifact}</h1>
        <Badge tone={needs_person ? 'warn' : state === 'accepted' ? 'good' : 'plain'}>
          {state}
        </Badge>
        {needs_person &&
          (shown === last ? (
            <Ratify artifact={artifact} critique={last} onRatified={onRatified} />
          ) : (
            <a class="button" href={linkTo('critic', [], { artifact })}>
              To the review that waits for you
            </a>
          ))}
      </div>
      {why !== '' && <p class={needs_person ? 'notice' : 'dim'}>{why}</p>}
      <section class="panel">
        <Scores iterations={iterations} threshold={threshold} />
        <p class="dim">
          {trend.projected === null
            ? `No projection: ${trend.projection}.`
            : `${trend.projected} more projected: ${trend.projection}.`}
          {trend.is_plateau && ' The last two iterations hardly improved it.'}
        </p>
      </section>
      <Table
        caption="Iterations, latest first"
        columns={columnsFor(artifact, shown)}
        rows={[...iterations].reverse()}
        keyOf={({ iteration }) => `${iteration}`}
        isCurrent={({ critique }) => critique === shown}
        empty={<Empty title="It was not reviewed yet" />}
      />
      {ratifications.length > 0 && (
        <section class="panel">
          <h2>What persons said</h2>
          <ul class="plain">
            {ratifications.map(({ judgement, by, text, at_ms }) => (
              <li key={at_ms}>
                <b>{judgement}</b> by {by} <Time ms={at_ms} />
                {text !== '' && <p>{text}</p>}
              </li>
            ))}
          </ul>
        </section>
      )}
      {shown !== '' && <Review id={shown} />}
    </>
  );
}

function columnsFor(artifact: string, shown: string): Column<Iteration>[] {
  return [
    {
      head: 'Iteration',
      cell: ({ iteration, critique }) =>
        critique === '' || critique === shown ? (
          iteration
        ) : (
          <a href={linkTo('critic', [], { artifact, critique })}>{iteration}</a>
        ),
    },
    {
      head: 'Score',
      cell: ({ score, threshold_met }) => (
        <>
          <b>{scoreText(score)}</b>{' '}
          <Badge tone={threshold_met ? 'good' : 'plain'}>{threshold_met ? 'met' : 'not met'}</Badge>
        </>
      ),
      isNumber: true,
    },
    {
      head: 'Change',
      cell: ({ improvement_delta: delta }) =>
        delta === null ? '–' : `${delta < 0 ? '' : '+'}${delta.toFixed(3)}`,
      isNumber: true,
    },
    { head: 'Open', cell: ({ findings }) => findings.length, isNumber: true },
    { head: 'Modes', cell: ({ modes_applied }) => modes_applied.join(', ') },
    {
      head: 'Flags',
      cell: ({ flags }) =>
        flags.map(({ code, level, text }) => (
          <Badge key={code} tone={level === 'mandatory' ? 'bad' : 'warn'} title={text}>
            {code}
          </Badge>
        )),
    },
    { head: 'When', cell: ({ at_ms }) => <Time ms={at_ms || Number.NaN} /> },
  ];
}

/** What the modes of one review said. */
function Review({ id }: { id: string }): JSX.Element {
  const { value, fault, reload } = useCall('show_critique', { id });
  if (fault?.code === 'NO_SUCH_REVIEW')
    return <p class="dim">What this review said is not kept any more; its scores are.</p>;
  if (fault !== undefined) return <ErrorBox fault={fault} retry={reload} />;
  if (value === undefined) return <p class="loading">Reading the review…</p>;
  const { critique, findings } = value;
  return (
    <section class="panel">
      <div class="row">
        <h2>Review of iteration {critique.iteration}</h2>
        <Badge
          tone={
            critique.verdict === 'PASS' ? 'good' : critique.verdict === 'REJECTED' ? 'bad' : 'warn'
          }
        >
          {critique.verdict}
        </Badge>
        <span class="dim">
          by {critique.engine}, in {duration(critique.elapsed_ms)}
        </span>
      </div>
      <p>{critique.why}</p>
      <Findings findings={findings} />
      <h3>By mode</h3>
      <ul class="plain">
        {critique.reports.map(({ mode, status, reason, score, unable, elapsed_ms, sections }) => (
          <li key={mode}>
            <details>
              <summary>
                <b>{mode}</b>{' '}
                <Badge tone={status === 'complete' ? 'plain' : 'warn'}>{status}</Badge>{' '}
                {score !== null && score.score !== null && score.score.toFixed(3)}{' '}
                <span class="dim">{duration(elapsed_ms)}</span>
              </summary>
              {reason !== '' && <p class="dim">{reason}</p>}
              {unable.map((each) => (
                <p key={each} class="dim">
                  {each}
                </p>
              ))}
              {(score?.dimensions ?? []).length > 0 && (
                <Table
                  caption={`Dimensions of ${mode}`}
                  columns={[
                    { head: 'Dimension', cell: (each) => each.name },
                    { head: 'Weight', cell: (each) => each.weight.toFixed(2), isNumber: true },
                    { head: 'Score', cell: (each) => scoreText(each.score), isNumber: true },
                    { head: 'Why', cell: (each) => each.why },
                  ]}
                  rows={score?.dimensions ?? []}
                  keyOf={(each) => each.name}
                />
              )}
              {sections.map(({ title, text }) => (
                <div key={title}>
                  <h4>{title}</h4>
                  <pre class="text">{text}</pre>
                </div>
              ))}
            </details>
          </li>
        ))}
      </ul>
    </section>
  );
}

const ways: readonly {
  judgement: PersonJudgement;
  button: string;
  means: string;
  isDanger?: boolean;
}[] = [
  {
    judgement: 'accept',
    button: 'Accept',
    means: 'It is accepted as it is, although it did not pass by itself.',
  },
  { judgement: 'revise', button: 'Have it revised', means: 'Its creator works on it once more.' },
  {
    judgement: 'refuse',
    button: 'Refuse',
    means: 'It is refused, and its cycle ends.',
    isDanger: true,
  },
];

/** What is decided is the review that was shown when the person began to, also where a newer one has come meanwhile. */
function Ratify({
  artifact,
  critique,
  onRatified,
}: {
  artifact: string;
  critique: string;
  onRatified: () => void;
}): JSX.Element {
  const [way, setWay] = useState<((typeof ways)[number] & { critique: string }) | undefined>();
  const [text, setText] = useState('');
  const name = useId();
  return (
    <>
      {ways.map((each) => (
        <button
          key={each.judgement}
          type="button"
          disabled={session.value?.read_only === true}
          title={each.means}
          onClick={() => setWay({ ...each, critique })}
        >
          {each.button}…
        </button>
      ))}
      {way !== undefined && (
        <Confirm
          title={`${way.button}: ${artifact}`}
          action={way.button}
          isDanger={way.isDanger === true}
          onClose={() => setWay(undefined)}
          run={async () => {
            const { judgement, critique: decided } = way;
            const said = { path: artifact, judgement, text, critique: decided };
            // What is refused may have been reviewed anew: then that is what the page has to show.
            await call('critic ratify', said).finally(onRatified);
          }}
        >
          <p>{way.means}</p>
          <label class="stacked" for={name}>
            Why (kept with its history)
            <textarea
              id={name}
              rows={3}
              value={text}
              onInput={({ currentTarget }) => setText(currentTarget.value)}
            />
          </label>
        </Confirm>
      )}
    </>
  );
}
