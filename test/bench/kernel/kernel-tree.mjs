// The source to measure on: Debian's linux-source-6.1, of which only the folders of the plan are unpacked.
import { existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { run, temporaryFolder } from './process.mjs';

const release = 'linux-source-6.1';
const archive = `/usr/src/${release}.tar.xz`;
const aptMsMax = 900_000;
const unpackMsMax = 600_000;

export const planFile = path.join(import.meta.dirname, 'plan.json');
export const plan = JSON.parse(readFileSync(planFile, 'utf8'));
export const planPaths = plan.shards.flatMap((shard) => shard.paths);

/** The root of an unpacked tree that holds every folder of the plan. */
export async function kernelTree(given) {
  if (given !== undefined) {
    const missing = planPaths.filter((folder) => !existsSync(path.join(given, folder)));
    if (missing.length > 0) throw new Error(`${given} has no ${missing.join(', ')}`);
    return path.resolve(given);
  }
  const cache = path.join(
    process.env.XDG_CACHE_HOME || path.join(homedir(), '.cache'),
    'sigma-bus-bench',
  );
  const tree = path.join(cache, release);
  if (planPaths.every((folder) => existsSync(path.join(tree, folder)))) return tree;
  await sourceArchive();
  // Renamed when whole: what a killed run left behind is never mistaken for a tree.
  const unpacking = temporaryFolder('unpacking', cache);
  const folders = planPaths.map((folder) => `${release}/${folder}`);
  await must('tar', ['-xJf', archive, '-C', unpacking, ...folders], unpackMsMax);
  rmSync(tree, { recursive: true, force: true });
  renameSync(path.join(unpacking, release), tree);
  return tree;
}

/** Debian's archive of the kernel; fetched when it is missing. */
export async function sourceArchive() {
  if (!existsSync(archive)) await install(release);
  return archive;
}

/** Installs cscope when it is missing. Its version. */
export async function cscopeVersion() {
  const version = async () => (await run('cscope', ['-V'], { timeoutMs: 10_000 })).stderr.trim();
  try {
    return await version();
  } catch {
    await install('cscope');
    return version();
  }
}

/** The version of the Debian package, empty for another tree. */
export async function packageVersion(name) {
  try {
    const shown = await run('dpkg-query', ['-W', '-f', '${Version}', name], { timeoutMs: 10_000 });
    return shown.code === 0 ? shown.stdout.trim() : '';
  } catch {
    return '';
  }
}

/** The C files below the folders of the plan, relative, sorted; links are not followed. */
export function cFiles(root) {
  const found = [];
  const walk = (folder) => {
    for (const entry of readdirSync(path.join(root, folder), { withFileTypes: true })) {
      const file = `${folder}/${entry.name}`;
      if (entry.isDirectory()) walk(file);
      else if (entry.isFile() && /\.[ch]$/.test(entry.name)) found.push(file);
    }
  };
  planPaths.forEach(walk);
  return found.sort();
}

export function shardOf(file) {
  return plan.shards.find((shard) =>
    shard.paths.some((folder) => file === folder || file.startsWith(`${folder}/`)),
  )?.alias;
}

export async function install(name) {
  const asRoot = process.getuid?.() === 0 ? [] : ['sudo', '-n'];
  const apt = async (...args) => {
    const [command, ...rest] = [...asRoot, 'apt-get', ...args];
    return must(command, rest, aptMsMax);
  };
  process.stderr.write(`installing ${name} with apt\n`);
  const arguments_ = ['install', '-y', '--no-install-recommends', name];
  try {
    await apt(...arguments_);
  } catch {
    await apt('update');
    await apt(...arguments_);
  }
}

export async function must(command, args, timeoutMs) {
  const result = await run(command, args, {
    timeoutMs,
    env: { DEBIAN_FRONTEND: 'noninteractive' },
  });
  if (result.code !== 0)
    throw new Error(`${command} ${args[0]} failed: ${result.stderr.slice(-500)}`);
}
