import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from './temporary.js';

/** A disk of its own that can be filled. */
export interface SmallDisk extends Disposable {
  path: string;
  /** To the last byte. */
  fill(): void;
  free(): void;
}

/** Throws where mounting is not permitted. */
export function mountSmallDisk(mebibytes: number): SmallDisk {
  const folder = temporaryFolder();
  const mounted = path.join(folder.path, 'disk');
  const ballast = path.join(mounted, 'ballast');
  mkdirSync(mounted);
  try {
    const options = { stdio: 'ignore' } as const;
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'none', mounted], options);
  } catch (error) {
    folder.remove();
    throw error;
  }
  return {
    path: mounted,
    fill() {
      for (let bytes = mebibytes * 1024 * 1024; bytes >= 1; bytes = Math.floor(bytes / 2)) {
        try {
          writeFileSync(ballast, Buffer.alloc(bytes), { flag: 'a' });
        } catch (error) {
          if ((error as { code?: string }).code !== 'ENOSPC') throw error;
        }
      }
    },
    free: () => rmSync(ballast),
    [Symbol.dispose]() {
      execFileSync('umount', ['--lazy', mounted]);
      folder.remove();
    },
  };
}

export const canMount = succeeds(() => mountSmallDisk(1)[Symbol.dispose]());

/** Bounds each file that this process writes; a write beyond fails as one on a full disk does. */
export function limitFileSize(bytes: number | 'unlimited'): void {
  execFileSync('prlimit', [`--pid=${process.pid}`, `--fsize=${bytes}:`]);
}

export const canLimitFileSize = succeeds(() => limitFileSize('unlimited'));

function succeeds(work: () => void): boolean {
  try {
    work();
    return true;
  } catch {
    return false;
  }
}
