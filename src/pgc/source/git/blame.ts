import { BusError } from '../../../errors/bus-error.js';
import { measureLines } from '../blob.js';
import { isInnerPath } from '../confined-reader.js';
import { fileBytesMax } from '../source-tree.js';
import { collectGit, type GitEnd } from './git-stream.js';
import { noteOf, topMax, type CommitNote } from './history.js';
import { logFormat, LogReader, type CommitHead } from './log-reader.js';
import { plainLine } from './plain.js';
import { revisionAt, type Revision } from './revision.js';

/** A symbol of more lines is a table; its history says nothing that the file's does not. */
export const blameLinesMax = 5_000;
/** Of the commits that are told. */
export const blameCommitsMax = 10;
const blameMsMax = 20_000;

/** Who wrote the lines that stand there, when and why. */
export interface Blame {
  file_path: string;
  line_start: number;
  line_end: number;
  /** As of this commit; git's blob id of the file in it, so that one sees whose lines these are. */
  commit: string;
  blob: string;
  /** Those of most lines first. */
  authors: { name: string; lines: number }[];
  authors_total: number;
  /** Newest first. */
  commits: (CommitNote & { lines: number })[];
  commits_total: number;
  /** Lines older than a shallow clone knows. */
  lines_unknown: number;
}

export interface BlameRequest {
  /** Relative to the root, with `/`. */
  path: string;
  line_start: number;
  line_end: number;
  /** Absent: HEAD, never the work tree, for that would run the filters of the repository. */
  asOf?: string | undefined;
  msMax?: number;
  signal?: AbortSignal | undefined;
}

/**
 * Answers for one symbol at a time. Throws REPO_UNREADABLE without usable git, USAGE for lines that the
 * file does not have and for an unknown revision, PATH_OUTSIDE_ROOT, NOT_FOUND for a file that is not in
 * the revision, DEADLINE_EXCEEDED, TOO_LARGE and INTERRUPTED.
 */
export async function blameOf(root: string, request: BlameRequest): Promise<Blame> {
  const { path, line_start, line_end } = request;
  if (!isInnerPath(path)) throw new BusError('PATH_OUTSIDE_ROOT', { path, root });
  checkLines(line_start, line_end);
  const revision = await revisionAt(root, request.asOf);
  if (revision === undefined) {
    throw new BusError('REPO_UNREADABLE', { path: root, detail: 'git knows no commit of it' });
  }
  const blob = await blobOf(root, request, revision);
  const origins = await originsOf(root, request, revision);
  const heads = await headsOf(root, request, [...origins.lines.keys()]);
  const lines = { file_path: path, line_start, line_end };
  return { ...lines, commit: revision.commit, blob, ...summary(origins, heads) };
}

function checkLines(first: number, last: number): void {
  const isRange = Number.isSafeInteger(first) && Number.isSafeInteger(last) && first >= 1;
  if (isRange && last >= first && last - first < blameLinesMax) return;
  const detail = `lines ${first} to ${last} are no range of at most ${blameLinesMax} lines`;
  throw new BusError('USAGE', { detail });
}

/** The id of the file, when it has these lines. */
async function blobOf(root: string, request: BlameRequest, { commit }: Revision): Promise<string> {
  const { path, line_end } = request;
  const listing = ['--literal-pathspecs', 'ls-tree', '-z', commit, '--', path];
  const entry = await run(root, request, listing);
  if (entry.end === 'failed') throw unreadable(root);
  const [, blob] =
    /^100\d{3} blob ([0-9a-f]+)\t[^\0]+\0$/.exec(entry.output.toString('utf8')) ?? [];
  if (blob === undefined) throw new BusError('NOT_FOUND', { path });
  const content = await run(root, request, ['cat-file', 'blob', blob]);
  if (content.end === 'failed') throw unreadable(root);
  const { lines } = measureLines(content.output);
  if (line_end > lines) {
    throw new BusError('USAGE', {
      detail: `${plainLine(path)} has ${lines} lines as of ${commit}`,
    });
  }
  return blob;
}

interface Origins {
  /** Lines of each commit. */
  lines: Map<string, number>;
  unknown: number;
}

async function originsOf(
  root: string,
  request: BlameRequest,
  { commit, isShallow }: Revision,
): Promise<Origins> {
  const range = ['-L', `${request.line_start},${request.line_end}`];
  // Where a shallow clone was cut git marks a boundary; elsewhere the first commit is one like any other.
  const plain = ['--incremental', '--no-progress', '--no-textconv', '--no-ignore-revs-file'];
  const settings = [...plain, ...(isShallow ? [] : ['--root'])];
  const file = [commit, '--', `./${request.path}`];
  const { end, output } = await run(root, request, ['blame', ...settings, ...range, ...file]);
  if (end === 'failed') throw unreadable(root);
  return readOrigins(output.toString('utf8'));
}

/** `--incremental` says where lines come from and leaves the lines themselves out. */
function readOrigins(text: string): Origins {
  const lines = new Map<string, number>();
  const boundaries = new Set<string>();
  let commit = '';
  for (const row of text.split('\n')) {
    const [, id, count] = /^([0-9a-f]{40,64}) \d+ \d+ (\d+)$/.exec(row) ?? [];
    if (id !== undefined) {
      commit = id;
      lines.set(commit, (lines.get(commit) ?? 0) + Number(count));
    } else if (row === 'boundary') boundaries.add(commit);
  }
  let unknown = 0;
  for (const boundary of boundaries) {
    unknown += lines.get(boundary) ?? 0;
    lines.delete(boundary);
  }
  return { lines, unknown };
}

/** Asked of `log`, where names are those in the commits, not those that a newer `.mailmap` gives them. */
async function headsOf(
  root: string,
  request: BlameRequest,
  commits: readonly string[],
): Promise<CommitHead[]> {
  if (commits.length === 0) return [];
  const shape = ['-z', '--no-patch', '--no-show-signature', '--encoding=UTF-8', logFormat];
  const args = ['log', '--no-walk=sorted', ...shape, ...commits, '--'];
  const { end, output } = await run(root, request, args);
  if (end === 'failed') throw unreadable(root);
  const heads: CommitHead[] = [];
  const reader = new LogReader({ commit: (head) => heads.push(head), path: () => undefined });
  reader.push(output);
  return heads;
}

function summary(
  { lines, unknown }: Origins,
  heads: readonly CommitHead[],
): Pick<Blame, 'authors' | 'authors_total' | 'commits' | 'commits_total' | 'lines_unknown'> {
  const commits = heads.map((head) => ({ ...noteOf(head), lines: lines.get(head.commit) ?? 0 }));
  const byAuthor = new Map<string, number>();
  for (const each of commits)
    byAuthor.set(each.author, (byAuthor.get(each.author) ?? 0) + each.lines);
  const authors = [...byAuthor]
    .map(([name, count]) => ({ name, lines: count }))
    .sort((a, b) => b.lines - a.lines || (a.name < b.name ? -1 : 1));
  return {
    ...{ authors: authors.slice(0, topMax), authors_total: authors.length },
    ...{ commits: commits.slice(0, blameCommitsMax), commits_total: commits.length },
    lines_unknown: unknown,
  };
}

/** Every end but `ended` and `failed` is thrown. */
async function run(
  root: string,
  { msMax = blameMsMax, signal }: BlameRequest,
  args: readonly string[],
): Promise<{ end: 'ended' | 'failed'; output: Buffer }> {
  const { end, output } = await collectGit(root, args, {
    ...{ bytesMax: fileBytesMax, msMax, signal },
  });
  if (end === 'ended' || end === 'failed') return { end, output };
  throw refusalOf(end, msMax);
}

function unreadable(root: string): BusError {
  return new BusError('REPO_UNREADABLE', { path: root, detail: 'git fails on its objects' });
}

function refusalOf(end: Exclude<GitEnd, 'ended' | 'failed'>, msMax: number): BusError {
  if (end === 'time') return new BusError('DEADLINE_EXCEEDED', { ms: msMax });
  if (end === 'aborted') return new BusError('INTERRUPTED');
  const limit = fileBytesMax;
  return new BusError('TOO_LARGE', { what: 'the answer of git', bytes: limit + 1, limit });
}
