import { BusError } from '../../../errors/bus-error.js';
import { streamGit, type GitEnd } from './git-stream.js';
import { History, HistoryBuilder, type HistoryCut } from './history.js';
import { logFormat, LogReader } from './log-reader.js';
import { headOf, revisionAt, type Revision } from './revision.js';
import { eachEntry } from './tree-entries.js';

/** The Linux kernel has 1.1 million. */
const historyCommitsMax = 2_000_000;
/** Enough for some 20 million changed paths; the Linux kernel has three. */
const historyBytesMax = 2 * 1024 * 1024 * 1024;
const historyMsMax = 180_000;

export interface HistoryRequest {
  /** A revision as git writes it; absent: HEAD. */
  asOf?: string | undefined;
  commitsMax?: number;
  bytesMax?: number;
  msMax?: number;
  signal?: AbortSignal | undefined;
}

/**
 * The git history of the files of a folder (a work tree, a folder in one, or a bare repository), read in one pass.
 * Undefined without usable git or without commits. A limit or damage cuts off the oldest commits, and the history says
 * so. Throws USAGE and REPO_UNREADABLE as `revisionAt`, and INTERRUPTED.
 */
export async function historyOf(
  root: string,
  request: HistoryRequest = {},
): Promise<History | undefined> {
  const revision = await revisionAt(root, request.asOf);
  if (revision === undefined) {
    const head = await headOf(root);
    return head === undefined ? undefined : new HistoryBuilder([]).finish(head, 'broken');
  }
  const { commitsMax = historyCommitsMax, signal } = request;
  const paths: string[] = [];
  const listed = await eachEntry(
    root,
    revision.commit,
    ({ path, mode, isExact }) => {
      if (isExact && mode.startsWith('100')) paths.push(path);
    },
    signal,
  );
  const builder = new HistoryBuilder(paths);
  const limits = {
    ...{ bytesMax: request.bytesMax ?? historyBytesMax },
    ...{ msMax: request.msMax ?? historyMsMax, signal },
  };
  const end =
    listed === 'ended' ? await readLog(root, revision, builder, commitsMax, limits) : listed;
  if (signal?.aborted === true) throw new BusError('INTERRUPTED');
  return builder.finish(revision.commit, cutOf(end, revision));
}

/**
 * Merges are left out: they change nothing that their sides did not, and following only first parents would make the
 * person who merged the author of everything. Renames are not detected, because that compares the contents of a whole
 * history. `--full-history` counts side branches that were merged without effect, so a file has the same history
 * whichever folder is indexed. `--full-diff` lists all files of a commit, so a sweeping commit is recognised in a
 * small folder, too.
 */
async function readLog(
  root: string,
  { commit, prefix, isShallow }: Revision,
  builder: HistoryBuilder,
  commitsMax: number,
  limits: Parameters<typeof streamGit>[2],
): Promise<GitEnd | 'commits'> {
  // One commit more than the limit shows that there are more.
  const seen = { commits: 0 };
  const reader = new LogReader({
    commit: (head) => {
      seen.commits += 1;
      if (seen.commits <= commitsMax) builder.commit(head);
    },
    path: (path) => {
      if (seen.commits <= commitsMax) builder.touch(pathBelow(prefix, path));
    },
  });
  // The oldest commit of a shallow clone seems to add every file, which its author did not.
  const settings = isShallow ? ['-c', 'log.showRoot=false'] : [];
  const plain = [
    '--no-ext-diff',
    '--no-textconv',
    '--no-show-signature',
    '--no-color',
    '-O/dev/null',
  ];
  const shape = ['-z', '--raw', '--no-abbrev', '--no-renames', '--encoding=UTF-8', logFormat];
  const which = ['--no-merges', '--full-history', '--full-diff', `--max-count=${commitsMax + 1}`];
  // Without a path argument git does not filter twice.
  const below = prefix.length === 0 ? [] : ['.'];
  const args = [...settings, 'log', ...plain, ...shape, ...which, commit, '--', ...below];
  const end = await streamGit(root, args, limits, (chunk) => {
    reader.push(chunk);
    return !reader.isBroken;
  });
  return end === 'ended' && seen.commits > commitsMax ? 'commits' : end;
}

/** Undefined for a path outside the folder. */
function pathBelow(prefix: Buffer, path: Buffer): string | undefined {
  const isBelow =
    path.length > prefix.length && path.compare(prefix, 0, prefix.length, 0, prefix.length) === 0;
  return isBelow ? path.toString('utf8', prefix.length) : undefined;
}

function cutOf(end: GitEnd | 'commits', { isShallow }: Revision): HistoryCut | undefined {
  switch (end) {
    case 'ended':
      return isShallow ? 'shallow' : undefined;
    case 'commits':
    case 'bytes':
    case 'time':
      return end;
    case 'aborted':
    case 'failed':
    case 'stopped':
      return 'broken';
  }
}
