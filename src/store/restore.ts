import { constants } from 'node:fs';
import { copyFile, mkdir, readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Clock } from '../base/clock.js';
import { BusError } from '../errors/bus-error.js';
import { databaseFolder, readManifest, type BackupManifest } from './backup-manifest.js';
import { Contents } from './contents.js';
import { metaPrefix } from './keys.js';
import type { Layout } from './layout.js';
import {
  bounds,
  openLevel,
  probe,
  syncFolder,
  unavailable,
  walk,
  type Db,
} from './level-folder.js';
import type { BackupReport } from './port.js';

const roomToOpenBytes = 64 * 1024;

export interface RestoreReport extends BackupReport {
  /** When the backup was taken. Unix milliseconds. */
  takenMs: number;
  /** Where the store that was there before is now. */
  movedTo?: string;
}

/**
 * Puts a backup where a store belongs. The copy is checked entry by entry before it takes that place;
 * the backup itself is only read. The store's lock is held all the while. A store with entries is
 * refused unless `isForced`; then it is moved aside. Throws BACKUP_INVALID, STORE_NOT_EMPTY,
 * STORE_LOCKED, STORE_SCHEMA, STORE_UNAVAILABLE; then the store is as it was.
 */
export async function restoreStore(
  backup: string,
  store: string,
  options: { layout: Layout; clock: Clock; isForced?: boolean },
): Promise<RestoreReport> {
  const { layout, clock, isForced = false } = options;
  const startedMs = clock.monotonicMs();
  const manifest = await readManifest(backup);
  if (manifest.layout !== layout.name || manifest.version > layout.version) {
    const got = `${manifest.layout} ${manifest.version}`;
    const wanted = `${layout.name} ${layout.version}`;
    throw new BusError('STORE_SCHEMA', { path: backup, got, wanted });
  }
  const present = await lockPresent(store, isForced);
  const stamp = new Date(clock.nowMs()).toISOString().replaceAll(/[:.]/g, '-');
  const copy = `${store}.restoring-${stamp}`;
  try {
    await copyFlat(path.join(backup, databaseFolder), copy);
    await check(copy, backup, manifest);
    await syncFolder(copy);
    const aside = present.isWorthKeeping ? `${store}.before-restore-${stamp}` : undefined;
    await swapStore(store, copy, aside);
    return {
      entries: manifest.entries,
      bytes: manifest.bytes,
      takenMs: manifest.taken_ms,
      elapsedMs: Math.round(clock.monotonicMs() - startedMs),
      ...(aside === undefined ? {} : { movedTo: aside }),
    };
  } catch (error) {
    await rm(copy, { recursive: true, force: true });
    throw unavailable(store, error);
  } finally {
    await present.lock?.close();
  }
}

/**
 * The lock of the store that is to be replaced, if there is one that can be opened. Throws STORE_LOCKED, and STORE_NOT_EMPTY unless
 * forced.
 */
export async function lockPresent(
  store: string,
  isForced: boolean,
): Promise<{ lock?: Db; isWorthKeeping: boolean }> {
  const names = await readdir(store).catch(() => []);
  if (names.length === 0) return { isWorthKeeping: false };
  const lock = await openLevel(store).catch((error: unknown) => {
    const isDamaged = error instanceof BusError && error.code === 'STORE_UNAVAILABLE';
    if (isDamaged && isForced) return undefined;
    throw error;
  });
  // What cannot be opened may still be mended by hand.
  if (lock === undefined) return { isWorthKeeping: true };
  try {
    const isWorthKeeping = await hasEntries(lock, store);
    if (isWorthKeeping && !isForced) throw new BusError('STORE_NOT_EMPTY', { path: store });
    return { lock, isWorthKeeping };
  } catch (error) {
    await lock.close();
    throw error;
  }
}

async function hasEntries(db: Db, store: string): Promise<boolean> {
  for await (const key of walk(store, () => db.keys(bounds({ prefix: '' })))) {
    if (!key.startsWith(metaPrefix)) return true;
  }
  return false;
}

/** A database is a folder of files. Copied as they are, the backup may lie on a medium that is read only. */
async function copyFlat(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true, mode: 0o700 });
  for (const entry of await readdir(from, { withFileTypes: true })) {
    if (entry.isFile())
      await copyFile(
        path.join(from, entry.name),
        path.join(to, entry.name),
        constants.COPYFILE_EXCL,
      );
  }
}

async function check(copy: string, backup: string, manifest: BackupManifest): Promise<void> {
  const contents = new Contents();
  try {
    const db = await openLevel(copy);
    try {
      for await (const [key, value] of walk(copy, () => db.iterator(bounds({ prefix: '' }))))
        contents.add(key, value);
    } finally {
      await db.close();
    }
  } catch (error) {
    // Opening writes a little: a full disk does not speak against the backup.
    await probe(copy, roomToOpenBytes);
    const detail = error instanceof Error ? error.message : String(error);
    throw new BusError('BACKUP_INVALID', { path: backup, detail }, { cause: error });
  }
  const isWhole =
    contents.entries === manifest.entries &&
    contents.bytes === manifest.bytes &&
    contents.digest() === manifest.sha256;
  if (isWhole) return;
  const detail = `it holds ${contents.entries} entries whose digest or number is not that of its manifest (${manifest.entries})`;
  throw new BusError('BACKUP_INVALID', { path: backup, detail });
}

/** `aside` absent: the present store is empty. */
export async function swapStore(
  store: string,
  copy: string,
  aside: string | undefined,
): Promise<void> {
  if (aside === undefined) await rm(store, { recursive: true, force: true });
  else await rename(store, aside);
  try {
    await mkdir(path.dirname(store), { recursive: true, mode: 0o700 });
    await rename(copy, store);
  } catch (error) {
    if (aside !== undefined) await rename(aside, store);
    throw error;
  }
  await syncFolder(path.dirname(store));
}
