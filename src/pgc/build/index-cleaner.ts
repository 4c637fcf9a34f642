import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { cardFileName } from '../search/card/card-file.js';
import { servedFiles, type IndexPlace, type Served } from '../plan/manifest.js';

/**
 * Removes files that are not served: those of a killed run, those of a failed one (after a full disk the next run
 * needs the space), and those that a new index replaces. Only for the process that holds the lock of the facts.
 */
export class IndexCleaner implements AsyncDisposable {
  readonly #place: IndexPlace;
  /** Undefined: it is not known what is served (an older version may know), so nothing is removed. */
  #served: Served | undefined;
  /** Files in `segments/` that were there when the run began and were kept. */
  #found: ReadonlySet<string> = new Set();

  private constructor(place: IndexPlace, served: Served | undefined) {
    this.#place = place;
    this.#served = served;
  }

  static async begin(place: IndexPlace, served: Served | undefined): Promise<IndexCleaner> {
    const cleaner = new IndexCleaner(place, served);
    cleaner.#found = new Set(await cleaner.#clean());
    return cleaner;
  }

  /**
   * Files of an index written since the run began. They must reach the disk before a manifest names them. Older
   * files are on disk already, or were replaced by `writeAtomically`.
   */
  written(index: Served): string[] {
    return servedFiles(index).filter((file) => !this.#found.has(file));
  }

  /** Call after the swap: this index is served from now on. */
  async setServed(index: Served): Promise<void> {
    this.#served = index;
    await this.#clean();
    // Of a pull: this one, or one that was killed before this run made it needless.
    await rm(this.#place.incoming, { force: true, recursive: true }).catch(() => undefined);
  }

  /** Call when it is unknown which of two indexes is served: nothing of either is removed. */
  keepAll(): void {
    this.#served = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#clean();
  }

  /** Resolves with the names that it kept in `segments/`. */
  async #clean(): Promise<string[]> {
    const { folder, segments, cards } = this.#place;
    const left = await remove(segments, this.#isStale());
    await remove(folder, isTemporary);
    const current = new Set(this.#served?.shards.map(cardFileName));
    await remove(cards, (name) => this.#served !== undefined && !current.has(name));
    return left;
  }

  #isStale(): (name: string) => boolean {
    if (this.#served === undefined) return isTemporary;
    const current = new Set(servedFiles(this.#served));
    return (name) => !current.has(name);
  }
}

/** Resolves with the names of the other files. A file that cannot be removed now is left to the next run. */
async function remove(folder: string, isWanted: (name: string) => boolean): Promise<string[]> {
  const others: string[] = [];
  for (const name of await readdir(folder).catch((): string[] => [])) {
    if (isWanted(name))
      await rm(join(folder, name), { force: true, recursive: true }).catch(() => undefined);
    else others.push(name);
  }
  return others;
}

function isTemporary(name: string): boolean {
  return name.endsWith('.tmp');
}
