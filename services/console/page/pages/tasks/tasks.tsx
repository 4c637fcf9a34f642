import type { JSX } from 'preact';
import type { TaskRow, TaskRowsAnswer } from '../../../../../src/task/requests/messages.js';
import { beginning, counted, countText } from '../../parts/amounts.js';
import { changeQuery, Choice, SearchBox } from '../../parts/filters.js';
import { Pager } from '../../parts/pager.js';
import { Empty, Loadable } from '../../parts/states.js';
import { Table, type Column } from '../../parts/table.js';
import { duration } from '../../parts/time-text.js';
import { Time } from '../../parts/time.js';
import { linkTo, type PageProps } from '../../address.js';
import { useCall } from '../../use-call.js';
import { Who } from '../../parts/who.js';
import { State } from './state.js';
import { OneTask } from './task.js';
import { stateOrder, stateWords } from './words.js';
import '../ops.css';

const pageRows = 100;
const textChars = 120;
const asksChars = 60;

/** `/tasks` lists them, `/tasks/ID` is one of them. */
export function TasksPage({ route }: PageProps): JSX.Element {
  const [id] = route.rest;
  return id === undefined ? <List query={route.query} /> : <OneTask key={id} id={id} />;
}

const columns: readonly Column<TaskRow>[] = [
  {
    head: 'Task',
    cell: ({ id, name, text }) => (
      <>
        <a href={linkTo('tasks', [id])}>{name || beginning(text.trim(), textChars) || id}</a>
        <div class="dim small">{name === '' ? id : beginning(text.trim(), textChars)}</div>
      </>
    ),
  },
  {
    head: 'State',
    cell: ({ state, asks }) => (
      <>
        <State state={state} />
        {state === 'attending' && asks !== '' && <div class="small">a risk waits for you</div>}
        {state !== 'attending' && asks !== '' && (
          <div class="small">{beginning(asks, asksChars)}</div>
        )}
      </>
    ),
  },
  {
    head: 'Worker',
    cell: ({ worker, attempt }) =>
      worker === '' ? (
        <span class="dim">–</span>
      ) : (
        <>
          <Who agent={worker} />
          {attempt > 1 && <div class="dim small">attempt {attempt}</div>}
        </>
      ),
  },
  { head: 'Runner', cell: ({ runner, criticality }) => `${runner} ${criticality}` },
  { head: 'Asked by', cell: ({ parent, owner }) => <Who agent={owner || parent} /> },
  { head: 'Asked', cell: ({ created_ms }) => <Time ms={created_ms} /> },
  {
    head: 'Took',
    cell: ({ created_ms, finished_ms }) =>
      finished_ms === 0 ? <span class="dim">–</span> : duration(finished_ms - created_ms),
    isNumber: true,
  },
];

function List({ query }: { query: URLSearchParams }): JSX.Element {
  const text = query.get('q') ?? '';
  const worker = query.get('worker') ?? '';
  const states = (query.get('state') ?? '').split(',').filter(Boolean);
  const offset = Math.max(0, Number(query.get('from') ?? 0) || 0);
  const loaded = useCall('find_tasks', { states, worker, text, offset, limit: pageRows }, [
    'tasks',
  ]);
  const change = (changes: Record<string, string>): void =>
    changeQuery(query, { from: '', ...changes });
  return (
    <section class="page">
      <div class="page-head">
        <h1>Tasks</h1>
        <span class="dim" role="status">
          {loaded.value !== undefined && counted(loaded.value.total, 'task')}
        </span>
      </div>
      <div class="row filters">
        <SearchBox label="Id, name, words of it" value={text} onSearch={(q) => change({ q })} />
        <Choice
          label="Worker"
          all="All workers"
          value={worker}
          options={(loaded.value?.workers ?? []).map((each) => [each, each] as const)}
          onChoose={(its) => change({ worker: its })}
        />
      </div>
      <States
        counts={loaded.value?.states ?? {}}
        chosen={states}
        onChoose={(state) => change({ state })}
      />
      <Loadable loaded={loaded} what="Asking the manager">
        {(found) => (
          <Rows
            found={found}
            offset={offset}
            query={query}
            isFiltered={text + worker !== '' || states.length > 0}
          />
        )}
      </Loadable>
    </section>
  );
}

/** How many there are in each state; a press shows them alone, or adds them. */
function States({
  counts,
  chosen,
  onChoose,
}: {
  counts: Readonly<Record<string, number>>;
  chosen: readonly string[];
  onChoose: (states: string) => void;
}): JSX.Element | null {
  const known = [...new Set([...stateOrder, ...Object.keys(counts)])].filter(
    (state) => (counts[state] ?? 0) > 0 || chosen.includes(state),
  );
  if (known.length === 0) return null;
  const turned = (state: string): string =>
    (chosen.includes(state) ? chosen.filter((each) => each !== state) : [...chosen, state]).join(
      ',',
    );
  return (
    <div class="row" role="group" aria-label="States">
      {known.map((state) => (
        <button
          key={state}
          type="button"
          class="chip"
          aria-pressed={chosen.includes(state)}
          onClick={() => onChoose(turned(state))}
        >
          {stateWords(state)} <span class="dim">{countText(counts[state] ?? 0)}</span>
        </button>
      ))}
      {chosen.length > 0 && (
        <button type="button" class="quiet" onClick={() => onChoose('')}>
          All states
        </button>
      )}
    </div>
  );
}

function Rows({
  found,
  offset,
  query,
  isFiltered,
}: {
  found: TaskRowsAnswer;
  offset: number;
  query: URLSearchParams;
  isFiltered: boolean;
}): JSX.Element {
  const linkAt = (from: number): string => {
    const { from: _, ...its } = Object.fromEntries(query);
    return linkTo('tasks', [], { ...its, ...(from > 0 && { from: `${from}` }) });
  };
  return (
    <>
      <Table
        caption="Tasks, latest first"
        columns={columns}
        rows={found.rows}
        keyOf={({ id }) => id}
        empty={
          isFiltered || offset > 0 ? (
            <Empty title="No task is like that">
              <p>
                <a href={linkTo('tasks')}>Show all tasks</a>
              </p>
            </Empty>
          ) : (
            <Empty title="No tasks yet">
              <p>
                <code>sigma delegate "…"</code> makes one.
              </p>
            </Empty>
          )
        }
      />
      <Pager offset={offset} limit={pageRows} total={found.total} linkAt={linkAt} />
    </>
  );
}
