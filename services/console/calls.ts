import { asBusError, BusError, RemoteError, type Failure } from '../../src/errors/bus-error.js';
import type { Logger } from '../../src/observe/log.js';
import { readWith } from '../../src/operations/fields.js';
import type { Asking, Reply } from '../../src/operations/operation.js';
import { registry, type AnyOperation } from '../../src/operations/registry.js';
import { standingOf, type Standing } from '../../src/operations/standing.js';
import { givenWithin, within } from '../../src/base/within.js';
import type { Clock } from '../../src/base/clock.js';

const secondsDefault = 30;
const secondsMax = 600;
/** What is asked for is still answered within the time of the call. */
const marginMs = 1_000;
/** An operation that does not heed its end is left to itself after so long. */
const graceMs = 5_000;
const answerBytesMax = 16 * 1024 * 1024;
/** Of what an operation lays out by its size: an answer may hold it several times. */
const charsMax = answerBytesMax / 4;

/** What a call says beside the input of its operation. */
export interface Called {
  name: string;
  input: unknown;
  /** Of several trees that of this folder; absent: the folder of the console. */
  tree: string | undefined;
  /** In the name of this agent, as `--as` of the command line. */
  as: string | undefined;
  /** Aborts when the browser goes, or its session ends. */
  signal: AbortSignal;
}

export interface Answered {
  /** JSON. */
  body: string;
  /** To be called when it was handed over. */
  settle: () => void;
}

export interface CallsParts {
  /** The bus, over a connection of this role. `folder`: from which it is asked; undefined: that of the console. */
  busOf: (role: Standing['role'], folder: string | undefined) => Asking;
  /** The agent that the person acts as. */
  self: () => string;
  person: string;
  isReadOnly: boolean;
  clock: Clock;
  log: Logger;
}

/** Operations as a page asks for them: with the rights that the same person has on the command line, and no others. */
export class Calls {
  readonly #parts: CallsParts;
  #operations: Promise<ReadonlyMap<string, AnyOperation>> | undefined;

  constructor(parts: CallsParts) {
    this.#parts = parts;
  }

  /** Throws CONSOLE_NOTHING, CONSOLE_READ_ONLY, TOOL_INPUT, TOO_LARGE, DEADLINE_EXCEEDED, and what the operation throws. */
  async run(called: Called): Promise<Answered> {
    const { name } = called;
    const { isReadOnly, log, person } = this.#parts;
    this.#operations ??= all();
    const operation = (await this.#operations).get(name);
    if (operation === undefined) throw new BusError('CONSOLE_NOTHING', { path: name });
    const { annotations } = operation;
    const refused = new BusError('CONSOLE_READ_ONLY', { name });
    if (isReadOnly && !annotations.readOnlyHint && operation.looksWith === undefined) throw refused;
    const { seconds, input } = inputOf(operation, called.input);
    const isLook = annotations.readOnlyHint || operation.looksWith?.(input) === true;
    if (isReadOnly && !isLook) throw refused;
    const told = (outcome: string): void => {
      const level = isLook ? 'debug' : 'info';
      log[level]({ operation: name, person, outcome }, 'operation called');
    };
    try {
      const answered = await this.#answer(operation, called, { seconds, input });
      told('ok');
      return answered;
    } catch (error) {
      told(asBusError(error).code);
      throw error;
    }
  }

  async #answer(
    operation: AnyOperation,
    called: Called,
    { seconds, input }: ReturnType<typeof inputOf>,
  ): Promise<Answered> {
    const { busOf, self, clock } = this.#parts;
    const [cli] = [operation.cli ?? []].flat();
    const { asks } = cli ?? { asks: operation.asks ?? 'for an agent' };
    const { as, tree } = called;
    if (as !== undefined && !asks?.endsWith('an agent'))
      throw inputError(operation, 'as: it is not done in the name of an agent');
    const standing = standingOf({ ...(asks && { asks }) }, self, as);
    const bus = busOf(standing.role, tree);
    const deadlineMs = seconds * 1_000;
    using late = givenWithin(clock, deadlineMs, called.signal);
    const answered = operation.run(input, {
      ...{ bus, person: 'caller', charsMax, deadlineMs, signal: late.signal },
      waitMs: Math.max(0, deadlineMs - marginMs),
      ...{ actor: standing.actor, session: standing.session },
      ...{ tell: () => undefined, keep: () => undefined },
    });
    if (!(await within(clock, deadlineMs + graceMs, answered)))
      throw new BusError('DEADLINE_EXCEEDED', { ms: deadlineMs });
    return written(operation, (await answered) as Reply<object>);
  }
}

async function all(): Promise<ReadonlyMap<string, AnyOperation>> {
  const loaded = await Promise.all(registry.map((each) => each.load()));
  return new Map(loaded.flat().map((each) => [each.name, each]));
}

/** Throws TOOL_INPUT. */
function inputOf(operation: AnyOperation, given: unknown): { seconds: number; input: unknown } {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw inputError(operation, 'they are no JSON object');
  const { timeout_seconds: seconds = secondsDefault, ...its } = given as Record<string, unknown>;
  if (typeof seconds !== 'number' || !(seconds > 0 && seconds <= secondsMax))
    throw inputError(operation, `timeout_seconds: it must be a number up to ${secondsMax}`);
  const read = readWith(operation, its);
  if ('why' in read) throw inputError(operation, `${read.field}${read.field && ': '}${read.why}`);
  operation.check?.(read.value);
  return { seconds, input: read.value };
}

function inputError({ name }: AnyOperation, detail: string): BusError {
  return new BusError('TOOL_INPUT', { tool: name, detail });
}

function written({ name }: AnyOperation, reply: Reply<object>): Answered {
  const { value, document = value, failure, settle } = reply;
  if (reply.rows !== undefined)
    throw new BusError('TOOL_INPUT', { tool: name, detail: 'this answer comes line by line' });
  if (reply.isEmpty === true && failure) throw new RemoteError(failure);
  const body = JSON.stringify({
    value: document,
    ...(failure && { failure: failure satisfies Failure }),
  });
  const bytes = Buffer.byteLength(body);
  if (bytes > answerBytesMax)
    throw new BusError('TOO_LARGE', { what: 'the answer', bytes, limit: answerBytesMax });
  return { body, settle: () => void settle?.() };
}
