import { join } from 'node:path';
import { AbbreviationMiner } from '../format/abbreviations.js';
import { isBound } from './shard-key.js';
import { cardPath, makeCard, writeCard } from '../search/card/card-file.js';
import type { RuleDigests } from '../mine/fact-store.js';
import {
  isCode,
  type FileFacts,
  type FileRole,
  type ItemFact,
  type SymbolFact,
} from '../format/facts.js';
import { decodeFacts } from '../format/packed-facts.js';
import { failedRule } from '../mine/items/items.js';
import { WordsWriter } from '../format/word-lists/words-writer.js';
import type { Buckets } from '../format/word-lists/words-file.js';
import type { IndexPlace, ManifestShard } from '../plan/manifest.js';
import {
  filedOverlays,
  generators,
  generatorVersion,
  overlayNumber,
  type FiledOverlay,
} from '../overlay/generators.js';
import { OverlayWriter, type PlacedItem } from '../overlay/overlay-file.js';
import { failedState, reasonOf, stateOf } from '../overlay/overlay-state.js';
import { segmentLayout, writeSections } from '../format/container/segment-file.js';
import { Segment } from '../format/segment.js';
import { SegmentWriter } from '../format/segment-writer.js';
import type { OverlayName } from '../shapes.js';
import type { FileRow, ShardInfo } from '../format/shard-index.js';
import { ShardTerms } from '../format/shard-terms.js';
import { roleOf, type RoleMarks } from '../source/role.js';

/** Of a shard: what its files are called and stand for. */
export type ShardHead = Pick<
  ManifestShard,
  'alias' | 'scope' | 'version' | 'base' | 'made_with' | 'segment'
>;

/** What to build for one shard. Plain data, because it may be sent to another thread. */
export interface ShardOrder {
  place: IndexPlace;
  /** Digests of the tree's own O2 rules. */
  digests: RuleDigests;
  shard: ShardHead;
  /** The existing shard to keep and its overlays to rebuild; undefined: build everything. */
  kept: { shard: ManifestShard; rebuilt: readonly FiledOverlay[] } | undefined;
  /** These files are a delta: its words are joined with those of this many buckets. */
  buckets?: Buckets | undefined;
}

/** A file with its encoded facts; undefined when they are lost. */
export interface MinedFile {
  file: FileRow;
  facts: Uint8Array | undefined;
  marks?: RoleMarks | undefined;
}

/** Builds the files of one shard: all of them, or some overlays of a kept shard. */
export class ShardFiles {
  readonly #order: ShardOrder;
  readonly #overlays: OverlayWriters;
  readonly #shardWriters:
    | { segment: SegmentWriter; candidates: OverlayWriter; words: WordsWriter }
    | undefined;
  readonly #terms = new ShardTerms();
  readonly #abbreviations = new AbbreviationMiner();
  readonly #languages: ManifestShard['languages'] = {};
  /** Those that the path does not tell. */
  readonly #roles: [path: string, role: FileRole][] = [];
  #files = 0;
  #lines = 0;

  constructor(order: ShardOrder) {
    this.#order = order;
    this.#overlays = new OverlayWriters(order.kept?.rebuilt ?? filedOverlays, order.digests);
    this.#shardWriters =
      order.kept === undefined
        ? {
            segment: new SegmentWriter(this.#terms),
            candidates: new OverlayWriter(false),
            words: new WordsWriter(this.#terms),
          }
        : undefined;
  }

  /**
   * Call in order of the paths. Returns the positions of files whose facts are lost or damaged; in that case nothing
   * of the batch was added.
   */
  add(batch: readonly MinedFile[]): number[] {
    const facts = batch.map(({ facts }) => decoded(facts));
    const broken = facts.flatMap((each, position) => (each === undefined ? [position] : []));
    if (broken.length > 0) return broken;
    for (const [position, { file, marks }] of batch.entries()) {
      const known = facts[position];
      if (known === undefined) continue;
      const role = roleOf(file.path, { generated: known.generated, marks });
      if (role !== roleOf(file.path)) this.#roles.push([file.path, role]);
      this.#addOne(file, known);
    }
    return [];
  }

  /** Writes the files. Throws STORE_UNAVAILABLE when the segment or the word lists cannot be written. */
  async finish(): Promise<ManifestShard> {
    const { place, shard, kept } = this.#order;
    const languages = Object.keys(this.#languages);
    const made = await this.#overlays.write(place, kept?.shard ?? shard, languages);
    if (kept !== undefined) {
      const overlays = { ...kept.shard.overlays, ...made };
      return { ...kept.shard, items: { ...kept.shard.items, ...countsOf(overlays) }, overlays };
    }
    const { O1, O3 } = this.#shardWriters?.segment.items ?? { O1: 0, O3: 0 };
    const overlays: ManifestShard['overlays'] = {
      O1: stateOf('O1', O1, ''),
      O3: stateOf('O3', O3, ''),
      ...made,
    };
    const items = countsOf(overlays);
    const candidates = `${shard.alias}-${shard.version}.candidates.ovl`;
    await this.#shardWriters?.candidates.write(join(place.segments, candidates), {
      ...{ overlay: 'O7', alias: shard.alias, generator: 'candidates' },
      version: generators.O7.version,
    });
    const words = `${shard.alias}-${shard.version}.words`;
    const roles = Object.fromEntries(this.#roles);
    await this.#shardWriters?.words.write(
      join(place.segments, words),
      { ...shard, roles },
      this.#order.buckets,
    );
    const sections = this.#shardWriters?.segment.finish(this.#info(items));
    if (sections !== undefined) {
      const path = join(place.segments, shard.segment);
      await writeSections(path, segmentLayout, sections);
      // Made here, in parallel with other shards; a host would make its cards one by one.
      if (this.#order.buckets === undefined && !isBound({ languages: this.#languages }))
        await writeCard(cardPath(place, shard), makeCard(await Segment.open(path)));
    }
    const read = { files: this.#files, lines: this.#lines, languages: this.#languages };
    return { ...shard, ...read, items, calls: O3, candidates, words, overlays };
  }

  #addOne(file: FileRow, facts: FileFacts): void {
    this.#files += 1;
    this.#lines += file.lines;
    const language = (this.#languages[file.language] ??= {
      ...{ files: 0, lines: 0, bytes: 0, error_bytes: 0, scanned: 0 },
    });
    language.files += 1;
    language.lines += file.lines;
    language.bytes += facts.bytes;
    language.error_bytes += facts.error_bytes;
    language.scanned += facts.scanned_names.length > 0 ? 1 : 0;
    const items = placed(facts, !isCode(file.language));
    this.#overlays.add(file, items);
    if (this.#shardWriters === undefined) return;
    const { segment, candidates, words } = this.#shardWriters;
    const terms = this.#terms.ids(facts.words);
    words.add(file, facts, terms);
    for (const { doc } of facts.symbols) this.#abbreviations.read(doc);
    for (const { text } of of('O4', items)) this.#abbreviations.read(text);
    if (isCode(file.language)) segment.add(file, facts, terms);
    const noted = of('O7', items).filter(({ rule }) => rule !== failedRule);
    candidates.add(file.path, file.blob, noted);
  }

  #info(overlays: Record<string, number>): ShardInfo {
    const { shard } = this.#order;
    return {
      // Where the tree lies is said by the manifest: the same content gives the same bytes everywhere.
      ...{ project: '', root: '' },
      agent: shard.alias,
      alias: shard.alias,
      scope: shard.scope,
      languages: Object.keys(this.#languages).sort(),
      files: this.#files,
      lines: this.#lines,
      version: shard.version,
      overlays,
      abbreviations: this.#abbreviations.found(),
      roles: Object.fromEntries(this.#roles),
    };
  }
}

function decoded(facts: Uint8Array | undefined): FileFacts | undefined {
  try {
    return facts && decodeFacts(facts);
  } catch {
    return undefined;
  }
}

/** The writers of several overlays of one shard. */
class OverlayWriters {
  readonly #writers: Map<FiledOverlay, OverlayWriter>;
  readonly #digests: RuleDigests;
  /** The first failure of each failed overlay. */
  readonly #reasons = new Map<FiledOverlay, string>();

  constructor(layers: readonly FiledOverlay[], digests: RuleDigests) {
    this.#writers = new Map(layers.map((name) => [name, new OverlayWriter()]));
    this.#digests = digests;
  }

  add(file: FileRow, items: readonly PlacedItem[]): void {
    for (const [name, writer] of this.#writers) {
      const own = of(name, items);
      const failed = own.find(({ rule }) => rule === failedRule);
      if (failed === undefined) writer.add(file.path, file.blob, own);
      else if (!this.#reasons.has(name)) this.#reasons.set(name, `${file.path}: ${failed.text}`);
    }
  }

  async write(
    place: IndexPlace,
    { alias, version: ofShard }: Pick<ManifestShard, 'alias' | 'version'>,
    languages: readonly string[],
  ): Promise<ManifestShard['overlays']> {
    const states: ManifestShard['overlays'] = {};
    for (const [name, writer] of this.#writers) {
      // The file of O7 is written when all shards are known; here only its failure is noted.
      const file = name === 'O7' ? '' : `${alias}-${ofShard}.${name}.ovl`;
      const generator = generators[name].name;
      const version = generatorVersion(name, this.#digests, languages);
      const info = { overlay: name, alias, generator, version };
      const path = join(place.segments, file);
      const reason =
        this.#reasons.get(name) ??
        (file === '' ? '' : await writer.write(path, info).then(() => '', reasonOf));
      const state = reason === '' ? stateOf(name, writer.items, file) : failedState(name, reason);
      states[name] = { ...state, version };
    }
    return states;
  }
}

function of(overlay: OverlayName, items: readonly PlacedItem[]): PlacedItem[] {
  return items.filter((item) => item.overlay === overlayNumber(overlay));
}

function countsOf(overlays: ManifestShard['overlays']): Record<string, number> {
  return Object.fromEntries(Object.entries(overlays).map(([name, { items }]) => [name, items]));
}

/** Items with the innermost symbol around each; for sections of a text also with their words. */
function placed(facts: FileFacts, isText: boolean): PlacedItem[] {
  const open: { symbol: SymbolFact; at: number }[] = [];
  let next = 0;
  const symbols = facts.symbols
    .map((symbol, at) => ({ symbol, at }))
    .sort(
      (a, b) => a.symbol.line_start - b.symbol.line_start || b.symbol.line_end - a.symbol.line_end,
    );
  return [...facts.items]
    .sort((a, b) => a.line_start - b.line_start)
    .map((item) => {
      for (; next < symbols.length; next += 1) {
        const each = symbols[next];
        if (each === undefined || each.symbol.line_start > item.line_start) break;
        open.push(each);
      }
      while (open.length > 0 && (open.at(-1)?.symbol.line_end ?? 0) < item.line_start) open.pop();
      const around = open.findLast(({ symbol }) => symbol.line_end >= item.line_start);
      const plain = { ...plainItem(item), symbol: around?.symbol.name ?? '' };
      const isWhole =
        around?.symbol.line_start === item.line_start && around.symbol.line_end === item.line_end;
      return isText && isWhole ? { ...plain, body: bodyOf(facts, around.at) } : plain;
    });
}

function bodyOf(facts: FileFacts, symbol: number): [term: string, count: number][] {
  const { word = [], count = [] } = facts.documents[symbol] ?? {};
  return word.map((each, at) => [facts.words[each] ?? '', count[at] ?? 0]);
}

/** Defaults of the decoder are on its prototype, which a spread does not copy. */
function plainItem(item: ItemFact): ItemFact {
  const { overlay, rule, line_start, line_end, text, subject, severity, cwe } = item;
  return { overlay, rule, line_start, line_end, text, subject, severity, cwe };
}
