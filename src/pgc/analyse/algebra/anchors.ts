import { NumberColumn } from '../../format/bytes.js';
import type { ShardIndex, SymbolRow } from '../../format/shard-index.js';
import { AnchorSet } from './anchor-set.js';
import type { Filter } from './filter.js';

/** Where an anchor is and what it is. */
export interface AnchorRow {
  file_path: string;
  /** Empty: what lies outside all symbols of the file. */
  symbol: string;
  /** Of the definition, or else of the first declaration; 0 where no symbol is. */
  line: number;
  /** Of the symbol; else `file` for a file as such, `text` for a heading or an entry of a text. */
  kind: string;
}

/** One file of one shard. */
export interface CodeFile {
  shard: ShardIndex;
  file: number;
  path: string;
  /** Its anchors are `first` to below `end`. */
  first: number;
  end: number;
}

/** One of the symbols that an anchor stands for. */
export interface AnchoredSymbol {
  shard: ShardIndex;
  symbol: number;
  row: SymbolRow;
}

/** A set of names, or what is known of each. */
export interface Names {
  keys: () => Iterable<string>;
  has: (name: string) => boolean;
}

/** 2 MB of bits tell one name in ten thousand for another when a thousand are looked for. */
const hashBits = 24;

/**
 * All anchors of a tree, as dense numbers. First come those of the symbols of all shards, which are O1: one
 * for each definition, with the declaration of the same thing in its file, and one for each other
 * declaration; methods of several types and overloads are several. Then those that only other overlays know,
 * in the order in which they are met: `path#`, and the headings and entries of texts.
 *
 * Names stay where they are, in the segments: an anchor and a symbol take twelve bytes together.
 */
export class Anchors {
  /** O1 is every anchor below this. */
  readonly symbolCount: number;
  /** Those with a doc comment. */
  readonly documented = new AnchorSet();
  /** Anchors with more than one symbol: only for them the whole file is read. */
  readonly #shared = new AnchorSet();
  /** Those of functions that are defined. */
  readonly #functions = new AnchorSet();
  /** In the order of their anchors. */
  readonly files: readonly CodeFile[];
  readonly #filesByPath: ReadonlyMap<string, CodeFile>;
  /** The symbol that stands for an anchor, in its shard. */
  readonly #symbols = new NumberColumn();
  /** Of the name of each anchor: to find those of some names without a look at every name. */
  readonly #hashes = new NumberColumn();
  /** The anchor of each symbol. */
  readonly #ids = new Map<ShardIndex, Uint32Array>();
  readonly #others: AnchorRow[] = [];
  readonly #otherIds = new Map<string, Map<string, number>>();
  /** Symbols by name, in order of the text, of the file that was asked for last: items come file by file. */
  #last = { path: '', named: new Map<string, AnchoredSymbol[]>() };

  constructor(readonly shards: readonly ShardIndex[]) {
    this.files = shards.flatMap((shard) => this.#add(shard));
    this.#filesByPath = new Map(this.files.map((each) => [each.path, each]));
    this.symbolCount = this.#symbols.length;
  }

  ofSymbol(shard: ShardIndex, symbol: number): number {
    return this.#ids.get(shard)?.[symbol] ?? 0;
  }

  /** All symbols of this name in this file, in order of the text. */
  namedIn(path: string, name: string): readonly AnchoredSymbol[] {
    if (this.#last.path !== path) this.#last = { path, named: this.#namesIn(path) };
    return this.#last.named.get(name) ?? [];
  }

  /** Of the subjects of overlays, symbols or not: the innermost symbol of this name around the line. */
  ofPlace(path: string, name: string, line: number): number {
    const named = this.namedIn(path, name);
    const around = named.findLast(({ row }) => row.line_start <= line && line <= row.line_end);
    if (around !== undefined) return this.ofSymbol(around.shard, around.symbol);
    return this.#ofOther(path, named.length > 0 ? '' : name);
  }

  #ofOther(path: string, name: string): number {
    const known = this.#otherIds.get(path)?.get(name);
    if (known !== undefined) return known;
    const id = this.symbolCount + this.#others.length;
    const kind = name === '' ? 'file' : 'text';
    this.#others.push({ file_path: path, symbol: name, line: 0, kind });
    const ids = this.#otherIds.get(path) ?? new Map<string, number>();
    this.#otherIds.set(path, ids.set(name, id));
    return id;
  }

  fileAt(path: string): CodeFile | undefined {
    return this.#filesByPath.get(path);
  }

  row(id: number): AnchorRow {
    const other = this.#others[id - this.symbolCount];
    if (other !== undefined) return other;
    const { shard, path } = this.#fileOf(id);
    const { name, line_start, kind } = shard.symbol(this.#symbols.at(id));
    return { file_path: path, symbol: name, line: line_start, kind };
  }

  /** In order of the text; none where no symbol is. */
  symbolsOf(id: number): AnchoredSymbol[] {
    if (id >= this.symbolCount) return [];
    const { shard, file } = this.#fileOf(id);
    const symbols = this.#shared.has(id)
      ? shard.symbolsOf(file).filter((symbol) => this.ofSymbol(shard, symbol) === id)
      : [this.#symbols.at(id)];
    return symbols.map((symbol) => ({ shard, symbol, row: shard.symbol(symbol) }));
  }

  /** All anchors of symbols that bear one of these names. */
  *bearing(names: Names): Generator<{ id: number; name: string }> {
    const wanted = new Uint8Array(2 ** (hashBits - 3));
    for (const name of names.keys()) {
      const hash = hashOf(name);
      wanted[hash >>> 3] = (wanted[hash >>> 3] ?? 0) | (1 << (hash & 7));
    }
    for (const { shard, first, end } of this.files) {
      for (let id = first; id < end; id += 1) {
        const hash = this.#hashes.at(id);
        if (((wanted[hash >>> 3] ?? 0) & (1 << (hash & 7))) === 0) continue;
        const name = this.#nameOf(shard, id);
        if (names.has(name)) yield { id, name };
      }
    }
  }

  /** All that are defined. */
  *functions(): Generator<AnchoredSymbol> {
    for (const id of this.#functions.ids())
      for (const each of this.symbolsOf(id))
        if (each.row.kind === 'function' && !each.row.declaration) yield each;
  }

  /** Whether the conditions on where and what hold; those on symbols for one of the anchor's. */
  admits(filter: Filter, id: number): boolean {
    if (filter.isOpen) return true;
    const { file_path, symbol, kind } = this.row(id);
    if (!filter.path(file_path) || !filter.name(symbol)) return false;
    if (!filter.asksSymbol) return true;
    const symbols = this.symbolsOf(id);
    if (symbols.length === 0) return filter.symbol({ kind, exported: false });
    return symbols.some(({ row }) => filter.symbol(row));
  }

  /** By path; within a file first what no symbol bears, by name, then the symbols in order of the text. */
  *inOrder(set: AnchorSet): Generator<number> {
    const others = Array.from(set.ids(this.symbolCount), (id) => ({ id, row: this.row(id) }));
    const paths = new Map(others.map(({ row }) => [row.file_path, [] as typeof others]));
    for (const other of others) paths.get(other.row.file_path)?.push(other);
    for (const { path } of this.files) if (!paths.has(path)) paths.set(path, []);
    for (const path of [...paths.keys()].sort()) {
      const here = paths.get(path) ?? [];
      here.sort((a, b) => (a.row.symbol < b.row.symbol ? -1 : 1));
      for (const { id } of here) yield id;
      const file = this.#filesByPath.get(path);
      if (file !== undefined) yield* set.ids(file.first, file.end);
    }
  }

  #add(shard: ShardIndex): CodeFile[] {
    const ids = new Uint32Array(shard.symbolCount);
    this.#ids.set(shard, ids);
    const hashes = Uint32Array.from(shard.names(), hashOf);
    return Array.from({ length: shard.fileCount }, (_, file) => {
      const first = this.#symbols.length;
      this.#addFile(shard, file, ids, hashes);
      return { shard, file, path: shard.file(file).path, first, end: this.#symbols.length };
    });
  }

  #addFile(shard: ShardIndex, file: number, ids: Uint32Array, hashes: Uint32Array): void {
    const own = shard.symbolsOf(file);
    const definitions = definitionsIn(shard, file, own);
    for (const symbol of own) {
      if (definitions.has(symbol)) continue;
      ids[symbol] = this.#symbols.length;
      this.#symbols.push(symbol);
      this.#hashes.push(hashes[shard.outline(symbol).name] ?? 0);
    }
    for (const symbol of own) {
      const definition = definitions.get(symbol);
      const id = ids[definition ?? symbol] ?? 0;
      ids[symbol] = id;
      if (definition !== undefined) this.#shared.add(id);
      if (shard.isDocumented(symbol)) this.documented.add(id);
      const { kind, declaration } = shard.outline(symbol);
      if (kind === 'function' && !declaration) this.#functions.add(id);
    }
  }

  #namesIn(path: string): Map<string, AnchoredSymbol[]> {
    const named = new Map<string, AnchoredSymbol[]>();
    const { shard, file } = this.#filesByPath.get(path) ?? {};
    if (shard === undefined || file === undefined) return named;
    for (const symbol of shard.symbolsOf(file)) {
      const row = shard.symbol(symbol);
      const others = named.get(row.name);
      if (others === undefined) named.set(row.name, [{ shard, symbol, row }]);
      else others.push({ shard, symbol, row });
    }
    return named;
  }

  #nameOf(shard: ShardIndex, id: number): string {
    return shard.nameAt(shard.outline(this.#symbols.at(id)).name);
  }

  /** The last file that begins at or before an anchor: files without symbols begin where the next one does. */
  #fileOf(id: number): CodeFile {
    let low = 0;
    let high = this.files.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if ((this.files[middle]?.first ?? 0) <= id) low = middle;
      else high = middle - 1;
    }
    const file = this.files[low];
    if (file === undefined) throw new RangeError(`no anchor ${id}`);
    return file;
  }
}

/**
 * What declarations of a file declare, where the file defines it. Of overloads it is not known which one a
 * declaration means; in C they are alternatives of the preprocessor, and the first stands for all.
 */
function definitionsIn(
  shard: ShardIndex,
  file: number,
  symbols: readonly number[],
): ReadonlyMap<number, number> {
  const defined = new Map<number, number[]>();
  const declared: number[] = [];
  for (const symbol of symbols) {
    const { name, declaration } = shard.outline(symbol);
    if (declaration) declared.push(symbol);
    else defined.set(name, [...(defined.get(name) ?? []), symbol]);
  }
  const definitions = new Map<number, number>();
  const isC = shard.file(file).language === 'c';
  for (const symbol of declared) {
    const named = defined.get(shard.outline(symbol).name) ?? [];
    if (named.length === 0) continue;
    const { kind, container } = shard.symbolPlace(symbol);
    const [first, ...others] = named.filter((each) => {
      const other = shard.symbolPlace(each);
      return other.kind === kind && other.container === container;
    });
    if (first !== undefined && (isC || others.length === 0)) definitions.set(symbol, first);
  }
  return definitions;
}

/** FNV-1a, folded. */
function hashOf(name: string): number {
  let hash = 0x811c_9dc5;
  for (let at = 0; at < name.length; at += 1)
    hash = Math.imul(hash ^ name.charCodeAt(at), 0x0100_0193);
  return ((hash >>> hashBits) ^ hash) & (2 ** hashBits - 1);
}
