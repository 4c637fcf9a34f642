import { seenPrefix } from '../../src/store/keys.js';
import type { Operation, Store, Upkeep } from '../../src/store/port.js';
import type { SeededRandom } from './random.js';

/**
 * Bugs that the simulation must find; each is planted from outside, nothing in src knows of them.
 *
 *     skip-fsync    the store resolves a commit that is not synced, now and then
 *     skip-dedupe   ids of settled messages do not reach the disk, now and then
 *     lost-lease    a lease that ends with its session is not given back, now and then
 */
export const plants = ['skip-fsync', 'skip-dedupe', 'lost-lease'] as const;
export type Plant = (typeof plants)[number];

/** The same store, but it drops every third record of a settled id. */
export function dropsSeen(store: Store & Upkeep, random: SeededRandom): Store & Upkeep {
  const kept = (operations: Operation[]): Operation[] =>
    operations.filter((each) => !each.key.startsWith(seenPrefix) || !random.chance(0.33));
  return {
    get state() {
      return store.state;
    },
    get: (key) => store.get(key),
    getMany: (keys) => store.getMany(keys),
    entries: (range) => store.entries(range),
    keys: (range) => store.keys(range),
    hasRoom: (bytes) => store.hasRoom(bytes),
    commit: (operations) => store.commit(kept(operations)),
    write: (operations) => store.write(kept(operations)),
    onReopened: (listener) => store.onReopened(listener),
    backup: (folder) => store.backup(folder),
    compact: () => store.compact(),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}
