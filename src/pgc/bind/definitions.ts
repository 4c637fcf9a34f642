import { posix } from 'node:path';
import { moduleOf } from './modules.js';
import type { Definition } from '../shapes.js';
import type { ShardIndex } from '../format/shard-index.js';
import { withoutCredentials } from '../mine/items/redaction.js';
import { saidRole, saidRoleAt } from '../source/role.js';

/**
 * `name`, `Container.name`, `module.name`, `path#name`, `path:name` or `path:line`; the path may be any tail of the file's path. `.name`
 * is one that belongs to no container.
 */
interface SymbolReference {
  /** Empty: any file. */
  path: string;
  name: string;
}

export function parseReference(text: string): SymbolReference {
  const at = separatorIn(text);
  if (at <= 0) return { path: '', name: text };
  return { path: text.slice(0, at).replace(/^\.\//, ''), name: text.slice(at + 1) };
}

/** Ids of all symbols that the text may mean: definitions first, then declarations. */
export function resolveSymbol(index: ShardIndex, text: string): number[] {
  const [, place, line] = /^(.+):([1-9]\d*)$/.exec(text) ?? [];
  if (place !== undefined && index.fileAt(place) !== undefined)
    return symbolsAt(index, place, Number(line));
  const { path, name } = parseReference(text);
  if (path !== '' && /^[1-9]\d*$/.test(name)) return symbolsAt(index, path, Number(name));
  const named = index.symbolsNamed(name);
  const symbols = named.length > 0 ? named : symbolsWithin(index, name.replaceAll('::', '.'));
  if (path === '') return symbols;
  return symbols.filter((each) => isTail(index.file(index.symbol(each).file).path, path));
}

/** `Container.name`, else `module.Container.name` or `module.name`; a module may be any tail of a path, with dots. */
function symbolsWithin(index: ShardIndex, dotted: string): number[] {
  const parts = dotted.split('.');
  const name = parts.pop();
  if (name === undefined || parts.length === 0) return [];
  const named = index.symbolsNamed(name);
  const within = (module: string, container: string): number[] =>
    named.filter((each) => {
      const row = index.symbolPlace(each);
      return row.container === container && isOfModule(index.file(row.file).path, module);
    });
  const own = within('', parts.join('.'));
  if (own.length > 0 || parts[0] === '') return own;
  const inType = within(parts.slice(0, -1).join('/'), parts.at(-1) ?? '');
  return inType.length > 0 ? inType : within(parts.join('/'), '');
}

/** A module is a file, or a folder with files. Empty: any. */
function isOfModule(path: string, module: string): boolean {
  const own = moduleOf(path);
  return module === '' || isTail(own, module) || isTail(posix.dirname(own), module);
}

export function definitionOf(index: ShardIndex, symbol: number): Definition {
  const row = index.symbol(symbol);
  const { path, language } = index.file(row.file);
  return {
    symbol: row.name,
    kind: row.kind,
    file_path: path,
    line: row.line_start,
    line_end: row.line_end,
    signature: withoutCredentials(row.signature),
    exported: row.exported,
    agent: index.info.agent,
    declaration: row.declaration,
    container: row.container,
    doc: withoutCredentials(row.doc),
    role: saidRoleAt(index, row.file, symbol),
    language,
  };
}

/** Each symbol once, in the requested order. */
export function definitionsOf(index: ShardIndex, symbols: readonly string[]): Definition[] {
  const ids = new Set(symbols.flatMap((text) => resolveSymbol(index, text)));
  const scanned = [...new Set(symbols)].flatMap((text) => scannedDefinitions(index, text));
  return [...[...ids].map((id) => definitionOf(index, id)), ...scanned];
}

/** Names in a long list of definitions, of which only name and line are known. */
function scannedDefinitions(index: ShardIndex, text: string): Definition[] {
  const { path, name } = parseReference(text);
  return index
    .scannedNamed(name)
    .map(({ file, line }) => ({ file: index.file(file), line }))
    .filter(({ file }) => path === '' || isTail(file.path, path))
    .map(({ file: { path: file_path, language }, line }) => ({
      ...{ symbol: name, kind: 'macro', file_path, line, line_end: line, signature: '' },
      ...{ exported: true, agent: index.info.agent, declaration: false, container: '', doc: '' },
      ...{ role: saidRole(index.info, file_path), language },
    }));
}

/** `path:line` of a symbol. */
export function placeOfSymbol(index: ShardIndex, symbol: number): string {
  const row = index.symbol(symbol);
  return `${index.file(row.file).path}:${row.line_start}`;
}

/** Symbols that begin on a line of the file at exactly this path. */
function symbolsAt(index: ShardIndex, path: string, line: number): number[] {
  const file = index.fileAt(path);
  if (file === undefined) return [];
  return index.symbolsOf(file).filter((each) => index.symbol(each).line_start === line);
}

export function isTail(path: string, tail: string): boolean {
  return path === tail || path.endsWith(`/${tail}`);
}

/** Position between path and name; not positive when there is only a name. */
function separatorIn(text: string): number {
  // Fast path: a plain name is looked up in every shard.
  if (!text.includes('#') && !text.includes(':')) return -1;
  // The `#` of a private member belongs to the name.
  const hashes = [...text.matchAll(/(?<=[^.#])#/g)].map((each) => each.index);
  const last = hashes.at(-1) ?? -1;
  // A `#` or `:` followed by a slash is part of a folder's name, unless nothing else separates.
  if (last > 0 && !text.includes('/', last)) return last;
  const colon = singleColon(text);
  return colon > 0 ? colon : last;
}

/** `::` separates names, not a path. */
function singleColon(text: string): number {
  const at = text.lastIndexOf(':');
  return at > 0 && text[at - 1] !== ':' ? at : -1;
}
