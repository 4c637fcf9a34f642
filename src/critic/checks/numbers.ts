import type { Item, MarkdownText, Row, Sentence } from '../artifact/markdown.js';
import type { Found } from '../finding.js';
import { numerals } from '../artifact/numerals.js';
import { at, quoted, withoutCode, type Check, type Checked } from './check.js';

/** Numbers that disagree within a document: lengths of lists, totals of tables, settings, figures in two units. */
export const numbers: Check = ({ read }) =>
  read.isCode ? [] : [countedLists(read), totals(read), settings(read), conversions(read)];

/** A list has at least two items. */
const words = numerals.slice(2);
/** Nouns of things that a list enumerates, unlike "ten seconds". */
const listed =
  'steps|phases|stages|rules|parts|modes|ways|options|alternatives|reasons|cases|kinds|types|states|dimensions|criteria|requirements|principles|goals|questions|layers|levels|components|categories|conditions|properties|sections|things|problems|commands|tools|services|agents|fields|items|points|values|arguments|parameters|columns|methods|functions|roles|groups|checks|limits|engines|sources|endpoints|forms|tables|files|packages|modules|classes|tests|examples|scenarios|risks|assumptions|variants|mechanisms|strategies|patterns|policies';
const count = new RegExp(
  `(?:^|\\s)(${words.join('|')}|[2-9]|1\\d|2\\d)(?: [a-z-]{2,20}){0,2} (?:${listed})\\b`,
  'gi',
);
const notExact =
  /\b(?:at (?:least|most)|up to|more than|less than|over|about|around|some|or more|such as|among|includ(?:e|es|ing)|e\.g|for example|typically|between)\b/i;
/** Lines between a sentence and its list. */
const apartLinesMax = 2;

/** `There are three ways:` before a list of four. */
function countedLists(read: MarkdownText): Checked {
  let looked = 0;
  const faults = read.sentences.flatMap((sentence): Found[] => {
    const told = countIn(sentence);
    if (told === undefined) return [];
    const first = read.items.findIndex(({ line_start }) => line_start > sentence.line_end);
    const list = first < 0 ? [] : listFrom(read, first);
    const [begin] = list;
    if (begin === undefined || begin.line_start - sentence.line_end > apartLinesMax) return [];
    // Within an item only a deeper list is meant.
    const around = read.items.find(
      ({ line_start, line_end }) =>
        line_start <= sentence.line_end && sentence.line_end <= line_end,
    );
    if (around !== undefined && begin.depth <= around.depth) return [];
    looked += 1;
    if (list.length === told) return [];
    return [
      {
        ...{ rule: 'COUNT_DIFFERS', severity: 'major', words: sentence.text },
        text: `${quoted(sentence.text)} announces ${told}, and the list below has ${list.length} (lines ${begin.line_start} to ${list.at(-1)?.line_end ?? 0}).`,
        remedy: 'Correct the number, or the list.',
        place: { line_start: sentence.line_start, line_end: sentence.line_end },
      },
    ];
  });
  return { aspect: 'consistency', what: 'lists as long as announced', looked, faults };
}

function countIn({ text }: Sentence): number | undefined {
  if (!text.endsWith(':') || notExact.test(text)) return undefined;
  const told = [...withoutCode(text).matchAll(count)];
  const [, number = ''] = told[0] ?? [];
  // With two numbers it is unclear which one announces the list.
  if (told.length !== 1) return undefined;
  const word = words.indexOf(number.toLowerCase());
  return word >= 0 ? word + 2 : Number(number);
}

/** The items of one list: those of its depth, until a line of another paragraph or heading comes between. */
function listFrom({ items, sentences, headings }: MarkdownText, first: number): Item[] {
  const begin = items[first];
  if (begin === undefined) return [];
  const list = [begin];
  let end = begin.line_end;
  for (const item of items.slice(first + 1)) {
    if (item.depth < begin.depth || item.isOrdered !== begin.isOrdered) {
      if (item.depth <= begin.depth) break;
      continue;
    }
    if (item.depth > begin.depth) continue;
    const isBetween = (line: number): boolean => line > end && line < item.line_start;
    if ([...sentences, ...headings].some(({ line_start }) => isBetween(line_start))) break;
    list.push(item);
    end = item.line_end;
  }
  return list;
}

const totalName = /^\**(?:total|sum|overall total|in total|all together|altogether|Σ)\b/i;
const numeric = /^[~≈]?\s*([-+]?\d[\d,  _]*(?:\.\d+)?|[-+]?\.\d+)\s*(%?)[a-zA-Z]{0,8}$/;

/** Compares a last row `Total` with the sum of the rows above it. */
function totals({ rows }: MarkdownText): Checked {
  let looked = 0;
  const faults: Found[] = [];
  for (const table of tablesOf(rows)) {
    const last = table.at(-1);
    if (last === undefined || table.length < 3 || !totalName.test(last.cells[0] ?? '')) continue;
    last.cells.slice(1).forEach((cell, index) => {
      const told = numberOf(cell);
      const parts = table.slice(0, -1).map(({ cells }) => numberOf(cells[index + 1] ?? ''));
      if (told === undefined || parts.some((part) => part === undefined)) return;
      looked += 1;
      const sum = parts.reduce((all, part) => all + (part?.value ?? 0), 0);
      const step = Math.max(told.step, ...parts.map((part) => part?.step ?? 0));
      // Each of them may have been rounded.
      if (
        Math.abs(sum - told.value) <=
        ((step * (parts.length + 1)) / 2) * (step < 1 ? 1 : 0) + 1e-9
      )
        return;
      faults.push({
        ...{ rule: 'TOTAL_DIFFERS', severity: 'major', words: last.cells.join(' ') },
        text: `The total ${quoted(cell)} of column ${index + 2} is not the sum of the ${parts.length} rows above it, which is ${Number(sum.toFixed(6))}.`,
        remedy: 'Add the column up again, or say what else the total holds.',
        place: at(last.line),
      });
    });
  }
  return { aspect: 'consistency', what: 'totals that add up', looked, faults };
}

function tablesOf(rows: readonly Row[]): Row[][] {
  const tables: Row[][] = [];
  for (const row of rows) {
    if (row.isHeader) tables.push([]);
    else tables.at(-1)?.push(row);
  }
  return tables;
}

/** `step`: of its last digit. */
function numberOf(cell: string): { value: number; step: number } | undefined {
  const [, digits] = numeric.exec(cell.replace(/[*`]/g, '').trim()) ?? [];
  if (digits === undefined) return undefined;
  const plain = digits.replace(/[,  _]/g, '');
  const decimals = plain.split('.')[1]?.length ?? 0;
  return { value: Number(plain), step: 10 ** -decimals };
}

/** `name` is 5 s. */
const setting =
  /`([A-Za-z_][\w.-]{2,60})`\s?(?:=|:|is|defaults to|is set to|has a default of|\(default:?)\s(?:set to )?`?(\d[\d,_]*(?:\.\d+)?)`?\s?(%|ms|s|seconds?|minutes?|min|h|hours?|days?|B|KB|KiB|MB|MiB|GB|GiB|bytes?|characters?|chars?|tokens?|lines?)?(?=[\s.,;)]|$)/g;

/** The same setting with two numbers in one document. */
function settings({ sentences }: MarkdownText): Checked {
  const first = new Map<string, { value: string; sentence: Sentence }>();
  const faults: Found[] = [];
  for (const sentence of sentences)
    for (const [, name = '', digits = '', unit = ''] of sentence.text.matchAll(setting)) {
      const value = `${digits.replace(/[,_]/g, '')} ${unit}`.trim();
      const before = first.get(name);
      if (before === undefined) first.set(name, { value, sentence });
      else if (before.value !== value && before.sentence.part !== sentence.part)
        faults.push({
          ...{ rule: 'NUMBER_DIFFERS', severity: 'major', words: sentence.text },
          text: `\`${name}\` is ${value} here and ${before.value} in line ${before.sentence.line_start}: ${quoted(before.sentence.text)}`,
          remedy: 'Say one of them, or what sets the two cases apart.',
          place: { line_start: sentence.line_start, line_end: sentence.line_end },
        });
    }
  // A setting that is named once cannot disagree.
  return { aspect: 'consistency', what: 'settings with one value', looked: 0, faults };
}

/** `500` (5 seconds): one figure in two units. */
const converted =
  /`(\d[\d_,]*)`\s?(?:(ms|s|seconds?|bytes?|B)\s?)?\((?:about )?(half an?|\d+(?:\.\d+)?|one|an?)\s?(ms|milliseconds?|s|sec|seconds?|minutes?|min|hours?|h|days?|KiB|KB|MiB|MB|GiB|GB)\)/g;
const units: readonly { names: RegExp; factors: readonly number[] }[] = [
  { names: /^(?:ms|milliseconds?)$/, factors: [1] },
  { names: /^(?:s|sec|seconds?)$/, factors: [1, 1_000] },
  { names: /^(?:minutes?|min)$/, factors: [1, 60, 60_000] },
  { names: /^(?:hours?|h)$/, factors: [1, 60, 3_600, 3_600_000] },
  { names: /^days?$/, factors: [1, 24, 1_440, 86_400, 86_400_000] },
  { names: /^Ki?B$/, factors: [1, 1_000, 1_024] },
  { names: /^Mi?B$/, factors: [1, 1_000, 1_024, 1_000_000, 1_048_576] },
  {
    names: /^Gi?B$/,
    factors: [1, 1_000, 1_024, 1_000_000, 1_048_576, 1_000_000_000, 1_073_741_824],
  },
];

/** The two figures differ in every unit that the first may have. */
function conversions({ sentences }: MarkdownText): Checked {
  let looked = 0;
  const faults = sentences.flatMap(({ text, line_start, line_end }): Found[] =>
    [...text.matchAll(converted)].flatMap(
      ([whole, digits = '', , many = '', unit = '']): Found[] => {
        const value = Number(digits.replace(/[_,]/g, ''));
        const times = /^half/.test(many) ? 0.5 : /^\d/.test(many) ? Number(many) : 1;
        const factors = units.find(({ names }) => names.test(unit))?.factors ?? [];
        looked += 1;
        // A figure of a few digits was rounded.
        if (factors.some((factor) => Math.abs(value - times * factor) <= 0.05 * value)) return [];
        return [
          {
            ...{ rule: 'UNIT_DIFFERS', severity: 'major', words: `${whole} ${text}` },
            text: `${quoted(whole)} gives two figures for one thing, and in no unit are they the same.`,
            remedy: 'Correct one of them.',
            place: { line_start, line_end },
          },
        ];
      },
    ),
  );
  return { aspect: 'consistency', what: 'figures that are the same in both units', looked, faults };
}
