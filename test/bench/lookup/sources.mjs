// The whole kernel, what ctags and cscope make of it, and our index of it. All of it takes minutes and is kept.
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { cscopeVersion, install, must, sourceArchive } from '../kernel/kernel-tree.mjs';
import { run, runSigma, temporaryFolder } from '../kernel/process.mjs';

const release = 'linux-source-6.1';
const unpackMsMax = 900_000;
const toolMsMax = 1_800_000;
const indexMsMax = 3_600_000;

/** The root of a tree: the given one, or all of Debian's kernel in a cache folder. */
export async function wholeKernel(given) {
  if (given !== undefined) return path.resolve(given);
  const cache = path.join(
    process.env.XDG_CACHE_HOME || path.join(homedir(), '.cache'),
    'sigma-bus-bench',
  );
  const tree = path.join(cache, `${release}-whole`);
  if (existsSync(tree)) return tree;
  const archive = await sourceArchive();
  // Renamed when whole: what a killed run left behind is never mistaken for a tree.
  const unpacking = temporaryFolder('unpacking', cache);
  await must('tar', ['-xJf', archive, '-C', unpacking], unpackMsMax);
  renameSync(path.join(unpacking, release), tree);
  return tree;
}

/** Builds the index in `home` when there is none yet. */
export async function ensureIndex({ root, home }) {
  const listed = await runSigma(['overlay', 'list', '--repo', root, '--json'], { home });
  if (listed.code === 0) return;
  process.stderr.write(`indexing ${root}\n`);
  const built = await runSigma(['index', root, '--json'], { home, timeoutMs: indexMsMax });
  if (built.code !== 0) throw new Error(`sigma index failed: ${built.stderr.slice(-500)}`);
}

/** The C files of a tree, what universal-ctags finds in them, and the database of cscope. */
export class Peers {
  constructor({ root, cache }) {
    this.root = root;
    const files = filesBelow(root);
    this.folder = path.join(cache, digestOf(root, files));
    mkdirSync(this.folder, { recursive: true });
    /** Absolute paths, in a file of their own, as both tools read them. */
    this.list = path.join(this.folder, 'cscope.files');
    if (!existsSync(this.list)) writeFileSync(this.list, `${files.join('\n')}\n`);
  }

  files() {
    return readFileSync(this.list, 'utf8').trim().split('\n');
  }

  /** Installs universal-ctags when it is missing. Its version. */
  async ctagsVersion() {
    const version = async () => (await run('ctags', ['--version'], { timeoutMs: 10_000 })).stdout;
    const first = await version().catch(() => install('universal-ctags').then(version));
    return first.split(',')[0] ?? '';
  }

  /** Rows `name kind line file` with tabs between, definitions only. */
  async tags() {
    const tags = path.join(this.folder, 'tags');
    if (existsSync(tags)) return tags;
    await this.ctagsVersion();
    process.stderr.write('ctags\n');
    const format = '%N\t%k\t%n\t%F';
    const languages = ['--languages=C', '--langmap=C:.c.h', '--c-kinds=defgstuv'];
    const how = ['-x', `--_xformat=${format}`, '--sort=no', '-L', this.list, '-f', `${tags}.new`];
    await must('ctags', [...languages, ...how], toolMsMax);
    renameSync(`${tags}.new`, tags);
    return tags;
  }

  /**
   * With the inverted index (-q): the linear search of cscope skips calls that lie across its read blocks.
   */
  async cscope() {
    await cscopeVersion();
    const database = path.join(this.folder, 'cscope.out');
    if (existsSync(`${database}.po`)) return database;
    process.stderr.write('cscope\n');
    const built = await run('cscope', ['-b', '-q', '-k', '-i', this.list, '-f', database], {
      timeoutMs: toolMsMax,
    });
    if (built.code === 0) return database;
    rmSync(`${database}.po`, { force: true });
    throw new Error(`cscope failed: ${built.stderr.slice(-300)}`);
  }
}

/** Another one as soon as a file comes, goes or is written: what was made of another tree is never taken. */
function digestOf(root, files) {
  const digest = createHash('sha256').update(root);
  for (const file of files) {
    const { size, mtimeMs } = statSync(file);
    digest.update(`\n${file} ${size} ${mtimeMs}`);
  }
  return digest.digest('hex').slice(0, 12);
}

function filesBelow(root) {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.[ch]$/.test(entry.name))
    .map((entry) => path.join(entry.parentPath ?? entry.path, entry.name))
    .sort();
}
