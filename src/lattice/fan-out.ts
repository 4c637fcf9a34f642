import { BusError, asBusError } from '../errors/bus-error.js';
import type { CodedError } from '../pgc/shapes.js';

/** A failure as it stands in `errors[]`: a known code keeps it, anything else is AGENT_FAILED. */
export function failureOf(agent: string, error: unknown): CodedError {
  const known = asBusError(error);
  const told =
    known.code === 'INTERNAL' && !(error instanceof BusError)
      ? new BusError('AGENT_FAILED', {
          agent,
          detail: error instanceof Error ? error.message : String(error),
        })
      : known;
  return { ...told.toFailure(), agent };
}

/** A shard that failed twice is named once. */
export function merged(...lists: (readonly CodedError[])[]): CodedError[] {
  return [...new Map(lists.flat().map((each) => [`${each.agent} ${each.code}`, each])).values()];
}

/** Ends when the work ends or when the signal is given, whichever is first; the work itself is not stopped. */
export async function orAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  using abort = abortOf(signal);
  return await Promise.race([work, abort.told]);
}

/** `told` fails when the signal is given: one listener for however many wait for it. */
function abortOf(signal: AbortSignal | undefined): { told: Promise<never> } & Disposable {
  let onAbort: (() => void) | undefined;
  const told = new Promise<never>((_, reject) => {
    if (signal === undefined) return;
    onAbort = () => reject(asBusError(signal.reason));
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
  // Whoever waits hears of it; perhaps nobody does any more.
  told.catch(() => undefined);
  return {
    told,
    [Symbol.dispose]: () => {
      if (onAbort !== undefined) signal?.removeEventListener('abort', onAbort);
    },
  };
}

export interface FanOutResult<T> {
  answers: T[];
  errors: CodedError[];
}

/** Asks all at once; those that fail or are too late are named, the others count. */
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
        return [await Promise.race([request(port), abort.told])];
      } catch (error) {
        errors.push(failureOf(port.agent, error));
        return [];
      }
    }),
  );
  return { answers: settled.flat(), errors };
}
