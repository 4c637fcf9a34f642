import type { AgentView, MailboxView, StatusAnswer } from '../wire/messages.js';
import { table } from './terminal.js';

/** What one look at the broker saw. */
export interface Look {
  /** Monotonic. */
  atMs: number;
  nowMs: number;
  status: StatusAnswer;
  agents: AgentView[];
  mailboxes: MailboxView[];
}

/** Per second since the look before; undefined for the first, and when the broker was started anew between. */
export interface Rates {
  framesIn: number;
  framesOut: number;
  accepted: number;
  delivered: number;
  settled: number;
}

export function ratesOf(now: Look, before: Look | undefined): Rates | undefined {
  const elapsedS = before === undefined ? 0 : (now.atMs - before.atMs) / 1_000;
  if (before === undefined || elapsedS <= 0) return undefined;
  if (before.status.started_ms !== now.status.started_ms) return undefined;
  const rate = (count: (status: StatusAnswer) => number): number =>
    Math.max(0, (count(now.status) - count(before.status)) / elapsedS);
  return {
    framesIn: rate((each) => each.frames_in),
    framesOut: rate((each) => each.frames_out),
    accepted: rate((each) => each.accepted),
    delivered: rate((each) => each.delivered),
    settled: rate((each) => each.settled),
  };
}

const mailboxesShown = 10;

/** The view as lines. `rows`: where there is less room, the agents that do least are left out. */
export function topLines(now: Look, before: Look | undefined, rows = Infinity): string[] {
  const { status } = now;
  const rates = ratesOf(now, before);
  const refused = Object.entries(status.refused)
    .sort(([, a], [, b]) => b - a)
    .map(([code, count]) => `${code} ${count}`);
  const store = status.store_state === 'serving' ? '' : ` · STORE ${status.store_state}`;
  const head = [
    `sigma ${status.version} · ${status.state}${store} · up ${spell(now.nowMs - status.started_ms)} · ` +
      `${Math.round(status.rss_bytes / 1024 / 1024)} MB · loop lag ${milliseconds(status.loop_lag_ms)}`,
    `agents ${status.agents_online} of ${status.agents_known} online · sessions ${status.sessions} · open requests ${status.requests_open}`,
    `frames/s ${rate(rates?.framesIn)} in ${rate(rates?.framesOut)} out · corrupt ${status.frames_corrupt}`,
    `durable/s ${rate(rates?.accepted)} accepted ${rate(rates?.delivered)} delivered ${rate(rates?.settled)} settled · ` +
      `accept p50 ${milliseconds(status.accept_p50_ms)} p99 ${milliseconds(status.accept_p99_ms)}`,
    `queued ${status.messages} (${kibibytes(status.message_bytes)}) · leased ${status.leases} · oldest ${spell(status.oldest_ms)} · ` +
      `redelivered ${status.redelivered} · dead ${status.dead_letters}`,
    `refused ${refused.length === 0 ? 'nothing' : refused.join(', ')}`,
  ];
  const boxes = now.mailboxes
    .filter((each) => each.depth > 0 || each.dead > 0)
    .sort((a, b) => b.depth - a.depth || b.dead - a.dead)
    .slice(0, mailboxesShown);
  const mailboxes = boxes.length === 0 ? [] : ['', ...mailboxTable(boxes)];
  const room = rows - head.length - mailboxes.length - 2;
  const agents = now.agents.length === 0 || room < 1 ? [] : ['', ...agentTable(now, room)];
  return [...head, ...mailboxes, ...agents];
}

function mailboxTable(boxes: MailboxView[]): string[] {
  return table([
    ['MAILBOX', 'DEPTH', 'BYTES', 'LEASED', 'OLDEST', 'DEAD'],
    ...boxes.map((each) => [
      each.mailbox,
      String(each.depth),
      kibibytes(each.bytes),
      String(each.leases),
      spell(each.oldest_ms),
      String(each.dead),
    ]),
  ]).split('\n');
}

const stateOrder = { stale: 0, online: 1, offline: 2 };

function agentTable(now: Look, room: number): string[] {
  const agents = [...now.agents].sort(
    (a, b) =>
      stateOrder[a.state] - stateOrder[b.state] ||
      b.load - a.load ||
      (a.record.id < b.record.id ? -1 : 1),
  );
  return table([
    ['AGENT', 'ALIAS', 'ROLE', 'STATE', 'LOAD', 'SEEN'],
    ...agents.map(({ record, state, load, last_seen_ms }) => [
      record.id,
      record.alias,
      record.role,
      state,
      String(load),
      last_seen_ms === 0 ? 'never' : `${spell(now.nowMs - last_seen_ms)} ago`,
    ]),
  ])
    .split('\n')
    .slice(0, room + 1);
}

function rate(perS: number | undefined): string {
  return perS === undefined ? '-' : perS.toFixed(perS > 0 && perS < 10 ? 1 : 0);
}

function milliseconds(ms: number): string {
  return `${ms.toFixed(ms > 0 && ms < 10 ? 2 : 0)} ms`;
}

function kibibytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const [value, unit] = bytes < 1024 ** 2 ? [bytes / 1024, 'KiB'] : [bytes / 1024 ** 2, 'MiB'];
  return `${value.toFixed(1)} ${unit}`;
}

/** `0 s`, `75 s`, `12 min`, `5 h`, `3 d`. */
function spell(ms: number): string {
  const s = Math.max(0, ms) / 1_000;
  if (s < 120) return `${Math.round(s)} s`;
  if (s < 7_200) return `${Math.round(s / 60)} min`;
  if (s < 172_800) return `${Math.round(s / 3_600)} h`;
  return `${Math.round(s / 86_400)} d`;
}
