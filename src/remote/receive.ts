import { expectedAnswers, resolveName } from '../task/queue/queue.js';
import { systemClock } from '../base/clock.js';
import { pause } from '../base/pause.js';
import type { Client } from '../client/client.js';
import { BusError } from '../errors/bus-error.js';
import type { QueueAnswer } from '../task/requests/messages.js';
import type { MessageAnswer, MessagesAnswer } from '../wire/messages.js';

/** Between two looks at who could still answer. A message that comes ends the wait at once. */
const lookEveryMs = 1_000;
/** Before the next try, when the sender is not connected but its task is under way. */
const awayMs = 250;

export interface Receiving {
  /** Whose mailbox and queue it is. */
  agent: string;
  /** Absent: that of the agent. */
  mailbox?: string;
  /** Agent, or name of a task in the queue; empty: any. */
  from: string;
  /** The newest instead of the oldest. */
  lifo: boolean;
  /** 0: only what is there. */
  waitMs: number;
  /** So long at most while no task is known to be under way that could send one; absent: `waitMs` alone counts. */
  idleMs?: number;
  /** This client holds no message itself: one that is leased is held by another reader, which may have died. */
  holdsNone?: boolean;
  signal?: AbortSignal;
  /** Queue of the agent; absent: the wait does not end with its senders. */
  queueOf?: (() => Promise<QueueAnswer>) | undefined;
}

/**
 * One message, leased: settle it. Where a manager knows who could still send one, the wait ends with them. Throws INBOX_EMPTY
 * after `waitMs`, NOBODY_LEFT, UNKNOWN_AGENT, AGENT_OFFLINE and RESPONDER_LOST of senders that are no task under way, CANCELLED,
 * UNAUTHORISED, NO_BROKER.
 */
export async function receiveOne(client: Client, receiving: Receiving): Promise<MessageAnswer> {
  const { agent, mailbox = `agent:${agent}`, from: name, lifo, waitMs, signal } = receiving;
  const { idleMs = Infinity } = receiving;
  const untilMs = performance.now() + waitMs;
  let idleUntilMs = performance.now() + idleMs;
  const leftMs = (): number =>
    Math.max(0, Math.floor(Math.min(untilMs, idleUntilMs) - performance.now()));
  const take = (from: string, deadlineMs: number): Promise<MessageAnswer> =>
    client.take({ mailbox, from, lifo, deadlineMs, ...(signal === undefined ? {} : { signal }) });
  // What is called `name` only the queue knows; without a name it need not be asked while a message is there.
  let queue = name === '' ? undefined : await known(receiving);
  let sender = name;
  // Found once, it is the same to the end: another one may be called so meanwhile.
  const find = (): void => {
    if (queue !== undefined && sender === name) sender = resolveName(queue, name);
  };
  for (;;) {
    find();
    const found = await unlessEmpty(take(sender, 0));
    if (found !== undefined) return found;
    if (untilMs - performance.now() < 1) throw new BusError('INBOX_EMPTY', { mailbox });
    // A manager that is away for a moment takes back nothing of what it said.
    queue = (await known(receiving)) ?? queue;
    find();
    const left = queue === undefined ? undefined : expectedAnswers(queue, sender);
    if (left?.isUnderWay === true) idleUntilMs = performance.now() + idleMs;
    if (left?.isAnswerPossible === false) {
      // A result is stored before its task counts as delivered: one that came meanwhile is there now.
      const last = await unlessEmpty(take(sender, 0));
      if (last !== undefined) return last;
      // It comes back when the lease of a reader that died is over.
      const isHeld = receiving.holdsNone === true && (await isLeased(client, mailbox, sender));
      if (!isHeld) throw noneLeft(name, left.queued);
    }
    if (leftMs() === 0) throw new BusError('INBOX_EMPTY', { mailbox });
    const next = await unlessEmpty(
      take(sender, Math.min(lookEveryMs, leftMs())).catch(async (error: unknown) => {
        if (!isAway(error) || queue === undefined || !isTaskOf(queue, sender)) throw error;
        await pause(systemClock, Math.min(awayMs, leftMs()), signal);
        return undefined;
      }),
    );
    if (next !== undefined) return next;
  }
}

/** Whether a reader holds a message of this sender; empty: of any. */
async function isLeased(client: Client, mailbox: string, from: string): Promise<boolean> {
  let after: number | undefined = 0;
  while (after !== undefined) {
    const page: MessagesAnswer = await client.mail.inbox({ mailbox, after });
    if (page.messages.some((each) => each.state === 'leased' && [each.from, ''].includes(from)))
      return true;
    after = page.next === 0 ? undefined : page.next;
  }
  return false;
}

/** All parts of an answer, in order. */
export async function wholeReply(
  client: Client,
  id: string,
  options: { deadlineMs: number; from: string },
): Promise<{ from: string; body: Buffer }> {
  const untilMs = performance.now() + options.deadlineMs;
  const parts: Buffer[] = [];
  while (true) {
    const deadlineMs = Math.max(0, untilMs - performance.now());
    const { from, body, isMore } = await client.collect(id, { ...options, deadlineMs });
    parts.push(body);
    if (!isMore) return { from, body: Buffer.concat(parts) };
  }
}

/** Undefined: no manager says who could answer. */
async function known({ queueOf }: Receiving): Promise<QueueAnswer | undefined> {
  try {
    return await queueOf?.();
  } catch (error) {
    if (error instanceof BusError && error.code !== 'CANCELLED') return undefined;
    throw error;
  }
}

/** Undefined when nothing waits. */
export async function unlessEmpty<T>(taken: Promise<T>): Promise<T | undefined> {
  try {
    return await taken;
  } catch (error) {
    if (error instanceof BusError && error.code === 'INBOX_EMPTY') return undefined;
    throw error;
  }
}

/** An answer of this sender may still come, says `leftFor`: a restarted executor connects it again. */
function isTaskOf({ rows, siblings, parent }: QueueAnswer, id: string): boolean {
  return id === parent || [...rows, ...siblings].some((row) => row.id === id);
}

function isAway(error: unknown): boolean {
  return error instanceof BusError && awayCodes.has(error.code);
}

const awayCodes: ReadonlySet<string> = new Set([
  'AGENT_OFFLINE',
  'RESPONDER_LOST',
  'UNKNOWN_AGENT',
]);

function noneLeft(from: string, queued: number): BusError {
  return new BusError('NOBODY_LEFT', { from: from === '' ? '' : ` as ${from}`, queued });
}
