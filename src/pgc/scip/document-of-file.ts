import type { CallRow } from '../format/shard-index.js';
import { kindOf, type ExportedSymbols } from './exported-symbols.js';

interface WrittenOccurrence {
  range: number[];
  symbol: string;
  symbol_roles: number;
}

interface WrittenSymbol {
  symbol: string;
  documentation: string[];
  relationships: { symbol: string; is_implementation: boolean; is_reference: boolean }[];
  kind: number;
  display_name: string;
  signature_documentation: { language: string; text: string };
}

interface WrittenDocument {
  relative_path: string;
  language: string;
  occurrences: WrittenOccurrence[];
  symbols: WrittenSymbol[];
  /** A character is a unit of UTF-16. */
  position_encoding: 2;
}

const definitionRole = 1;
/** Lines between decorators, or what else begins a definition, and its name. */
const headLinesMax = 64;

/** What is known of one file, as a document of SCIP. */
export class DocumentOfFile {
  readonly document: WrittenDocument;
  definitions = 0;
  references = 0;
  unplaced = 0;
  readonly #lines: string[];

  constructor(
    symbols: ExportedSymbols,
    { shard, file, text }: { shard: number; file: number; text: string },
  ) {
    this.#lines = text.split('\n');
    const { path, language } = symbols.shards[shard]?.file(file) ?? { path: '', language: '' };
    this.document = {
      ...{ relative_path: path, language, occurrences: [], symbols: [], position_encoding: 2 },
    };
    const defined = this.#define(symbols, shard, file);
    this.#refer(symbols, shard, file, defined);
    this.document.occurrences.sort(byRange);
  }

  /** Resolves with the places of the names, which are no references: `line character`. */
  #define(symbols: ExportedSymbols, shard: number, file: number): Set<string> {
    const places = new Set<string>();
    const said = new Set<string>();
    const index = symbols.shards[shard];
    for (const id of index?.symbolsOf(file) ?? []) {
      const symbol = symbols.ofSymbol(shard, id);
      const row = index?.symbol(id);
      if (symbol === '' || row === undefined) continue;
      const { name, line_start, line_end, kind, doc, signature } = row;
      const place = this.#nameIn(name, line_start, Math.min(line_end, line_start + headLinesMax));
      if (place === undefined) {
        this.unplaced += 1;
        continue;
      }
      places.add(`${place.line} ${place.at}`);
      this.#add(place, name, symbol, definitionRole);
      this.definitions += 1;
      // Overloads share a symbol.
      if (said.has(symbol)) continue;
      said.add(symbol);
      this.document.symbols.push({
        ...{ symbol, documentation: doc === '' ? [] : [doc] },
        relationships: symbols.implementedBy(symbol).map((each) => ({
          ...{ symbol: each, is_implementation: true, is_reference: symbol.endsWith('().') },
        })),
        ...{ kind: kindOf(kind), display_name: name },
        signature_documentation: { language: this.document.language, text: signature },
      });
    }
    return places;
  }

  /** The sites of a name on one line go together: which is which is not known where they differ. */
  #refer(symbols: ExportedSymbols, shard: number, file: number, defined: Set<string>): void {
    for (const [key, rows] of symbols.sitesOf(shard, file)) {
      const meant = rows.map((row) => this.#symbolsAt(symbols, shard, row));
      const [first = []] = meant;
      if (meant.every((each) => each.length === 0)) continue;
      const [line, name] = [
        Number(key.slice(0, key.indexOf(' '))),
        key.slice(key.indexOf(' ') + 1),
      ];
      const free = this.#placesOf(name, line).filter((at) => !defined.has(`${line} ${at}`));
      const isClear = meant.every((each) => each.join('\n') === first.join('\n'));
      if (!isClear || free.length === 0 || free.length > rows.length) {
        this.unplaced += rows.length;
        continue;
      }
      for (const at of free) for (const symbol of first) this.#add({ line, at }, name, symbol, 0);
      this.references += free.length;
    }
  }

  /** Only what is proven. */
  #symbolsAt(symbols: ExportedSymbols, shard: number, { id }: CallRow): string[] {
    const bound = symbols.shards[shard]?.bound;
    const binding = bound?.bindingOf(id);
    if (bound === undefined || (binding !== 'exact' && binding !== 'dispatch')) return [];
    return bound.targetsOf(id).map((each) => symbols.ofTarget(bound.target(each)));
  }

  #nameIn(name: string, first: number, last: number): Place | undefined {
    for (let line = first; line <= last; line += 1) {
      const [at] = this.#placesOf(name, line);
      if (at !== undefined) return { line, at };
    }
    return undefined;
  }

  /** Where the name stands as a whole word. */
  #placesOf(name: string, line: number): number[] {
    const row = this.#lines[line - 1] ?? '';
    const places: number[] = [];
    if (name === '') return places;
    for (let at = row.indexOf(name); at >= 0; at = row.indexOf(name, at + name.length))
      if (!isWord(row[at - 1]) && !isWord(row[at + name.length])) places.push(at);
    return places;
  }

  #add({ line, at }: Place, name: string, symbol: string, symbol_roles: number): void {
    const range = [line - 1, at, at + name.length];
    this.document.occurrences.push({ range, symbol, symbol_roles });
  }
}

interface Place {
  /** From 1. */
  line: number;
  /** From 0. */
  at: number;
}

function isWord(unit: string | undefined): boolean {
  return unit !== undefined && /[\p{L}\p{N}_$]/u.test(unit);
}

function byRange(one: WrittenOccurrence, other: WrittenOccurrence): number {
  const [line = 0, at = 0] = one.range;
  const [otherLine = 0, otherAt = 0] = other.range;
  return line - otherLine || at - otherAt || (one.symbol < other.symbol ? -1 : 1);
}
