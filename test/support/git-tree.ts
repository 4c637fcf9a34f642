import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** Nothing is collected after a commit. */
const quick = ['-c', 'gc.auto=0', '-c', 'maintenance.auto=false'];

/** A folder for one test, removed at the end of the scope. */
export class TemporaryTree implements AsyncDisposable {
  private constructor(readonly root: string) {}

  static async create(files: Record<string, string | Buffer> = {}): Promise<TemporaryTree> {
    const tree = new TemporaryTree(await realpath(await mkdtemp(join(tmpdir(), 'sigma-tree-'))));
    await tree.write(files);
    return tree;
  }

  async write(files: Record<string, string | Buffer>): Promise<void> {
    for (const [path, content] of Object.entries(files)) {
      await mkdir(dirname(join(this.root, path)), { recursive: true });
      await writeFile(join(this.root, path), content);
    }
  }

  git(...args: string[]): string {
    const who = ['-c', 'user.name=test', '-c', 'user.email=test@example.org'];
    return execFileSync('git', [...quick, ...who, ...args], {
      cwd: this.root,
      encoding: 'utf8',
      stdio: 'pipe',
    });
  }

  /** What `git init` makes, without a process. */
  #begin(): void {
    const folder = join(this.root, '.git');
    if (existsSync(folder)) return;
    for (const each of ['objects', 'refs/heads'])
      mkdirSync(join(folder, each), { recursive: true });
    writeFileSync(join(folder, 'HEAD'), 'ref: refs/heads/main\n');
    writeFileSync(
      join(folder, 'config'),
      '[core]\n\trepositoryformatversion = 0\n\tbare = false\n',
    );
  }

  /** The commit that was just made, which is not packed. */
  #head(): string {
    const read = (name: string): string =>
      readFileSync(join(this.root, '.git', name), 'utf8').trim();
    const head = read('HEAD');
    return head.startsWith('ref: ') ? read(head.slice('ref: '.length)) : head;
  }

  commitAll(): void {
    this.#begin();
    this.git('add', '-A');
    this.git('commit', '-qm', 'all');
  }

  /** Commits every file and returns the id of the commit. `date`: like `2026-11-01T12:00:00Z`. */
  commit(subject: string, { author = 'test', date = '2026-01-01T00:00:00Z' } = {}): string {
    this.#begin();
    this.git('add', '-A');
    const who = { GIT_AUTHOR_NAME: author, GIT_AUTHOR_EMAIL: 'author@example.org' };
    const when = { GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date };
    const committer = ['-c', 'user.name=committer', '-c', 'user.email=committer@example.org'];
    execFileSync(
      'git',
      [...quick, ...committer, 'commit', '-q', '--allow-empty-message', '-m', subject],
      {
        cwd: this.root,
        env: { ...process.env, ...who, ...when },
        stdio: 'pipe',
      },
    );
    return this.#head();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.root, { recursive: true, force: true });
  }
}
