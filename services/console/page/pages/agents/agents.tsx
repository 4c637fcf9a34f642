import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { countText } from '../../parts/amounts.js';
import { changeQuery, Choice, SearchBox } from '../../parts/filters.js';
import { Presence } from '../../parts/badge.js';
import { Empty, Loadable } from '../../parts/states.js';
import { Table, type Column } from '../../parts/table.js';
import { Time } from '../../parts/time.js';
import { linkTo, type PageProps } from '../../address.js';
import { useCall } from '../../use-call.js';
import { OneAgent } from './agent.js';
import { countsBy, matching, rowsOf, type AgentRow } from './rows.js';
import '../ops.css';

/** `/agents` lists them, `/agents/ID` is one of them. */
export function AgentsPage({ route }: PageProps): JSX.Element {
  const [id] = route.rest;
  return id === undefined ? <List query={route.query} /> : <OneAgent key={id} id={id} />;
}

const columns: readonly Column<AgentRow>[] = [
  {
    head: 'Agent',
    cell: ({ id, name }) => (
      <>
        <a href={linkTo('agents', [id])}>{name}</a>
        {name !== id && <div class="dim small">{id}</div>}
      </>
    ),
    by: ({ name }) => name,
  },
  { head: 'Role', cell: ({ role }) => role, by: ({ role }) => role },
  { head: 'Presence', cell: ({ state }) => <Presence state={state} />, by: ({ state }) => state },
  { head: 'Load', cell: ({ load }) => load, by: ({ load }) => load, isNumber: true },
  {
    head: 'Mailbox',
    cell: ({ id, depth, dead }) =>
      depth + dead === 0 ? (
        <span class="dim">0</span>
      ) : (
        <a href={linkTo('mail', [`agent:${id}`])}>
          {countText(depth)}
          {dead > 0 && ` + ${countText(dead)} dead`}
        </a>
      ),
    by: ({ depth }) => depth,
    isNumber: true,
  },
  {
    head: 'Knows',
    cell: ({ scope, overlays, items }) => (
      <>
        {scope.length === 0 ? (
          <span class="dim">–</span>
        ) : (
          <span class="mono">{scopeText(scope)}</span>
        )}
        {overlays.length > 0 && (
          <div class="dim small">
            {overlays.join(' ')}, {countText(items)} items
          </div>
        )}
      </>
    ),
    by: ({ items }) => items,
  },
  {
    head: 'Project',
    cell: ({ project }) => project || <span class="dim">–</span>,
    by: ({ project }) => project,
  },
  {
    head: 'Seen',
    cell: ({ seen_ms }) => <Time ms={seen_ms || Number.NaN} />,
    by: ({ seen_ms }) => seen_ms,
  },
];

function List({ query }: { query: URLSearchParams }): JSX.Element {
  const agents = useCall('list_agents', {}, ['agents']);
  const mail = useCall('mailboxes', {}, ['mail']);
  const [text, role, state] = ['q', 'role', 'state'].map((each) => query.get(each) ?? '') as [
    string,
    string,
    string,
  ];
  const rows = useMemo(
    () => rowsOf(agents.value?.agents ?? [], mail.value?.mailboxes ?? []),
    [agents.value, mail.value],
  );
  const shown = useMemo(() => matching(rows, { text, role, state }), [rows, text, role, state]);
  const counted = (nameOf: (row: AgentRow) => string): [string, string][] =>
    countsBy(rows, nameOf).map(([name, count]) => [name, `${name} (${countText(count)})`]);
  return (
    <section class="page">
      <div class="page-head">
        <h1>Agents</h1>
        <span class="dim" role="status">
          {agents.value !== undefined &&
            (shown.length === rows.length
              ? `${countText(rows.length)} registered`
              : `${countText(shown.length)} of ${countText(rows.length)}`)}
        </span>
      </div>
      <div class="row filters">
        <SearchBox
          label="Name, role, project or path"
          value={text}
          onSearch={(q) => changeQuery(query, { q })}
        />
        <Choice
          label="Role"
          all="All roles"
          value={role}
          options={counted((row) => row.role)}
          onChoose={(its) => changeQuery(query, { role: its })}
        />
        <Choice
          label="Presence"
          all="Online or not"
          value={state}
          options={counted((row) => row.state)}
          onChoose={(its) => changeQuery(query, { state: its })}
        />
      </div>
      <Loadable loaded={agents} what="Asking the broker">
        {() => (
          <Table
            caption="Agents"
            columns={columns}
            rows={shown}
            keyOf={({ id }) => id}
            empty={
              rows.length === 0 ? (
                <Empty title="No agent has registered yet">
                  <p>
                    <code>sigma up</code> starts those of the product; <code>sigma mcp</code> brings
                    yours.
                  </p>
                </Empty>
              ) : (
                <Empty title="No agent is like that">
                  <p>Take a filter away: {countText(rows.length)} are registered.</p>
                </Empty>
              )
            }
          />
        )}
      </Loadable>
    </section>
  );
}

function scopeText(scope: readonly string[]): string {
  const [first = '', ...others] = scope;
  return others.length === 0 ? first : `${first} + ${others.length} more`;
}
