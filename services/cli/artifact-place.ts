import { existsSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../../src/config/config.js';
import { isBelow } from '../../src/pgc/confined-reader.js';
import { placeOf } from '../../src/pgc/manifest.js';

/** Whether a folder, absolute and without links, is the root of a tree that can be asked about. */
export type IsKnown = (folder: string) => boolean;

/** Those of which this home has an index. */
export function indexedIn({ home }: Pick<Config, 'home'>): IsKnown {
  return (folder) => existsSync(placeOf(folder, home).manifest);
}

/**
 * The tree that a file lies in: its work tree of git, unless that is not known and another folder around the file is. Empty:
 * none. `file`: absolute, without links; it need not be there.
 */
export function treeOf(file: string, isKnown: IsKnown): string {
  const around = foldersAround(file);
  const work = around.find((folder) => existsSync(path.join(folder, '.git'))) ?? '';
  if (work !== '' && isKnown(work)) return work;
  return around.find(isKnown) ?? work;
}

/** From the root of its tree, else as it was named. */
export function within(root: string, file: string, name: string): string {
  if (root === '' || !isBelow(file, root)) return name;
  return path.relative(root, file).split(path.sep).join('/');
}

/** As indexes and their agents name it; what is not there stays as it was named. */
export function realOf(place: string): Promise<string> {
  return realpath(place).catch(() => path.resolve(place));
}

/** The nearest first. */
function foldersAround(file: string): string[] {
  const folders: string[] = [];
  for (let folder = path.dirname(file); ; folder = path.dirname(folder)) {
    folders.push(folder);
    if (folder === path.dirname(folder)) return folders;
  }
}
