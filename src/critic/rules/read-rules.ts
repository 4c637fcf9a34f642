import { parse } from 'yaml';
import { pathGlob } from '../../pgc/source/path-glob.js';
import { readMarkdown, type MarkdownText } from '../artifact/markdown.js';
import type { RuleFile } from '../mode.js';
import { criticLimits } from '../shapes.js';
import { withoutCode } from '../checks/check.js';
import { ruleOf, type Written } from './rule-forms.js';
import type { Level, Rule, RuleBook } from './rule.js';

/** Files of rules by which work is governed; a front matter `governance: true` says it of any other. */
export const governancePaths: readonly string[] = [
  '.claude/rules/**',
  '.context/rules/**',
  'docs/governance/**',
  '**/*CONSTITUTION*.md',
];

const governed = governancePaths.map((glob) => pathGlob(glob, { classes: false, below: 'never' }));

/**
 * Rules out of Markdown files. Sentences and items with a word of RFC 2119 in capitals: MUST, MUST NOT, SHALL, REQUIRED,
 * NEVER are HARD, SHOULD and RECOMMENDED are MEDIUM, MAY, CONSIDER and OPTIONAL are SOFT; an item that begins with
 * Always, Never, Do not or Don't is HARD. Those are for a reader. What a machine can check stands in a block of code
 * named `rules`, or under `rules` in the front matter, as a YAML list:
 *
 *   - id: DOC-1
 *     level: HARD                # or MUST, SHOULD, MAY …
 *     text: Every page names its owner.
 *     pattern: '^Owner: @\w+'    # or absent, required_section, max_lines, path_glob; several: all have to hold
 *     applies_to: ['docs/**']
 *
 * `paths` in the front matter is the `applies_to` of all rules of the file; `governance: true` makes them governance.
 */
export function readRules(files: readonly RuleFile[]): RuleBook {
  const book: RuleBook = { rules: [], unread: [] };
  files.forEach((file, at) => {
    if (at >= criticLimits.ruleFiles)
      book.unread.push(`${file.path}: only ${criticLimits.ruleFiles} files of rules are read`);
    else if (Buffer.byteLength(file.text) > criticLimits.ruleBytes)
      book.unread.push(`${file.path}: it has more than ${criticLimits.ruleBytes} bytes`);
    else readFile(file, book);
  });
  if (book.rules.length > criticLimits.rules) {
    const left = book.rules.length - criticLimits.rules;
    book.unread.push(`${left} rules more than ${criticLimits.rules}`);
    book.rules.length = criticLimits.rules;
  }
  return book;
}

interface FileSettings {
  appliesTo: string[];
  isGovernance: boolean;
  written: { value: unknown; line: number }[];
}

function readFile(file: RuleFile, book: RuleBook): void {
  const read = readMarkdown(
    /\.(?:md|markdown)$/i.test(file.path) ? file.path : 'rules.md',
    file.text,
  );
  const unread = (line: number, why: string): void => {
    book.unread.push(`${file.path}:${line}: ${why}`);
  };
  const { appliesTo, isGovernance, written } = settingsOf(file, read, unread);
  const own = { file: file.path, appliesTo, isGovernance };
  for (const { value, line } of written) {
    if (!Array.isArray(value)) {
      unread(line, 'rules are a list');
      continue;
    }
    value.forEach((each: unknown, index) => {
      const made = ruleOf(each as Written, { ...own, line });
      if ('wrong' in made) unread(line, `rule ${index + 1}: ${made.wrong}`);
      else book.rules.push(made);
    });
  }
  book.rules.push(...proseRules(read, own));
}

function settingsOf(
  file: RuleFile,
  { frontMatter, fences }: MarkdownText,
  unread: (line: number, why: string) => void,
): FileSettings {
  const yaml = (text: string, line: number): unknown => {
    try {
      return parse(text, { logLevel: 'silent' });
    } catch (error) {
      unread(line, (error as Error).message.split('\n')[0] ?? '');
      return undefined;
    }
  };
  const written: FileSettings['written'] = fences
    .filter(({ language }) => language === 'rules')
    .map(({ text, line_start }) => ({
      value: yaml(text, line_start) ?? [],
      line: line_start,
    }));
  const head = frontMatter === undefined ? undefined : yaml(frontMatter.text, 1);
  const front = typeof head === 'object' && head !== null ? (head as Record<string, unknown>) : {};
  if (front.rules !== undefined) written.unshift({ value: front.rules, line: 1 });
  const isGoverned = [file.path, file.named ?? ''].some((name) =>
    governed.some((glob) => glob.matches(name)),
  );
  return {
    appliesTo: [front.paths ?? []].flat().filter((each) => typeof each === 'string'),
    isGovernance: front.governance === true || (isGoverned && front.governance !== false),
    written,
  };
}

const words: readonly { level: Level; pattern: RegExp }[] = [
  { level: 'HARD', pattern: /\b(?:MUST|SHALL|REQUIRED|NEVER|FORBIDDEN)\b/ },
  { level: 'MEDIUM', pattern: /\b(?:SHOULD|RECOMMENDED)\b/ },
  { level: 'SOFT', pattern: /\b(?:MAY|CONSIDER|OPTIONAL)\b/ },
];
const orders = /^[*_]{0,2}(?:always|never|do not|don['’]t|must)\b/i;

/** Each in the words of its file; by its place it has an id where it names none. */
function proseRules(
  { sentences, items, rows }: MarkdownText,
  own: Pick<Rule, 'file' | 'appliesTo' | 'isGovernance'>,
): Rule[] {
  const itemLines = new Set(items.map(({ line_start }) => line_start));
  const units = [
    ...sentences.filter(({ isQuote }) => !isQuote),
    ...rows
      .filter(({ isHeader }) => !isHeader)
      .map(({ cells, line }) => ({ text: cells.join(' — '), line_start: line })),
  ];
  return units.flatMap(({ text, line_start }) => {
    const plain = withoutCode(text);
    const isOrder = itemLines.has(line_start) && orders.test(plain);
    const level = isOrder ? 'HARD' : words.find(({ pattern }) => pattern.test(plain))?.level;
    if (level === undefined) return [];
    const [, named] = /^[*_`[(]*([A-Z]{1,8}(?:-[A-Z]{1,8})?-?\d{1,4})\b/.exec(text) ?? [];
    const id = named ?? `${own.file}:${line_start}`;
    return [{ id, level, text, line: line_start, checks: [], ...own }];
  });
}
