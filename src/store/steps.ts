import type { Operation, Store } from './port.js';

type Put = Extract<Operation, { type: 'put' }>;

const stepBytes = 256 * 1024;
const stepEntriesMax = 1_000;

/** The entries of a store as it is now, in steps that memory holds. Throws STORE_UNAVAILABLE. */
export async function* stepsOf(
  store: Store,
  isWanted: (key: string) => boolean = () => true,
): AsyncGenerator<Put[], void> {
  let step: Put[] = [];
  let bytes = 0;
  for await (const [key, value] of store.entries({ prefix: '' })) {
    if (!isWanted(key)) continue;
    step.push({ type: 'put', key, value });
    bytes += key.length + value.length;
    if (bytes < stepBytes && step.length < stepEntriesMax) continue;
    yield step;
    step = [];
    bytes = 0;
  }
  if (step.length > 0) yield step;
}
