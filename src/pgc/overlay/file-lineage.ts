import { join } from 'node:path';
import type { ItemFact } from '../format/facts.js';
import type { History } from '../source/git/history.js';
import { lineageItems } from './history-items.js';
import { historyOf, type HistoryRequest } from '../source/git/history-reader.js';
import { revisionAt } from '../source/git/revision.js';
import { eachEntry } from '../source/git/tree-entries.js';
import type { IndexPlace, Manifest, ManifestShard } from '../plan/manifest.js';
import { openWords } from '../plan/open-shard.js';
import type { FileRow } from '../format/shard-index.js';
import { generators } from './generators.js';
import { OverlayFile } from './overlay-file.js';

/** Submodules and empty files have no line that an item could be anchored to. */
const linesMin = 1;

/** Identifies the history; `why`: why it was read in part only, else empty. */
export type HistoryMark = NonNullable<Manifest['history']>;

/**
 * The O3 history items of each file at one commit. Reading the whole log takes a minute for a kernel, so it runs in a
 * git process of its own, in parallel with other work. If the previous index was made at the same commit, its items
 * are reused, and the log is read only when a file appears that this index has not seen.
 */
export class FileLineage {
  readonly #root: string;
  readonly #request: HistoryRequest;
  readonly #place: IndexPlace;
  readonly #before: Manifest | undefined;
  /** Started on demand. */
  #reading: Promise<History | undefined> | undefined;
  #tracked: Promise<ReadonlySet<string>> | undefined;

  private constructor(
    root: string,
    request: HistoryRequest,
    place: IndexPlace,
    before: Manifest | undefined,
  ) {
    this.#root = root;
    this.#request = request;
    this.#place = place;
    this.#before = before;
  }

  /**
   * `before`: undefined when nothing of the previous index may be reused. Throws as `historyOf`, here or on the first
   * question.
   */
  static async begin(
    root: string,
    request: HistoryRequest,
    place: IndexPlace,
    before: Manifest | undefined,
  ): Promise<FileLineage> {
    const revision = before?.history && (await revisionAt(root, request.asOf));
    // Deepening a shallow clone changes the history of the same commit.
    const isSame =
      revision?.isShallow === false &&
      revision.commit === before?.history?.commit &&
      before.history.why !== 'shallow';
    const lineage = new FileLineage(root, request, place, isSame ? before : undefined);
    if (!isSame) lineage.#read().catch(() => undefined);
    return lineage;
  }

  /** Whether the history is that of this index, or there is none as there was none. */
  async isAsIn({ history }: Manifest): Promise<boolean> {
    if (this.#before !== undefined) return this.#before.history?.commit === history?.commit;
    return history === undefined && (await this.mark()) === undefined;
  }

  /** Undefined without a history. */
  async mark(): Promise<HistoryMark | undefined> {
    if (this.#reading === undefined && this.#before !== undefined) return this.#before.history;
    const history = await this.#read();
    return history && { commit: history.commit, commits: history.commits, why: history.why ?? '' };
  }

  /** In the order of the files. Empty lists without a history. */
  async itemsOf(alias: string, files: readonly FileRow[]): Promise<readonly ItemFact[][]> {
    const known = this.#reading === undefined ? await this.#known(alias, files) : undefined;
    if (known !== undefined) return known;
    const history = await this.#read();
    return files.map(({ path, lines }) =>
      history === undefined || lines < linesMin ? [] : lineageItems(history, path),
    );
  }

  #read(): Promise<History | undefined> {
    return (this.#reading ??= historyOf(this.#root, this.#request));
  }

  /** Items of the previous index; undefined when it does not cover all files. */
  async #known(alias: string, files: readonly FileRow[]): Promise<ItemFact[][] | undefined> {
    const shard = this.#before?.shards.find((each) => each.alias === alias);
    const { file = '', state, version } = shard?.overlays.O3 ?? {};
    if (shard === undefined || state !== 'ready' || file === '') return undefined;
    if (version !== generators.O3.version) return undefined;
    try {
      const lineage = await OverlayFile.open(join(this.#place.segments, file));
      const seen = await this.#filesOf(shard);
      const items: ItemFact[][] = [];
      for (const { path, lines } of files) {
        if (lines >= linesMin && !seen.has(path) && (await this.#isTracked(path))) return undefined;
        items.push(lines < linesMin ? [] : lineage.itemsAt(path).map(factOf));
      }
      return items;
    } catch {
      return undefined;
    }
  }

  /** Files of the shard that could have history items. */
  async #filesOf(shard: ManifestShard): Promise<Set<string>> {
    const known = await openWords(this.#place, shard);
    const paths = new Set<string>();
    for (let file = 0; file < known.fileCount; file += 1)
      if (known.lengths(file).lines >= linesMin) paths.add(known.path(file));
    return paths;
  }

  async #isTracked(path: string): Promise<boolean> {
    this.#tracked ??= this.#listed();
    return (await this.#tracked).has(path);
  }

  /** Throws when git fails. */
  async #listed(): Promise<ReadonlySet<string>> {
    const paths = new Set<string>();
    const { commit = '' } = this.#before?.history ?? {};
    const { signal } = this.#request;
    const end = await eachEntry(this.#root, commit, ({ path }) => paths.add(path), signal);
    if (end !== 'ended') throw new Error(end);
    return paths;
  }
}

function factOf({
  overlay: _,
  file_path: _1,
  blob: _2,
  symbol: _3,
  ...item
}: {
  overlay: unknown;
  file_path: string;
  blob: string;
  symbol: string;
} & Omit<ItemFact, 'overlay'>): ItemFact {
  return { ...item, overlay: 3 };
}
