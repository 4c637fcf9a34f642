import { constants } from 'node:fs';
import { copyFile, link, mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { asBusError, BusError } from '../../errors/bus-error.js';
import { settle, writeAtomically } from '../format/container/segment-file.js';
import {
  manifestIn,
  placeIn,
  servedFiles,
  writeManifest,
  type IndexPlace,
  type Manifest,
} from '../plan/manifest.js';
import { cardFileName } from '../search/card/card-file.js';
import { runGit } from '../source/git/run-git.js';
import { revisionAt } from '../source/git/revision.js';
import { lockOf } from './open-facts.js';

/** Indexes of a home that are looked at. */
const indexesMax = 1_024;
/** A refresh of the other tree may replace what is copied. */
const attemptsMax = 3;

const treeSchema = z.object({
  root: z.string(),
  /** Device, inode and time of birth of the root: they stay when a folder is moved or renamed, and a copy has others. */
  identity: z.string(),
  /** The folder in its git work tree; undefined without git. */
  prefix: z.string().optional(),
  /** HEAD at the last run; undefined without git. */
  commit: z.string().optional(),
});
type Tree = z.infer<typeof treeSchema>;

interface Kin {
  tree: Tree;
  place: IndexPlace;
  changedMs: number;
}

/**
 * Gives a tree without an index that of its nearest kin, to be refreshed: its own one, if it was moved here; else a copy of
 * that of another work tree or clone of its repository. A copy takes no room, as files that never change are linked: each
 * tree may remove its own. Throws INDEX_BUILDING when the own one is being refreshed under the old name.
 */
export async function inherit(place: IndexPlace, root: string, home: string): Promise<void> {
  if (await isThere(place.manifest)) return;
  const known = await kinOf(home, place);
  if (known.length === 0) return;
  const self = await treeAt(root);
  const moved = await movedHere(known, self);
  if (moved !== undefined) return move(moved.place, place, root);
  for (const kin of await ofSameRepository(known, self, root))
    if (await copy(kin.place, place)) return;
}

/**
 * What a first run has taken from another tree without being asked to; undefined: nothing, as where the index was moved here with its
 * tree.
 */
export async function takenFrom(
  place: IndexPlace,
  before: Manifest | undefined,
  { root, shards, scip }: { root: string; shards?: unknown; scip?: unknown },
): Promise<string | undefined> {
  if (before === undefined || before.root === root || (await isThere(place.tree))) return undefined;
  const taken = [
    ...(shards === undefined ? ['the plan of its shards (--shards auto makes another)'] : []),
    ...(scip === undefined && before.scip !== undefined
      ? ['what SCIP indexes say (--no-scip does without)']
      : []),
  ];
  const what = taken.length === 0 ? '' : `, and takes over ${taken.join(' and ')}`;
  return `this index begins with that of ${before.root}${what}`;
}

/** For `inherit` of later runs, of this tree and of others. Throws STORE_UNAVAILABLE. */
export async function rememberTree(place: IndexPlace, root: string): Promise<void> {
  const text = JSON.stringify(await treeAt(root));
  if ((await readFile(place.tree, 'utf8').catch(() => '')) === text) return;
  await writeAtomically(place.tree, [Buffer.from(text)]);
}

async function treeAt(root: string): Promise<Tree> {
  const revision = await revisionAt(root);
  return {
    ...{ root, identity: await identityOf(root) },
    ...(revision && { prefix: revision.prefix.toString('latin1'), commit: revision.commit }),
  };
}

/** Empty: it is not there. */
async function identityOf(root: string): Promise<string> {
  return stat(root, { bigint: true }).then(
    ({ dev, ino, birthtimeNs }) => `${dev} ${ino} ${birthtimeNs}`,
    () => '',
  );
}

/** The other trees of a home with an index. */
async function kinOf(home: string, { folder }: IndexPlace): Promise<Kin[]> {
  const names = await readdir(dirname(folder)).catch((): string[] => []);
  const found: Kin[] = [];
  for (const name of names.sort().slice(0, indexesMax)) {
    const place = placeIn(join(home, 'pgc', name), '');
    try {
      const tree = treeSchema.parse(JSON.parse(await readFile(place.tree, 'utf8')));
      const { mtimeMs } = await stat(place.manifest);
      if (place.folder !== folder) found.push({ tree, place, changedMs: mtimeMs });
    } catch {
      // It has no index, or one of an older version.
    }
  }
  return found;
}

/** The index of the tree that lies here now, and no longer where it was. */
async function movedHere(known: readonly Kin[], { identity }: Tree): Promise<Kin | undefined> {
  for (const kin of known)
    if (kin.tree.identity === identity && (await identityOf(kin.tree.root)) !== identity)
      return kin;
  return undefined;
}

/** The nearest first. A tree that has the commit of another one is of its repository. */
async function ofSameRepository(
  known: readonly Kin[],
  { commit, prefix }: Tree,
  root: string,
): Promise<Kin[]> {
  const possible = known.filter(
    ({ tree }) => tree.commit !== undefined && tree.prefix === prefix && commit !== undefined,
  );
  const commits = possible.flatMap(({ tree }) => tree.commit ?? []);
  if (commits.length === 0) return [];
  const args = ['rev-list', '--no-walk', '--ignore-missing', ...commits];
  const ours = new Set((await runGit(root, args))?.toString().split('\n'));
  const distance = ({ tree }: Kin): number => (tree.commit === commit ? 0 : 1);
  return possible
    .filter(({ tree }) => ours.has(tree.commit ?? ''))
    .sort((a, b) => distance(a) - distance(b) || b.changedMs - a.changedMs);
}

async function move(from: IndexPlace, to: IndexPlace, root: string): Promise<void> {
  try {
    await using _ = await lockOf(from);
    await rename(from.folder, to.folder);
  } catch (error) {
    if (asBusError(error).code === 'STORE_LOCKED')
      throw new BusError('INDEX_BUILDING', { path: root }, { cause: error });
    // Something lies there already, such as the beginning of another index: then this is a first run.
  }
}

/** Resolves with whether it is there. It is complete, or not there at all. */
async function copy(from: IndexPlace, to: IndexPlace): Promise<boolean> {
  await removeHalfMade(to);
  const half = placeIn(`${to.folder}.${process.pid}.tmp`, to.project);
  try {
    for (let attempt = 1; ; attempt += 1)
      try {
        await copyInto(half, from);
        break;
      } catch (error) {
        await rm(half.folder, { recursive: true, force: true });
        if (attempt >= attemptsMax) throw error;
      }
    await rename(half.folder, to.folder);
    return true;
  } catch {
    // Without it everything is made anew.
    await rm(half.folder, { recursive: true, force: true }).catch(() => undefined);
    return false;
  }
}

async function copyInto(to: IndexPlace, from: IndexPlace): Promise<void> {
  const manifest = await manifestIn(from, from.folder);
  if (manifest.as_of !== '') throw new BusError('INDEX_MISSING', { path: from.folder });
  for (const folder of [to.segments, to.cards, to.facts])
    await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const name of servedFiles(manifest)) await linked(from.segments, to.segments, name);
  for (const name of cardsOf(manifest))
    await linked(from.cards, to.cards, name).catch(() => undefined);
  await copyFacts(from.facts, to.facts);
  for (const path of [from.seen, from.checked, from.shardAnswers])
    await copied(from.folder, to.folder, basename(path)).catch(() => undefined);
  await settle(to.segments, servedFiles(manifest));
  // Of what was copied, though the other tree may have another one by now.
  await writeManifest(to, manifest);
}

function cardsOf({ shards }: Manifest): string[] {
  return shards.map(cardFileName);
}

/**
 * Copies what a killed process would have left: tables never change once they are there, the rest is only appended to.
 * LevelDB finds out at opening whether it fits together, and each value carries a checksum. Numbers above that of the
 * manifest may be given once more, so that what a killed process has left there is written to: such tables are not linked.
 */
async function copyFacts(from: string, to: string): Promise<void> {
  const names = await readdir(from);
  const manifests = names.flatMap((name) => /^MANIFEST-(\d+)$/.exec(name)?.[1] ?? []);
  const [settled = 0] = manifests.map(Number).sort((one, other) => one - other);
  const isTable = (name: string): boolean => /\.(?:ldb|sst)$/.test(name);
  for (const name of names.filter((each) => /^(?:CURRENT|MANIFEST-\d+|\d+\.log)$/.test(each)))
    await copied(from, to, name);
  for (const name of names.filter(isTable))
    await (parseInt(name, 10) < settled ? linked : copied)(from, to, name);
}

function copied(from: string, to: string, name: string): Promise<void> {
  return copyFile(join(from, name), join(to, name), constants.COPYFILE_FICLONE);
}

async function linked(from: string, to: string, name: string): Promise<void> {
  try {
    await link(join(from, name), join(to, name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw error;
    // A file system without links, or with too many of them.
    await copied(from, to, name);
  }
}

/** What killed runs have left. */
async function removeHalfMade({ folder }: IndexPlace): Promise<void> {
  for (const name of await readdir(dirname(folder))) {
    const [, pid = ''] = /\.(\d+)\.tmp$/.exec(name) ?? [];
    if (!name.startsWith(`${basename(folder)}.`) || pid === '' || isRunning(Number(pid))) continue;
    await rm(join(dirname(folder), name), { recursive: true, force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
