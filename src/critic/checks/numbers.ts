import type { MarkdownText, Row, Sentence } from '../artifact/markdown.js';
import type { Found } from '../finding.js';
import { at, quoted, type Check, type Checked } from './check.js';

/** Numbers that disagree within a document: totals of tables, and settings. */
export const numbers: Check = ({ read }) => (read.isCode ? [] : [totals(read), settings(read)]);

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
