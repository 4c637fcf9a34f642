import type { ScipDocument } from './read-index.js';

/** What a character of a range is, as `scip.proto` numbers it. */
const encodings = { unsaid: 0, utf8: 1, utf16: 2, utf32: 3 } as const;

/** Where a document names something, and what stands there. */
export interface NamedPlace {
  /** From 1. */
  line: number;
  character: number;
  /** Empty: no name stands there. */
  name: string;
  symbol: string;
  isDefinition: boolean;
}

/**
 * Places whose line has their name elsewhere too, where the document says nothing of it: a site of ours may be the other
 * one. As `line name`.
 */
export function unclearNames(places: readonly NamedPlace[], text: string): Set<string> {
  const lines = text.split('\n');
  const characters = new Map<string, { name: string; line: number; at: Set<number> }>();
  for (const { line, character, name } of places) {
    if (name === '') continue;
    const key = `${line} ${name}`;
    const known = characters.get(key) ?? { name, line, at: new Set<number>() };
    characters.set(key, known);
    known.at.add(character);
  }
  const unclear = new Set<string>();
  for (const [key, { name, line, at }] of characters)
    if (wordsIn(lines[line - 1] ?? '', name) > at.size) unclear.add(key);
  return unclear;
}

function wordsIn(row: string, name: string): number {
  let count = 0;
  for (let at = row.indexOf(name); at >= 0; at = row.indexOf(name, at + name.length))
    if (!isCut(row, at) && !isCut(row, at + name.length)) count += 1;
  return count;
}

/** An occurrence defines its symbol, also where this is a forward declaration. */
const definitionRoles = 1 | 64;

/**
 * The places that a document speaks of; `changed`: its ranges do not fit the text, which is another one than was indexed;
 * `no ranges`: they are given in a way that is not known here.
 */
export function namedPlaces(document: ScipDocument, text: string): NamedPlace[] | Misfit {
  if (document.text !== '' && document.text !== text) return 'changed';
  const lines = text.split('\n');
  const places: NamedPlace[] = [];
  let withRange = 0;
  for (const { range, symbol, symbol_roles } of document.occurrences) {
    if (range.length < 3) continue;
    withRange += 1;
    const [line = 0, from = 0, third = 0, fourth] = range;
    const isOneLine = fourth === undefined || third === line;
    const to = fourth ?? third;
    if (symbol === '' || !isOneLine || from === to) continue;
    const row = lines[line];
    if (row === undefined) return 'changed';
    const name = nameAt(row, from, to, document.position_encoding);
    if (name === undefined) {
      if (document.position_encoding === encodings.unsaid && !isAscii(row)) continue;
      return 'changed';
    }
    const isDefinition = (symbol_roles & definitionRoles) !== 0;
    places.push({ line: line + 1, character: from, name, symbol, isDefinition });
  }
  return document.occurrences.length > 0 && withRange === 0 ? 'no ranges' : places;
}

export type Misfit = 'changed' | 'no ranges';

/** Undefined: the range lies outside of the line, or cuts a word. */
function nameAt(row: string, from: number, to: number, encoding: number): string | undefined {
  const [start, end] = isAscii(row)
    ? [from, to]
    : [unitsBefore(row, from, encoding), unitsBefore(row, to, encoding)];
  if (start < 0 || end > row.length || start >= end) return undefined;
  if (isCut(row, start) || isCut(row, end)) return undefined;
  const text = row.slice(start, end);
  return wholeName.test(text) ? text : '';
}

const wordUnit = /[\p{L}\p{N}_$]/u;
const wholeName = /^#?[\p{L}\p{N}_$]+$/u;

function isCut(row: string, at: number): boolean {
  return (
    at > 0 && at < row.length && wordUnit.test(row[at - 1] ?? '') && wordUnit.test(row[at] ?? '')
  );
}

function isAscii(text: string): boolean {
  return Buffer.byteLength(text) === text.length;
}

/** UTF-16 units before a character of this encoding. */
function unitsBefore(row: string, character: number, encoding: number): number {
  if (encoding !== encodings.utf8 && encoding !== encodings.utf32) return character;
  let units = 0;
  let counted = 0;
  for (const each of row) {
    if (counted >= character) break;
    counted += encoding === encodings.utf8 ? Buffer.byteLength(each) : 1;
    units += each.length;
  }
  return counted < character ? row.length + 1 : units;
}
