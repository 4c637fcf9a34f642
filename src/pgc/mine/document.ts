import type { FactsLanguage } from '../format/facts.js';
import { sentences } from './comment.js';
import { Draft } from './draft.js';
import { renderSignature } from './signature.js';

/** A heading of a document, with the text below it up to the next one. */
interface Section {
  title: string;
  /** 1 is the title of the document. */
  level: number;
  start: number;
  /** Where its text begins. */
  bodyAt: number;
}

const titleCharsMax = 120;
/** Characters of a section that are read: its first sentences are among them. */
const proseCharsMax = 8_000;
/** A document of more has generated headings. */
const sectionsMax = 5_000;

/** Sections of Markdown: ATX headings outside fenced code, and setext ones. */
export function mineMarkdown(text: string): Draft {
  const found: Section[] = [];
  let fence = '';
  let previous = { text: '', start: 0 };
  for (const { line, start, end } of linesOf(text)) {
    const before = fence;
    fence = fenceAfter(fence, line, 'markdown');
    if (before === '' && fence === '') {
      const atx = /^\s{0,3}(#{1,6})\s+(.*?)\s*#*\s*$/.exec(line);
      const setext = /^\s{0,3}(=+|-+)\s*$/.exec(line);
      if (atx !== null) add(found, atx[2] ?? '', (atx[1] ?? '').length, start, end);
      else if (setext !== null && isTitle(previous.text))
        add(found, previous.text, (setext[1] ?? '').startsWith('=') ? 1 : 2, previous.start, end);
    }
    previous = { text: line.trim(), start };
  }
  return sectionsOf(text, found);
}

/** Sections of reStructuredText: a title with a line of one sign below it, and perhaps above. */
export function mineRst(text: string): Draft {
  const found: Section[] = [];
  const levels: string[] = [];
  let two = { text: '', start: 0 };
  let one = { text: '', start: 0 };
  for (const { line, start, end } of linesOf(text)) {
    const sign = /^([=\-~^"'`#*+.:_<>])\1{2,}\s*$/.exec(line)?.[1];
    if (sign !== undefined && isTitle(one.text) && line.trim().length >= one.text.length) {
      const isOverlined = two.text !== '' && two.text === line.trim();
      const style = isOverlined ? sign + sign : sign;
      if (!levels.includes(style)) levels.push(style);
      const from = isOverlined ? two.start : one.start;
      add(found, one.text, levels.indexOf(style) + 1, from, end);
    }
    two = one;
    one = { text: line.trim(), start };
  }
  return sectionsOf(text, found);
}

/** A text without headings is one section, called as its first line. */
export function minePlain(text: string): Draft {
  const first = /\S[^\n]*/.exec(text);
  const found: Section[] = [];
  if (first !== null) add(found, first[0].trim(), 1, 0, first.index + first[0].length);
  return sectionsOf(text, found);
}

function add(found: Section[], title: string, level: number, start: number, bodyAt: number): void {
  const plain = title
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/<[^>]*>|[`*]+/g, '')
    .trim();
  if (plain !== '' && found.length < sectionsMax)
    found.push({ title: plain.slice(0, titleCharsMax), level, start, bodyAt });
}

function isTitle(line: string): boolean {
  return line !== '' && /\w/.test(line) && !/^(?:[-*+>|]|\d+\.)\s/.test(line);
}

function sectionsOf(text: string, found: readonly Section[]): Draft {
  const draft = new Draft(text);
  const above: Section[] = [];
  for (const [at, section] of found.entries()) {
    while (above.length > 0 && (above.at(-1)?.level ?? 0) >= section.level) above.pop();
    const end = found[at + 1]?.start ?? text.length;
    const body = text.slice(section.bodyAt, end);
    const signature = renderSignature('section', section.title, { level: section.level });
    draft.symbols.push({
      ...{ name: section.title, kind: 'section', start: section.start, wordsStart: section.start },
      end: section.start + text.slice(section.start, end).trimEnd().length,
      ...{ signature, container: above.at(-1)?.title ?? '', exported: false, declaration: false },
      doc: sentences(proseOf(body)),
    });
    above.push(section);
  }
  return draft;
}

/** The first sentences of a section: without code, tables, directives and marks. */
function proseOf(body: string): string {
  return body
    .slice(0, proseCharsMax)
    .replace(/^\s{0,3}(```|~~~)[\s\S]*?^\s{0,3}\1\s*$/gm, ' ')
    .replace(/<!--[\s\S]*?-->|<\/?[a-z][\w-]*(?:\s[^<>]{0,200})?\/?>/g, ' ')
    .replace(/^\.\. .*(?:\n(?:[ \t]+\S.*|[ \t]*(?=\n[ \t])))*/gm, ' ')
    .replace(/^\s*[|+].*$|^\s*:[\w-]+:(?!`).*$|^\s*[=\-~^#*]{3,}\s*$/gm, ' ')
    .replace(/!\[[^\]]*\]\([^)]*\)/g, ' ')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/(?::\w+)+:`([^`]*)`|``([^`]*)``|`([^`]*)`_?/g, '$1$2$3')
    .replace(/(\*\*|__)(.*?)\1/g, '$2');
}

/**
 * The mark of the fence around the code that follows this line; empty: none follows. `fence`: the same before the line,
 * which is a fence itself where the two differ. In reStructuredText such a line is below a title.
 */
export function fenceAfter(fence: string, line: string, language: FactsLanguage): string {
  if (language === 'rst') return '';
  const mark = /^\s{0,3}(`{3,}|~{3,})/.exec(line)?.[1];
  if (mark === undefined || !mark.startsWith(fence)) return fence;
  return fence === '' ? mark : '';
}

export function* linesOf(text: string): Generator<{ line: string; start: number; end: number }> {
  for (let start = 0; start < text.length;) {
    const found = text.indexOf('\n', start);
    const end = found < 0 ? text.length : found;
    yield { line: text.slice(start, end).replace(/\r$/, ''), start, end };
    start = end + 1;
  }
}
