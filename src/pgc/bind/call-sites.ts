import { certaintyOf, targetsOfCall } from './call-graph.js';
import type { CallTargets } from './index-cache.js';
import { isTail, parseReference, placeOfSymbol, resolveSymbol } from './definitions.js';
import type { CallSite, Expansion } from '../shapes.js';
import type { BoundTarget } from '../format/bound-calls.js';
import type { CallRow, ShardIndex } from '../format/shard-index.js';
import { saidRole, saidRoleAt } from '../source/role.js';
import { isConstructor } from './visibility.js';

/** One symbol whose callers are wanted. */
interface Wanted {
  /** Empty: any file. */
  path: string;
  /** Empty: none; undefined: any. */
  container: string | undefined;
  name: string;
  /** Of one of several functions of this name; 0: of any. */
  line: number;
  /** Of this shard. */
  symbols: ReadonlySet<number>;
  /** Not just a name. */
  isPrecise: boolean;
}

/** How surely a call means what is wanted. */
interface Meaning {
  certainty: 'exact' | 'dispatch' | 'possible';
  /** The method of an interface through which it is called. */
  via: string;
}

const exactly: Meaning = { certainty: 'exact', via: '' };
const possibly: Meaning = { certainty: 'possible', via: '' };

/**
 * All call sites of these symbols, in order of the files. A bare name means each of its definitions. With a path, calls that certainly mean another definition are left out, and, unless the symbol is
 * exported, calls in other files. A function in a structure of operations has a site of kind `slot` there: calls
 * through that field call it. Sites that may mean a symbol, but of which nothing proves it, are `possible`. `withUses`:
 * also where it is used without being called, as a value or as a type.
 */
export function callersOf(
  index: ShardIndex,
  symbols: readonly string[],
  { withUses = false } = {},
): CallSite[] {
  const byName = new Map<string, Wanted[]>();
  for (const text of new Set(symbols)) {
    const wanted = wantedBy(index, text);
    const { name, container = '' } = wanted;
    const isMade = isConstructor(name) && container !== '';
    // What is based on a type may be made by its constructor, and calls that by its name.
    for (const each of isMade ? [container, name] : [name])
      byName.set(each, [...(byName.get(each) ?? []), wanted]);
  }
  const places = new Places(index);
  const found = new Set<number>();
  return [...byName].flatMap(([name, wanted]) => {
    const isMade = isConstructor(name) && wanted.every(({ container = '' }) => container !== '');
    const calls = isMade
      ? boundSites(index, name, withUses)
      : [...sitesOf(index, name, withUses), ...index.slotsOf(name)];
    return calls.flatMap((call) => {
      const meaning = surest(wanted.map((each) => meaningOf(index, call, each)));
      if (meaning === undefined || found.has(call.id)) return [];
      if (call.id >= 0) found.add(call.id);
      return [callerSite(places, call, meaning)];
    });
  });
}

/**
 * Calls, those that may be meant, and how often it is used as a value without being called. What nothing calls by its
 * name may be called from where it is handed on.
 */
export function sortedOut(sites: readonly CallSite[]): {
  callers: CallSite[];
  possible: CallSite[];
  uses_total: number;
} {
  const calls = sites.filter(({ kind }) => kind !== 'value' && kind !== 'type');
  const uses = sites.filter(({ kind }) => kind === 'value');
  const handedOn =
    calls.length > 0 ? [] : uses.map((site): CallSite => ({ ...site, certainty: 'possible' }));
  return {
    callers: calls.filter(({ certainty }) => certainty !== 'possible'),
    possible: [...calls.filter(({ certainty }) => certainty === 'possible'), ...handedOn],
    uses_total: uses.filter(({ certainty }) => certainty !== 'possible').length,
  };
}

function wantedBy(index: ShardIndex, reference: string): Wanted {
  const [, text = reference, at = '0'] = /^(.+#[^/]+):([1-9]\d*)$/.exec(reference) ?? [];
  const line = Number(at);
  const { path, name: written } = parseReference(text);
  const isPlain = path === '' && !written.includes('.');
  const named = isPlain ? [] : resolveSymbol(index, text);
  const resolved = named.filter((id) => line === 0 || index.symbolPlace(id).line_start === line);
  const [container, name] = isPlain ? [undefined, written] : partsOf(index, written, resolved);
  const isPrecise = path !== '' || (container ?? '') !== '';
  const symbols = new Set(isPrecise ? resolved : []);
  return { path, container, name, line, symbols, isPrecise };
}

function surest(meanings: readonly (Meaning | undefined)[]): Meaning | undefined {
  const order = ['exact', 'dispatch', 'possible'];
  return meanings
    .filter((each) => each !== undefined)
    .sort((one, other) => order.indexOf(one.certainty) - order.indexOf(other.certainty))[0];
}

function meaningOf(index: ShardIndex, site: CallRow, wanted: Wanted): Meaning | undefined {
  // Bind the name of a slot as that of a direct call.
  const call = site.kind === 'slot' ? ({ ...site, kind: 'direct', receiver: '' } as const) : site;
  const targets = targetsOfCall(index, call);
  if (targets.binding !== 'unbound') return boundMeaning(index, call, wanted);
  if (site.kind === 'slot' && !mayBeFunction(index, targets)) return undefined;
  // In C, what is called by its name alone is no member.
  const isByName = index.file(site.file).language === 'c' && site.kind !== 'member';
  if (isByName && wanted.isPrecise && mayBeMember(index, wanted)) return undefined;
  if (!wanted.isPrecise) return exactly;
  const meaning = meaningInC(index, targets, wanted);
  if (meaning !== undefined) return meaning;
  const isOpen = targets.inside.length + targets.lookups.length === 0;
  // The name of a member of a structure in C does not say which function it holds, but which members it may be.
  return isOpen && site.kind === 'member' && mayBeMember(index, wanted) ? possibly : undefined;
}

/** What is put into a member may also be a number. */
function mayBeFunction(index: ShardIndex, { inside, lookups }: CallTargets): boolean {
  return (
    lookups.length > 0 ||
    inside.length === 0 ||
    inside.some((id) => !/^(?:variable|constant)$/.test(index.symbolPlace(id).kind))
  );
}

function mayBeMember(index: ShardIndex, { symbols, container = '' }: Wanted): boolean {
  if (symbols.size === 0) return container !== '';
  return [...symbols].some((id) => index.symbolPlace(id).kind === 'method');
}

/** What the binder says of a call. */
function boundMeaning(index: ShardIndex, call: CallRow, wanted: Wanted): Meaning | undefined {
  const { bound } = index;
  const binding = bound?.bindingOf(call.id);
  if (binding === 'possible') {
    const among = (bound?.targetsOf(call.id) ?? []).map((each) => bound?.target(each));
    const meant = among.find((each) => isMeant(each, wanted));
    // A variable that holds what is called is used there; of several functions any may be called.
    if (meant !== undefined) return isCallable(meant) ? possibly : exactly;
    if (among.some(isCallable)) return undefined;
    const isMethod = [...wanted.symbols].some((id) => index.symbol(id).kind === 'method');
    // A script may take a method out of its object, and in C++ a method calls those beside it: by their names alone.
    const isByName = /^(?:javascript|typescript|tsx|cpp)$/.test(index.file(call.file).language);
    return call.kind === 'direct' && isMethod && !isByName ? undefined : possibly;
  }
  for (const target of bound?.targetsOf(call.id) ?? []) {
    const its = bound?.target(target);
    if (its !== undefined && isMeant(its, wanted)) return exactly;
    if (binding !== 'dispatch') continue;
    for (const by of bound?.implementing(target) ?? []) {
      const implementing = bound?.target(by);
      if (implementing !== undefined && isMeant(implementing, wanted))
        return { certainty: 'dispatch', via: spoken(its) };
    }
  }
  return undefined;
}

function isCallable(target: BoundTarget | undefined): boolean {
  return target?.kind === 'function' || target?.kind === 'method';
}

/** As people write it. */
export function spoken(target: BoundTarget | undefined): string {
  const { container = '', name = '' } = target ?? {};
  return container === '' ? name : `${container}.${name}`;
}

function isMeant(target: BoundTarget | undefined, wanted: Wanted): boolean {
  if (target?.name !== wanted.name) return false;
  if (target.symbol >= 0 && wanted.symbols.size > 0) return wanted.symbols.has(target.symbol);
  return (
    (wanted.line === 0 || target.line === 0 || wanted.line === target.line) &&
    (wanted.container === undefined || wanted.container === target.container) &&
    (wanted.path === '' || isTail(target.path, wanted.path))
  );
}

/**
 * Calls out of each anchor, in order of the text; `anchor` is as requested. One site for each definition that a call
 * may reach, and one without a definition when the call may leave the shard or nothing is known.
 */
export function calleesOf(index: ShardIndex, anchors: readonly string[]): Expansion[] {
  return anchors.map((anchor) => {
    const symbols = resolveSymbol(index, anchor).filter((id) => !index.symbol(id).declaration);
    const files = new Set(symbols.map((id) => index.symbol(id).file));
    return {
      anchor,
      calls: symbols
        .flatMap((id) => index.callsFrom(id))
        .flatMap((call) => calleeSites(index, call)),
      includes: [...files].flatMap((file) => index.importsOf(file).map(({ target }) => target)),
    };
  });
}

/** What this shard defines that may run, or stand, in place of these symbols: methods and types. */
export function implementationsOf(index: ShardIndex, symbols: readonly string[]): number[] {
  const { bound } = index;
  if (bound === undefined) return [];
  const found = new Set<number>();
  for (const text of symbols) {
    const wanted = wantedBy(index, text);
    for (const target of bound.targetsNamed(wanted.name)) {
      if (!isMeant(bound.target(target), wanted)) continue;
      for (const by of bound.implementing(target)) {
        const { symbol } = bound.target(by);
        if (symbol >= 0) found.add(symbol);
      }
    }
  }
  return [...found];
}

/** Symbols of this shard that others implement or override. */
export function implementedSymbols(index: ShardIndex): Set<number> {
  const { bound } = index;
  const targets = [...(bound?.implementations() ?? [])].map(([target]) => target);
  return new Set(targets.flatMap((target) => bound?.target(target).symbol ?? []));
}

function partsOf(
  index: ShardIndex,
  name: string,
  resolved: readonly number[],
): [container: string | undefined, plain: string] {
  if (/^\d+$/.test(name)) {
    const row = resolved[0] === undefined ? undefined : index.symbol(resolved[0]);
    return [row?.container ?? '', row?.name ?? name];
  }
  const dot = name.lastIndexOf('.');
  return dot < 0 ? [undefined, name] : [name.slice(0, dot), name.slice(dot + 1)];
}

/** Calls, or also uses, that bear the name, and those that the binder found under another one. */
export function sitesOf(index: ShardIndex, name: string, withUses: boolean): CallRow[] {
  const direct = [...index.callsTo(name), ...(withUses ? index.usesOf(name) : [])];
  const known = new Set(direct.map(({ id }) => id));
  const others = boundSites(index, name, withUses).filter(({ id }) => !known.has(id));
  return [...direct, ...others];
}

/** Of what is called by other names alone, such as a constructor. */
export function boundSites(index: ShardIndex, name: string, withUses: boolean): CallRow[] {
  return boundTo(index, name)
    .map((id) => index.site(id))
    .filter(({ kind }) => withUses || !isUse(kind));
}

function isUse(kind: CallRow['kind']): boolean {
  return kind === 'value' || kind === 'type';
}

function boundTo(index: ShardIndex, name: string): number[] {
  const { bound } = index;
  if (bound === undefined) return [];
  const named = bound.targetsNamed(name);
  const targets = [...named, ...named.flatMap((by) => bound.replacedBy(by))];
  return [...new Set(targets.flatMap((target) => bound.callsOf(target)))];
}

/** By the rule of visibility: a call in C leaves the shard only when nothing in it fits. */
function meaningInC(
  index: ShardIndex,
  { inside, lookups, sure }: CallTargets,
  { symbols }: Wanted,
): Meaning | undefined {
  const at = inside.findIndex((id) => symbols.has(id));
  if (at >= 0) return at < sure ? exactly : possibly;
  if (lookups.length === 0) return undefined;
  const isFar =
    symbols.size === 0 ||
    (inside.length === 0 && [...symbols].every((id) => index.symbol(id).declaration));
  return isFar ? exactly : undefined;
}

function callerSite(places: Places, call: CallRow, { certainty, via }: Meaning): CallSite {
  const caller = call.caller < 0 ? undefined : places.symbol(call.caller);
  return {
    symbol: caller?.name ?? (call.kind === 'slot' ? call.receiver : ''),
    file_path: places.path(call.file),
    line: call.line,
    agent: places.index.info.agent,
    kind: call.kind,
    definition: caller?.place ?? '',
    lookup: null,
    container: caller?.container ?? '',
    ignored: call.unused,
    ...{ certainty, via, role: places.role(call.file, call.caller) },
  };
}

interface Caller {
  name: string;
  container: string;
  /** `path:line` */
  place: string;
}

/** Cached texts: a name can have tens of thousands of call sites. */
class Places {
  readonly #paths = new Map<number, string>();
  readonly #roles = new Map<number, string>();
  readonly #callers = new Map<number, Caller>();

  constructor(readonly index: ShardIndex) {}

  path(file: number): string {
    let path = this.#paths.get(file);
    if (path === undefined) this.#paths.set(file, (path = this.index.file(file).path));
    return path;
  }

  role(file: number, caller: number): string {
    let role = this.#roles.get(file);
    if (role === undefined)
      this.#roles.set(file, (role = saidRole(this.index.info, this.path(file))));
    return role === '' && caller >= 0 && this.index.isTest(caller) ? 'test' : role;
  }

  symbol(id: number): Caller {
    let caller = this.#callers.get(id);
    if (caller === undefined) {
      const { name, container, file, line_start } = this.index.symbol(id);
      caller = { name, container, place: `${this.path(file)}:${line_start}` };
      this.#callers.set(id, caller);
    }
    return caller;
  }
}

function calleeSites(index: ShardIndex, call: CallRow): CallSite[] {
  const { inside, lookups, sure, binding } = targetsOfCall(index, call);
  const site = {
    symbol: call.callee,
    file_path: index.file(call.file).path,
    line: call.line,
    agent: index.info.agent,
    kind: call.kind,
    ignored: call.unused,
    ...{ container: '', definition: '', lookup: null },
    ...{ certainty: certaintyOf(binding, inside.length + lookups.length), via: '' },
  };
  const sites = inside.map((id, at): CallSite => {
    const { name, container, file } = index.symbol(id);
    const role = saidRoleAt(index, file, id);
    const isBest = binding === 'unbound' && at < sure && sure + lookups.length === 1;
    const certainty = isBest ? 'exact' : site.certainty;
    const definition = placeOfSymbol(index, id);
    return { ...site, symbol: name, container, definition, role, certainty };
  });
  // One more site without a definition: another shard may define the real target.
  for (const lookup of lookups) sites.push({ ...site, symbol: lookup.name, lookup });
  return sites.length > 0 ? sites : [site];
}
