import { rm } from 'node:fs/promises';
import { systemClock } from '../../base/clock.js';
import { Scope } from '../../base/scope.js';
import { asBusError, BusError } from '../../errors/bus-error.js';
import { factsLayout } from '../../store/layouts.js';
import { LevelStore } from '../../store/level-store.js';
import { FactStore, type RuleDigests } from '../mine/fact-store.js';
import type { IndexPlace } from '../plan/manifest.js';

interface OpenedFacts extends AsyncDisposable {
  store: LevelStore;
  facts: FactStore;
  /** Why earlier facts were thrown away; else empty. */
  note: string;
}

/** LevelDB's messages about damaged or missing files, as opposed to a full or read-only disk. */
const damage = /\bCorruption:|: (?:No such file or directory|Invalid argument|Is a directory)$/;

/**
 * Opens the mined facts of a tree. They only save work: damaged ones, or those of another version, are deleted and
 * mined again. Throws INDEX_BUILDING when another process has them open, and STORE_UNAVAILABLE.
 */
export async function openFacts(
  place: IndexPlace,
  root: string,
  digests: RuleDigests,
): Promise<OpenedFacts> {
  const scope = new Scope();
  try {
    // Deleting damaged facts deletes their lock too; the lock of the guard stays.
    scope.own(await lockOf(place));
    const { store, facts, note } = await openOrAnew(place, digests);
    scope.own(store);
    return { store, facts, note, [Symbol.asyncDispose]: () => scope[Symbol.asyncDispose]() };
  } catch (error) {
    await scope[Symbol.asyncDispose]();
    if (asBusError(error).code !== 'STORE_LOCKED') throw error;
    throw new BusError('INDEX_BUILDING', { path: root }, { cause: error });
  }
}

type Opened = Pick<OpenedFacts, 'store' | 'facts' | 'note'>;

async function openOrAnew(place: IndexPlace, digests: RuleDigests): Promise<Opened> {
  try {
    return await open(place, digests, '');
  } catch (error) {
    const { code, data, message } = asBusError(error);
    const isDamaged = code === 'STORE_UNAVAILABLE' && damage.test(String(data.detail));
    if (!isDamaged && code !== 'STORE_SCHEMA') throw error;
    await rm(place.facts, { recursive: true, force: true });
    return open(place, digests, `all files are mined again: ${message}`);
  }
}

async function open(place: IndexPlace, digests: RuleDigests, note: string): Promise<Opened> {
  const store = await levelAt(place.facts);
  try {
    return { store, facts: await FactStore.open(store, digests), note };
  } catch (error) {
    await store[Symbol.asyncDispose]();
    throw error;
  }
}

/** Held by the one process that indexes a tree. Throws STORE_LOCKED, STORE_UNAVAILABLE. */
export function lockOf({ guard }: IndexPlace): Promise<AsyncDisposable> {
  return levelAt(guard);
}

function levelAt(path: string): Promise<LevelStore> {
  return LevelStore.open(path, {
    ...{ layout: factsLayout, clock: systemClock, random: Math.random },
  });
}
