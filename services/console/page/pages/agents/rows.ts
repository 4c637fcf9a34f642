import type { FlatAgent } from '../../../../../src/operations/agents.js';
import type { MailboxView } from '../../../../../src/wire/messages.js';

/** An agent as a row. */
export interface AgentRow {
  id: string;
  name: string;
  role: string;
  state: FlatAgent['state'];
  load: number;
  depth: number;
  dead: number;
  /** Facts of its overlays. */
  items: number;
  overlays: string[];
  scope: string[];
  project: string;
  seen_ms: number;
}

export interface AgentFilter {
  text: string;
  role: string;
  state: string;
}

/** What needs a look is first. */
const order: Readonly<Record<string, number>> = { stale: 0, online: 1, offline: 2 };

export function rowsOf(
  agents: readonly FlatAgent[],
  mailboxes: readonly Pick<MailboxView, 'mailbox' | 'depth' | 'dead'>[],
): AgentRow[] {
  const boxes = new Map(mailboxes.map((each) => [each.mailbox, each]));
  return agents.map((agent) => {
    const { id, alias, role, state, load, scope, project, overlays, last_seen_ms } = agent;
    const box = boxes.get(`agent:${id}`);
    const known = Object.entries(overlays);
    return {
      ...{ id, name: alias || id, role, state, load, scope, project, seen_ms: last_seen_ms },
      ...{ depth: box?.depth ?? 0, dead: box?.dead ?? 0 },
      overlays: known.map(([name]) => name).sort(),
      items: known.reduce((sum, [, { items }]) => sum + items, 0),
    };
  });
}

export function matching(
  rows: readonly AgentRow[],
  { text, role, state }: AgentFilter,
): AgentRow[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return rows
    .filter((row) => {
      if (role !== '' && row.role !== role) return false;
      if (state !== '' && row.state !== state) return false;
      if (words.length === 0) return true;
      const all =
        `${row.id} ${row.name} ${row.role} ${row.project} ${row.scope.join(' ')}`.toLowerCase();
      return words.every((each) => all.includes(each));
    })
    .sort(
      (one, other) =>
        (order[one.state] ?? 3) - (order[other.state] ?? 3) ||
        other.load - one.load ||
        (one.name < other.name ? -1 : 1),
    );
}

/** How many there are of each, in order. */
export function countsBy<Row>(
  rows: readonly Row[],
  nameOf: (row: Row) => string,
): [name: string, count: number][] {
  const counts = new Map<string, number>();
  for (const row of rows) counts.set(nameOf(row), (counts.get(nameOf(row)) ?? 0) + 1);
  return [...counts].sort(([one], [other]) => (one < other ? -1 : 1));
}
