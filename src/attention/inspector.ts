import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { lstat, open, readdir, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { attentionLimits, type Inspector, type Sight } from './shapes.js';

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

/** Whether git, with these arguments in this folder, ended well. */
export type RunGit = (args: string[], cwd: string) => Promise<boolean>;

const plainGit: RunGit = (args, cwd) =>
  run('git', args, { cwd, timeout: gitTimeoutMs }).then(
    () => true,
    () => false,
  );

/** Reads below a root, links followed: what they lead to must lie below it too. `root` is absolute. */
export class FolderInspector implements Inspector {
  /** By path: of one action, a file is asked about more than once. */
  readonly #tracked = new Map<string, Promise<boolean>>();

  private constructor(
    readonly root: string,
    readonly git: RunGit,
  ) {}

  /** Throws what the file system says of a root that is none. */
  static async open(root: string, git = plainGit): Promise<FolderInspector> {
    return new FolderInspector(await realpath(root), git);
  }

  async read(relative: string): Promise<string | undefined> {
    try {
      const full = await realpath(path.resolve(this.root, relative));
      if (!full.startsWith(`${this.root}${path.sep}`)) return undefined;
      // A pipe without a writer would block.
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

  async look(relative: string): Promise<Sight | undefined> {
    let full = path.resolve(this.root, relative);
    for (const missing: string[] = []; ; full = path.dirname(full)) {
      try {
        const real = await realpath(full);
        const place = path.relative(this.root, path.join(real, ...missing));
        const isFolder = (await stat(real)).isDirectory();
        const kind = missing.length > 0 ? 'nothing' : isFolder ? 'folder' : 'file';
        return { kind, path: /^\.\.(?:\/|$)/.test(place) ? undefined : place };
      } catch (error) {
        if (!['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? ''))
          return undefined;
      }
      // What is written to a link that leads to nothing comes to be where it leads.
      const isLink = await lstat(full).then(
        (found) => found.isSymbolicLink(),
        () => false,
      );
      if (isLink) return { kind: 'nothing', path: undefined };
      missing.unshift(path.basename(full));
    }
  }

  /** Links are not followed into. */
  async list(relative: string, deep: boolean, max: number): Promise<string[] | undefined> {
    try {
      const full = await realpath(path.resolve(this.root, relative));
      if (full !== this.root && !full.startsWith(`${this.root}${path.sep}`)) return undefined;
      const found: string[] = [];
      const folders = [full];
      for (let folder = folders.shift(); folder !== undefined; folder = folders.shift()) {
        for (const each of await readdir(folder, { withFileTypes: true })) {
          const place = path.join(folder, each.name);
          if (each.isFile() && found.length < max) found.push(path.relative(this.root, place));
          const isOwn = !each.name.startsWith('.') && each.name !== 'node_modules';
          if (deep && each.isDirectory() && isOwn && folders.length < max) folders.push(place);
        }
        if (found.length >= max) break;
      }
      return found.sort();
    } catch {
      return undefined;
    }
  }

  isTracked(relative: string): Promise<boolean> {
    const known = this.#tracked.get(relative) ?? this.#isTracked(relative);
    this.#tracked.set(relative, known);
    return known;
  }

  async #isTracked(relative: string): Promise<boolean> {
    const ask = (...words: string[]): Promise<boolean> =>
      this.git([...quietGit, ...words, '--', relative], this.root);
    return (
      (await ask('ls-files', '--error-unmatch')) &&
      ask('diff', '--quiet', '--no-ext-diff', '--no-textconv', 'HEAD')
    );
  }
}
