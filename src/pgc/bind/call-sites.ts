import { targetsOfCall } from './call-graph.js';
import { aliasesOf, isC } from './index-cache.js';
import { parseReference, placeOfSymbol, resolveSymbol } from './definitions.js';
import { isModule } from './modules.js';
import type { CallSite, Expansion } from '../shapes.js';
import type { CallRow, ShardIndex } from '../format/shard-index.js';
import { isConstructor } from './visibility.js';

/** One symbol whose callers are wanted. */
interface Wanted {
  /** Empty: any file. */
  path: string;
  /** Empty: all calls of the name. */
  symbols: ReadonlySet<number>;
  isPrecise: boolean;
}

/**
 * All call sites of these symbols, in order of the files. A bare name means every call of that name, also under its
 * import aliases. With a path, calls that certainly mean another definition are left out, and, unless the symbol is
 * exported, calls in other files. A function in a structure of operations has a site of kind `slot` there: calls
 * through that field call it.
 */
export function callersOf(index: ShardIndex, symbols: readonly string[]): CallSite[] {
  const byName = new Map<string, Wanted[]>();
  for (const text of new Set(symbols)) {
    const { path, name } = parseReference(text);
    const isPlain = path === '' && !name.includes('.');
    const resolved = isPlain ? [] : resolveSymbol(index, text);
    const [container, plain] = isPlain ? ['', name] : partsOf(index, name, resolved);
    const isPrecise = path !== '' || container !== '';
    const called = isConstructor(plain) && container !== '' ? container : plain;
    const wanted = { path, symbols: new Set(isPrecise ? resolved : []), isPrecise };
    byName.set(called, [...(byName.get(called) ?? []), wanted]);
  }
  const places = new Places(index);
  return [...byName].flatMap(([name, wanted]) =>
    [...callsOf(index, name), ...index.slotsOf(name)]
      .filter((call) => wanted.some((each) => !each.isPrecise || mayMean(index, call, each)))
      .map((call) => callerSite(places, call)),
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

function partsOf(
  index: ShardIndex,
  name: string,
  resolved: readonly number[],
): [container: string, plain: string] {
  if (/^\d+$/.test(name)) {
    const row = resolved[0] === undefined ? undefined : index.symbol(resolved[0]);
    return [row?.container ?? '', row?.name ?? name];
  }
  const dot = name.lastIndexOf('.');
  return dot <= 0 ? ['', name] : [name.slice(0, dot), name.slice(dot + 1)];
}

function callsOf(index: ShardIndex, name: string): CallRow[] {
  const direct = index.callsTo(name);
  const aliased = aliasesOf(index, name).flatMap((alias) =>
    index.callsTo(alias).filter((call) => reallyNamed(index, call, name)),
  );
  return aliased.length === 0 ? direct : [...direct, ...aliased];
}

function reallyNamed(index: ShardIndex, call: CallRow, name: string): boolean {
  const { inside, lookup } = targetsOfCall(index, call);
  return lookup?.name === name || inside.some((each) => index.symbol(each).name === name);
}

function mayMean(index: ShardIndex, site: CallRow, wanted: Wanted): boolean {
  // Bind the name of a slot as that of a direct call.
  const call = site.kind === 'slot' ? ({ ...site, kind: 'direct', receiver: '' } as const) : site;
  const { inside, lookup } = targetsOfCall(index, call);
  if (inside.some((id) => wanted.symbols.has(id))) return true;
  if (lookup === undefined) return false;
  if (wanted.symbols.size === 0) {
    // The definition is in another shard: compare paths.
    return (
      lookup.modules.length === 0 || wanted.path === '' || isModule(wanted.path, lookup.modules)
    );
  }
  if (inside.length > 0 || lookup.modules.length > 0) return false;
  const definitions = [...wanted.symbols].filter((id) => !index.symbol(id).declaration);
  if (definitions.length === 0) return true;
  // In C, a call leaves the shard only when nothing in it fits.
  return !isC(index, site.file) && definitions.some((id) => index.symbol(id).exported);
}

function callerSite(places: Places, call: CallRow): CallSite {
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
  readonly #callers = new Map<number, Caller>();

  constructor(readonly index: ShardIndex) {}

  path(file: number): string {
    let path = this.#paths.get(file);
    if (path === undefined) this.#paths.set(file, (path = this.index.file(file).path));
    return path;
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
  const { inside, lookup } = targetsOfCall(index, call);
  const site = {
    symbol: call.callee,
    file_path: index.file(call.file).path,
    line: call.line,
    agent: index.info.agent,
    kind: call.kind,
    ignored: call.unused,
  };
  const sites = inside.map((id): CallSite => {
    const { name, container } = index.symbol(id);
    return { ...site, symbol: name, container, definition: placeOfSymbol(index, id), lookup: null };
  });
  // One more site without a definition: another shard may define the real target.
  if (lookup !== undefined || sites.length === 0)
    sites.push({ ...site, container: '', definition: '', lookup: lookup ?? null });
  return sites;
}
