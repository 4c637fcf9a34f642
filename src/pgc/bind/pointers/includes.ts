import { posix } from 'node:path';
import type { ShardIndex } from '../../format/shard-index.js';
import { nearness } from '../visibility.js';

/** Files from which headers are kept at a time: questions come file by file. */
const rememberedMax = 64;
const headersMax = 4_000;

/** Which headers a file sees, through all that they include. */
export class IncludeGraph {
  readonly #places = new Map<string, [shard: number, file: number]>();
  readonly #byName = new Map<string, string[]>();
  readonly #direct = new Map<string, readonly string[]>();
  readonly #seen = new Map<string, ReadonlyMap<string, number>>();

  constructor(readonly shards: readonly ShardIndex[]) {
    for (const [shard, index] of shards.entries())
      for (let file = 0; file < index.fileCount; file += 1) {
        const { path, language } = index.file(file);
        if (language !== 'c') continue;
        this.#places.set(path, [shard, file]);
        const name = posix.basename(path);
        const known = this.#byName.get(name);
        if (known === undefined) this.#byName.set(name, [path]);
        else known.push(path);
      }
  }

  /** As written in the file. */
  targetsOf(path: string): string[] {
    const [shard, file] = this.#places.get(path) ?? [];
    if (shard === undefined || file === undefined) return [];
    return (this.shards[shard]?.importsOf(file) ?? []).map(({ target }) => target);
  }

  /** Steps to the files that one includes; itself is 0 steps away. */
  seenFrom(path: string): ReadonlyMap<string, number> {
    const known = this.#seen.get(path);
    if (known !== undefined) return known;
    const steps = new Map([[path, 0]]);
    for (const [each, count] of steps) {
      if (steps.size > headersMax) break;
      for (const next of this.#included(each)) if (!steps.has(next)) steps.set(next, count + 1);
    }
    if (this.#seen.size >= rememberedMax) this.#seen.clear();
    this.#seen.set(path, steps);
    return steps;
  }

  #included(path: string): readonly string[] {
    let found = this.#direct.get(path);
    if (found === undefined) {
      found = this.targetsOf(path).flatMap((target) => this.#resolved(target, path));
      this.#direct.set(path, found);
    }
    return found;
  }

  /** Beside the file, else the nearest file whose path ends so. */
  #resolved(target: string, from: string): string[] {
    const beside = posix.join(posix.dirname(from), target);
    if (this.#places.has(beside)) return [beside];
    const tail = target.replace(/^(?:\.\.?\/)+/, '');
    const all = (this.#byName.get(posix.basename(tail)) ?? []).filter(
      (path) => path === tail || path.endsWith(`/${tail}`),
    );
    if (all.length <= 1) return all;
    const best = Math.max(...all.map((path) => nearness(from, path)));
    const near = all.filter((path) => nearness(from, path) === best);
    // The general one has the shortest path.
    const length = Math.min(...near.map((path) => path.length));
    return near.filter((path) => path.length === length).slice(0, 1);
  }
}
