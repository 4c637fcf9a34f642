import { z } from 'zod';
import { BusError } from '../errors/bus-error.js';
import type { AuditLine } from '../remote/audit.js';
import { line } from '../render/terminal.js';
import type { AgentView, MailboxView } from '../wire/messages.js';
import { agentInput } from './shapes.js';
import { listing, looks, type Operation } from './operation.js';

/** How far back, and how many lines of the audit log are looked at for it. */
const sinceMs = 3_600_000;
const linesMax = 100_000;
const minuteMs = 60_000;
/** Of the agent, for rates; and of these, those that are shown. */
const entriesMax = 20_000;
const shownMax = 200;

const input = z.strictObject({ agent: agentInput });

/** In one minute. */
export interface Minute {
  at_ms: number;
  sent: number;
  received: number;
  refused: number;
}

/** A line of the audit log. `times`: so many requests of its kind between the same two. */
export type Entry = AuditLine & { times: number };

export interface AgentActivity {
  agent: AgentView;
  /** What waits for it, and answers that it did not fetch. */
  mailboxes: MailboxView[];
  /** Names that it answers for. */
  services: string[];
  /** Latest first, without bodies. Equal requests are one, as the last of them was. */
  entries: Entry[];
  /** Of the last hour, oldest first; those without a message are left out. */
  minutes: Minute[];
  /** Why messages from it and to it were refused or given up. */
  codes: Record<string, number>;
  /** Nothing is known before this, although it may have happened; 0: the audit log is not on this machine. */
  known_ms: number;
}

/** `agent_activity`: one agent, with what it sent and got. */
export const agentActivity: Operation<typeof input> = {
  name: 'agent_activity',
  title: 'One agent',
  description: 'One agent, with its mailbox and what it sent and got in the last hour.',
  input,
  output: z.looseObject({ agent: z.looseObject({}), entries: z.array(z.looseObject({})) }),
  annotations: looks,
  doing: 'asking the broker',
  isTool: false,
  async run({ agent }, { bus }) {
    const client = await bus.client();
    const views = await client.agents();
    const view = views.find(({ record }) => record.id === agent || record.alias === agent);
    if (view === undefined) throw new BusError('UNKNOWN_AGENT', { agent });
    const { id } = view.record;
    const [boxes, { services }] = await Promise.all([client.mail.mailboxes(), client.status()]);
    const fromMs = Date.now() - sinceMs;
    const filter = { agent: id, sinceMs: fromMs, linesMax };
    const kept = await bus.audit(filter, entriesMax);
    const found = kept ?? [];
    const value: AgentActivity = {
      agent: view,
      mailboxes: boxes.filter(({ mailbox }) => mailbox.replace(/^(agent|reply):/, '') === id),
      services: services.filter(({ agents }) => agents.includes(id)).map(({ name }) => name),
      entries: entriesOf(found).slice(0, shownMax),
      ...countedBy(id, found),
      known_ms: kept === undefined ? 0 : knownSince(found, fromMs),
    };
    return listing<AgentActivity>(value, ['entries'], ({ entries }) =>
      entries.map((each) => line`${each.at} ${each.what} ${each.type ?? ''}`).join('\n'),
    );
  },
};

/** Where more was found than is counted, the time before that is not known. */
function knownSince(found: readonly AuditLine[], fromMs: number): number {
  const [first] = found;
  return found.length < entriesMax || first === undefined ? fromMs : Date.parse(first.at);
}

/**
 * Of oldest first: latest first. A request that is asked again and again, as by a page that looks for what has changed, would fill the
 * list; it is one row of it, and says how often. A durable message is always a row of its own.
 */
export function entriesOf(found: readonly AuditLine[]): Entry[] {
  const rows = new Map<string, Entry>();
  for (const each of [...found].reverse()) {
    const { what, from, person, to, type } = each;
    const key = what === 'delivered' ? [from, person, to, type].join('\0') : `${rows.size}`;
    const row = rows.get(key);
    if (row === undefined) rows.set(key, { ...each, times: 1 });
    else row.times += 1;
  }
  return [...rows.values()];
}

/** What it sent counts when it is taken or refused, what it got when it is handed over. */
export function countedBy(
  agent: string,
  entries: readonly AuditLine[],
): Pick<AgentActivity, 'minutes' | 'codes'> {
  const minutes = new Map<number, Minute>();
  const codes: Record<string, number> = {};
  for (const { at, what, from, to = '', code = '' } of entries) {
    const at_ms = Math.floor(Date.parse(at) / minuteMs) * minuteMs;
    const minute = minutes.get(at_ms) ?? { at_ms, sent: 0, received: 0, refused: 0 };
    const isSent = from === agent && ['delivered', 'stored', 'published'].includes(what);
    // A stored message is received when it is settled.
    const isReceived =
      ['delivered', 'settled'].includes(what) && to.slice(to.indexOf(':') + 1) === agent;
    const isBad = what === 'refused' || what === 'dead';
    if (isSent) minute.sent += 1;
    if (isReceived) minute.received += 1;
    if (isBad) minute.refused += 1;
    if (isBad && code !== '') codes[code] = (codes[code] ?? 0) + 1;
    minutes.set(at_ms, minute);
  }
  return { minutes: [...minutes.values()].sort((a, b) => a.at_ms - b.at_ms), codes };
}
