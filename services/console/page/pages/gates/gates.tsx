import type { JSX } from 'preact';
import type { Gate } from '../../../../../src/attention/shapes.js';
import { beginning, countText } from '../../parts/amounts.js';
import { Badge } from '../../parts/badge.js';
import { visible } from '../../parts/command-text.js';
import { changeQuery } from '../../parts/filters.js';
import { Empty, Loadable } from '../../parts/states.js';
import { Table, type Column } from '../../parts/table.js';
import { Time } from '../../parts/time.js';
import { linkTo, type PageProps } from '../../address.js';
import { useCall } from '../../use-call.js';
import { GateState, OneGate } from './gate.js';
import '../ops.css';

const actionChars = 160;

/** `/gates` lists what waits for a person, `/gates/ID` is one action to judge. */
export function GatesPage({ route }: PageProps): JSX.Element {
  const [id] = route.rest;
  return id === undefined ? <List query={route.query} /> : <OneGate key={id} id={id} />;
}

const columns: readonly Column<Gate>[] = [
  {
    head: 'Action',
    cell: ({ id, classification }) => (
      <>
        <a class="mono" href={linkTo('gates', [id])}>
          {visible(beginning(classification.description, actionChars)) || id}
        </a>
        <div class="dim small">{id}</div>
      </>
    ),
  },
  { head: 'State', cell: (gate) => <GateState gate={gate} />, by: ({ state }) => state },
  {
    head: 'Why',
    cell: ({ classification }) =>
      [...new Set(classification.findings.map(({ signal }) => signal))].join(', '),
  },
  {
    head: 'Where',
    cell: ({ classification: { pattern } }) => (
      <Badge tone={pattern.environment === 'production' ? 'bad' : 'plain'}>
        {pattern.environment}
      </Badge>
    ),
    by: ({ classification }) => classification.pattern.environment,
  },
  {
    head: 'Task',
    cell: ({ task }) => <a href={linkTo('tasks', [task])}>{task}</a>,
    by: ({ task }) => task,
  },
  { head: 'Asked', cell: ({ asked_ms }) => <Time ms={asked_ms} />, by: ({ asked_ms }) => asked_ms },
  {
    head: 'Ends',
    cell: ({ state, expires_ms }) =>
      state === 'open' ? <Time ms={expires_ms} /> : <span class="dim">–</span>,
    by: ({ expires_ms }) => expires_ms,
  },
];

function List({ query }: { query: URLSearchParams }): JSX.Element {
  const isAll = query.get('all') === '1';
  const loaded = useCall('list_gates', { all: isAll }, ['gates', 'tasks']);
  return (
    <section class="page">
      <div class="page-head">
        <h1>Gates</h1>
        <label>
          <input
            type="checkbox"
            checked={isAll}
            onChange={({ currentTarget }) =>
              changeQuery(query, { all: currentTarget.checked ? '1' : '' })
            }
          />
          also judged and expired ones
        </label>
      </div>
      <Loadable loaded={loaded} what="Asking the manager">
        {({ gates, more }) => (
          <>
            <Table
              caption="Gates, latest first"
              columns={columns}
              rows={gates.toSorted((one, other) => other.asked_ms - one.asked_ms)}
              keyOf={({ id }) => id}
              empty={
                <Empty title={isAll ? 'No task ever stopped at a risk' : 'Nothing waits for you'}>
                  <p>A task stops here before it does something risky, until a person judges it.</p>
                </Empty>
              }
            />
            {more && <p class="dim">Only the first {countText(gates.length)} are shown.</p>}
          </>
        )}
      </Loadable>
      <Approvals />
    </section>
  );
}

/** What needs no judgement any more. */
function Approvals(): JSX.Element | null {
  const { value } = useCall('gate approvals', {}, ['gates']);
  if (value === undefined || value.approvals.length === 0) return null;
  return (
    <>
      <h2>Approved for their session</h2>
      <Table
        caption="Approvals in force"
        columns={[
          { head: 'Action', cell: ({ action }) => <span class="mono">{visible(action)}</span> },
          { head: 'Session', cell: ({ session }) => session },
          { head: 'Where', cell: ({ pattern }) => pattern.environment },
          { head: 'By', cell: ({ by }) => by },
          { head: 'Ends', cell: ({ expires_ms }) => <Time ms={expires_ms} /> },
        ]}
        rows={value.approvals}
        keyOf={({ action, session, given_ms }) => `${session} ${given_ms} ${action}`}
      />
    </>
  );
}
