import type { Clock } from '../../base/clock.js';
import { Log } from '../../machine/log.js';
import type { Entry } from '../../prompt/agent/transcript.js';
import { historyOfPrefix } from '../../store/keys.js';
import type { Store } from '../../store/port.js';

/** What happened in the conversation of one attempt at one task, on disk. It is deleted with its assignment. */
export type History = Pick<Log<Entry>, 'entries' | 'bytes' | 'append'>;

/** A disk that takes nothing now is waited for, until the signal is given. Throws RECORD_DAMAGED, STORE_UNAVAILABLE. */
export function openHistory(
  store: Store,
  {
    task,
    attempt,
    ...patience
  }: { task: string; attempt: number; clock: Clock; until: AbortSignal },
): Promise<History> {
  return Log.open<Entry>({
    store,
    prefix: historyOfPrefix(task, attempt),
    check: ({ kind, at_ms }) => {
      if (typeof kind !== 'string' || !Number.isFinite(at_ms))
        throw new Error('a part of it is missing');
    },
    patience,
  });
}
