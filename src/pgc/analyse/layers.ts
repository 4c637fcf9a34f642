import { z } from 'zod';
import type { BusError } from '../../errors/bus-error.js';
import { ConfinedReader, isInnerPath } from '../source/confined-reader.js';
import { isCode } from '../format/facts.js';
import type { ShardIndex } from '../format/shard-index.js';
import { invalidSettings, readSettings } from '../source/tree-settings.js';

/** Where a tree declares its layers, relative to its root. */
export const layersFile = '.sigma/layers.json';
const layersFileBytesMax = 256 * 1024;
export const layersMax = 256;
const allowedMax = layersMax * layersMax;
/** A top folder with more of the files than this is split: what matters lies below it. */
const splitShare = 0.5;
/** A folder of headers is the interface of many layers; its code runs in the files that include it. */
const sharedHeader = /(?:^|\/)include\/.*\.(?:h|hh|hpp)$/;
/** The layer of files that lie in no folder. */
const rootLayer = '.';

const declaredSchema = z.strictObject({
  layers: z
    .array(z.strictObject({ name: z.string().min(1), paths: z.array(z.string().min(1)).min(1) }))
    .min(1)
    .max(layersMax),
  /** `[from, to]`: files of the one may use files of the other. Inside a layer everything may. */
  allowed: z.array(z.tuple([z.string(), z.string()])).max(allowedMax),
});

export interface Layering {
  mode: 'declared' | 'inferred';
  /** The layer of a file; undefined when it belongs to none. */
  layerOf: (path: string) => string | undefined;
  /** Declared only: `from to` with a NUL between. */
  allowed: ReadonlySet<string>;
}

/** What the tree declares in `.sigma/layers.json`, or else its folders. Throws CONFIG_INVALID. */
export async function layeringOf(root: string, shards: readonly ShardIndex[]): Promise<Layering> {
  const read = await new ConfinedReader(root, layersFileBytesMax).read(layersFile);
  if ('bytes' in read) return declaredLayers(read.bytes.toString('utf8'));
  if (read.refused === 'absent') return inferredLayers(shards);
  throw invalid(`it cannot be read: ${read.refused}`);
}

/** The text of a layers file. The longest path that holds a file decides. Throws CONFIG_INVALID. */
export function declaredLayers(text: string): Layering {
  const { layers, allowed } = readSettings(layersFile, text, declaredSchema);
  const owners = new Map<string, string>();
  for (const [at, { name, paths }] of layers.entries()) {
    if (layers.findIndex((each) => each.name === name) !== at)
      throw invalid(`layers[${at}].name: ${name} stands twice`);
    for (const [nth, path] of paths.entries()) {
      const place = `layers[${at}].paths[${nth}]`;
      const normal = path.replace(/^\.\//, '').replace(/\/+$/, '');
      if (!isInnerPath(path)) throw invalid(`${place}: ${path} is not a path inside the tree`);
      const owner = owners.get(normal);
      if (owner !== undefined) throw invalid(`${place}: ${path} is given to ${owner} already`);
      owners.set(normal, name);
    }
  }
  const names = new Set(layers.map(({ name }) => name));
  for (const [at, pair] of allowed.entries())
    for (const name of pair)
      if (!names.has(name)) throw invalid(`allowed[${at}]: there is no layer ${name}`);
  return {
    mode: 'declared',
    layerOf: (path) => ownerOf(owners, path),
    allowed: new Set(allowed.map(([from, to]) => pairKey(from, to))),
  };
}

/**
 * Folders as layers: the top folder of a file; where one top folder holds more than half of all code, that
 * one is replaced by the folders in it. Headers in a folder `include` belong to no layer.
 */
export function inferredLayers(shards: readonly ShardIndex[]): Layering {
  const counts = new Map<string, number>();
  let files = 0;
  for (const index of shards) {
    for (let file = 0; file < index.fileCount; file += 1) {
      const { path, language } = index.file(file);
      if (!isCode(language) || sharedHeader.test(path)) continue;
      files += 1;
      const top = folderOf(path, 1);
      counts.set(top, (counts.get(top) ?? 0) + 1);
    }
  }
  const split = [...counts].find(([top, count]) => top !== rootLayer && count > files * splitShare);
  return {
    mode: 'inferred',
    layerOf: (path) =>
      sharedHeader.test(path)
        ? undefined
        : folderOf(path, folderOf(path, 1) === split?.[0] ? 2 : 1),
    allowed: new Set(),
  };
}

export function pairKey(from: string, to: string): string {
  return `${from}\0${to}`;
}

function folderOf(path: string, depth: number): string {
  const folders = path.split('/').slice(0, -1);
  return folders.length === 0 ? rootLayer : folders.slice(0, depth).join('/');
}

function ownerOf(owners: ReadonlyMap<string, string>, path: string): string | undefined {
  for (let part = path; ; part = part.slice(0, part.lastIndexOf('/'))) {
    const owner = owners.get(part);
    if (owner !== undefined) return owner;
    if (!part.includes('/')) return owners.get(rootLayer);
  }
}

function invalid(detail: string): BusError {
  return invalidSettings(layersFile, detail);
}
