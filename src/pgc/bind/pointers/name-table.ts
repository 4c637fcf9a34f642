import type { ShardIndex } from '../../format/shard-index.js';
import { nameHash } from '../../format/name-hash.js';

/** What a name may be: bits. */
export const nameKinds = { function: 1, macro: 2, variable: 4, other: 8 } as const;
const bitOf: Readonly<Record<string, number>> = {
  ...{ function: nameKinds.function, macro: nameKinds.macro },
  ...{ variable: nameKinds.variable, constant: nameKinds.variable },
};
/** Kinds of what has a value. */
export const valueKinds = nameKinds.function | nameKinds.macro | nameKinds.variable;
/** Buckets of hashes, by their first bits. */
const bucketBits = 18;

/**
 * Which shards have symbols of a name, and of what kinds: by hashes of the names, because a kernel has millions. A name may share
 * its hash with another one.
 */
export class NameTable {
  readonly #starts = new Uint32Array(2 ** bucketBits + 1);
  readonly #hashes: Int32Array;
  readonly #shards: Uint16Array;
  readonly #kinds: Uint8Array;

  /** `isOf`: of the files whose symbols count. */
  constructor(shards: readonly ShardIndex[], isOf: (shard: number, file: number) => boolean) {
    const found = shards.map((index, shard) => namesOf(index, (file) => isOf(shard, file)));
    for (const { hashes } of found)
      for (const hash of hashes) this.#starts[bucketOf(hash) + 1]! += 1;
    for (let at = 1; at < this.#starts.length; at += 1)
      this.#starts[at]! += this.#starts[at - 1] ?? 0;
    const count = this.#starts.at(-1) ?? 0;
    this.#hashes = new Int32Array(count);
    this.#shards = new Uint16Array(count);
    this.#kinds = new Uint8Array(count);
    const next = this.#starts.slice();
    for (const [shard, { hashes, kinds }] of found.entries())
      for (const [at, hash] of hashes.entries()) {
        const place = next[bucketOf(hash)]!++;
        this.#hashes[place] = hash;
        this.#shards[place] = shard;
        this.#kinds[place] = kinds[at] ?? 0;
      }
  }

  /** Shards that may have symbols of this name, in their order. */
  shardsOf(name: string): number[] {
    const found: number[] = [];
    const hash = nameHash(name);
    const end = this.#starts[bucketOf(hash) + 1] ?? 0;
    for (let at = this.#starts[bucketOf(hash)] ?? 0; at < end; at += 1)
      if (this.#hashes[at] === hash) found.push(this.#shards[at] ?? 0);
    return found;
  }

  /** What symbols of a name are, in any shard: bits. */
  kindsOf(hash: number): number {
    let kinds = 0;
    const end = this.#starts[bucketOf(hash) + 1] ?? 0;
    for (let at = this.#starts[bucketOf(hash)] ?? 0; at < end; at += 1)
      if (this.#hashes[at] === hash) kinds |= this.#kinds[at] ?? 0;
    return kinds;
  }
}

function bucketOf(hash: number): number {
  return hash >>> (32 - bucketBits);
}

function namesOf(
  index: ShardIndex,
  isOf: (file: number) => boolean,
): { hashes: Int32Array; kinds: Uint8Array } {
  const all = index.nameHashes();
  const kindsOf = new Uint8Array(all.length);
  for (let symbol = 0; symbol < index.symbolCount; symbol += 1) {
    if (!isOf(index.fileOf(symbol))) continue;
    const { name, kind } = index.outline(symbol);
    kindsOf[name]! |= bitOf[kind] ?? nameKinds.other;
  }
  const has = (_: number, name: number): boolean => kindsOf[name] !== 0;
  return { hashes: all.filter(has), kinds: kindsOf.filter((kinds) => kinds !== 0) };
}
