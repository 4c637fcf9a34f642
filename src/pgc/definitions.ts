import type { CallSite, Definition, Expansion } from './shapes.js';
import type { CallRow, ShardIndex, SymbolRow } from './shard-index.js';

/** What can be called. A struct and a function of one name are two things in C. */
const callableKinds = new Set(['function', 'method', 'macro', 'class', 'variable', 'constant']);
/** Receivers that mean the class the caller stands in. */
const ownReceivers = new Set(['this', 'self', 'cls', 'super', 'super()']);

/** `name`, `Container.name`, `path#name` or `path:name`; the path may be any tail of the file's path. */
export interface SymbolReference {
  /** Empty: in any file. */
  path: string;
  name: string;
}

export function parseReference(text: string): SymbolReference {
  // A leading `#` is part of a private name; `::` separates names, not a path.
  const at = text.indexOf('#', 1) > 0 ? text.lastIndexOf('#') : singleColon(text);
  if (at <= 0) return { path: '', name: text };
  return { path: text.slice(0, at).replace(/^\.\//, ''), name: text.slice(at + 1) };
}

/** Ids of all symbols that the text may mean: definitions first, then declarations. */
export function resolveSymbol(index: ShardIndex, text: string): number[] {
  const { path, name } = parseReference(text);
  let symbols = index.symbolsNamed(name);
  const dot = name.lastIndexOf('.');
  if (symbols.length === 0 && dot > 0) {
    const container = name.slice(0, dot);
    symbols = index
      .symbolsNamed(name.slice(dot + 1))
      .filter((each) => index.symbol(each).container === container);
  }
  if (path === '') return symbols;
  return symbols.filter((each) => isTail(index.file(index.symbol(each).file).path, path));
}

/**
 * Definitions in this shard that a call can mean by the rules of its language: what its own file defines,
 * or else what other files export. A declaration is never meant, nor a static function of another source
 * file, nor in C any function by a call through a member (`ops->open()` calls what the pointer holds). An
 * import of the name narrows it to the files that the import can mean.
 */
export function targetsOf(index: ShardIndex, call: CallRow): number[] {
  if (isThroughPointer(index, call)) return [];
  const imported = importOf(index, call);
  const candidates = index
    .symbolsNamed(imported?.name ?? call.callee)
    .map((id) => ({ id, row: index.symbol(id) }))
    .filter(({ row }) => !row.declaration && isCallable(row, call));
  if (imported !== undefined) {
    return candidates
      .filter(({ row }) => row.exported && imported.holds(row.file))
      .map(({ id }) => id);
  }
  const own = candidates.filter(({ row }) => row.file === call.file);
  if (ownReceivers.has(call.receiver) && call.caller >= 0) {
    const { container } = index.symbol(call.caller);
    const siblings = own.filter(({ row }) => row.container === container);
    if (siblings.length > 0) return siblings.map(({ id }) => id);
  }
  if (own.length > 0) return own.map(({ id }) => id);
  return candidates.filter(({ row }) => row.exported).map(({ id }) => id);
}

export function definitionOf(index: ShardIndex, symbol: number): Definition {
  const row = index.symbol(symbol);
  return {
    symbol: row.name,
    kind: row.kind,
    file_path: index.file(row.file).path,
    line: row.line_start,
    line_end: row.line_end,
    signature: row.signature,
    exported: row.exported,
    agent: index.info.agent,
    declaration: row.declaration,
  };
}

/** Each symbol once, in the order asked for. */
export function definitionsOf(index: ShardIndex, symbols: readonly string[]): Definition[] {
  const ids = new Set(symbols.flatMap((text) => resolveSymbol(index, text)));
  return [...ids].map((id) => definitionOf(index, id));
}

/**
 * Every call site of these symbols, complete, in order of the files. A bare name means all calls of that
 * name. With a path, calls that surely mean another definition of this shard are left out, and when the
 * path is in this shard and its symbol is not exported, so are those of other files.
 */
export function callersOf(index: ShardIndex, symbols: readonly string[]): CallSite[] {
  const byName = new Map<string, { isPrecise: boolean; wanted: Set<number> }[]>();
  for (const text of new Set(symbols)) {
    const { path, name } = parseReference(text);
    const plain = name.slice(name.lastIndexOf('.') + 1);
    const isPrecise = path !== '' || plain !== name;
    const wanted = new Set(isPrecise ? resolveSymbol(index, text) : []);
    byName.set(plain, [...(byName.get(plain) ?? []), { isPrecise, wanted }]);
  }
  return [...byName].flatMap(([name, references]) =>
    index
      .callsTo(name)
      .filter((call) =>
        references.some((each) => !each.isPrecise || mayMean(index, call, each.wanted)),
      )
      .map((call) => callerSite(index, call)),
  );
}

/** Calls out of each anchor, in order of the text; `anchor` as it was asked for. */
export function calleesOf(index: ShardIndex, anchors: readonly string[]): Expansion[] {
  return anchors.map((anchor) => {
    const symbols = resolveSymbol(index, anchor).filter((id) => !index.symbol(id).declaration);
    const files = new Set(symbols.map((id) => index.symbol(id).file));
    return {
      anchor,
      calls: symbols.flatMap((id) => index.callsFrom(id)).map((call) => calleeSite(index, call)),
      includes: [...files].flatMap((file) => index.importsOf(file).map(({ target }) => target)),
    };
  });
}

/** `path:line` of a symbol. */
export function placeOfSymbol(index: ShardIndex, symbol: number): string {
  const row = index.symbol(symbol);
  return `${index.file(row.file).path}:${row.line_start}`;
}

function callerSite(index: ShardIndex, call: CallRow): CallSite {
  const isInside = call.caller >= 0;
  return {
    symbol: isInside ? index.symbol(call.caller).name : '',
    file_path: index.file(call.file).path,
    line: call.line,
    agent: index.info.agent,
    kind: call.kind,
    definition: isInside ? placeOfSymbol(index, call.caller) : '',
  };
}

function calleeSite(index: ShardIndex, call: CallRow): CallSite {
  const target = targetsOf(index, call)[0];
  return {
    symbol: call.callee,
    file_path: index.file(call.file).path,
    line: call.line,
    agent: index.info.agent,
    kind: call.kind,
    definition: target === undefined ? '' : placeOfSymbol(index, target),
  };
}

function mayMean(index: ShardIndex, call: CallRow, wanted: ReadonlySet<number>): boolean {
  const targets = targetsOf(index, call);
  if (targets.some((id) => wanted.has(id))) return true;
  if (targets.length > 0 || isThroughPointer(index, call)) return false;
  // Nothing here is meant for sure: it may be a definition of another shard.
  const definitions = [...wanted].filter((id) => !index.symbol(id).declaration);
  return definitions.length === 0 || definitions.some((id) => index.symbol(id).exported);
}

/** In C the name of a member says nothing about the function that the pointer holds. */
function isThroughPointer(index: ShardIndex, call: CallRow): boolean {
  return call.kind === 'member' && index.file(call.file).language === 'c';
}

function isCallable(row: SymbolRow, call: CallRow): boolean {
  if (!callableKinds.has(row.kind)) return false;
  if (call.kind === 'construct') return row.kind !== 'method';
  return call.kind === 'member' || row.kind !== 'method';
}

/** What the caller's file says about a name that it imports: its real name, and where it may stand. */
function importOf(
  index: ShardIndex,
  call: CallRow,
): { name: string; holds: (file: number) => boolean } | undefined {
  if (call.kind === 'member') return undefined;
  for (const { target, names } of index.importsOf(call.file)) {
    for (const written of names) {
      const [name = '', alias = name] = written.split(':');
      if (alias !== call.callee || name === '*') continue;
      const tails = moduleTails(target);
      const holds = (file: number): boolean => {
        const path = index
          .file(file)
          .path.replace(/\.[a-z]+$/, '')
          .replace(/\/(?:index|__init__)$/, '');
        return tails.some((tail) => isTail(path, tail));
      };
      return { name: name === 'default' ? call.callee : name, holds };
    }
  }
  return undefined;
}

/** `./wire/frame.js` → `wire/frame`; `package.module` → `package/module`. */
function moduleTails(target: string): string[] {
  const path = target
    .replace(/^(?:\.{1,2}\/)+/, '')
    .replace(/\.[cm]?[jt]sx?$/, '')
    .replace(/\/index$/, '');
  return target.includes('/') ? [path] : [path, target.replace(/^\.+/, '').replaceAll('.', '/')];
}

function isTail(path: string, tail: string): boolean {
  return path === tail || path.endsWith(`/${tail}`);
}

function singleColon(text: string): number {
  const at = text.lastIndexOf(':');
  return at > 0 && text[at - 1] !== ':' ? at : -1;
}
