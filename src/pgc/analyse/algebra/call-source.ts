import { isCFamily, type FactsLanguage } from '../../format/facts.js';
import type { CallRow, ShardIndex, SymbolRow } from '../../format/shard-index.js';
import { AnchorSet } from './anchor-set.js';
import type { Anchors } from './anchors.js';
import type { Filter, ItemFields } from './filter.js';
import { groundsMax, type Put, type Source } from './source.js';

/** What can be called; a struct of the same name is another thing. */
const callableKinds = new Set(['function', 'method', 'macro', 'class', 'variable', 'constant']);

/** Up to this many symbols are looked up one by one; for more, all calls are read. */
const askedMax = 20_000;

/**
 * O3: who calls, and who is called. Three rules:
 *
 * - `calls`: a call stands inside the symbol. Its subject is the name that is called.
 * - `called`: a call in the tree may mean the symbol. Its subject is the name of the caller. What may be
 *   meant is decided by name: what the file of the call itself defines, or else every definition of that
 *   name that other files see, in the same family of languages; a method is seen by code that has its object.
 *   In C a call through a field says nothing about the function. This is wider than `sigma callers`, which
 *   looks at includes and imports too, and takes one pass over all calls.
 * - `slot`: its own file puts the function into a field of a structure, to be called from elsewhere. The
 *   subject is `structure.field`.
 *
 * Whether the result is used is known of calls only. Calls outside all symbols call, but belong to none.
 */
export class CallSource implements Source {
  readonly rules = new Set(['calls', 'called', 'slot']);
  readonly #anchors: Anchors;

  constructor(anchors: Anchors) {
    this.#anchors = anchors;
  }

  select(filter: Filter, among?: AnchorSet): AnchorSet {
    const set = new AnchorSet(this.#anchors.symbolCount);
    if (among !== undefined && among.count <= askedMax) {
      for (const id of among.ids(0, this.#anchors.symbolCount))
        if (this.#anchors.admits(filter, id) && this.#hasItem(id, filter)) set.add(id);
      return set;
    }
    const add = (shard: ShardIndex, symbol: number): void => {
      const anchor = this.#anchors.ofSymbol(shard, symbol);
      if (!set.has(anchor) && this.#anchors.admits(filter, anchor)) set.add(anchor);
    };
    for (const shard of this.#anchors.shards) selectCallers(shard, filter, add);
    selectCalled(this.#anchors, filter, add);
    selectSlots(this.#anchors, filter, add);
    return set;
  }

  ground(filter: Filter, only: AnchorSet, put: Put): void {
    for (const id of only.ids(0, this.#anchors.symbolCount)) {
      const { file_path } = this.#anchors.row(id);
      let found = 0;
      for (const { path, line, item } of this.#itemsOf(id, file_path, filter)) {
        if (!filter.item(item)) continue;
        const { rule, text } = item;
        put(id, { overlay: 'O3', rule, file_path: path, line, text });
        found += 1;
        // Some names are called fifty thousand times.
        if (found === groundsMax) break;
      }
    }
  }

  #hasItem(id: number, filter: Filter): boolean {
    for (const { item } of this.#itemsOf(id, '', filter)) if (filter.item(item)) return true;
    return false;
  }

  /** Those of rules that may pass. */
  *#itemsOf(id: number, path: string, filter: Filter): Generator<PlacedItem> {
    for (const { shard, symbol, row } of this.#anchors.symbolsOf(id)) {
      for (const call of filter.mayBeOfRule('calls') ? shard.callsFrom(symbol) : [])
        yield { path, line: call.line, item: callsItem(call) };
      for (const slot of filter.mayBeOfRule('slot') ? ownSlots(shard, row) : [])
        yield { path, line: slot.line, item: slotItem(slot) };
      if (filter.mayBeOfRule('called')) yield* this.#callsOf(shard, row);
    }
  }

  *#callsOf(own: ShardIndex, row: SymbolRow): Generator<PlacedItem> {
    for (const shard of this.#anchors.shards) {
      for (const call of shard.callsTo(row.name)) {
        if (!mayBeCalled(own, row, call, languageOf(shard, call.file))) continue;
        const isOwnFile = shard === own && call.file === row.file;
        if (!isOwnFile && (!isSeen(row) || definesCallable(shard, call))) continue;
        const { path } = shard.file(call.file);
        yield { path, line: call.line, item: calledItem(shard, call) };
      }
    }
  }
}

interface PlacedItem {
  path: string;
  line: number;
  item: ItemFields;
}

type Add = (shard: ShardIndex, symbol: number) => void;

function selectCallers(shard: ShardIndex, filter: Filter, add: Add): void {
  if (!filter.mayBeOfRule('calls')) return;
  for (let symbol = 0; symbol < shard.symbolCount; symbol += 1)
    if (shard.callsFrom(symbol).some((call) => !filter.asksContent || filter.item(callsItem(call))))
      add(shard, symbol);
}

function selectCalled(anchors: Anchors, filter: Filter, add: Add): void {
  if (!filter.mayBeOfRule('called')) return;
  const called = new Called(anchors, add);
  const look = (shard: ShardIndex, call: CallRow): void => {
    if (!filter.asksContent || filter.item(calledItem(shard, call))) called.note(shard, call);
  };
  for (const shard of anchors.shards) {
    for (let symbol = 0; symbol < shard.symbolCount; symbol += 1)
      for (const call of shard.callsFrom(symbol)) look(shard, call);
    for (const call of shard.callsOutside()) look(shard, call);
  }
  selectSeen(anchors, called.outside, add);
}

/** Calls that come file by file: what a file defines itself is found once. */
class Called {
  /** Names that are called where the file has none of its own, with the families of the calls. */
  readonly outside = new Map<string, Set<string>>();
  readonly #anchors: Anchors;
  readonly #add: Add;
  #file = { shard: undefined as ShardIndex | undefined, file: -1, path: '' };
  /** Of the names that the file calls: what it defines under them. */
  #own = new Map<string, number[]>();

  constructor(anchors: Anchors, add: Add) {
    this.#anchors = anchors;
    this.#add = add;
  }

  note(shard: ShardIndex, call: CallRow): void {
    const language = languageOf(shard, call.file);
    if (isThroughField(call, language)) return;
    const own = this.#definitions(shard, call);
    for (const symbol of own) this.#add(shard, symbol);
    if (own.length > 0) return;
    const families = this.outside.get(call.callee);
    if (families === undefined) this.outside.set(call.callee, new Set([familyOf(language)]));
    else families.add(familyOf(language));
  }

  #definitions(shard: ShardIndex, call: CallRow): number[] {
    if (this.#file.shard !== shard || this.#file.file !== call.file) {
      this.#file = { shard, file: call.file, path: shard.file(call.file).path };
      this.#own = new Map();
    }
    let own = this.#own.get(call.callee);
    if (own === undefined) {
      const id = this.#anchors.ofName(this.#file.path, call.callee);
      const symbols = id === undefined ? [] : this.#anchors.symbolsOf(id);
      own = symbols.filter(({ row }) => isCallable(row)).map(({ symbol }) => symbol);
      this.#own.set(call.callee, own);
    }
    return own;
  }
}

/** What other files see of a name, wherever it is. */
function selectSeen(anchors: Anchors, outside: ReadonlyMap<string, Set<string>>, add: Add): void {
  for (const { id, name } of anchors.bearing(outside)) {
    for (const { shard, symbol, row } of anchors.symbolsOf(id)) {
      const family = familyOf(languageOf(shard, row.file));
      if (isCallable(row) && isSeen(row) && outside.get(name)?.has(family) === true)
        add(shard, symbol);
    }
  }
}

function selectSlots(anchors: Anchors, filter: Filter, add: Add): void {
  if (!filter.mayBeOfRule('slot')) return;
  for (const { shard, symbol, row } of anchors.functions())
    if (ownSlots(shard, row).some((slot) => filter.item(slotItem(slot)))) add(shard, symbol);
}

/** Where its own file puts a function into a field. */
function ownSlots(shard: ShardIndex, row: SymbolRow): CallRow[] {
  if (row.kind !== 'function' || row.declaration) return [];
  return shard.slotsOf(row.name).filter((slot) => slot.file === row.file);
}

function isCallable({ kind, declaration }: SymbolRow): boolean {
  return !declaration && callableKinds.has(kind);
}

/** Other files can call it. */
function isSeen({ exported, kind }: SymbolRow): boolean {
  return exported || kind === 'method';
}

function mayBeCalled(
  own: ShardIndex,
  row: SymbolRow,
  call: CallRow,
  language: FactsLanguage,
): boolean {
  return (
    isCallable(row) &&
    !isThroughField(call, language) &&
    familyOf(languageOf(own, row.file)) === familyOf(language)
  );
}

function isThroughField({ kind }: CallRow, language: FactsLanguage): boolean {
  return kind === 'member' && language === 'c';
}

/** The file of a call has something of its own that the call means. */
function definesCallable(shard: ShardIndex, call: CallRow): boolean {
  return shard
    .symbolsNamed(call.callee)
    .map((symbol) => shard.symbol(symbol))
    .some((row) => row.file === call.file && isCallable(row));
}

/** Of each file, by its number: a row of a file is more than every call can afford. */
const languages = new WeakMap<ShardIndex, FactsLanguage[]>();

function languageOf(shard: ShardIndex, file: number): FactsLanguage {
  let known = languages.get(shard);
  if (known === undefined) {
    known = Array.from({ length: shard.fileCount }, (_, each) => shard.file(each).language);
    languages.set(shard, known);
  }
  return known[file] ?? 'text';
}

/** Languages that call each other by name. */
function familyOf(language: FactsLanguage): string {
  if (isCFamily(language)) return 'c';
  return language === 'tsx' || language === 'javascript' ? 'typescript' : language;
}

function callsItem({ callee, unused }: CallRow): ItemFields {
  return {
    rule: 'calls',
    text: `calls ${callee}`,
    subject: callee,
    used: !unused,
  };
}

/** The caller's name is read only when it is asked for: there are millions of calls. */
function calledItem(shard: ShardIndex, { caller, unused }: CallRow): ItemFields {
  const name = (): string => (caller < 0 ? '' : shard.symbol(caller).name);
  return {
    rule: 'called',
    used: !unused,
    get subject() {
      return name();
    },
    get text() {
      return caller < 0 ? 'called outside of functions' : `called by ${name()}`;
    },
  };
}

function slotItem({ receiver }: CallRow): ItemFields {
  return { rule: 'slot', text: `is held by ${receiver}`, subject: receiver };
}
