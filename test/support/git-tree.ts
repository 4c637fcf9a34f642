import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A folder of its own for one test; gone at the end of the scope. */
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
    return execFileSync('git', [...who, ...args], {
      cwd: this.root,
      encoding: 'utf8',
      stdio: 'pipe',
    });
  }

  commitAll(): void {
    this.git('init', '-q');
    this.git('add', '-A');
    this.git('commit', '-qm', 'all');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.root, { recursive: true, force: true });
  }
}
