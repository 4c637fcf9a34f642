import { BusError } from '../../../errors/bus-error.js';
import { collectGit } from './git-stream.js';
import { printableLine } from './commit-text.js';
import { runGit } from './run-git.js';

const revisionCharsMax = 1_024;
/** More than any path. `msMax`: `:/words` searches the messages of a whole history. */
const limits = { bytesMax: 64 * 1024, msMax: 30_000 };

/** One commit, as seen from a folder. */
export interface Revision {
  /** 40 hex digits, or 64. */
  commit: string;
  /** The folder's path in its work tree, as bytes: empty, or `net/core/`. */
  prefix: Buffer;
  /** The clone is shallow: its history ends where it was cut. */
  isShallow: boolean;
}

/**
 * The commit that `asOf`, or HEAD, names in a folder. Undefined when `asOf` is absent and there is no usable git or no
 * commit. Throws REPO_UNREADABLE when `asOf` is given and there is no git, USAGE when it names no commit.
 */
export async function revisionAt(root: string, asOf: string): Promise<Revision>;
export async function revisionAt(root: string, asOf?: string): Promise<Revision | undefined>;
export async function revisionAt(root: string, asOf?: string): Promise<Revision | undefined> {
  const place = ['rev-parse', '--is-shallow-repository', '--show-prefix'];
  if (asOf === undefined) {
    const { end, output } = await collectGit(root, [...place, 'HEAD^{commit}'], limits);
    const last = output.lastIndexOf('\n', -2);
    const commit = output.toString('latin1', last + 1, output.length - 1);
    return end === 'ended' ? revisionIn(output.subarray(0, last + 1), commit) : undefined;
  }
  const { end, output } = await collectGit(root, place, limits);
  if (end !== 'ended') {
    const detail = 'it is in no git repository that can be read, so it has no revisions';
    throw new BusError('REPO_UNREADABLE', { path: root, detail });
  }
  const commit = await commitOf(root, asOf);
  if (commit === undefined) {
    const detail = `"${printableLine(asOf)}" names no commit of ${root}`;
    throw new BusError('USAGE', { detail });
  }
  return revisionIn(output, commit);
}

/** The prefix may hold newlines: it is everything between the first newline and the last. */
function revisionIn(place: Buffer, commit: string): Revision {
  const cut = place.indexOf('\n');
  const isShallow = place.toString('latin1', 0, cut) === 'true';
  return { commit, prefix: place.subarray(cut + 1, -1), isShallow };
}

/**
 * The first commit of the history of `commit`: clones and forks of a repository share it, and no others have it. Empty where the
 * history is not there as a whole.
 */
export async function rootOf(root: string, { commit, isShallow }: Revision): Promise<string> {
  if (isShallow) return '';
  const args = ['rev-list', '--first-parent', '--max-parents=0', commit, '--'];
  const listed = (await runGit(root, args))?.toString('latin1').trim() ?? '';
  return /^[0-9a-f]{40,64}$/.test(listed) ? listed : '';
}

/** The id that HEAD names, even when that object is missing; undefined without git or without commits. */
export async function headOf(root: string): Promise<string | undefined> {
  const args = ['rev-parse', '--verify', '--quiet', 'HEAD'];
  const { end, output } = await collectGit(root, args, limits);
  return end === 'ended' ? output.toString('latin1').trim() : undefined;
}

/** Of any history. */
export async function hasCommit(root: string, commit: string): Promise<boolean> {
  return (await commitOf(root, commit)) !== undefined;
}

async function commitOf(root: string, revision: string): Promise<string | undefined> {
  if (revision === '' || revision.length > revisionCharsMax) return undefined;
  const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`];
  const { end, output } = await collectGit(root, args, limits);
  // `^main` excludes a commit; git prints it with its caret.
  const [, commit] = /^([0-9a-f]{40,64})\n$/.exec(output.toString('latin1')) ?? [];
  return end === 'ended' ? commit : undefined;
}
