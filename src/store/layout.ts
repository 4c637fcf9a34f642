import { BusError } from '../errors/bus-error.js';
import { layoutKey, schemaKey } from './keys.js';
import { unavailable, type Db } from './level-folder.js';

/** Kind and version of a store's content; `keys.ts` lists the keys. */
export interface Layout {
  name: string;
  /** What this program reads and writes. */
  version: number;
  /** Of LevelDB's memory buffer; absent: its default of 4 MiB. */
  writeBufferBytes?: number;
}

/**
 * Marks a new database, synced. Throws STORE_SCHEMA for another version or another layout, which is left as it is, and
 * STORE_UNAVAILABLE.
 */
export async function settleLayout(db: Db, folder: string, layout: Layout): Promise<void> {
  try {
    const wanted = [layout.name, String(layout.version)];
    const keys = [layoutKey, schemaKey];
    const all: (Buffer | undefined)[] = await db.getMany(keys);
    const found = all.map((each) => each?.toString());
    if (found.every((each, at) => each === wanted[at])) return;
    if (found.some((each) => each !== undefined))
      throw new BusError('STORE_SCHEMA', {
        path: folder,
        got: found.map((each) => each ?? '?').join(' '),
        wanted: wanted.join(' '),
      });
    const marks = keys.map((key, at) => ({
      ...{ type: 'put' as const, key, value: Buffer.from(wanted[at] ?? '') },
    }));
    await db.batch(marks, { sync: true });
  } catch (error) {
    throw error instanceof BusError ? error : unavailable(folder, error);
  }
}
