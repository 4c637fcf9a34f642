import { open, readFile, rename } from 'node:fs/promises';
import path from 'node:path';
import { BusError } from '../errors/bus-error.js';

const file = 'backup.json';
/** The database, in the folder of a backup. */
export const databaseFolder = 'store';

/** Written last: a folder without it is no backup. */
export interface BackupManifest {
  layout: string;
  version: number;
  entries: number;
  /** Of keys and values. */
  bytes: number;
  /** Hex, over all keys and values in key order, each behind its length (4 bytes, big-endian). */
  sha256: string;
  taken_ms: number;
}

export async function writeManifest(folder: string, manifest: BackupManifest): Promise<void> {
  const unfinished = path.join(folder, `${file}.tmp`);
  const handle = await open(unfinished, 'w', 0o600);
  try {
    await handle.writeFile(`${JSON.stringify(manifest, undefined, 2)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(unfinished, path.join(folder, file));
}

/** Throws BACKUP_INVALID. */
export async function readManifest(folder: string): Promise<BackupManifest> {
  let text: string;
  try {
    text = await readFile(path.join(folder, file), 'utf8');
  } catch (error) {
    const detail = `${file} cannot be read: it is no backup, or one that did not end`;
    throw new BusError('BACKUP_INVALID', { path: folder, detail }, { cause: error });
  }
  try {
    const value: unknown = JSON.parse(text);
    if (isManifest(value)) return value;
  } catch (error) {
    const detail = `${file} is not JSON`;
    throw new BusError('BACKUP_INVALID', { path: folder, detail }, { cause: error });
  }
  throw new BusError('BACKUP_INVALID', { path: folder, detail: `${file} lacks a field` });
}

function isManifest(value: unknown): value is BackupManifest {
  if (typeof value !== 'object' || value === null) return false;
  const fields = value as Record<string, unknown>;
  return (
    typeof fields.layout === 'string' &&
    typeof fields.sha256 === 'string' &&
    [fields.version, fields.entries, fields.bytes, fields.taken_ms].every(Number.isSafeInteger)
  );
}
