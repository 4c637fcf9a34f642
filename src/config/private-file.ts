import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { BusError } from '../errors/bus-error.js';

/** A larger file is not a key. */
const bytesMax = 64 * 1_024;

/** The text of a file that only its owner may access; undefined: no file. Throws KEY_FILE_INVALID. */
export function readPrivate(file: string): string | undefined {
  try {
    const stat = statSync(file, { throwIfNoEntry: false });
    if (stat === undefined) return undefined;
    if (!stat.isFile()) throw invalid(file, 'it is no file');
    if ((stat.mode & 0o077) !== 0) throw invalid(file, 'others may read it; its mode must be 0600');
    if (stat.size > bytesMax) throw invalid(file, `it has more than ${bytesMax} bytes`);
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof BusError) throw error;
    if ((error as { code?: string }).code === 'ENOTDIR') return undefined;
    throw invalid(file, messageOf(error), error);
  }
}

/**
 * Writes a file for its owner alone (0600, missing folders 0700): whole or not at all, and on disk when
 * this returns. False when it is there and may not be replaced. Throws STORE_UNAVAILABLE.
 */
export function writePrivate(file: string, text: string, options: { replace: boolean }): boolean {
  return writeWhole(file, text, { ...options, mode: 0o600 });
}

/** The same for a file without secrets, which all may read. Throws STORE_UNAVAILABLE. */
export function writePublic(file: string, text: string): void {
  writeWhole(file, text, { replace: true, mode: 0o644 });
}

function writeWhole(
  file: string,
  text: string,
  options: { replace: boolean; mode: number },
): boolean {
  const folder = path.dirname(file);
  const draft = path.join(folder, `.${path.basename(file)}.${randomBytes(6).toString('hex')}`);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    try {
      writeFileSync(draft, text, { mode: 0o600, flag: 'wx', flush: true });
      // Not when it is made: the umask would take from it.
      if (options.mode !== 0o600) chmodSync(draft, options.mode);
      if (options.replace) renameSync(draft, file);
      // Atomic: of two processes one creates it, and no reader sees half of it.
      else linkSync(draft, file);
      return true;
    } finally {
      rmSync(draft, { force: true });
    }
  } catch (error) {
    if ((error as { code?: string }).code === 'EEXIST' && !options.replace) return false;
    throw unwritable(file, error);
  }
}

/** False when there was none. Throws STORE_UNAVAILABLE. */
export function removePrivate(file: string): boolean {
  try {
    if (lstatSync(file, { throwIfNoEntry: false }) === undefined) return false;
    rmSync(file);
    return true;
  } catch (error) {
    throw unwritable(file, error);
  }
}

export function invalid(file: string, detail: string, cause?: unknown): BusError {
  return new BusError('KEY_FILE_INVALID', { path: file, detail }, { cause });
}

function unwritable(file: string, cause: unknown): BusError {
  return new BusError('STORE_UNAVAILABLE', { path: file, detail: messageOf(cause) }, { cause });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
