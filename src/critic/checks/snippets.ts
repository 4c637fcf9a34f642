import { parseAllDocuments } from 'yaml';
import type { Fence } from '../artifact/markdown.js';
import type { Found } from '../finding.js';
import { at, quoted, type Check } from './check.js';

/** Blocks with omissions, placeholders or comments are sketches. */
const isSketch = /\.\.\.|…|<[\w -]+>|\{\{|\$\{|^\s*(?:\/\/|#)|\/\*|\/\/ /m;
const charsMax = 64 * 1024;

/** Blocks of JSON and YAML that do not parse, and blocks without an end. */
export const snippets: Check = ({ read }) => {
  if (read.isCode) return [];
  const data = read.fences.filter(
    ({ language, text }) =>
      /^(?:json|ya?ml)$/.test(language) && text.length <= charsMax && !isSketch.test(text),
  );
  const invalid = data.flatMap((fence): Found[] => {
    const wrong = wrongOf(fence);
    if (wrong === undefined) return [];
    return [
      {
        ...{ rule: 'SNIPPET_INVALID', severity: 'minor', words: fence.text },
        text: `The block of ${fence.language} cannot be read: ${quoted(wrong)}`,
        remedy: 'Correct it; a reader who copies it gets this error.',
        place: { line_start: fence.line_start, line_end: fence.line_end },
      },
    ];
  });
  const open = read.fences.flatMap((fence): Found[] => {
    const begin = /^\s*(?:[>*+-]\s*|\d+[.)]\s*)*(`{3,}|~{3,})/.exec(
      read.lines[fence.line_start - 1] ?? '',
    );
    const mark = begin?.[1]?.[0];
    // Indented code has no mark.
    if (mark === undefined) return [];
    const last = read.lines[fence.line_end - 1] ?? '';
    const isClosed =
      fence.line_end > fence.line_start && last.replace(/^[\s>]*/, '').startsWith(mark.repeat(3));
    if (isClosed || read.lines.length - fence.line_end > 1) return [];
    return [
      {
        ...{ rule: 'FENCE_OPEN', severity: 'major', words: 'fence' },
        text: `The block of code that begins here has no end: the rest of the document is part of it.`,
        remedy: 'Close it.',
        place: at(fence.line_start),
      },
    ];
  });
  return [
    {
      aspect: 'accuracy',
      what: 'blocks of data that can be read',
      looked: data.length,
      faults: invalid,
    },
    { aspect: 'consistency', what: 'blocks that end', looked: 0, faults: open },
  ];
};

function wrongOf({ language, text }: Fence): string | undefined {
  if (language === 'json') return jsonWrong(text);
  const [error] = parseAllDocuments(text, { logLevel: 'silent' }).flatMap((document) =>
    'errors' in document ? document.errors : [],
  );
  return error?.message.split('\n')[0];
}

function jsonWrong(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    const lines = text.split('\n').filter((line) => line.trim() !== '');
    // One value per line is a format of its own.
    return lines.length > 1 && lines.every(isJson) ? undefined : (error as Error).message;
  }
}

function isJson(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}
