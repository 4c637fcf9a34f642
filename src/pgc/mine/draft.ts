import type {
  CallFact,
  FactsLanguage,
  FileFacts,
  ImportFact,
  SymbolFact,
  TypeFact,
  TypeRole,
} from '../format/facts.js';
import { lowerBound } from '../format/bytes.js';
import { countWords } from './word-counts.js';

export const receiverCharsMax = 60;

/** A symbol by offsets into the text (UTF-16 units); lines, callers and words follow from them. */
export interface SymbolDraft {
  name: string;
  kind: string;
  /** The definition's own text, `[start, end)`. */
  start: number;
  end: number;
  /** Where its words begin: before `start` when a comment documents it. */
  wordsStart: number;
  signature: string;
  container: string;
  exported: boolean;
  doc: string;
  declaration: boolean;
  test?: boolean;
}

export interface CallDraft {
  callee: string;
  at: number;
  kind: 'direct' | 'member' | 'construct' | 'slot' | 'value' | 'type';
  receiver: string;
  /** What is called; see `format/expression.ts`. Empty where nothing tells. */
  expression?: string;
}

/** A name that is used without being called; `expression`: as of a call. */
export interface Use {
  name: { readonly text: string; readonly startIndex: number };
  kind: 'value' | 'type';
  expression: string;
  /** Where it is called, that is what it holds: it is used all the same. */
  isHeld?: boolean;
}

/** See `TypeFact`. */
export interface TypeDraft extends Omit<TypeFact, 'owner'> {
  /** Absent: the text. */
  owner: SymbolDraft | undefined;
}

export interface ImportDraft {
  target: string;
  names: string[];
  at: number;
}

/** Collects the symbols, calls and imports of one text, in any order; `finish` turns their offsets into facts. */
export class Draft {
  readonly symbols: SymbolDraft[] = [];
  readonly calls: CallDraft[] = [];
  /** Names that are used, but not called. */
  readonly uses: CallDraft[] = [];
  readonly imports: ImportDraft[] = [];
  readonly types: TypeDraft[] = [];
  /** Definitions of a list that is too long for a symbol each. */
  readonly scanned: { name: string; at: number }[] = [];
  /** Where uses stay that are called. */
  readonly #held = new Set<number>();
  /** Ends of the names whose calls are statements. */
  readonly unused = new Set<number>();
  #lineStarts: number[] | undefined;
  #errorBytes = 0;
  #errorEnd = 0;

  /** Words beyond `wordsEnd` are not counted: for files that are too large to be read whole. */
  constructor(
    readonly text: string,
    readonly wordsEnd = text.length,
  ) {}

  /** Undefined: the place uses no name. What is called there as well is a call. */
  use(found: Use | undefined): void {
    if (found === undefined) return;
    const { name, kind, expression, isHeld = false } = found;
    if (isHeld) this.#held.add(name.startIndex);
    this.uses.push({ callee: name.text, at: name.startIndex, kind, receiver: '', expression });
  }

  type(owner: SymbolDraft | undefined, role: TypeRole, name: string, type = ''): void {
    this.types.push({ owner, role, name, type });
  }

  /** Notes that `[start, end)` could not be parsed. Call it in order of the text; overlaps count once. */
  error(start: number, end: number): void {
    const from = Math.max(start, this.#errorEnd);
    if (end <= from) return;
    this.#errorBytes += Buffer.byteLength(this.text.slice(from, end));
    this.#errorEnd = end;
  }

  /** 1-based line of an offset. */
  lineOf(at: number): number {
    const starts = (this.#lineStarts ??= lineStartsOf(this.text));
    return lowerBound(starts.length, (line) => (starts[line] ?? 0) <= at);
  }

  #uncalled(): CallDraft[] {
    const called = new Set(this.calls.map(({ at }) => at));
    return this.uses.filter(({ at }) => !called.has(at) || this.#held.has(at)).sort(inText);
  }

  /** All facts but the items, which are made from them. */
  finish(language: FactsLanguage, bytes: number): Omit<FileFacts, 'items' | 'generated'> {
    // Outer before inner; what starts and ends together stays in the order of finding.
    const symbols = this.symbols.sort((a, b) => a.start - b.start || b.end - a.end);
    // A place that two rules found is one call.
    const lines =
      this.lineOf(this.text.length) - (this.text === '' || this.text.endsWith('\n') ? 1 : 0);
    return {
      language,
      lines,
      bytes,
      error_bytes: this.#errorBytes,
      symbols: symbols.map((each) => symbolFact(each, this)),
      calls: callFacts(symbols, this.calls.sort(inText), this),
      uses: callFacts(symbols, this.#uncalled(), this),
      imports: this.imports
        .sort((a, b) => a.at - b.at)
        .map(({ target, names, at }): ImportFact => ({ target, names, line: this.lineOf(at) })),
      types: typeFacts(symbols, this.types),
      ...countWords(this.text, this.wordsEnd, symbols),
      scanned_names: this.scanned.map(({ name }) => name),
      scanned_lines: this.scanned.map(({ at }) => this.lineOf(at)),
    };
  }
}

function symbolFact(draft: SymbolDraft, of: Draft): SymbolFact {
  const { name, kind, start, end, signature, container, exported, doc, declaration, test } = draft;
  const line_end = of.lineOf(Math.max(start, end - 1));
  return {
    name,
    kind,
    line_start: of.lineOf(start),
    line_end,
    signature,
    container,
    exported,
    doc,
    declaration,
    ...(test === true && { test }),
  };
}

function callFacts(
  symbols: readonly SymbolDraft[],
  calls: readonly CallDraft[],
  of: Draft,
): CallFact[] {
  const open: number[] = [];
  let next = 0;
  return calls.filter(isOnce).map(({ callee, at, kind, receiver, expression = '' }) => {
    for (; next < symbols.length; next += 1) {
      const symbol = symbols[next];
      if (symbol === undefined || symbol.start > at) break;
      if (isCaller(symbol)) open.push(next);
    }
    while (open.length > 0 && (symbols[open.at(-1) ?? 0]?.end ?? 0) <= at) open.pop();
    const caller = (open.at(-1) ?? -1) + 1;
    const unused = of.unused.has(at + callee.length);
    return { callee, line: of.lineOf(at), caller, kind, receiver, expression, unused };
  });
}

function inText(one: CallDraft, other: CallDraft): number {
  return one.at - other.at;
}

/** A place that two rules found is one call. */
function isOnce(call: CallDraft, at: number, all: readonly CallDraft[]): boolean {
  return call.at !== all[at - 1]?.at || call.callee !== all[at - 1]?.callee;
}

/** In order of their owners. */
function typeFacts(symbols: readonly SymbolDraft[], types: readonly TypeDraft[]): TypeFact[] {
  const placeOf = new Map(symbols.map((symbol, at) => [symbol, at + 1]));
  return types
    .map(({ owner, role, name, type }): TypeFact => ({
      ...{ owner: owner === undefined ? 0 : (placeOf.get(owner) ?? 0), role, name, type },
    }))
    .sort((one, other) => one.owner - other.owner);
}

function isCaller(symbol: SymbolDraft): boolean {
  return symbol.kind === 'function' || symbol.kind === 'method' || symbol.kind === 'macro';
}

function lineStartsOf(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}
