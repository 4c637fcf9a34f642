import { posix } from 'node:path';
import { nearness } from '../visibility.js';

/** Files from which headers are kept at a time: questions come file by file. */
const rememberedMax = 64;
const headersMax = 4_000;
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
  /** Steps to all files, of what is remembered, and of what was. */
  readonly #used: Uint8Array<ArrayBuffer>[] = [];
  readonly #spare: Uint8Array<ArrayBuffer>[] = [];
  /** By the end of a path: files whose paths end so. */
  readonly #ending = new Map<string, readonly string[]>();
  #last: { path: string; targets: readonly string[] } = { path: '', targets: [] };
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
    if (this.#last.path !== path) this.#last = { path, targets: this.#targets.get(path)?.() ?? [] };
    return this.#last.targets;
  }

  /** The files that one includes, itself among them. */
  seenFrom(path: string): Seen {
    const known = this.#seen.get(path);
    if (known !== undefined) return known;
    if (this.#seen.size >= rememberedMax) {
      this.#seen.clear();
      this.#spare.push(...this.#used.splice(0));
    }
    const seen = this.#seenFrom(path);
    this.#seen.set(path, seen);
    return seen;
  }

  /** By numbers: a file of a kernel sees a thousand others, and each file asks. */
  #seenFrom(path: string): Seen {
    const start = this.#numbers.get(path);
    if (start === undefined)
      return { has: (its) => its === path, get: (its) => (its === path ? 0 : undefined) };
    const steps = (this.#spare.pop() ?? new Uint8Array(this.#paths.length)).fill(unseen);
    this.#used.push(steps);
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
      found = this.targetsOf(path).flatMap((target) => this.#resolved(target, path));
      this.#direct.set(path, found);
    }
    return found;
  }

  /** Beside the file, else the nearest file whose path ends so. */
  #resolved(target: string, from: string): readonly string[] {
    const beside = besideOf(from, target);
    if (this.#targets.has(beside)) return [beside];
    const all = this.#endingWith(target.replace(/^(?:\.\.?\/)+/, ''));
    if (all.length <= 1) return all;
    const best = Math.max(...all.map((path) => nearness(from, path)));
    const near = all.filter((path) => nearness(from, path) === best);
    // The general one has the shortest path.
    const length = Math.min(...near.map((path) => path.length));
    return near.filter((path) => path.length === length).slice(0, 1);
  }

  #endingWith(tail: string): readonly string[] {
    let all = this.#ending.get(tail);
    if (all === undefined) {
      all = (this.#byName.get(posix.basename(tail)) ?? []).filter(
        (path) => path === tail || path.endsWith(`/${tail}`),
      );
      this.#ending.set(tail, all);
    }
    return all;
  }
}

function besideOf(from: string, target: string): string {
  const folder = posix.dirname(from);
  // Most names of headers are plain.
  if (/^\.|\/\.|\/\//.test(target) || folder === '.') return posix.join(folder, target);
  return `${folder}/${target}`;
}
