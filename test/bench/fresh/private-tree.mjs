// A copy of a tree and of its finished index, to be changed at will.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { must } from '../kernel/kernel-tree.mjs';
import { placeOf, readManifest } from '../lookup/product.mjs';
import { load } from '../retrieval/product.mjs';
import { watched } from '../scale/watched.mjs';

const { writeManifest } = await load('src/pgc/plan/manifest.js');
const sigma = path.resolve(import.meta.dirname, '../../../services/cli/sigma.mjs');
const copyMsMax = 900_000;

/** `home`: where its index is; absent: it is built anew. A repository of git is cloned, without what is not committed. */
export async function privateTree({ repo, home: from, work }) {
  const [root, home] = [path.join(work, path.basename(repo)), path.join(work, 'home')];
  mkdirSync(work, { recursive: true });
  if (from === undefined && existsSync(path.join(repo, '.git')))
    await must('git', ['clone', '-q', '--shared', repo, root], copyMsMax);
  else await must('cp', ['-a', '--reflink=auto', repo, root], copyMsMax);
  if (from !== undefined) await transplant({ repo, from, root, home });
  return { root, home };
}

/** Segments never change once they are written, so they are linked; the rest is copied. */
async function transplant({ repo, from, root, home }) {
  const [old, place] = [placeOf(repo, from), placeOf(root, home)];
  mkdirSync(path.dirname(place.folder), { recursive: true });
  const { name } = path.parse(old.segments);
  cpSync(old.folder, place.folder, {
    recursive: true,
    preserveTimestamps: true,
    filter: (file) => path.basename(file) !== name,
  });
  await must('cp', ['-al', old.segments, place.segments], copyMsMax);
  const { format: _, segment_format: __, digest: ___, ...manifest } = await readManifest(old, repo);
  await writeManifest(place, { ...manifest, root });
}

/** `sigma index` to its end: its report, seconds, memory, and what it has written. */
export async function indexed({ root, home }, args = []) {
  const before = filesOf(home);
  const its = await watched(process.execPath, [sigma, 'index', root, '--json', ...args], {
    env: { SIGMA_HOME: home, SIGMA_LOG: 'error' },
  });
  if (its.code !== 0)
    throw new Error(`sigma index ended with ${its.code}: ${(its.stderr + its.stdout).slice(-500)}`);
  return { ...its, report: JSON.parse(its.stdout), written: writtenSince(before, home) };
}

/** What is on disk below a folder: stamp and size by path. */
export function filesOf(folder) {
  if (!existsSync(folder)) return new Map();
  return new Map(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .flatMap((entry) => {
        const file = path.join(entry.parentPath, entry.name);
        const { ino, size, mtimeMs } = statSync(file, { throwIfNoEntry: false }) ?? {};
        return ino === undefined ? [] : [[file, { ino, size, mtimeMs }]];
      }),
  );
}

/** Files that are new or have changed, with their bytes; of those that have only grown, what was added. */
export function writtenSince(before, folder) {
  let [files, bytes] = [0, 0];
  for (const [file, now] of filesOf(folder)) {
    const was = before.get(file);
    if (was?.ino === now.ino && was.mtimeMs === now.mtimeMs && was.size === now.size) continue;
    files += 1;
    bytes += was?.ino === now.ino && was.size < now.size ? now.size - was.size : now.size;
  }
  return { files, bytes };
}

export function bytesIn(folder) {
  return [...filesOf(folder).values()].reduce((sum, { size }) => sum + size, 0);
}

/** What the watcher of a tree says of itself. */
export function watchState({ root, home }) {
  try {
    return JSON.parse(readFileSync(path.join(placeOf(root, home).folder, 'watch.json'), 'utf8'));
  } catch {
    return undefined;
  }
}
