import { posix } from 'node:path';
import { nearness } from '../visibility.js';

/** Files from which headers are kept at a time: questions come file by file. */
const rememberedMax = 64;
const headersMax = 4_000;
/** `./a.h`, `../a.h`, `a//b.h`, `a/`. */
const stepped = /(?:^|\/)\.{0,2}(?:\/|$)/;
/** In place of a number of steps. */
const unseen = 255;
/** Files in all answers of `includersOf` that are kept at a time. */
const includersMax = 2_000_000;

/** What one file sees. */
export interface Seen {
  has(path: string): boolean;
  /** Steps to a file; itself is 0 steps away. */
  get(path: string): number | undefined;
}

/** Which headers a file sees, through all that they include. */
export class IncludeGraph {
  readonly #targets = new Map<string, () => readonly string[]>();
  readonly #byName = new Map<string, string[]>();
  readonly #direct = new Map<string, readonly string[]>();
  readonly #seen = new Map<string, Seen>();
  /** Of each file its number, and the numbers of those that it includes. */
  readonly #numbers = new Map<string, number>();
  readonly #paths: string[] = [];
  readonly #next: (readonly number[] | undefined)[] = [];

  /** Of each file: those that include it themselves. */
  #including: Map<string, string[]> | undefined;
  readonly #includers = new Map<string, ReadonlySet<string>>();
  #includersKept = 0;

  /** `targets`: as written in the file. */
  constructor(files: Iterable<{ path: string; targets: () => readonly string[] }>) {
    for (const { path, targets } of files) {
      this.#targets.set(path, targets);
      if (!this.#numbers.has(path)) this.#numbers.set(path, this.#paths.push(path) - 1);
      const name = posix.basename(path);
      const known = this.#byName.get(name);
      if (known === undefined) this.#byName.set(name, [path]);
      else known.push(path);
    }
  }

  /** As written in the file. */
  targetsOf(path: string): readonly string[] {
    return this.#targets.get(path)?.() ?? [];
  }

  /** The files that one includes, itself among them. */
  seenFrom(path: string): Seen {
    const known = this.#seen.get(path);
    if (known !== undefined) return known;
    const seen = this.#seenFrom(path);
    if (this.#seen.size >= rememberedMax) this.#seen.clear();
    this.#seen.set(path, seen);
    return seen;
  }

  /** By numbers: a file of a kernel sees a thousand others, and each file asks. */
  #seenFrom(path: string): Seen {
    const start = this.#numbers.get(path);
    if (start === undefined)
      return { has: (its) => its === path, get: (its) => (its === path ? 0 : undefined) };
    const steps = new Uint8Array(this.#paths.length).fill(unseen);
    steps[start] = 0;
    const queue = [start];
    for (const each of queue) {
      if (queue.length > headersMax) break;
      const count = Math.min((steps[each] ?? 0) + 1, unseen - 1);
      for (const next of this.#nextOf(each)) {
        if (steps[next] !== unseen) continue;
        steps[next] = count;
        queue.push(next);
      }
    }
    const stepsTo = (its: string): number => steps[this.#numbers.get(its) ?? -1] ?? unseen;
    return {
      has: (its) => stepsTo(its) !== unseen,
      get(its) {
        const found = stepsTo(its);
        return found === unseen ? undefined : found;
      },
    };
  }

  #nextOf(file: number): readonly number[] {
    return (this.#next[file] ??= this.included(this.#paths[file] ?? '').flatMap(
      (path) => this.#numbers.get(path) ?? [],
    ));
  }

  /** The files that include one, through any headers: for questions that come name by name. */
  includersOf(header: string): ReadonlySet<string> {
    const known = this.#includers.get(header);
    if (known !== undefined) return known;
    this.#including ??= this.#turned();
    const found = new Set<string>([header]);
    for (const each of found) for (const from of this.#including.get(each) ?? []) found.add(from);
    this.#includersKept += found.size;
    if (this.#includersKept > includersMax) {
      this.#includers.clear();
      this.#includersKept = found.size;
    }
    this.#includers.set(header, found);
    return found;
  }

  #turned(): Map<string, string[]> {
    const including = new Map<string, string[]>();
    for (const path of this.#targets.keys())
      for (const each of this.included(path)) {
        const known = including.get(each);
        if (known === undefined) including.set(each, [path]);
        else known.push(path);
      }
    return including;
  }

  /** As paths. */
  included(path: string): readonly string[] {
    let found = this.#direct.get(path);
    if (found === undefined) {
      const folder = posix.dirname(path);
      found = this.targetsOf(path).flatMap((target) => this.#resolved(target, path, folder));
      this.#direct.set(path, found);
    }
    return found;
  }

  /** Beside the file, else the nearest file whose path ends so. */
  #resolved(target: string, from: string, folder: string): string[] {
    // All targets of all files come here for the first question, and few have steps to be taken.
    const isPlain = folder !== '.' && !stepped.test(target);
    const beside = isPlain ? `${folder}/${target}` : posix.join(folder, target);
    if (this.#targets.has(beside)) return [beside];
    const tail = target.replace(/^(?:\.\.?\/)+/, '');
    const all = (this.#byName.get(posix.basename(tail)) ?? []).filter(
      (path) => path === tail || path.endsWith(`/${tail}`),
    );
    if (all.length <= 1) return all;
    const nearnesses = all.map((path) => nearness(from, path));
    const best = Math.max(...nearnesses);
    const near = all.filter((_, at) => nearnesses[at] === best);
    // The general one has the shortest path.
    const length = Math.min(...near.map((path) => path.length));
    return near.filter((path) => path.length === length).slice(0, 1);
  }
}
