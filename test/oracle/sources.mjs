// The code bases that are asked about: where they are, and which half of them may be studied.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { run, temporaryFolder } from '../bench/kernel/process.mjs';

const commandMsMax = 1_200_000;

/** `{ name, language, commit, half }` of each. */
export function repositories() {
  const listed = JSON.parse(
    readFileSync(path.join(import.meta.dirname, 'repositories.json'), 'utf8'),
  );
  return listed.map((each) => ({ ...each, half: halfOf(each.name) }));
}

/** `tune`: causes may be studied there; `hold`: only figures are looked at. By chance, so that nobody chooses. */
export function halfOf(name) {
  const [first] = createHash('sha256').update(name).digest();
  return first % 2 === 0 ? 'tune' : 'hold';
}

export function cacheFolder(...parts) {
  const base = process.env.XDG_CACHE_HOME || path.join(homedir(), '.cache');
  const folder = path.join(base, 'sigma-bus-oracle', ...parts);
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** The work tree of a repository: in `sources` under its short name, at any commit, else fetched into the cache. */
export async function treeOf({ name, commit }, sources) {
  const given = sources && path.join(path.resolve(sources), path.basename(name));
  if (given && existsSync(given)) return { root: given, commit: await commitIn(given) };
  const root = path.join(
    cacheFolder('sources'),
    `${name.replace('/', '+')}-${commit.slice(0, 12)}`,
  );
  if (existsSync(root)) return { root, commit };
  process.stderr.write(`fetching ${name}\n`);
  // Renamed when whole: what a killed run left behind is never mistaken for a tree.
  const unpacking = temporaryFolder('unpacking', cacheFolder('sources'));
  const git = (...args) => outputOf('git', args, unpacking);
  await git('init', '-q');
  await git('fetch', '-q', '--depth', '1', `https://github.com/${name}`, commit);
  await git('checkout', '-q', 'FETCH_HEAD');
  renameSync(unpacking, root);
  return { root, commit };
}

async function commitIn(root) {
  return (await outputOf('git', ['rev-parse', 'HEAD'], root)).trim();
}

/** What a command prints. Throws when it fails. */
export async function outputOf(command, args, cwd) {
  const { code, stdout, stderr } = await run(command, args, { cwd, timeoutMs: commandMsMax });
  if (code !== 0) throw new Error(`${command} ${args[0]} failed: ${stderr.slice(-500)}`);
  return stdout;
}
