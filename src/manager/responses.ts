import type { Client } from '../client/client.js';
import { malformedType, type Malformed } from '../client/malformed.js';
import type { Message } from '../client/inbox.js';
import { parseJson } from '../delegation/task/json.js';
import { assignmentId, delegationMessages, legacyType } from '../delegation/task/messages.js';
import { readResponse, readWireResponse, unreadable } from '../delegation/task/response.js';
import { protocolVersion, type TaskResponse } from '../delegation/task/shapes.js';
import { failureOf } from '../delegation/worker/task-response.js';
import { asBusError, BusError } from '../errors/bus-error.js';
import type { TaskBook } from '../task/book/book.js';
import { responsePatch } from '../task/life/patches.js';

/**
 * A response on the wire, or as the JSON of a worker that knows no other. One that breaks the rules is a failure of its
 * worker, where it says whose it is. Throws MALFORMED_PAYLOAD.
 */
function responseIn({ type, body }: Message): Read {
  const { response } = delegationMessages;
  if (type === response.type) {
    const decoded = response.codec.decode(body);
    return understood(decoded, () => readWireResponse(decoded));
  }
  if (type !== legacyType) return {};
  let value: unknown;
  try {
    value = JSON.parse(body.toString());
  } catch {
    throw new BusError('MALFORMED_PAYLOAD', { detail: 'this is no JSON' });
  }
  const { response: its, objection } = understood(value, () => readResponse(value));
  const isCapable = its?.protocol_version === protocolVersion;
  return { response: its && (isCapable ? its : { ...its, attempt: 0 }), objection };
}

/** `response`: undefined where the message is of another type; the failure of its worker where it breaks the rules. */
interface Read {
  response?: TaskResponse | undefined;
  objection?: BusError | undefined;
}

function understood(value: unknown, read: () => TaskResponse): Read {
  try {
    return { response: read() };
  } catch (error) {
    const objection = asBusError(error);
    const failed = unreadable(value, objection);
    if (failed === undefined) throw error;
    return { response: failed, objection };
  }
}

/** What a message of a worker says of which task. */
export interface Said {
  task: string;
  attempt: number;
  /** Throws STALE_ATTEMPT, NO_SUCH_TASK, and what the book throws. */
  apply: () => Promise<unknown>;
  /** MALFORMED_PAYLOAD, of a response that names its task and breaks the rules. */
  objection?: BusError;
}

/** Throws MALFORMED_PAYLOAD, UNKNOWN_TYPE. */
export async function saidBy(message: Message, book: TaskBook): Promise<Said> {
  const { from, type } = message;
  if (type === malformedType) return misread(message, book);
  const { response, objection } = await readFrom(message, book);
  if (response === undefined) throw new BusError('UNKNOWN_TYPE', { agent: 'manager', type });
  const task = response.task_id;
  return {
    ...{ task, attempt: response.attempt },
    ...(objection !== undefined && { objection }),
    apply: async () => {
      const record = await book.get(task);
      // A legacy worker knows no fencing token; it has one assignment at a time.
      const attempt = response.attempt === 0 ? record.attempt : response.attempt;
      await heldBy(book, task, attempt, from);
      const patch = responsePatch({ ...response, attempt });
      await book.sendAssignment(task, attempt, { type: 'worker.answered' }, patch);
    },
  };
}

/** A worker that waits for a word on its result would wait for ever. One without a mailbox cannot be told. */
export async function tellDropped(
  client: Client,
  { from, seq }: Message,
  { task, attempt }: Said,
  { code, message }: BusError,
): Promise<void> {
  const { withdraw } = delegationMessages;
  const body = withdraw.codec.encode({ task_id: task, attempt, reason: `${code}: ${message}` });
  await client
    .post(`agent:${from}`, withdraw.type, body, { id: `dropped-${seq}` })
    .catch(() => undefined);
}

/** Only who has the assignment may speak for it. Throws STALE_ATTEMPT, TASK_NOT_ASSIGNED. */
export async function heldBy(
  book: TaskBook,
  id: string,
  attempt: number,
  from: string,
): Promise<void> {
  const { assignment, attempt: now } = await book.get(id);
  if (assignment?.attempt === attempt && assignment.worker === from) return;
  if (attempt < now) throw new BusError('STALE_ATTEMPT', { task: id, attempt, now });
  const why =
    attempt > now
      ? `there is no attempt ${attempt} yet`
      : assignment === null
        ? 'no worker has it now'
        : `attempt ${attempt} is that of another worker`;
  throw new BusError('TASK_NOT_ASSIGNED', { task: id, agent: from, why });
}

/** What cannot be read is the failure of a worker all the same, where it has one task. Throws MALFORMED_PAYLOAD. */
async function readFrom(message: Message, book: TaskBook): Promise<Read> {
  try {
    return responseIn(message);
  } catch (error) {
    const [its, ...others] = book
      .open()
      .filter(({ assignment }) => assignment?.worker === message.from)
      .filter(({ assignment }) => assignment?.snapshot.status === 'active');
    if (its === undefined || others.length > 0) throw error;
    const { id, attempt } = its;
    const failed = unreadable({ task_id: id, attempt }, asBusError(error));
    const patch = failed === undefined ? {} : responsePatch(failed);
    const answered = { type: 'worker.answered' } as const;
    await book.sendAssignment(id, attempt, answered, patch).catch(() => undefined);
    throw error;
  }
}

/** A worker says that it could not read its assignment: another one may. */
function misread({ body, from }: Message, book: TaskBook): Said {
  const { id, text } = parseJson(body.toString()) as Partial<Record<keyof Malformed, unknown>>;
  const { task = '', attempt = 0 } = assignmentId.read(typeof id === 'string' ? id : '') ?? {};
  const reason = 'MALFORMED_PAYLOAD';
  const error = failureOf(reason, { detail: typeof text === 'string' ? text : '' });
  return {
    ...{ task, attempt },
    apply: async () => {
      await heldBy(book, task, attempt, from);
      await book.sendAssignment(task, attempt, { type: 'worker.lost', reason }, { error });
    },
  };
}
