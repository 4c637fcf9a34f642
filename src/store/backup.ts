import { mkdir, readdir, rm, rmdir } from 'node:fs/promises';
import path from 'node:path';
import type { Clock } from '../base/clock.js';
import { BusError } from '../errors/bus-error.js';
import { databaseFolder, writeManifest } from './backup-manifest.js';
import { Contents } from './contents.js';
import { layoutKey, schemaKey } from './keys.js';
import { bounds, openLevel, syncFolder, unavailable, walk, type Db } from './level-folder.js';
import type { BackupReport, Operation } from './port.js';

/** Entries copied at once; other work runs in between. */
const copiedAtOnceBytes = 256 * 1024;
const copiedAtOnceMax = 512;

type Snapshot = ReturnType<Db['snapshot']>;

/**
 * Copies a store that is in use, as it is at this moment, into `folder` (absolute, absent or empty):
 * `backup.json` and a database. Throws BACKUP_FOLDER, STORE_UNAVAILABLE; then nothing is left of it.
 */
export async function backupStore(
  source: { db: Db; path: string },
  folder: string,
  clock: Clock,
): Promise<BackupReport> {
  const startedMs = clock.monotonicMs();
  const snapshot = source.db.snapshot();
  try {
    const taken_ms = clock.nowMs();
    const isOurs = await makeEmpty(folder, source.path);
    try {
      const contents = await copy(source, snapshot, path.join(folder, databaseFolder), clock);
      const { entries, bytes } = contents;
      const marks = await source.db.getMany([layoutKey, schemaKey], { snapshot });
      const [layout = '', version = ''] = marks.map(String);
      const sha256 = contents.digest();
      await writeManifest(folder, {
        ...{ layout, version: Number(version), entries, bytes, sha256, taken_ms },
      });
      await syncFolder(folder);
      return { entries, bytes, elapsedMs: Math.round(clock.monotonicMs() - startedMs) };
    } catch (error) {
      // Report the failure of the backup, not that of the clean-up.
      await removeUnfinished(folder, isOurs).catch(() => undefined);
      throw unavailable(folder, error);
    }
  } finally {
    await snapshot.close();
  }
}

/** True when the folder was made here. Throws BACKUP_FOLDER. */
async function makeEmpty(folder: string, store: string): Promise<boolean> {
  const refuse = (detail: string, options?: ErrorOptions): BusError =>
    new BusError('BACKUP_FOLDER', { path: folder, detail }, options);
  if (!path.isAbsolute(folder)) throw refuse('it is not an absolute path');
  if (!path.relative(store, folder).startsWith('..')) throw refuse('it is part of the store');
  try {
    const isOurs = (await mkdir(folder, { recursive: true, mode: 0o700 })) !== undefined;
    if ((await readdir(folder)).length === 0) return isOurs;
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    throw refuse(detail, { cause: error });
  }
  throw refuse('it is not empty');
}

async function copy(
  source: { db: Db; path: string },
  snapshot: Snapshot,
  folder: string,
  clock: Clock,
): Promise<Contents> {
  const contents = new Contents();
  const target = await openLevel(folder, { isNew: true });
  try {
    let waiting: Operation[] = [];
    let waitingBytes = 0;
    const flush = async (): Promise<void> => {
      await target.batch(waiting);
      waiting = [];
      waitingBytes = 0;
      await clock.turn();
    };
    const all = { ...bounds({ prefix: '' }), snapshot };
    for await (const [key, value] of walk(source.path, () => source.db.iterator(all))) {
      contents.add(key, value);
      waiting.push({ type: 'put', key, value });
      waitingBytes += key.length + value.length;
      if (waitingBytes >= copiedAtOnceBytes || waiting.length >= copiedAtOnceMax) await flush();
    }
    await flush();
  } finally {
    await target.close();
  }
  // A synced write would cover only the log it goes to, and a copy goes through many.
  await syncFolder(folder);
  return contents;
}

async function removeUnfinished(folder: string, isOurs: boolean): Promise<void> {
  await rm(path.join(folder, databaseFolder), { recursive: true, force: true });
  for (const name of await readdir(folder)) await rm(path.join(folder, name));
  if (isOurs) await rmdir(folder);
}
