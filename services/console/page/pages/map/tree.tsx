import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { linkTo } from '../../address.js';
import type { Measure, Measures } from '../../../../../src/pgc/analyse/measures.js';
import { counted, countText } from '../../parts/amounts.js';
import { Empty, Loadable } from '../../parts/states.js';
import { Table, type Column } from '../../parts/table.js';
import { go, here } from '../../route.js';
import { useCall } from '../../use-call.js';
import { Changes } from '../symbol/history.js';
import { Crumbs, Treemap, treeLink } from './treemap.js';
import { tints, treeOf, valueOf, valueText, type Tint } from './tree-model.js';

const levels = 2;

/** The tree by the measures of its overlays: a drawing of two levels, or a table. */
export function Tree(): JSX.Element {
  const { query } = here.value;
  const at = query.get('at') ?? '';
  const by = tints.find((each) => each === query.get('by')) ?? 'weaknesses';
  const isTable = query.get('as') === 'table';
  const loaded = useCall('measures', { path: at, depth: levels });
  const linkOf = (path: string): string => treeLink({ at: path, by, isTable });
  return (
    <>
      <div class="row">
        <Crumbs at={at} linkOf={linkOf} />
        <span class="map-tools" role="group" aria-label="Tinted by">
          {tints.map((each) => (
            <button
              key={each}
              type="button"
              aria-pressed={each === by}
              onClick={() => go(treeLink({ at, by: each, isTable }), { replace: true })}
            >
              {each}
            </button>
          ))}
        </span>
        <button
          type="button"
          aria-pressed={isTable}
          onClick={() => go(treeLink({ at, by, isTable: !isTable }), { replace: true })}
        >
          As a table
        </button>
      </div>
      <Loadable loaded={loaded} what="Counting">
        {(its) => <Below {...{ its, at, by, isTable, linkOf }} />}
      </Loadable>
    </>
  );
}

function Below({
  its,
  at,
  by,
  isTable,
  linkOf,
}: {
  its: Measures;
  at: string;
  by: Tint;
  isTable: boolean;
  linkOf: (path: string) => string;
}): JSX.Element {
  const tree = useMemo(() => treeOf(its.total, its.rows), [its]);
  // Of a visit: a tile does not change its tint while it is looked at.
  const today = useMemo(() => Date.now(), [its]);
  const { total, history, warnings, truncated } = its;
  return (
    <>
      <p class="dim">
        {counted(total.files, 'file')} of code · {countText(total.lines)} lines ·{' '}
        {countText(total.weaknesses)} weaknesses, of which {countText(total.grave)} are grave ·{' '}
        {valueText(valueOf(total, 'churn', today), 'churn')} ·{' '}
        {valueText(valueOf(total, 'staleness', today), 'staleness')}. Files that hold no code are
        not shown.
      </p>
      {[...warnings, ...(truncated ? ['Only the largest folders and files are shown.'] : [])].map(
        (each) => (
          <p key={each} class="note">
            {each}
          </p>
        ),
      )}
      {total.files === 0 ? (
        <Empty title={`Nothing indexed is at ${at === '' ? 'the root' : at}`}>
          <p>
            <a href={linkOf('')}>The whole tree</a>
          </p>
        </Empty>
      ) : total.is_file ? (
        <File path={at} history={history} />
      ) : isTable ? (
        <MeasureTable rows={tree.children.map(({ measure }) => measure)} {...{ today, linkOf }} />
      ) : (
        <Treemap {...{ tree, tint: by, today, linkOf }} />
      )}
    </>
  );
}

function File({ path, history }: { path: string; history: Measures['history'] }): JSX.Element {
  return (
    <section class="panel" aria-label={path}>
      <p>
        <a href={linkTo('ask', [], { q: `What is in ${path}?` })}>Ask what is in this file</a>
      </p>
      <h3>History</h3>
      <Changes history={history} />
    </section>
  );
}

function MeasureTable({
  rows,
  today,
  linkOf,
}: {
  rows: readonly Measure[];
  today: number;
  linkOf: (path: string) => string;
}): JSX.Element {
  const number = (
    head: string,
    by: (its: Measure) => number,
    cell = (its: Measure): string => countText(by(its)),
  ): Column<Measure> => ({ head, by, cell, isNumber: true });
  const rate = (head: string, tint: Tint): Column<Measure> =>
    number(
      head,
      (its) => valueOf(its, tint, today) ?? -1,
      (its) => valueOf(its, tint, today)?.toFixed(tint === 'staleness' ? 0 : 1) ?? '–',
    );
  return (
    <Table
      caption="Folders and files"
      rows={rows}
      keyOf={({ path }) => path}
      columns={[
        {
          head: 'Path',
          by: ({ path }) => path,
          cell: ({ path, is_file: isFile }) => (
            <a href={linkOf(path)}>
              <code>
                {path.slice(path.lastIndexOf('/') + 1)}
                {!isFile && '/'}
              </code>
            </a>
          ),
        },
        number('Files', ({ files }) => files),
        number('Lines', ({ lines }) => lines),
        number('Weaknesses', ({ weaknesses }) => weaknesses),
        rate('Per 1,000 lines', 'weaknesses'),
        number('Commits', ({ commits }) => commits),
        rate('Commits per file', 'churn'),
        rate('Days unchanged', 'staleness'),
      ]}
    />
  );
}
