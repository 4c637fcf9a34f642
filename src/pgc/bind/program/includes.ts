import { posix } from 'node:path';

/** Files that one sees through others, at most. */
const seenMax = 5_000;
/** Files of which what they see is kept. */
const keptMax = 500;

/** Which files others include. Folders that compilers search are not known: the end of a path says which file is meant. */
export class Includes {
  readonly #byName = new Map<string, string[]>();
  readonly #targets = new Map<string, readonly string[]>();
  readonly #direct = new Map<string, readonly string[]>();
  readonly #seen = new Map<string, ReadonlySet<string>>();

  constructor(paths: readonly string[]) {
    for (const path of paths) {
      const name = posix.basename(path);
      const known = this.#byName.get(name);
      if (known === undefined) this.#byName.set(name, [path]);
      else known.push(path);
    }
  }

  add(path: string, targets: readonly string[]): void {
    this.#targets.set(path, targets);
  }

  /** All that a file includes, also through others. */
  sees(path: string): ReadonlySet<string> {
    const known = this.#seen.get(path);
    if (known !== undefined) return known;
    if (this.#seen.size >= keptMax) this.#seen.clear();
    const seen = new Set<string>();
    const work = [path];
    for (const each of work)
      for (const file of this.#includedBy(each))
        if (file !== path && !seen.has(file) && seen.size < seenMax) {
          seen.add(file);
          work.push(file);
        }
    this.#seen.set(path, seen);
    return seen;
  }

  #includedBy(path: string): readonly string[] {
    let found = this.#direct.get(path);
    if (found === undefined) {
      const targets = this.#targets.get(path) ?? [];
      found = targets.flatMap((target) => this.#fileOf(path, target) ?? []);
      this.#direct.set(path, found);
    }
    return found;
  }

  #fileOf(from: string, target: string): string | undefined {
    const named = this.#byName.get(posix.basename(target)) ?? [];
    const beside = posix.normalize(posix.join(posix.dirname(from), target));
    if (named.includes(beside)) return beside;
    const tail = posix.normalize(target).replace(/^(?:\.\.\/)+/, '');
    const fitting = named.filter((path) => path === tail || path.endsWith(`/${tail}`));
    return fitting.length < 2
      ? fitting[0]
      : fitting.reduce((best, each) => (shared(each, from) > shared(best, from) ? each : best));
  }
}

/** Characters at the beginning that two paths have in common. */
function shared(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one.charAt(at) === other.charAt(at)) at += 1;
  return at;
}
