import { assert } from '../base/assert.js';
import type { Clock } from '../base/clock.js';
import { BusError } from '../errors/bus-error.js';
import { agentPrefix, factsPrefix, layoutKey, prefixEnd, schemaKey } from './keys.js';
import { bounds, unavailable, walk, type Db } from './level-folder.js';
import type { Operation, Range, Store } from './port.js';

/** Kind and version of a store's content; `keys.ts` lists the keys. */
export interface Layout {
  name: string;
  /** What this program reads and writes. */
  version: number;
  /** One for each version before, in order: from 1 to 2, from 2 to 3. */
  migrations: readonly Migration[];
  /** Of LevelDB's memory buffer; absent: its default of 4 MiB. */
  writeBufferBytes?: number;
}

export interface Migration {
  from: number;
  /**
   * Must be idempotent, and bounded in what it commits at once: a process that is killed here begins
   * anew, on a store that is changed in part.
   */
  run(store: Pick<Store, 'entries' | 'commit'>, nowMs: number): Promise<void>;
}

/**
 * Brings an open database to the version of this program; the version is written last and synced. Throws
 * STORE_SCHEMA for a newer version or another layout, which is left as it is, and STORE_UNAVAILABLE.
 */
export async function settleLayout(
  db: Db,
  folder: string,
  layout: Layout,
  clock: Clock,
): Promise<void> {
  const found = await foundLayout(db, folder);
  if (found === undefined) return mark(db, folder, layout.name, layout.version);
  const name = found.name ?? layout.name;
  const isKnown = found.version >= 1 && found.version <= layout.version;
  if (!isKnown || name !== layout.name) {
    const wanted = `${layout.name} ${layout.version}`;
    throw new BusError('STORE_SCHEMA', { path: folder, got: `${name} ${found.version}`, wanted });
  }
  const store = {
    entries: (range: Range) => walk(folder, () => db.iterator(bounds(range))),
    commit: (operations: Operation[]) => db.batch(operations, { sync: true }),
  };
  let { version } = found;
  for (const migration of layout.migrations) {
    if (migration.from !== version) continue;
    await coded(folder, migration.run(store, clock.nowMs()));
    version += 1;
    await mark(db, folder, name, version);
  }
  assert(version === layout.version, `there is no migration from ${name} ${version}`);
  if (found.name === undefined) await mark(db, folder, name, version);
}

async function foundLayout(
  db: Db,
  folder: string,
): Promise<{ name: string | undefined; version: number } | undefined> {
  const [name, version] = await coded(folder, db.getMany([layoutKey, schemaKey]));
  if (version === undefined) return undefined;
  return {
    name: name?.toString() ?? (await coded(folder, layoutOfUnnamed(db))),
    version: Number(version.toString()),
  };
}

/**
 * Version 1 was first written without a name; each layout had one family of keys then. A store that
 * holds neither is whose it is opened as.
 */
async function layoutOfUnnamed(db: Db): Promise<string | undefined> {
  const families = { bus: agentPrefix, facts: factsPrefix };
  for (const [name, prefix] of Object.entries(families)) {
    const first = await db.keys({ gte: prefix, lt: prefixEnd(prefix), limit: 1 }).all();
    if (first.length > 0) return name;
  }
  return undefined;
}

function mark(db: Db, folder: string, name: string, version: number): Promise<void> {
  const marks: Operation[] = [
    { type: 'put', key: layoutKey, value: Buffer.from(name) },
    { type: 'put', key: schemaKey, value: Buffer.from(String(version)) },
  ];
  return coded(folder, db.batch(marks, { sync: true }));
}

async function coded<T>(folder: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw unavailable(folder, error);
  }
}
