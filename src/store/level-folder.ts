import { constants } from 'node:fs';
import { mkdir, open, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { Level } from 'level';
import { BusError } from '../errors/bus-error.js';
import { prefixEnd } from './keys.js';
import type { Range } from './port.js';

/** LevelDB in a folder. In Node, `level` is classic-level, whose own calls are not in its types. */
export type Db = Level<string, Buffer> & {
  compactRange(start: string, end: string): Promise<void>;
};

/** What one step of a walk takes out of LevelDB at most. */
const stepEntriesMax = 1_000;
const stepBytesMax = 64 * 1024;

/** When it is worth asking a store again that has failed. */
const retryAfterMs = 1_000;

export interface OpenOptions {
  /** LevelDB keeps up to two of these in memory, and merges less often the larger they are. */
  writeBufferBytes?: number | undefined;
  /** Throws STORE_UNAVAILABLE when there is a database already. */
  isNew?: boolean;
}

/** Throws STORE_LOCKED or STORE_UNAVAILABLE. The folder is created with mode 0700. */
export async function openLevel(folder: string, options: OpenOptions = {}): Promise<Db> {
  const { writeBufferBytes, isNew = false } = options;
  const db = new Level<string, Buffer>(folder, {
    keyEncoding: 'utf8',
    valueEncoding: 'buffer',
    errorIfExists: isNew,
    ...(writeBufferBytes === undefined ? {} : { writeBufferSize: writeBufferBytes }),
  }) as Db;
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await db.open();
    return db;
  } catch (error) {
    const cause = error instanceof Error ? (error.cause as { code?: string } | undefined) : {};
    if (cause?.code !== 'LEVEL_LOCKED') throw unavailable(folder, error);
    throw new BusError('STORE_LOCKED', { path: folder }, { cause: error });
  }
}

export function bounds(range: Range): {
  gt?: string;
  gte?: string;
  lt: string;
  limit: number;
  highWaterMarkBytes: number;
} {
  const start = range.after === undefined ? { gte: range.prefix } : { gt: range.after };
  const lt = prefixEnd(range.prefix);
  return { ...start, lt, limit: range.limit ?? -1, highWaterMarkBytes: stepBytesMax };
}

/** The part of LevelDB's iterators that a walk uses. */
interface Steps<T> {
  nextv(size: number): Promise<T[]>;
  close(): Promise<void>;
}

/** Throws STORE_UNAVAILABLE, also when the database is closed on the way. */
export async function* walk<T>(folder: string, start: () => Steps<T>): AsyncGenerator<T, void> {
  let steps: Steps<T> | undefined;
  try {
    steps = start();
    while (true) {
      const step = await steps.nextv(stepEntriesMax);
      if (step.length === 0) return;
      yield* step;
    }
  } catch (error) {
    throw unavailable(folder, error);
  } finally {
    await steps?.close();
  }
}

/**
 * Whether `bytes` can be written here and reach the disk. A failure of LevelDB says neither what is
 * missing nor when it is back. LevelDB leaves files alone whose names it does not know.
 */
export async function probe(folder: string, bytes: number): Promise<void> {
  const file = path.join(folder, 'space.probe');
  try {
    const handle = await open(file, 'w', 0o600);
    try {
      await handle.writeFile(Buffer.alloc(bytes, 1));
      await handle.sync();
    } finally {
      await handle.close();
    }
  } finally {
    await rm(file, { force: true });
  }
}

/** Brings all files of a folder, and their names, to the disk. */
export async function syncFolder(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isFile()) await syncPath(path.join(folder, entry.name));
  }
  await syncPath(folder);
}

async function syncPath(place: string): Promise<void> {
  const handle = await open(place, constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

export function unavailable(folder: string, error: unknown): BusError {
  if (error instanceof BusError) return error;
  const detail = detailOf(error);
  return new BusError(
    'STORE_UNAVAILABLE',
    { path: folder, detail, retryAfterMs },
    { cause: error },
  );
}

function detailOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}
