import { BusError, asBusError } from '../errors/bus-error.js';
import type { CodedError } from '../pgc/shapes.js';

/** A failure for `errors[]`: a known error keeps its code, any other becomes AGENT_FAILED. */
export function failureOf(agent: string, error: unknown): CodedError {
  const known = asBusError(error);
  const failure =
    known.code === 'INTERNAL' && !(error instanceof BusError)
      ? new BusError('AGENT_FAILED', {
          agent,
          detail: error instanceof Error ? error.message : String(error),
        })
      : known;
  return { ...failure.toFailure(), agent };
}

/** Each failure of an agent once. */
export function merged(...lists: (readonly CodedError[])[]): CodedError[] {
  return [...new Map(lists.flat().map((each) => [`${each.agent} ${each.code}`, each])).values()];
}

/** Ends with the work or when the signal aborts, whichever is first; the work itself is not stopped. */
export async function orAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  using abort = abortOf(signal);
  return await Promise.race([work, abort.aborted]);
}

/** `aborted` rejects when the signal aborts: one listener for any number of waiters. */
function abortOf(signal: AbortSignal | undefined): { aborted: Promise<never> } & Disposable {
  let onAbort: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    if (signal === undefined) return;
    onAbort = () => reject(asBusError(signal.reason));
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
  // There may be no waiter left.
  aborted.catch(() => undefined);
  return {
    aborted,
    [Symbol.dispose]: () => {
      if (onAbort !== undefined) signal?.removeEventListener('abort', onAbort);
    },
  };
}

export interface FanOutResult<T> {
  answers: T[];
  errors: CodedError[];
}

/** Sends a request to all ports at once. Those that fail or are late are in `errors`. */
export async function fanOut<P extends { agent: string }, T>(
  ports: readonly P[],
  signal: AbortSignal | undefined,
  request: (port: P) => Promise<T>,
): Promise<FanOutResult<T>> {
  const errors: CodedError[] = [];
  using abort = abortOf(signal);
  const settled = await Promise.all(
    ports.map(async (port) => {
      try {
        return [await Promise.race([request(port), abort.aborted])];
      } catch (error) {
        errors.push(failureOf(port.agent, error));
        return [];
      }
    }),
  );
  return { answers: settled.flat(), errors };
}
