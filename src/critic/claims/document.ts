import path from 'node:path';
import { slugOf } from '../artifact/markdown-anchors.js';
import { claimLimits } from './claim.js';

/** A paragraph, item, row or heading, as one text. */
export interface Passage {
  text: string;
  /** Offsets in `text` at which a line of the document begins, with its number, 1-based. */
  lines: { at: number; line: number }[];
  isHeading: boolean;
  /** The heading that it stands under, as written. */
  heading: string;
}

/** A document as a reader of claims sees it. */
/** A line of a block of code; 1-based. */
export interface CodeLine {
  line: number;
  text: string;
}

export interface ReadDocument {
  passages: Passage[];
  /** Everything in blocks of code: examples and output, of which nothing is claimed. */
  fenced: string;
  /** The same, line by line. */
  code: CodeLine[];
  /** Anchors of its headings, as pages make them. */
  anchors: Set<string>;
}

const commentedEndings =
  /\.(?:[cm]?[jt]sx?|c|h|cc|cpp|cxx|hpp|hh|go|rs|java|py|sh|bash|ya?ml|toml)$/i;
const hashEndings = /\.(?:py|sh|bash|ya?ml|toml)$/i;
const underline = /^([=\-~^"'*+#`])\1{2,}\s*$/;
const item = /^\s{0,12}(?:[-*+•]|\d{1,3}[.)])\s+/;

/** By the ending of its name: Markdown, reStructuredText, or the comments of a source. Unknown ones read as Markdown. */
export function readDocument(name: string, text: string): ReadDocument {
  const lines = text.replaceAll('\r\n', '\n').split('\n');
  const ending = path.extname(name).toLowerCase();
  if (commentedEndings.test(ending))
    return new Reader('markdown').read(commentsOf(lines, hashEndings.test(ending)));
  return new Reader(ending === '.rst' ? 'rst' : 'markdown').read(lines);
}

/** The lines of the comments where they stand, and empty ones between them. */
function commentsOf(lines: readonly string[], isHashed: boolean): string[] {
  let isInBlock = false;
  let isExample = false;
  return lines.map((line) => {
    if (isInBlock) {
      const end = line.indexOf('*/');
      const inner = (end < 0 ? line : line.slice(0, end)).replace(/^\s*\*+ ?/, '');
      isInBlock = end < 0;
      if (/^\s*@/.test(inner)) isExample = /^\s*@example\b/.test(inner);
      return isExample ? '' : inner.replace(/^\s*@\w{1,20}/, '');
    }
    isExample = false;
    if (isHashed) return /^\s*#(?!!)\s?(.*)$/.exec(line)?.[1] ?? '';
    const begin = /^\s*\/\*+ ?(.*)$/.exec(line);
    if (begin !== null) {
      const end = (begin[1] ?? '').indexOf('*/');
      isInBlock = end < 0;
      return (begin[1] ?? '').slice(0, end < 0 ? undefined : end);
    }
    return /^\s*\/\/+!? ?(.*)$/.exec(line)?.[1] ?? '';
  });
}

class Reader {
  readonly #passages: Passage[] = [];
  readonly #code: CodeLine[] = [];
  readonly #anchors = new Set<string>();
  /** Of the last anchor of each slug: a thousand headings of the same words are not counted from the beginning each time. */
  readonly #counts = new Map<string, number>();
  #open: { line: number; text: string }[] = [];
  #heading = '';
  #fence = '';
  /** Of reStructuredText: deeper than this is a literal block; -1: none is open. */
  #literal = -1;
  #isInList = false;
  #isInComment = false;

  constructor(readonly syntax: 'markdown' | 'rst') {}

  read(lines: readonly string[]): ReadDocument {
    lines.forEach((line, at) => this.#line(line, at + 1, lines[at + 1] ?? ''));
    this.#close();
    return {
      passages: this.#passages,
      fenced: this.#code.map(({ text }) => text).join('\n'),
      code: this.#code,
      anchors: this.#anchors,
    };
  }

  #line(line: string, number: number, next: string): void {
    if (this.#isCode(line, number) || this.#isHidden(line)) return;
    if (line.trim() === '' || underline.test(line)) {
      this.#close();
      return;
    }
    const heading = this.#headingOf(line, next);
    if (heading !== undefined) this.#section(heading, number);
    else this.#words(line, number);
  }

  #words(line: string, number: number): void {
    const isRow = /^\s*\|/.test(line);
    const isItem = item.test(line);
    if (isRow || isItem) this.#close();
    if (isItem) this.#isInList = true;
    else if (/^\S/.test(line)) this.#isInList &&= this.#open.length > 0;
    this.#open.push({ line: number, text: line.replace(/^\s*(?:>\s?)*/, '').replace(item, '') });
    if (isRow) this.#close();
    if (this.syntax === 'rst' && /::\s*$/.test(line) && !/^\s*\.\. /.test(line)) {
      this.#literal = indentOf(line);
      this.#close();
    }
  }

  #section(heading: string, number: number): void {
    this.#close();
    this.#heading = heading;
    this.#isInList = false;
    this.#anchor(heading);
    this.#open.push({ line: number, text: heading });
    this.#close(true);
  }

  /** As GitHub makes them; a second heading of the same words has `-1`. */
  #anchor(heading: string): void {
    const named = /<a (?:id|name)="?([^"\s>]{1,100})/.exec(heading)?.[1];
    if (named !== undefined) this.#anchors.add(named.toLowerCase());
    const plain = heading
      .replaceAll(/<[^<>]{0,200}>/g, '')
      .replaceAll(/\[([^\]]{0,200})\]\([^()]{0,300}\)/g, '$1')
      .replaceAll(/(?<![\w`])_([^_`]{1,100})_(?!\w)/g, '$1');
    const slug = slugOf(plain);
    let count = this.#counts.get(slug) ?? 0;
    let anchor = count === 0 ? slug : `${slug}-${count}`;
    for (; this.#anchors.has(anchor); anchor = `${slug}-${count}`) count += 1;
    this.#anchors.add(anchor);
    this.#counts.set(slug, count);
  }

  #headingOf(line: string, next: string): string | undefined {
    if (this.syntax === 'markdown' && /^#{1,6}\s/.test(line))
      return line.replace(/^#{1,6}\s+/, '').replace(/\s+#+\s*$/, '');
    if (this.#open.length > 0 || !/^\S/.test(line)) return undefined;
    const isUnder = underline.test(next) && next.trim().length >= Math.min(3, line.trim().length);
    const isTitle = this.syntax === 'rst' || /^[=-]{3,}\s*$/.test(next);
    return isUnder && isTitle && !item.test(line) && !line.startsWith('|') ? line : undefined;
  }

  #isCode(line: string, number: number): boolean {
    return this.syntax === 'rst' ? this.#isLiteral(line, number) : this.#isFenced(line, number);
  }

  #isFenced(line: string, number: number): boolean {
    const mark = /^\s*(?:>\s?)*(`{3,}|~{3,})/.exec(line)?.[1];
    if (this.#fence !== '') {
      if (mark?.startsWith(this.#fence) === true && /^[\s>`~]*$/.test(line)) this.#fence = '';
      else this.#code.push({ line: number, text: line });
      return true;
    }
    if (mark !== undefined) {
      this.#close();
      this.#fence = mark;
      return true;
    }
    const isIndented = /^(?: {4}|\t)/.test(line) && this.#open.length === 0 && !this.#isInList;
    if (isIndented) this.#code.push({ line: number, text: line });
    return isIndented;
  }

  #isLiteral(line: string, number: number): boolean {
    if (this.#literal >= 0) {
      if (line.trim() === '') return true;
      if (indentOf(line) > this.#literal) {
        this.#code.push({ line: number, text: line });
        return true;
      }
      this.#literal = -1;
    }
    const directive = /^\s*\.\.\s+([\w-]{1,40})::/.exec(line)?.[1];
    if (directive === undefined || /^(?:note|warning|important|tip|caution)$/.test(directive))
      return false;
    this.#close();
    this.#literal = indentOf(line);
    this.#brought(line, number);
    return true;
  }

  /** A file that a page is made from is named outright. */
  #brought(line: string, number: number): void {
    const file = /^\s*\.\. (?:kernel-doc|literalinclude|include):: ([\w./-]{1,200})\s*$/.exec(
      line,
    )?.[1];
    if (file === undefined || file.startsWith('/')) return;
    this.#open.push({ line: number, text: `\`${file}\`` });
    this.#close();
  }

  /** Comments of HTML, and the matter before a page. */
  #isHidden(line: string): boolean {
    if (this.syntax === 'rst' && /^\.\. _[^:]{1,100}:/.test(line)) return true;
    const begins = !this.#isInComment && /^\s*<!--/.test(line);
    if (begins) this.#isInComment = true;
    if (!this.#isInComment) return false;
    if (line.includes('-->')) this.#isInComment = false;
    return true;
  }

  #close(isHeading = false): void {
    const open = this.#open;
    if (open.length === 0) return;
    this.#open = [];
    const lines: Passage['lines'] = [];
    let text = '';
    for (const each of open) {
      if (text.length >= claimLimits.passageChars) break;
      lines.push({ at: text.length, line: each.line });
      text += `${each.text.trim().replaceAll(/\s+/g, ' ')} `;
    }
    text = text.slice(0, claimLimits.passageChars);
    this.#passages.push({ text, lines, isHeading, heading: isHeading ? '' : this.#heading });
  }
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

/** Of an offset in the text of a passage. */
export function lineAt({ lines }: Passage, at: number): number {
  let line = lines[0]?.line ?? 0;
  for (const each of lines) {
    if (each.at > at) break;
    line = each.line;
  }
  return line;
}
