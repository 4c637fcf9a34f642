import { copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { namesIn } from '../delegation/grounding/names.js';
import { gitText } from './git.js';
import type { Walls } from './sandbox.js';

/** Of one call of git; the first looks at every file of a tree. */
const gitMs = 60_000;
const listBytesMax = 1024 * 1024;
/** Files that are parsed before and after. */
const parsedMax = 32;
const shownMax = 3;
/** Files that a response names. */
const filesMax = 500;

/** What was changed, independent of what the program that made the change says. */
export interface Seen {
  /** Below the folder, in the order of git. */
  files: string[];
  /** Could be parsed before, and cannot any more. */
  broken: { file: string; line: number }[];
}

/**
 * Sees what a program changes below a folder: two trees of git are compared, with an index and objects of their own, so that the
 * repository stays as it is. What git ignores is not seen; what others change meanwhile is seen as well.
 */
export class ChangeWatch implements AsyncDisposable {
  readonly #folder: string;
  readonly #git: (...args: string[]) => Promise<string | undefined>;
  #before: string | undefined;

  private constructor(folder: string, cwd: string, walls: Walls | undefined, objects: string) {
    this.#folder = folder;
    const env = {
      GIT_INDEX_FILE: path.join(folder, 'index'),
      GIT_OBJECT_DIRECTORY: path.join(folder, 'objects'),
      GIT_ALTERNATE_OBJECT_DIRECTORIES: objects,
    };
    const how = { env, ms: gitMs, bytesMax: listBytesMax };
    this.#git = (...args) => gitText(['-c', 'core.fsmonitor=false', ...args], cwd, walls, how);
  }

  /** Undefined: the folder is in no repository of git, or git cannot read it. */
  static async open(cwd: string, walls: Walls | undefined): Promise<ChangeWatch | undefined> {
    const wanted = ['rev-parse', '--git-path', 'objects', '--git-path', 'index'];
    const places = await gitText(wanted, cwd, walls, { ms: gitMs, bytesMax: listBytesMax });
    const [objects, index] = (places ?? '').split('\n').map((each) => path.resolve(cwd, each));
    if (places === undefined || objects === undefined || index === undefined) return undefined;
    const folder = await mkdtemp(path.join(tmpdir(), 'sigma-changes-'));
    const watch = new ChangeWatch(folder, cwd, walls, objects);
    await mkdir(path.join(folder, 'objects'));
    // With it, files are read whose times have changed; without it, all of them.
    await copyFile(index, path.join(folder, 'index')).catch(() => undefined);
    watch.#before = await watch.#tree();
    if (watch.#before !== undefined) return watch;
    await watch[Symbol.asyncDispose]();
    return undefined;
  }

  /**
   * `isAgain`: an earlier attempt may have done the work, so that nothing was left to change; then what is not committed counts.
   * Undefined: git could not read it any more.
   */
  async seen({ isAgain = false } = {}): Promise<Seen | undefined> {
    const after = await this.#tree();
    if (this.#before === undefined || after === undefined) return undefined;
    const seen = await this.#between(this.#before, after);
    if (!isAgain || seen?.files.length !== 0) return seen;
    const committed = await this.#git('rev-parse', '--verify', '--quiet', 'HEAD^{tree}');
    return committed === undefined ? seen : this.#between(committed.trim(), after);
  }

  async #between(before: string, after: string): Promise<Seen | undefined> {
    const list = await this.#git(
      ...['diff-tree', '-r', '--relative', '--no-renames', '--name-only', '-z', before, after],
    );
    if (list === undefined) return undefined;
    const files = list.split('\0').filter((each) => each !== '');
    return {
      files: files.slice(0, filesMax),
      broken: await this.#broken(files.slice(0, parsedMax), before, after),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #tree(): Promise<string | undefined> {
    if ((await this.#git('add', '--all', '.')) === undefined) return undefined;
    return (await this.#git('write-tree'))?.trim();
  }

  /** Texts that hold what a grammar cannot read anyway are left out: what an edit broke cannot be told there. */
  async #broken(files: readonly string[], before: string, after: string): Promise<Seen['broken']> {
    // Parsers are loaded when something was changed: most executors never need them.
    const { CodeReader } = await import('../pgc/mine/code-reader.js');
    await using reader = new CodeReader();
    const found: Seen['broken'] = [];
    for (const file of files) {
      const lineIn = async (tree: string): Promise<number | undefined> => {
        const text = await this.#git('cat-file', 'blob', `${tree}:./${file}`);
        return text === undefined
          ? undefined
          : reader.brokenLine(file, text).catch(() => undefined);
      };
      const line = await lineIn(after);
      if (line !== undefined && (await lineIn(before)) === undefined) found.push({ file, line });
    }
    return found;
  }
}

/** Why a change that a program calls done is doubtful; empty: nothing that a program sees speaks against it. */
export function doubtsOf(said: string, { files, broken }: Seen): string[] {
  if (files.length === 0) return ['it says that it is done, and no file was changed'];
  // Either may begin further up: files are told below the folder of the work.
  const is = (file: string, name: string): boolean => {
    const [seen, said] = [`/${file}`, `/${name.replace(/^\.?\//, '')}`];
    return seen.endsWith(said) || said.endsWith(seen);
  };
  const named = namesIn(said).paths;
  const isElsewhere =
    named.length > 0 && !named.some((name) => files.some((file) => is(file, name)));
  return [
    ...broken.map(
      ({ file, line }) => `${file} could be parsed before and cannot any more, from line ${line}`,
    ),
    ...(isElsewhere ? [`it names ${listed(named)}, and changed ${listed(files)}`] : []),
  ];
}

function listed(names: readonly string[]): string {
  const more = names.length - shownMax;
  return names.slice(0, shownMax).join(', ') + (more > 0 ? ` and ${more} more` : '');
}
