import type { Found } from '../finding.js';
import type { MarkdownText, Part, Row } from '../artifact/markdown.js';
import { at, quoted, withoutCode, type Check, type Checked } from './check.js';

/**
 * A document held against its own form: what all rows or all sections of a kind have and one lacks, steps and sections that
 * are named and are not there, dates that go back.
 */
export const ownForm: Check = ({ read }) =>
  read.isCode ? [] : [cells(read), labels(read), steps(read), sections(read), dates(read)];

/** Columns of which an empty cell leaves something open. */
const owing =
  /^[*_]*(?:owners?|who|responsible|assignees?|done by|until|due(?: date)?|deadlines?|when|by when|accept\w*(?: \w+){0,2}|done when|verified by|mitigations?|answers?|roll-?backs?|undo)[*_]*$/i;
const nothing = /^[\s–—-]*$/;
const rowsMin = 3;

function tablesOf(rows: readonly Row[]): { head: Row; body: Row[] }[] {
  const tables: { head: Row; body: Row[] }[] = [];
  for (const row of rows) {
    if (row.isHeader) tables.push({ head: row, body: [] });
    else tables.at(-1)?.body.push(row);
  }
  return tables;
}

/** Of a column that says who, until when or by what it is seen, all but one cell are filled. */
function cells({ rows }: MarkdownText): Checked {
  let looked = 0;
  const faults = tablesOf(rows).flatMap(({ head, body }) =>
    head.cells.flatMap((title, column): Found[] => {
      if (!owing.test(title.trim()) || body.length < rowsMin) return [];
      looked += body.length;
      const empty = body.filter((row) => nothing.test(row.cells[column] ?? ''));
      const [first] = empty;
      if (first === undefined || empty.length > 1) return [];
      return [
        {
          ...{ rule: 'CELL_EMPTY', severity: 'major', place: at(first.line) },
          text: `${quoted(first.cells.find((cell) => !nothing.test(cell)) ?? '')} has nothing in the column ${quoted(title)}, which the ${body.length - 1} other rows fill.`,
          remedy: 'Fill it in, or say why there is none.',
          words: `${title} ${first.cells.join(' ')}`,
        },
      ];
    }),
  );
  return { aspect: 'completeness', what: 'cells that say who, when or how seen', looked, faults };
}

/** What a step or a phase owes to whoever follows it; other labels say what a section is about. */
const owed =
  /^(?:roll ?-?backs?|undo|back ?out|checks?|verif\w+|test|if it fails|on failure|when it fails|fallback|owners?|responsible|who|due|deadline|until|done when|acceptance\w*|accepted when|expected|risks?|mitigations?)$/i;
/** `Undo: …` at the beginning of a line. */
const labelled = /^[*_>\s-]*([A-Z][a-z]+(?:[ -][a-z]+){0,3})[*_]*:(?=\s|[*_]|$)/;
const siblingsMin = 3;

/** A label that all sections side by side have but one. */
function labels({ parts, lines }: MarkdownText): Checked {
  const families = new Map<string, Part[]>();
  for (const part of parts) {
    if (part.heading === undefined) continue;
    const key = JSON.stringify([part.heading.level, ...part.path.slice(0, -1)]);
    families.set(key, [...(families.get(key) ?? []), part]);
  }
  let looked = 0;
  const faults = [...families.values()].flatMap((family) => {
    if (family.length < siblingsMin) return [];
    const of = new Map(family.map((part) => [part, labelsOf(part, lines)]));
    const all = new Set([...of.values()].flatMap((each) => [...each]));
    return [...all].flatMap((label): Found[] => {
      const without = family.filter((part) => of.get(part)?.has(label) !== true);
      if (without.length === 0) looked += family.length;
      const [part] = without;
      if (part?.heading === undefined || without.length > 1) return [];
      looked += family.length;
      const { heading } = part;
      return [
        {
          ...{ rule: 'LABEL_MISSING', severity: 'major', words: `${label} ${heading.title}` },
          text: `The section ${quoted(heading.title)} has no "${label}:", which the ${family.length - 1} sections beside it have.`,
          remedy: `Write its "${label}", or say why there is none.`,
          place: { line_start: heading.line_start, line_end: part.line_end },
        },
      ];
    });
  });
  return { aspect: 'completeness', what: 'parts that all sections of a kind have', looked, faults };
}

function labelsOf({ line_start, line_end }: Part, lines: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>();
  for (const line of lines.slice(line_start, line_end)) {
    const [, label] = labelled.exec(line) ?? [];
    if (label !== undefined && owed.test(label.replace(/ criteria$/i, ''))) found.add(label);
  }
  return found;
}

const stepNamed = /(?<![\w-])(step|phase|stage)s? (\d{1,2})(?![\w-]|\.\d|\s?%)/gi;
/** Of another text. */
const elsewhere = /^\s{0,2}(?:of|in|from)\s+(?!this\b)/i;

/** `step 7` where the steps end with 5. */
function steps({ headings, items, rows, sentences, lines }: MarkdownText): Checked {
  const numbers = new Map<string, Set<number>>();
  const note = (kind: string, number: number): void => {
    numbers.set(kind, (numbers.get(kind) ?? new Set()).add(number));
  };
  for (const { title } of headings) {
    const [, kind, number] =
      /^(?:(step|phase|stage)\s+)?(\d{1,2})(?![\d.]*\d)\b/i.exec(title) ?? [];
    if (number !== undefined) note((kind ?? 'step').toLowerCase(), Number(number));
  }
  for (const { line_start, isOrdered } of items) {
    const [, number] = /^\s*(\d{1,2})[.)]\s/.exec(lines[line_start - 1] ?? '') ?? [];
    if (isOrdered && number !== undefined) note('step', Number(number));
  }
  for (const { head, body } of tablesOf(rows)) {
    const [, kind] = /^[*_]*(step|phase|stage)\b/i.exec(head.cells[0] ?? '') ?? [];
    for (const { cells: own } of kind === undefined ? [] : body)
      if (/^\d{1,2}$/.test(own[0]?.trim() ?? '')) note(kind?.toLowerCase() ?? '', Number(own[0]));
  }
  let looked = 0;
  const units = [...sentences, ...items];
  const told = new Set<string>();
  const faults = units.flatMap(({ text, line_start, line_end }): Found[] =>
    [...withoutCode(text).matchAll(stepNamed)].flatMap((match): Found[] => {
      const [whole, kind = '', digits = ''] = match;
      const known = numbers.get(kind.toLowerCase());
      const key = `${line_start} ${whole}`;
      if (known === undefined || known.size < 2 || told.has(key)) return [];
      if (elsewhere.test(withoutCode(text).slice(match.index + whole.length))) return [];
      told.add(key);
      looked += 1;
      if (known.has(Number(digits))) return [];
      return [
        {
          ...{ rule: 'STEP_UNKNOWN', severity: 'major', words: `${whole} ${text}` },
          text: `There is no ${whole}: those of this document are ${[...known].sort((one, other) => one - other).join(', ')}. ${quoted(text)}`,
          remedy: 'Name the one that is meant.',
          place: { line_start, line_end },
        },
      ];
    }),
  );
  return { aspect: 'consistency', what: 'steps that are there', looked, faults };
}

const sectionNamed =
  /\bsections?\s+(?:"([^"\n]{2,80})"|“([^”\n]{2,80})”|\*{1,2}([^*\n]{2,80})\*{1,2}|(?:named|called|on)\s+"([^"\n]{2,80})"|([A-Z][a-z]+(?: [A-Z][a-z]+){0,3})(?=[\s,.;:)]|$))|"([^"\n]{2,80})"\s+(?:section|below|above)\b/g;

/** A section of this document that is named by its title, and is not there. */
function sections({ headings, sentences }: MarkdownText): Checked {
  const titles = headings.map(({ title }) => plain(title));
  let looked = 0;
  const faults = sentences.flatMap(({ text, line_start, line_end }): Found[] =>
    [...withoutCode(text).matchAll(sectionNamed)].flatMap((match): Found[] => {
      const name = match.slice(1).find(Boolean) ?? '';
      const behind = withoutCode(text).slice(match.index + match[0].length);
      if (titles.length < 2 || /^\s{0,2}(?:of|in|from|at)\s+(?!this\b)/i.test(behind)) return [];
      // A link leads where it leads.
      if (/^\s*\]/.test(behind) || /\[[^\]]*$/.test(withoutCode(text).slice(0, match.index)))
        return [];
      looked += 1;
      const wanted = plain(name);
      if (titles.some((title) => hasWords(title, wanted) || hasWords(wanted, title))) return [];
      return [
        {
          ...{ rule: 'SECTION_UNKNOWN', severity: 'major', words: `${name} ${text}` },
          text: `No heading of this document is ${quoted(name)}: ${quoted(text)}`,
          remedy: 'Write that section, or name the document that has it.',
          place: { line_start, line_end },
        },
      ];
    }),
  );
  return { aspect: 'completeness', what: 'sections that are there', looked, faults };
}

function hasWords(text: string, words: string): boolean {
  return ` ${text} `.includes(` ${words} `);
}

function plain(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}

const months = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');

/** Of a table whose first column counts up, the dates of another go back once. */
function dates({ rows }: MarkdownText): Checked {
  let looked = 0;
  const faults = tablesOf(rows).flatMap(({ head, body }): Found[] => {
    const numbers = body.map((row) =>
      Number(/^\D{0,8}(\d{1,3})$/.exec(row.cells[0]?.trim() ?? '')?.[1] ?? Number.NaN),
    );
    const isCounted = numbers.every(
      (each, index) => index === 0 || each > (numbers[index - 1] ?? 0),
    );
    if (body.length < rowsMin || !isCounted || numbers.some(Number.isNaN)) return [];
    return head.cells.flatMap((title, column): Found[] => {
      const days = body.map((row) => dayOf(row.cells[column] ?? ''));
      if (days.some((day) => day === undefined)) return [];
      looked += 1;
      const back = days.findIndex((day, index) => index > 0 && (day ?? 0) < (days[index - 1] ?? 0));
      if (back < 0) return [];
      const [before, row] = [body[back - 1], body[back]];
      if (before === undefined || row === undefined) return [];
      return [
        {
          ...{ rule: 'DATES_GO_BACK', severity: 'major', words: `${title} ${row.cells.join(' ')}` },
          text: `In the column ${quoted(title)} ${quoted(before.cells[0] ?? '')} has ${quoted(before.cells[column] ?? '')} and ${quoted(row.cells[0] ?? '')} behind it ${quoted(row.cells[column] ?? '')}: the later one is over before the earlier one.`,
          remedy: 'Correct one of the dates, or the order.',
          place: { line_start: before.line, line_end: row.line },
        },
      ];
    });
  });
  return { aspect: 'consistency', what: 'columns of dates in order', looked, faults };
}

/** `2026-05-20`, `20 May`, `May 20, 2026` as a number that grows with the day. */
function dayOf(cell: string): number | undefined {
  const iso = /^\s*(\d{4})-(\d{2})-(\d{2})\s*$/.exec(cell);
  if (iso !== null) return Number(iso[1]) * 400 + Number(iso[2]) * 32 + Number(iso[3]);
  const [, day, word, year] =
    /^\s*(\d{1,2})\.?\s+([A-Za-z]{3})[a-z]*\.?(?:,?\s+(\d{4}))?\s*$/.exec(cell) ?? [];
  const [, wordFirst, dayBehind, yearBehind] =
    /^\s*([A-Za-z]{3})[a-z]*\.?\s+(\d{1,2})(?:,?\s+(\d{4}))?\s*$/.exec(cell) ?? [];
  const month = months.indexOf((word ?? wordFirst ?? '').toLowerCase());
  if (month < 0) return undefined;
  return Number(year ?? yearBehind ?? 0) * 400 + (month + 1) * 32 + Number(day ?? dayBehind);
}
