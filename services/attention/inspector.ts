import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { open, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { attentionLimits, type Inspector } from '../../src/attention/shapes.js';

const run = promisify(execFile);
const gitTimeoutMs = 10_000;
/** Nothing that the tree itself configures is started by asking about it. */
const quietGit = [
  '--no-optional-locks',
  '-c',
  'core.fsmonitor=false',
  '-c',
  'core.hooksPath=/dev/null',
];

/** Reads below a root, links followed: what they lead to must lie below it too. `root` is absolute. */
export class FolderInspector implements Inspector {
  private constructor(readonly root: string) {}

  /** Throws what the file system says of a root that is none. */
  static async open(root: string): Promise<FolderInspector> {
    return new FolderInspector(await realpath(root));
  }

  async read(relative: string): Promise<string | undefined> {
    try {
      const full = await realpath(path.resolve(this.root, relative));
      if (!full.startsWith(`${this.root}${path.sep}`)) return undefined;
      // A pipe that nobody writes to would be waited for.
      await using file = await open(full, constants.O_RDONLY | constants.O_NONBLOCK);
      const found = await file.stat();
      if (!found.isFile() || found.size > attentionLimits.scriptBytes) return undefined;
      const bytes = await file.readFile();
      return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    } catch {
      return undefined;
    }
  }

  /** Something with anything in it, text or not; a link by what it leads to. */
  async exists(relative: string): Promise<boolean | undefined> {
    try {
      const full = await realpath(path.resolve(this.root, relative));
      if (!full.startsWith(`${this.root}${path.sep}`)) return undefined;
      const { size } = await stat(full);
      return size > 0;
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'ENOENT' ? false : undefined;
    }
  }

  async isTracked(relative: string): Promise<boolean> {
    const git = (...words: string[]): Promise<unknown> =>
      run('git', [...quietGit, ...words, '--', relative], {
        cwd: this.root,
        timeout: gitTimeoutMs,
      });
    try {
      await git('ls-files', '--error-unmatch');
      await git('diff', '--quiet', '--no-ext-diff', '--no-textconv', 'HEAD');
      return true;
    } catch {
      return false;
    }
  }
}
