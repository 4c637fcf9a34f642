import { existsSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../config/config.js';
import { asBusError } from '../errors/bus-error.js';
import { isBelow } from '../pgc/source/confined-reader.js';
import { placeOf } from '../pgc/plan/manifest.js';

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

/** By which an artifact is known, wherever it is asked from: tree and path together are the file. */
export interface ArtifactPlace {
  /** Empty: the path is absolute. */
  tree: string;
  path: string;
  /** As it was named, where links lead to another path. */
  named?: string;
}

/**
 * Where a file lies that was named from a folder. `root`: the tree that it is held against; empty: none, and the folder stands
 * for one. All of them absolute and without links.
 */
export async function artifactPlace(
  name: string,
  { root, folder, isKnown }: { root: string; folder: string; isKnown: IsKnown },
): Promise<ArtifactPlace> {
  const given = path.resolve(folder, name);
  const file = await realOf(given);
  const tree = root === '' ? folder : root;
  const from = (base: string, place: string): string =>
    path.relative(base, place).split(path.sep).join('/');
  const place = isBelow(file, tree) ? { tree, path: from(tree, file) } : { tree: '', path: file };
  const named = from(treeOf(given, isKnown) || folder, given);
  return { ...place, ...(given !== file && named !== place.path && { named }) };
}

/**
 * A request about an artifact that is named from a folder. A file that is there is that file, and no other one of its
 * name; else it is called as it is listed. Throws what is answered.
 */
export async function askedAs<T>(
  name: string,
  folder: string,
  ask: (artifact: string) => Promise<T>,
): Promise<T> {
  const file = await realOf(path.resolve(folder, name));
  try {
    return await ask(file);
  } catch (error) {
    if (existsSync(file) || asBusError(error).code !== 'NO_SUCH_ARTIFACT') throw error;
    return ask(name);
  }
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
