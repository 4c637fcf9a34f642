import path from 'node:path';
import type { PathName } from './claim.js';
import type { Tree } from './tree.js';
import { nearest } from './words.js';

/** Paths and folders of a tree, and the artifact from which a path is written. */
export type Listing = Pick<Tree, 'artifact' | 'paths' | 'folders'>;

/** What a written path means in a tree. */
export type Place =
  | { is: 'file'; file: string }
  | { is: 'folder'; folder: string }
  | { is: 'several'; files: string[] }
  /** With a wildcard or a placeholder. */
  | { is: 'pattern' }
  | { is: 'nowhere' };

const severalMax = 8;
const moduleEndings = ['ts', 'js', 'mjs', 'cjs', 'c', 'h', 'py', 'md'];

/** From the folder of the artifact or from the root; where it is no link, also as the end of a path. */
export function placeOf(tree: Listing, { path: written, isLink }: PathName): Place {
  if (/[*<>{}$?]|\.\.\.|…/.test(written)) return { is: 'pattern' };
  const bare = written.replace(/^\.\//, '').replace(/\/+$/, '');
  for (const each of [besideArtifact(tree, written), bare]) {
    const place = exactly(tree, each);
    if (place !== undefined) return place;
  }
  if (isLink || bare === '') return { is: 'nowhere' };
  const wanted = spellings(bare).map((each) => `/${each}`);
  const found: string[] = [];
  for (const each of [...tree.paths, ...tree.folders]) {
    if (wanted.some((tail) => `/${each}`.endsWith(tail))) found.push(each);
    if (found.length >= severalMax) break;
  }
  const [only] = found;
  if (only === undefined) return { is: 'nowhere' };
  if (found.length > 1) return { is: 'several', files: found };
  return tree.paths.has(only) ? { is: 'file', file: only } : { is: 'folder', folder: only };
}

export function besideArtifact(tree: Listing, written: string): string {
  return path.posix.join(path.posix.dirname(tree.artifact), written).replace(/\/+$/, '');
}

function exactly(tree: Listing, file: string): Place | undefined {
  if (file === '.' || file === '') return { is: 'folder', folder: '' };
  for (const each of spellings(file)) if (tree.paths.has(each)) return { is: 'file', file: each };
  return tree.folders.has(file) ? { is: 'folder', folder: file } : undefined;
}

/** Modules are named without their ending, and sources of TypeScript by what they compile to. */
function spellings(file: string): string[] {
  const source = file.replace(/\.([cm]?)js$/, '.$1ts');
  if (source !== file) return [file, source];
  return /\.\w{1,6}$/.test(file)
    ? [file]
    : [file, ...moduleEndings.map((each) => `${file}.${each}`)];
}

/** The path that is probably meant: of the same name elsewhere, or of nearly the same name. */
export function nearestPath(tree: Listing, written: string): string | undefined {
  const bare = written.replace(/^(?:\.{1,2}\/)+/, '').replace(/\/+$/, '');
  const all = [...tree.paths, ...tree.folders];
  const same = all.filter((each) => path.posix.basename(each) === path.posix.basename(bare));
  return same.toSorted((one, other) => one.length - other.length)[0] ?? nearest(bare, all);
}
