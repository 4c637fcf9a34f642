import { BusError } from '../../../errors/bus-error.js';
import type { FileRow } from '../../format/shard-index.js';
import type { IndexPlace, Served } from '../../plan/manifest.js';
import { openWords } from '../../plan/open-shard.js';
import { blobId } from '../../source/blob.js';
import { ConfinedReader } from '../../source/confined-reader.js';
import {
  headOf as headCommit,
  revisionAt,
  rootOf,
  type Revision,
} from '../../source/git/revision.js';
import { runGit } from '../../source/git/run-git.js';
import { eachEntry } from '../../source/git/tree-entries.js';
import { ruleFile } from '../../mine/items/rule-file.js';
import { attributesName } from '../../source/role-marks.js';
import type { LeftOut, LeftOutReason } from '../../source/source-tree.js';
import { readLeftOut } from '../left-out-files.js';

/** Paths that an error names. */
const namedMax = 5;
/** Commits before HEAD whose index may be published. */
const ancestorsMax = 64;

/** A commit, seen from a folder of its repository. */
export interface Pin {
  commit: string;
  /** The first commit of its history; empty: this clone does not know it. */
  repository: string;
  /** The folder within the repository; empty: all of it. */
  folder: string;
}

async function pinOf(root: string, revision: Revision): Promise<Pin> {
  const { commit } = revision;
  return { commit, repository: await rootOf(root, revision), folder: folderOf(revision) };
}

/** The folder is given as bytes by git; what is not UTF-8 differs from all that is. */
function folderOf({ prefix }: Revision): string {
  return prefix.toString('utf8').replace(/\/$/, '');
}

/** Every file of an index, with its content. */
export async function rowsOf(place: IndexPlace, { shards }: Served): Promise<FileRow[]> {
  const rows: FileRow[] = [];
  for (const shard of shards) {
    const words = await openWords(place, shard);
    for (let at = 0; at < words.fileCount; at += 1) rows.push(words.file(at));
  }
  return rows;
}

/** What an index was made from. */
interface Made {
  commit: string | undefined;
  /** From that commit, and not from files on disk. */
  isOfCommit: boolean;
  rows: readonly FileRow[];
}

/**
 * The commit that an index is of, and its files that the index leaves out: every file that it read has the content of that commit,
 * it knows every file of the commit, be it as left out, and what decides about other files is as in the commit. Throws
 * INDEX_UNPINNED, which names what differs.
 */
export async function pinned(
  root: string,
  home: string,
  { commit, isOfCommit, rows }: Made,
): Promise<{ pin: Pin; leftOut: LeftOut[] }> {
  const unpinned = (detail: string): BusError =>
    new BusError('INDEX_UNPINNED', { path: root, detail });
  const asked = commit ?? (await headCommit(root));
  if (asked === undefined) throw unpinned('the tree is in no git repository, or has no commit');
  const pin = await pinOf(root, await revisionAt(root, asked));
  const left = new Map<string, string>();
  const end = await eachEntry(root, pin.commit, ({ path, id }) => left.set(path, id));
  if (end !== 'ended') throw unpinned(`git cannot list ${pin.commit}`);
  const others: string[] = [];
  for (const { path, blob } of rows) {
    if (left.get(path) !== blob) others.push(path);
    left.delete(path);
  }
  const all = await readLeftOut(root, home);
  if (!isOfCommit) others.push(...(await othersAmong(root, all, left)));
  // Names of other files are not published.
  const leftOut = all.filter(({ path }) => left.delete(path));
  others.push(...left.keys());
  if (others.length === 0) return { pin, leftOut };
  const some = others.slice(0, namedMax).join(', ');
  const more = others.length > namedMax ? ' …' : '';
  throw unpinned(
    `${others.length} files are not as in commit ${asked.slice(0, 12)}: ${some}${more}`,
  );
}

/** Left out for what their content is, or is not. */
const reasonsByContent: ReadonlySet<LeftOutReason> = new Set<LeftOutReason>([
  ...(['binary', 'generated', 'too large', 'miner failed'] as const),
  ...(['unreadable', 'absent', 'not a file', 'outside the root'] as const),
]);
/** A file that is larger is taken for another one. */
const comparedBytesMax = 256 * 1024 * 1024;

/**
 * Files that an index has not read, but that have decided what is in it: they would be read from another content, or say how others
 * are. `committed`: their blobs.
 */
async function othersAmong(
  root: string,
  leftOut: readonly LeftOut[],
  committed: ReadonlyMap<string, string>,
): Promise<string[]> {
  const isDeciding = ({ path, reason }: LeftOut): boolean =>
    attributesName.test(path) || (reasonsByContent.has(reason) && committed.has(path));
  const deciding = [...leftOut.filter(isDeciding).map(({ path }) => path), ruleFile];
  const reader = new ConfinedReader(root, comparedBytesMax);
  const others: string[] = [];
  for (const path of deciding) {
    const found = await reader.read(path);
    const blob = 'bytes' in found ? blobId(found.bytes) : undefined;
    const isAbsent = 'refused' in found && found.refused === 'absent';
    if (blob !== committed.get(path) || (blob === undefined && !isAbsent)) others.push(path);
  }
  return others;
}

/**
 * Commits whose index may be pulled, nearest first: the one that is asked for, or HEAD and what it came from; none without git.
 * Throws as `revisionAt`.
 */
export async function candidatesFor(
  root: string,
  asOf: string | undefined,
): Promise<{ commits: string[]; folder: string; repository: () => Promise<string> }> {
  const at = await revisionAt(root, asOf);
  if (at === undefined) return { commits: [], folder: '', repository: () => Promise.resolve('') };
  const { commit } = at;
  const its = { folder: folderOf(at), repository: () => rootOf(root, at) };
  if (asOf !== undefined) return { commits: [commit], ...its };
  const args = ['rev-list', '--first-parent', `--max-count=${ancestorsMax}`, commit, '--'];
  const listed = (await runGit(root, args))?.toString('latin1').trim().split('\n');
  return { commits: listed ?? [commit], ...its };
}

/** How far the commit of a tree is from that of its index. */
export interface Distance {
  /** Commits that the tree has and the index has not, and the other way round. */
  ahead: number;
  behind: number;
  /** Files that differ between the two commits. */
  files: number;
}

/** Undefined where git cannot tell, as for a commit that this clone does not have. */
export async function distanceFrom(root: string, commit: string): Promise<Distance | undefined> {
  const counted = await runGit(root, [
    ...['rev-list', '--left-right', '--count', `${commit}...HEAD`, '--'],
  ]);
  const differing = await runGit(root, [
    ...['diff-tree', '-r', '-z', '--name-only', '--no-renames', '--no-ext-diff'],
    ...[commit, 'HEAD', '--', '.'],
  ]);
  const [, behind, ahead] = /^(\d+)\t(\d+)\n$/.exec(counted?.toString('latin1') ?? '') ?? [];
  if (differing === undefined || ahead === undefined) return undefined;
  const files = differing.toString('latin1').split('\0').length - 1;
  return { ahead: Number(ahead), behind: Number(behind), files };
}
