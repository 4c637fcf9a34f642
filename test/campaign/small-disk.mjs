import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '../bench/kernel/process.mjs';

const chunkBytes = 1024 * 1024;

/** A file system of its own that can be filled to the last byte. Throws where mounting is not permitted. */
export function smallDisk(name, mebibytes) {
  const mounted = path.join(temporaryFolder(name), 'disk');
  const ballast = path.join(mounted, 'ballast');
  mkdirSync(mounted);
  const options = { stdio: 'ignore' };
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'none', mounted], options);
  // Before the folder around it is removed, which happens when the process ends.
  process.prependListener('exit', () => execFileSync('umount', ['--lazy', mounted], options));
  return {
    path: mounted,
    fill() {
      for (let bytes = chunkBytes; bytes >= 1;) {
        try {
          writeFileSync(ballast, Buffer.alloc(bytes), { flag: 'a' });
        } catch (error) {
          if (error.code !== 'ENOSPC') throw error;
          bytes = Math.floor(bytes / 2);
        }
      }
    },
    free: () => rmSync(ballast, { force: true }),
  };
}
