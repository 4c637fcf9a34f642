import type { Found } from '../finding.js';
import { at, quoted, withoutCode, type Check } from './check.js';

/** `FR-12`, `REQ-AUTH-003`. */
const id =
  /(?<![\w/.-])([A-Z][A-Z0-9]{0,7}(?:-[A-Z]{2,8}){0,2}(?:-\d{1,4})?)-(\d{1,4}[a-z]?)(?![\w/-]|\.\d)/g;
/** Where one is said what it means: it begins an item, a heading or a row. */
const defined =
  /^[*_`[(\s]*([A-Z][A-Z0-9]{0,7}(?:-[A-Z]{2,8}){0,2}(?:-\d{1,4}){1,2}[a-z]?)(?![\w-])[*_`\])\s]*(?:$|[:.)—–|-]|\s)/;
/** Of a series of ids; fewer are names of something else, as UTF-8 is. */
const seriesMin = 2;

/** `R7`; one letter or three mean too much elsewhere, so only those of a table that counts them from 1. */
const shortId = /(?<![\w/.-])([A-Z]{1,3})(\d{1,3})(?![\w/-]|\.\d)/g;
const shortMin = 3;

interface Definition {
  words: string;
  line: number;
}

/** Ids of requirements, decisions and the like: defined once, and defined where they are named. */
export const requirementIds: Check = ({ read }) => {
  if (read.isCode) return [];
  const definitions = new Map<string, Definition[]>();
  const define = (text: string, rest: string, line: number): void => {
    const [, name] = defined.exec(text) ?? [];
    if (name === undefined) return;
    const before = definitions.get(name);
    if (before === undefined) definitions.set(name, [{ words: rest, line }]);
    else before.push({ words: rest, line });
  };
  for (const { title, line_start } of read.headings) define(title, title, line_start);
  for (const { text, line_start } of read.items) define(text, text, line_start);
  for (const { cells, line, isHeader } of read.rows)
    if (!isHeader) define(cells[0] ?? '', cells.join(' '), line);
  const series = seriesOf(definitions.keys());
  const twice = [...definitions].flatMap(([name, places]) => definedTwice(name, places));
  const named = undefinedOnes(read, id, definitions, series);
  const counted = countedOnes(read.rows);
  const short = undefinedOnes(read, shortId, counted.names, counted.series);
  const [looked, faults] = [named.looked + short.looked, [...named.faults, ...short.faults]];
  return [
    { aspect: 'consistency', what: 'ids with one meaning', looked: 0, faults: twice },
    { aspect: 'traceability', what: 'ids that are defined here', looked, faults },
  ];
};

function seriesOf(names: Iterable<string>): ReadonlySet<string> {
  const counts = new Map<string, number>();
  for (const name of names) {
    const prefix = name.slice(0, name.lastIndexOf('-'));
    counts.set(prefix, (counts.get(prefix) ?? 0) + 1);
  }
  return new Set([...counts].filter(([, count]) => count >= seriesMin).map(([prefix]) => prefix));
}

/** A list of requirements and a table that follows them name the same ones: only rows like rows count, by their words. */
function definedTwice(name: string, [first, ...others]: readonly Definition[]): Found[] {
  const second = others.find(({ line }) => Math.abs(line - (first?.line ?? 0)) <= nearLinesMax);
  if (first === undefined || second === undefined || first.words === second.words) return [];
  return [
    {
      ...{ rule: 'ID_TWICE', severity: 'major', words: second.words, place: at(second.line) },
      text: `${name} stands for two things: ${quoted(second.words)} here, ${quoted(first.words)} in line ${first.line}.`,
      remedy: 'Give one of them an id of its own.',
    },
  ];
}

/** Within one list or table; farther apart the second one refers to the first. */
const nearLinesMax = 6;

/** Ids that are the first cell of a row, of tables that have them from 1 on without a gap. */
function countedOnes(rows: Parameters<Check>[0]['read']['rows']): {
  names: ReadonlyMap<string, unknown>;
  series: ReadonlySet<string>;
} {
  const names = new Map<string, number>();
  const lasts = new Map<string, number>();
  const broken = new Set<string>();
  for (const { cells, isHeader } of rows) {
    const [, prefix = '', number = ''] =
      /^[*_`\s]*([A-Z]{1,3})(\d{1,3})[*_`\s]*$/.exec(isHeader ? '' : (cells[0] ?? '')) ?? [];
    if (prefix === '') continue;
    if (Number(number) !== (lasts.get(prefix) ?? 0) + 1) broken.add(prefix);
    lasts.set(prefix, Number(number));
    names.set(`${prefix}${number}`, Number(number));
  }
  const whole = [...lasts].filter(([prefix, last]) => !broken.has(prefix) && last >= shortMin);
  return { names, series: new Set(whole.map(([prefix]) => prefix)) };
}

function undefinedOnes(
  { sentences, rows }: Parameters<Check>[0]['read'],
  pattern: RegExp,
  definitions: ReadonlyMap<string, unknown>,
  series: ReadonlySet<string>,
): { looked: number; faults: Found[] } {
  const faults = new Map<string, Found>();
  let looked = 0;
  const units = [
    ...sentences,
    ...rows.map(({ cells, line }) => ({ text: cells.join(' | '), ...at(line) })),
  ];
  for (const { text, line_start, line_end } of units)
    for (const [name, prefix = ''] of withoutCode(text).matchAll(pattern)) {
      if (!series.has(prefix)) continue;
      looked += 1;
      if (definitions.has(name) || faults.has(name)) continue;
      faults.set(name, {
        ...{ rule: 'ID_UNDEFINED', severity: 'minor', words: name },
        text: `${name} is named, and other ids of ${prefix} are defined here, but not this one: ${quoted(text)}`,
        remedy: `Define ${name}, or say in which document it is.`,
        place: { line_start, line_end },
      });
    }
  return { looked, faults: [...faults.values()] };
}
