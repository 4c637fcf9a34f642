import { sitesOf, boundSites } from '../../bind/call-sites.js';
import { constructorNames, isConstructor } from '../../bind/visibility.js';
import { isCFamily, type FactsLanguage } from '../../format/facts.js';
import type { CallRow, ShardIndex, SymbolRow } from '../../format/shard-index.js';
import type { CodeGraph } from '../code-graph.js';
import { AnchorSet } from './anchor-set.js';
import type { AnchoredSymbol, Anchors } from './anchors.js';
import { CallMeanings, isUse, type MeantSymbol } from './call-meanings.js';
import type { Filter, ItemFields } from './filter.js';
import { groundsMax, type Put, type Source, type Wanted } from './source.js';

/** What can be called; a struct of the same name is another thing. */
const callableKinds = new Set(['function', 'method', 'macro', 'class', 'variable', 'constant']);

const runnableKinds = new Set(['function', 'method', 'class']);

/** Up to this many symbols are looked up one by one; for more, all calls are read. */
const askedMax = 20_000;

/**
 * O3: who calls, and who is called. Three rules:
 *
 * - `calls`: a call stands inside the symbol. Its subject is the name that is called, or that of what the call
 *   is bound to where it is another one.
 * - `called`: a call in the tree means the symbol, as for `sigma callers`: by types, or in C by includes, also
 *   through an interface. Its subject is the name of the caller. What only may be meant counts where the
 *   symbols are asked for that are not called.
 * - `slot`: its own file puts the function into a field of a structure, to be called from elsewhere. The
 *   subject is `structure.field`.
 *
 * Whether the result is used is known of calls only. Calls outside all symbols call, but belong to none.
 */
export class CallSource implements Source {
  readonly rules = new Set(['calls', 'called', 'slot']);
  readonly #anchors: Anchors;
  readonly #meanings: CallMeanings;

  constructor(anchors: Anchors, graph: CodeGraph) {
    this.#anchors = anchors;
    this.#meanings = new CallMeanings(graph);
  }

  select(filter: Filter, { among, isWide = false }: Wanted = {}): AnchorSet {
    const set = new AnchorSet(this.#anchors.symbolCount);
    if (among !== undefined && among.count <= askedMax) {
      for (const id of among.ids(0, this.#anchors.symbolCount))
        if (this.#anchors.admits(filter, id) && this.#hasItem(id, filter, isWide)) set.add(id);
      return set;
    }
    const add = (shard: ShardIndex, symbol: number): void => {
      const anchor = this.#anchors.ofSymbol(shard, symbol);
      if (!set.has(anchor) && this.#anchors.admits(filter, anchor)) set.add(anchor);
    };
    for (const shard of this.#anchors.shards) selectCallers(shard, filter, add);
    if (filter.mayBeOfRule('called')) this.#selectCalled(filter, isWide, add);
    selectSlots(this.#anchors, filter, add);
    return set;
  }

  ground(filter: Filter, only: AnchorSet, put: Put): void {
    for (const id of only.ids(0, this.#anchors.symbolCount)) {
      const { file_path } = this.#anchors.row(id);
      let found = 0;
      for (const { path, line, item } of this.#itemsOf(id, file_path, filter, false)) {
        if (!filter.item(item)) continue;
        const { rule, text } = item;
        put(id, { overlay: 'O3', rule, file_path: path, line, text });
        found += 1;
        // Some names are called fifty thousand times.
        if (found === groundsMax) break;
      }
    }
  }

  #hasItem(id: number, filter: Filter, isWide: boolean): boolean {
    for (const { item } of this.#itemsOf(id, '', filter, isWide))
      if (filter.item(item)) return true;
    return false;
  }

  /** Those of rules that may pass. */
  *#itemsOf(id: number, path: string, filter: Filter, isWide: boolean): Generator<PlacedItem> {
    for (const each of this.#anchors.symbolsOf(id)) {
      const { shard, symbol, row } = each;
      for (const call of filter.mayBeOfRule('calls') ? shard.callsFrom(symbol) : [])
        for (const item of callsItems(shard, call)) yield { path, line: call.line, item };
      for (const slot of filter.mayBeOfRule('slot') ? ownSlots(shard, row) : [])
        yield { path, line: slot.line, item: slotItem(slot) };
      if (filter.mayBeOfRule('called')) yield* this.#callsOf(each, isWide);
    }
  }

  *#callsOf(asked: AnchoredSymbol, isWide: boolean): Generator<PlacedItem> {
    const name = calledName(asked.row);
    for (const [at, shard] of this.#anchors.shards.entries()) {
      const made = name === asked.row.name ? [] : boundSites(shard, asked.row.name, isWide);
      const sites = new Map(
        [...sitesOf(shard, name, isWide), ...made].map((site) => [site.id, site]),
      );
      const slots = isWide ? shard.slotsOf(asked.row.name) : [];
      for (const call of [...sites.values(), ...slots]) {
        if (!this.#mayMean(at, call, asked, isWide)) continue;
        const { path } = shard.file(call.file);
        yield { path, line: call.line, item: calledItem(shard, call) };
      }
    }
  }

  #mayMean(
    from: number,
    call: CallRow,
    { shard, symbol, row }: AnchoredSymbol,
    isWide: boolean,
  ): boolean {
    if ((isUse(call) || call.kind === 'slot') && !isHandedOn(call, row)) return false;
    const { proven, possible, isOpen } = this.#meanings.of(from, call);
    const among = isWide ? [...proven, ...possible] : proven;
    if (among.some((each) => each.symbol === symbol && this.#anchors.shards[each.shard] === shard))
      return true;
    const own = this.#anchors.shards[from];
    if (!isWide || !isOpen || isUse(call) || call.kind === 'slot') return false;
    if (own === undefined) return false;
    return mayBear(languageOf(shard, row.file), row, familyOf(languageOf(own, call.file)));
  }

  #selectCalled(filter: Filter, isWide: boolean, add: Add): void {
    const open = new Map<string, Set<string>>();
    for (const [at, shard] of this.#anchors.shards.entries()) {
      const passes = (call: CallRow): boolean =>
        !filter.asksContent || filter.item(calledItem(shard, call));
      for (const [name, all] of shard.callsByName()) {
        const calls = all.filter(passes);
        for (const [place, { proven, possible, isOpen }] of this.#meanings
          .ofAll(at, calls)
          .entries()) {
          for (const each of isWide ? [...proven, ...possible] : proven) this.#add(each, add);
          const call = calls[place];
          if (!isWide || !isOpen || call === undefined) continue;
          const families = open.get(name) ?? new Set();
          open.set(name, families.add(familyOf(languageOf(shard, call.file))));
        }
      }
      if (isWide) this.#addHandedOn(at, passes, add);
    }
    if (open.size > 0) selectOpen(this.#anchors, open, add);
  }

  #addHandedOn(at: number, passes: (use: CallRow) => boolean, add: Add): void {
    const shard = this.#anchors.shards[at];
    for (const use of [...(shard?.uses() ?? []), ...(shard?.slots() ?? [])]) {
      if (use.kind === 'type' || !passes(use)) continue;
      const { proven, possible } = this.#meanings.of(at, use);
      for (const each of [...proven, ...possible]) {
        const outline = this.#anchors.shards[each.shard]?.outline(each.symbol);
        if (outline !== undefined && isHandedOn(use, outline)) this.#add(each, add);
      }
    }
  }

  #add({ shard: at, symbol }: MeantSymbol, add: Add): void {
    const shard = this.#anchors.shards[at];
    if (shard !== undefined) add(shard, symbol);
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
    if (
      shard
        .callsFrom(symbol)
        .some((call) => !filter.asksContent || callsItems(shard, call).some(filter.item))
    )
      add(shard, symbol);
}

/** What bears a name of which some call does not tell what it means. */
function selectOpen(
  anchors: Anchors,
  open: ReadonlyMap<string, ReadonlySet<string>>,
  add: Add,
): void {
  const names = new Set([...open.keys(), ...constructorNames]);
  for (const { id } of anchors.bearing(names)) {
    for (const { shard, symbol, row } of anchors.symbolsOf(id)) {
      const language = languageOf(shard, row.file);
      for (const family of open.get(calledName(row)) ?? [])
        if (mayBear(language, row, family)) add(shard, symbol);
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

/** Whether a call in this family of languages may mean it by its name; in C not what is private to another file. */
function mayBear(language: FactsLanguage, row: SymbolRow, family: string): boolean {
  const isSeen = row.exported || row.kind === 'method' || !isCFamily(language);
  return isCallable(row) && isSeen && familyOf(language) === family;
}

/** Constructors are called by the name of their class. */
function calledName({ name, container }: SymbolRow): string {
  return isConstructor(name) && container !== '' ? container : name;
}

/** What is handed on may be called from there. */
function isHandedOn(use: CallRow, { kind }: Pick<SymbolRow, 'kind'>): boolean {
  return (use.kind === 'value' || use.kind === 'slot') && runnableKinds.has(kind);
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

/** By the name that stands there, and by that of what it is bound to. */
function callsItems({ bound }: ShardIndex, { id, callee, unused }: CallRow): ItemFields[] {
  const isBound = id >= 0 && /^(?:exact|dispatch)$/.test(bound?.bindingOf(id) ?? '');
  const targets = isBound ? (bound?.targetsOf(id) ?? []) : [];
  const names = new Set([callee, ...targets.map((each) => bound?.target(each).name ?? callee)]);
  return Array.from(names, (name) => ({
    rule: 'calls',
    text: `calls ${name}`,
    subject: name,
    used: !unused,
  }));
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
