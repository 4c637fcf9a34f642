import { createHash } from 'node:crypto';

export interface PlannedShard {
  alias: string;
  /** Folders or files relative to the root, `.` for the root. The longest path that holds a file owns it. */
  paths: string[];
  /** Lines when the plan was made: the weight that decides which process serves the shard. */
  lines?: number | undefined;
}

export interface PlannedFile {
  path: string;
  lines: number;
}

/** Sum of the lines of all files. */
export function linesOf(files: readonly { lines: number }[]): number {
  return files.reduce((sum, { lines }) => sum + lines, 0);
}

/** Appends to the list of a key. */
export function addTo<Key, Value>(lists: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

const aliasMax = 80;

/**
 * Returns a function from a path to the shard that owns it: the one with the longest matching path; undefined without
 * an owner.
 */
export function ownerOf(shards: readonly PlannedShard[]): (path: string) => number | undefined {
  const owners = new Map<string, number>();
  shards.forEach((shard, index) => {
    for (const path of shard.paths) owners.set(path === '.' ? '' : path, index);
  });
  return (path) => {
    let prefix = path;
    while (prefix !== '') {
      const owner = owners.get(prefix);
      if (owner !== undefined) return owner;
      prefix = prefix.slice(0, Math.max(prefix.lastIndexOf('/'), 0));
    }
    return owners.get('');
  };
}

/** Makes a valid alias of any text: `conf/zookeeper` → `conf-zookeeper`. */
export function aliasOf(text: string): string {
  const plain = text
    .toLowerCase()
    .replace(/[^a-z0-9_]+/g, '-')
    .replace(/^[-_]+|[-_]+$/g, '');
  if (plain === '') return 'root';
  if (plain.length <= aliasMax) return plain;
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 8);
  return `${plain.slice(0, aliasMax - 9).replace(/[-_]+$/, '')}-${digest}`;
}

/** Makes an alias that is not in `taken`, and adds it. */
export function freeAlias(text: string, taken: Set<string>): string {
  const wanted = aliasOf(text);
  let alias = wanted;
  for (let n = 2; taken.has(alias); n += 1) alias = `${wanted}-${n}`;
  taken.add(alias);
  return alias;
}
