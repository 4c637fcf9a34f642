import path from 'node:path';
import type { PathName } from './claim.js';
import type { KnownTree } from './known-tree.js';
import { edits, nearest } from './spelling.js';

/** What a written path means in a tree. */
export type Place =
  | { is: 'file'; file: string }
  | { is: 'folder'; folder: string }
  /** Several files may be meant. */
  | { is: 'several'; files: string[] }
  /** Not one place: with a wildcard or a placeholder. */
  | { is: 'pattern' }
  | { is: 'nowhere' };

/** As seen from the root and from where the artifact stands; a tail of a path means the file too, if it is no link. */
export function placeOf(tree: KnownTree, { path: written, isLink, isStem }: PathName): Place {
  if (/[*<>{}$?]|\.\.\.|…/.test(written)) return { is: 'pattern' };
  const bare = written.replace(/^\.\//, '').replace(/\/+$/, '');
  const beside = path.posix.join(path.posix.dirname(tree.artifact), written).replace(/\/+$/, '');
  for (const each of [beside, bare]) {
    const place = exactly(tree, each);
    if (place !== undefined) return place;
  }
  if (isLink || bare === '') return { is: 'nowhere' };
  const found = isStem ? stems(tree, bare) : tails(tree, bare);
  const [only] = found;
  if (only === undefined) return { is: 'nowhere' };
  if (found.length > 1) return { is: 'several', files: found };
  return tree.paths.has(only) ? { is: 'file', file: only } : { is: 'folder', folder: only };
}

function exactly(tree: KnownTree, file: string): Place | undefined {
  if (file === '.' || file === '') return { is: 'folder', folder: '' };
  for (const each of spellings(file)) if (tree.paths.has(each)) return { is: 'file', file: each };
  return tree.folders.has(file) ? { is: 'folder', folder: file } : undefined;
}

/** A module is named without its ending, and a source of TypeScript by what is made of it. */
function spellings(file: string): string[] {
  const bare = file.replace(/\.([cm]?)js$/, '.$1ts');
  if (bare !== file) return [file, bare];
  return /\.\w{1,6}$/.test(file)
    ? [file]
    : [file, ...['ts', 'js', 'mjs', 'cjs', 'c', 'h', 'py', 'md'].map((each) => `${file}.${each}`)];
}

const severalMax = 8;

function tails(tree: KnownTree, bare: string): string[] {
  const wanted = spellings(bare).map((each) => `/${each}`);
  const found: string[] = [];
  for (const each of [...tree.paths, ...tree.folders]) {
    if (!wanted.some((tail) => `/${each}`.endsWith(tail))) continue;
    found.push(each);
    if (found.length >= severalMax) break;
  }
  return found;
}

function stems(tree: KnownTree, stem: string): string[] {
  const plain = stem.replace(/\*$/, '');
  const found: string[] = [];
  for (const each of [...tree.paths, ...tree.folders]) {
    if (stemOf(each) === plain) found.push(each);
    if (found.length >= severalMax) break;
  }
  return found;
}

export function stemOf(file: string): string {
  return path.posix.basename(file).replace(/(?<=.)\..*$/, '');
}

/** Where a path that leads nowhere probably should lead. */
export function nearestPath(tree: KnownTree, written: string): string | undefined {
  const bare = written.replace(/^(?:\.{1,2}\/)+/, '').replace(/\/+$/, '');
  const base = path.posix.basename(bare);
  const all = [...tree.paths, ...tree.folders];
  const same = all.filter((each) => path.posix.basename(each) === base);
  if (same.length > 0) return closest(bare, same);
  const otherEnding = all.filter(
    (each) => stemOf(each) === stemOf(base) && stemOf(base).length > 3,
  );
  if (otherEnding.length > 0) return closest(bare, otherEnding);
  const folder = path.posix.dirname(bare);
  const beside = all.filter((each) => path.posix.dirname(each).endsWith(folder));
  const stem = nearest(stemOf(base), (folder === '.' ? all : beside).map(stemOf));
  return beside.find((each) => stemOf(each) === stem) ?? all.find((each) => stemOf(each) === stem);
}

/** The one that shares most folders. */
function closest(written: string, files: readonly string[]): string | undefined {
  const worth = (file: string): number => edits(written, file, 60);
  return [...files].sort((one, other) => worth(one) - worth(other) || (one < other ? -1 : 1))[0];
}
