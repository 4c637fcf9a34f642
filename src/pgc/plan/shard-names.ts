import { roleOf } from '../source/role.js';
import { aliasOf, freeAlias } from './planned-shards.js';

/** A folder or file of a shard; the root is the empty string. */
export interface WeighedPath {
  path: string;
  lines: number;
}

interface NamingRequest {
  project: string;
  /** Aliases of other shards; those that are made are added. */
  taken?: Set<string>;
  /** Paths of other shards. */
  others?: readonly string[];
}

/** Where build tools put sources: people leave it out when they say a name. */
const layout = new Set(['src', 'main', 'java', 'kotlin', 'scala', 'groovy', 'resources']);
/** A folder with more than this share of a shard's lines is what people think of. */
const dominantShare = 0.8;

/**
 * What people of the project would call these shards: the last name of a path, and where another shard has a path that ends so,
 * the nearest folder above that tells them apart. A shard of several folders is called after the folder around them, if no other
 * shard is in there, or after the largest.
 */
export function shardNames(
  shards: readonly (readonly WeighedPath[])[],
  { project, taken = new Set(), others = [] }: NamingRequest,
): string[] {
  const outside = (of: readonly WeighedPath[]): string[] => [
    ...others,
    ...shards.flatMap((each) => (each === of ? [] : each.map(({ path }) => path))),
  ];
  const titles = shards.map((each) => {
    const elsewhere = outside(each);
    return shortestName(homeOf(each, elsewhere), elsewhere);
  });
  const names = new Map<number, string>();
  // The rest of the tree last: a folder may be called like the project.
  for (const [at, title] of titles.entries())
    if (title !== '') names.set(at, freeAlias(title, taken));
  return titles.map(
    (_, at) => names.get(at) ?? freeAlias(taken.has(aliasOf(project)) ? 'root' : project, taken),
  );
}

/** The path that stands for all paths of a shard; empty: the root. */
function homeOf(paths: readonly WeighedPath[], elsewhere: readonly string[]): string {
  const common = commonFolder(paths.map(({ path }) => path));
  if (!elsewhere.some((each) => isWithin(each, common))) return common;
  const lines = paths.reduce((sum, each) => sum + each.lines, 0);
  // A part of the code is not called after the tests beside it.
  const sources = paths.filter(({ path }) => roleOf(`${path}/any`) === 'source');
  const named = sources.length > 0 ? sources : paths;
  const largest = named.reduce((best, each) => (each.lines > best.lines ? each : best));
  const isRest = common !== '' && paths.some(({ path }) => path === common);
  return isRest && largest.lines <= lines * dominantShare ? common : largest.path;
}

function shortestName(path: string, elsewhere: readonly string[]): string {
  const names = spoken(path);
  const last = names.at(-1) ?? '';
  // What has all of its names has more to tell them apart by.
  const others = elsewhere
    .map(spoken)
    .filter((each) => each.at(-1) === last && !isAmong(names, each));
  if (others.length === 0) return last;
  const above = names.slice(0, -1).toReversed();
  const telling = above.find((name) => others.every((each) => !each.slice(0, -1).includes(name)));
  return telling === undefined ? names.join('/') : `${telling}/${last}`;
}

/** Whether all names are in the list, in their order. */
function isAmong(names: readonly string[], list: readonly string[]): boolean {
  let next = 0;
  for (const each of list) if (each === names[next]) next += 1;
  return next === names.length;
}

function spoken(path: string): string[] {
  const names = path.split('/').filter((each) => each !== '' && each !== '.');
  const telling = names.filter((each) => !layout.has(each));
  return telling.length > 0 ? telling : names.slice(-1);
}

function commonFolder(paths: readonly string[]): string {
  let common = paths[0] ?? '';
  for (const path of paths)
    while (!isWithin(path, common)) common = common.slice(0, Math.max(common.lastIndexOf('/'), 0));
  return common;
}

function isWithin(path: string, folder: string): boolean {
  return folder === '' || path === folder || path.startsWith(`${folder}/`);
}
