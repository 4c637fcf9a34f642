import { groupBy, NumberColumn, type Grouped } from '../../format/bytes.js';
import { bodyTermsOf, identifiersOf } from '../../format/words.js';
import { inverseFrequency } from '../rank/weighing.js';

const none = new Uint32Array(0);

/** What paths say, of all files of a tree: words of names and folders, names without their endings. */
export class PathIndex {
  readonly fileCount: number;
  /** By file. */
  readonly folderOf: Uint32Array;
  /** By file: what all words of its name are worth together, and those of its folders. */
  readonly nameMass: Float64Array;
  readonly folderMass: Float64Array;
  readonly #terms = new Map<string, number>();
  readonly #folders = new Map<string, number>();
  /** By term: files whose name has it, and whose folders have it. */
  readonly #inName: Grouped;
  readonly #inFolder: Grouped;
  readonly #byFolder: Grouped;
  readonly #stems = new Map<string, number>();
  readonly #byStem: Grouped;
  readonly #worth: Float64Array;

  constructor(paths: Iterable<string>) {
    const [folders, stems, names] = [new NumberColumn(), new NumberColumn(), new TermRows()];
    const folderTerms: (readonly number[])[] = [];
    let file = 0;
    for (const path of paths) {
      const at = path.lastIndexOf('/');
      const folder = this.#folder(path.slice(0, Math.max(at, 0)), folderTerms);
      folders.push(folder);
      const name = path.slice(at + 1);
      names.add(file, this.#termsOf(withoutEnding(name)));
      stems.push(idOf(this.#stems, stemOf(name)));
      file += 1;
    }
    this.fileCount = file;
    this.folderOf = folders.values();
    const inFolders = new TermRows();
    this.folderOf.forEach((folder, each) => inFolders.add(each, folderTerms[folder] ?? []));
    const count = this.#terms.size;
    this.#inName = names.grouped(count);
    this.#inFolder = inFolders.grouped(count);
    this.#byStem = groupBy(stems.values(), this.#stems.size);
    this.#byFolder = groupBy(this.folderOf, this.#folders.size);
    this.#worth = Float64Array.from({ length: count }, (_, term) =>
      inverseFrequency(file, union(membersOf(this.#inName, term), membersOf(this.#inFolder, term))),
    );
    this.nameMass = names.sums(file, this.#worth);
    this.folderMass = inFolders.sums(file, this.#worth);
  }

  /** Files whose name, or whose folders, have this word, and what it is worth. */
  word(term: string): { inName: Uint32Array; inFolder: Uint32Array; worth: number } | undefined {
    const id = this.#terms.get(term);
    if (id === undefined) return undefined;
    return {
      inName: membersOf(this.#inName, id),
      inFolder: membersOf(this.#inFolder, id),
      worth: this.#worth[id] ?? 0,
    };
  }

  /** Files of this name without its ending, as `stemOf` gives it. */
  filesOfStem(stem: string): Uint32Array {
    return membersOf(this.#byStem, this.#stems.get(stem) ?? -1);
  }

  /** Files in this folder itself. */
  filesIn(folder: number): Uint32Array {
    return membersOf(this.#byFolder, folder);
  }

  folderCalled(path: string): number | undefined {
    return this.#folders.get(path);
  }

  #folder(path: string, terms: (readonly number[])[]): number {
    const known = this.#folders.get(path);
    if (known !== undefined) return known;
    const folder = this.#folders.size;
    this.#folders.set(path, folder);
    terms.push(this.#termsOf(path.replaceAll('/', ' ')));
    return folder;
  }

  #termsOf(text: string): number[] {
    const ids = new Set<number>();
    for (const identifier of identifiersOf(text))
      for (const term of bodyTermsOf(identifier)) ids.add(idOf(this.#terms, term));
    return [...ids];
  }
}

/** `mac80211-hwsim.c`, `mac80211_hwsim` and the module of that name meet. */
export function stemOf(name: string): string {
  return withoutEnding(name).toLowerCase().replaceAll('-', '_');
}

function withoutEnding(name: string): string {
  const at = name.lastIndexOf('.');
  return at > 0 ? name.slice(0, at) : name;
}

/** Pairs of term and file, which come in the order of the files. */
class TermRows {
  readonly #terms = new NumberColumn();
  readonly #files = new NumberColumn();

  add(file: number, terms: readonly number[]): void {
    for (const term of terms) {
      this.#terms.push(term);
      this.#files.push(file);
    }
  }

  /** By file, over its terms in their order, so that the sum is the same to the last bit in any tree. */
  sums(files: number, worth: Float64Array): Float64Array {
    const sums = new Float64Array(files);
    this.#terms.values().forEach((term, row) => {
      const file = this.#files.at(row);
      sums[file] = (sums[file] ?? 0) + (worth[term] ?? 0);
    });
    return sums;
  }

  grouped(terms: number): Grouped {
    const { starts, members } = groupBy(this.#terms.values(), terms);
    return { starts, members: members.map((row) => this.#files.at(row)) };
  }
}

function membersOf({ starts, members }: Grouped, group: number): Uint32Array {
  const [from, to] = [starts[group], starts[group + 1]];
  return from === undefined || to === undefined ? none : members.subarray(from, to);
}

/** How many are in one of the two, or in both; they ascend. */
function union(one: Uint32Array, other: Uint32Array): number {
  let both = 0;
  for (let a = 0, b = 0; a < one.length && b < other.length;) {
    const difference = (one[a] ?? 0) - (other[b] ?? 0);
    if (difference === 0) both += 1;
    if (difference <= 0) a += 1;
    if (difference >= 0) b += 1;
  }
  return one.length + other.length - both;
}

function idOf(ids: Map<string, number>, key: string): number {
  let id = ids.get(key);
  if (id === undefined) {
    id = ids.size;
    ids.set(key, id);
  }
  return id;
}
