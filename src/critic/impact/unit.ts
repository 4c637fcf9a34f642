import type { SymbolFact } from '../../pgc/format/facts.js';
import { parsed } from './facts.js';
import type { CodeParts } from '../../pgc/mine/code-parts.js';
import type { CodeReader, SourceCode } from '../../pgc/mine/code-reader.js';

/** A function with its own parts, without those of functions within it; or what stands outside of all functions. */
export interface Unit extends Pick<
  CodeParts,
  'calls' | 'conditions' | 'comparisons' | 'handlers' | 'awaits' | 'returned'
> {
  /** `Container.name`, numbered where a text has several; empty: outside of all functions. */
  key: string;
  name: string;
  /** Undefined: outside of all functions. */
  symbol: SymbolFact | undefined;
  line: number;
  line_end: number;
  /** Lines of `goto`, and of `...value`. */
  jumps: number[];
  spreads: number[];
  /** Lines by name. */
  names: Map<string, number[]>;
}

/** One of two versions of a source file. */
export interface Version {
  code: SourceCode;
  units: Unit[];
}

const callerKinds = new Set(['function', 'method', 'macro']);

/** Undefined: it cannot be parsed. */
export async function versionOf(
  reader: CodeReader,
  path: string,
  text: string,
): Promise<Version | undefined> {
  const code = await parsed(reader, path, text);
  return code === undefined ? undefined : { code, units: unitsOf(code) };
}

function unitsOf({ facts, parts, lines }: SourceCode): Unit[] {
  const outside = emptyUnit(undefined, 1, lines.length);
  const inside = facts.symbols
    .filter(({ kind, declaration }) => callerKinds.has(kind) && !declaration)
    .map((symbol) => emptyUnit(symbol, symbol.line_start, symbol.line_end));
  numberKeys(inside);
  const units = [outside, ...inside];
  const owners = ownersOf(units, lines.length);
  const ownerAt = (line: number): Unit => owners[line - 1] ?? outside;
  for (const each of parts.calls) ownerAt(each.line).calls.push(each);
  for (const each of parts.conditions) ownerAt(each.line).conditions.push(each);
  for (const each of parts.comparisons) ownerAt(each.line).comparisons.push(each);
  for (const each of parts.handlers) ownerAt(each.line).handlers.push(each);
  for (const each of parts.awaits) ownerAt(each.line).awaits.push(each);
  for (const each of parts.returned) ownerAt(each.line).returned.push(each);
  for (const line of parts.jumps) ownerAt(line).jumps.push(line);
  for (const line of parts.spreads) ownerAt(line).spreads.push(line);
  for (const [name, at] of parts.names)
    for (const line of at) {
      const { names } = ownerAt(line);
      const before = names.get(name);
      if (before === undefined) names.set(name, [line]);
      else before.push(line);
    }
  return units;
}

function emptyUnit(symbol: SymbolFact | undefined, line: number, line_end: number): Unit {
  const name = symbol?.name ?? '';
  return {
    key: [symbol?.container ?? '', name].filter((each) => each !== '').join('.'),
    ...{ name, symbol, line, line_end, names: new Map() },
    ...{ calls: [], conditions: [], comparisons: [], handlers: [], awaits: [] },
    ...{ returned: [], jumps: [], spreads: [] },
  };
}

function numberKeys(units: readonly Unit[]): void {
  const times = new Map<string, number>();
  for (const unit of units) {
    const time = (times.get(unit.key) ?? 0) + 1;
    times.set(unit.key, time);
    if (time > 1) unit.key = `${unit.key} ${time}`;
  }
}

/** The innermost unit of each line. Symbols come outer before inner. */
function ownersOf(units: readonly Unit[], lines: number): Unit[] {
  const owners: Unit[] = [];
  for (const unit of units)
    for (let line = unit.line; line <= Math.min(unit.line_end, lines); line += 1)
      owners[line - 1] = unit;
  return owners;
}

/** How many entries of all units satisfy a condition. */
export function countIn<K extends 'calls' | 'conditions' | 'comparisons' | 'handlers'>(
  { units }: Version,
  kind: K,
  isCounted: (part: Unit[K][number]) => boolean,
): number {
  return units.reduce(
    (sum, unit) => sum + (unit[kind] as Unit[K][number][]).filter(isCounted).length,
    0,
  );
}
