import { normalised, type Found } from '../finding.js';
import type { MarkdownText } from '../artifact/markdown.js';
import { quoted, withoutCode, type Check, type Checked } from './check.js';

/** Steps and sections that a document names must be there. */
export const sections: Check = ({ read }) => (read.isCode ? [] : [steps(read), titles(read)]);

const stepNamed = /(?<![\w-])(step|phase|stage)s? (\d{1,2})(?![\w-]|\.\d|\s?%)/gi;
/** Of another text. */
const elsewhere = /^\s{0,2}(?:of|in|from)\s+(?!this\b)/i;

/** `step 7` of five. */
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
  let counted: string | undefined;
  for (const { cells, isHeader } of rows) {
    const first = cells[0]?.trim() ?? '';
    if (isHeader) counted = /^[*_]*(step|phase|stage)\b/i.exec(first)?.[1]?.toLowerCase();
    else if (counted !== undefined && /^\d{1,2}$/.test(first)) note(counted, Number(first));
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

/** A section that is named by a title which no heading has. */
function titles({ headings, sentences }: MarkdownText): Checked {
  const known = headings.map(({ title }) => normalised(title));
  let looked = 0;
  const faults = sentences.flatMap(({ text, line_start, line_end }): Found[] =>
    [...withoutCode(text).matchAll(sectionNamed)].flatMap((match): Found[] => {
      const name = match.slice(1).find(Boolean) ?? '';
      const behind = withoutCode(text).slice(match.index + match[0].length);
      if (known.length < 2 || /^\s{0,2}(?:of|in|from|at)\s+(?!this\b)/i.test(behind)) return [];
      // A link leads where it leads.
      if (/^\s*\]/.test(behind) || /\[[^\]]*$/.test(withoutCode(text).slice(0, match.index)))
        return [];
      looked += 1;
      const wanted = normalised(name);
      if (known.some((title) => hasWords(title, wanted) || hasWords(wanted, title))) return [];
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
