import MarkdownIt, { type Env, type Token } from 'markdown-it';
import { anchorsOf } from './markdown-anchors.js';
import { proseOf } from './prose-of.js';
import { sentencesIn } from './sentences.js';

/**
 * What a critic reads of an artifact: headings, sections, links, lists, code, tables and sentences, each with its lines as
 * they stand in the file (1-based, inclusive). Markdown as CommonMark has it, with GitHub's tables, read by markdown-it:
 * its time is linear in the text whatever is written, which most readers of Markdown do not hold. Of source code the
 * comments are read, in the lines in which they stand.
 */

/** Of each kind; what is beyond is not read, and `isCut` says so. */
export const markdownLimits = { parts: 20_000 } as const;

export interface Place {
  line_start: number;
  line_end: number;
}

export interface Heading extends Place {
  level: number;
  /** Plain text. */
  title: string;
  anchor: string;
}

/** From a heading to the next one, whatever its level; the first has none where text stands above all headings. */
export interface Part extends Place {
  heading: Heading | undefined;
  /** Titles of the headings above it and its own, the outermost first. */
  path: string[];
}

export interface Link {
  text: string;
  /** As it is written. */
  target: string;
  kind: 'link' | 'image';
  line: number;
}

export interface Item extends Place {
  /** Raw Markdown of its first paragraph, in one line; without the box of a task. */
  text: string;
  isOrdered: boolean;
}

export interface Fence extends Place {
  /** First word behind the mark; empty: none. */
  language: string;
  text: string;
}

export interface Sentence extends Place {
  /** Raw Markdown, in one line. */
  text: string;
  /** Place in `parts`. */
  part: number;
  isQuote: boolean;
}

export interface Row {
  /** Raw Markdown. */
  cells: string[];
  line: number;
  /** Of the table: the first of its rows. */
  isHeader: boolean;
}

/** `code` of a line of text, between back-ticks. */
export interface CodeSpan {
  text: string;
  line: number;
}

/** A run of text, a code span or a link, in the order in which the parser meets them. */
export interface Piece {
  type: 'text' | 'code' | 'link';
  /** Of a link: its words, which precede it as pieces of their own. */
  text: string;
  /** Of a link; otherwise empty. */
  target: string;
  line: number;
  /** Offset in the text of the passage. */
  at: number;
  isInLink: boolean;
}

/** One paragraph, heading or cell. */
export interface Passage extends Place {
  /** Raw Markdown. */
  text: string;
  isHeading: boolean;
  pieces: Piece[];
}

export interface MarkdownText {
  /** Without their ends; as they stand, also of code. */
  lines: readonly string[];
  /** The comments of a source file, no document. */
  isCode: boolean;
  /** YAML between the marks at the very beginning. */
  frontMatter: (Place & { text: string }) | undefined;
  headings: Heading[];
  parts: Part[];
  links: Link[];
  items: Item[];
  fences: Fence[];
  rows: Row[];
  sentences: Sentence[];
  codes: CodeSpan[];
  passages: Passage[];
  /** Of headings and of HTML: what `#…` may name. */
  anchors: ReadonlySet<string>;
  /** Labels of links and footnotes that are defined, in lower case. */
  labels: ReadonlySet<string>;
  isCut: boolean;
}

/** In which a missing piece of a line of text is looked for, so that a long line costs no more than its length. */
const searchChars = 2_000;

const parser = new MarkdownIt('default', { html: true, linkify: false, typographer: false });
parser.normalizeLink = (url) => url;
parser.validateLink = () => true;

/** `path`: says whether it is code. */
export function readMarkdown(path: string, text: string): MarkdownText {
  const lines = text.split(/\r\n|\n|\r/);
  const { isCode, text: prose } = proseOf(path, lines);
  const frontMatter = isCode ? undefined : frontMatterOf(lines);
  const body = frontMatter === undefined ? prose : blanked(prose, frontMatter.line_end);
  const env: Env = {};
  const reader = new Reader();
  for (const token of parser.parse(body, env)) reader.take(token);
  const { headings, ...rest } = reader.read;
  const labels = new Set(Object.keys(env.references ?? {}).map((label) => label.toLowerCase()));
  for (const [, label = ''] of body.matchAll(/^ {0,3}\[(\^[^\]\s]{1,200})\]:/gm))
    labels.add(label.toLowerCase());
  return {
    ...{ lines, isCode, frontMatter, headings, ...rest, labels },
    parts: partsOf(headings, lines.length),
    anchors: anchorsOf(headings, body),
    isCut: reader.isCut,
  };
}

/** In which part a line stands. */
export function partAt(parts: readonly Part[], line: number): number {
  let low = 0;
  let high = parts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((parts[middle]?.line_start ?? 0) <= line) low = middle;
    else high = middle - 1;
  }
  return Math.max(0, low);
}

function frontMatterOf(lines: readonly string[]): MarkdownText['frontMatter'] {
  if (lines[0]?.trimEnd() !== '---') return undefined;
  const end = lines.findIndex((line, at) => at > 0 && /^(?:---|\.\.\.)\s*$/.test(line));
  if (end < 0) return undefined;
  return { line_start: 1, line_end: end + 1, text: lines.slice(1, end).join('\n') };
}

function blanked(text: string, lines: number): string {
  return text
    .split('\n')
    .map((line, at) => (at < lines ? '' : line))
    .join('\n');
}

function partsOf(headings: readonly Heading[], linesCount: number): Part[] {
  const parts: Part[] = [];
  const path: { level: number; title: string }[] = [];
  const first = headings[0]?.line_start ?? linesCount + 1;
  if (first > 1) parts.push({ heading: undefined, path: [], line_start: 1, line_end: first - 1 });
  headings.forEach((heading, at) => {
    while ((path.at(-1)?.level ?? 0) >= heading.level) path.pop();
    path.push(heading);
    const line_end = (headings[at + 1]?.line_start ?? linesCount + 1) - 1;
    const titles = path.map(({ title }) => title);
    parts.push({ heading, path: titles, line_start: heading.line_start, line_end });
  });
  return parts;
}

type Read = Pick<
  MarkdownText,
  'headings' | 'links' | 'items' | 'fences' | 'rows' | 'sentences' | 'codes' | 'passages'
>;

/** Goes once through the tokens of a text. */
class Reader {
  isCut = false;
  readonly read: Read = {
    ...{ headings: [], links: [], items: [], fences: [], rows: [], sentences: [], codes: [] },
    passages: [],
  };
  readonly #lists: { isOrdered: boolean }[] = [];
  readonly #items: { place: Place; hasText: boolean }[] = [];
  #quotes = 0;
  #headingLevel = 0;
  #cells: string[] | undefined;
  #isHeader = false;
  #place: Place = { line_start: 1, line_end: 1 };

  take(token: Token): void {
    if (token.map !== null)
      this.#place = {
        line_start: token.map[0] + 1,
        line_end: Math.max(token.map[0] + 1, token.map[1]),
      };
    this.#structure(token);
    if (token.type === 'fence' || token.type === 'code_block') this.#fence(token);
    if (token.type === 'inline') this.#inline(token);
  }

  /** Where in lists, tables and quotes we are. */
  #structure({ type, nesting, tag }: Token): void {
    if (type === 'heading_open') this.#headingLevel = Number(tag.slice(1));
    if (type === 'heading_close') this.#headingLevel = 0;
    if (tag === 'blockquote') this.#quotes += nesting;
    if (type === 'bullet_list_open' || type === 'ordered_list_open')
      this.#lists.push({ isOrdered: type === 'ordered_list_open' });
    if (type === 'bullet_list_close' || type === 'ordered_list_close') this.#lists.pop();
    if (type === 'list_item_open') this.#items.push({ place: this.#place, hasText: false });
    if (type === 'list_item_close') this.#items.pop();
    if (tag === 'thead') this.#isHeader = nesting === 1;
    if (type === 'tr_open') this.#cells = [];
    if (type === 'tr_close' && this.#cells !== undefined) {
      const row = { cells: this.#cells, line: this.#place.line_start, isHeader: this.#isHeader };
      this.#keep('rows', row);
      this.#cells = undefined;
    }
  }

  #fence({ info, content }: Token): void {
    const language = info.trim().split(/[\s{,]/)[0] ?? '';
    this.#keep('fences', { ...this.#place, language: language.toLowerCase(), text: content });
  }

  #inline(token: Token): void {
    this.#spans(token);
    const text = token.content.replace(/\s+/g, ' ').trim();
    if (this.#headingLevel > 0) {
      const title = plainOf(token.children ?? []);
      const heading = { ...this.#place, level: this.#headingLevel, title, anchor: '' };
      this.#keep('headings', heading);
      return;
    }
    if (this.#cells !== undefined) {
      this.#cells.push(text);
      return;
    }
    const item = this.#items.at(-1);
    if (item?.hasText === false) {
      item.hasText = true;
      this.#item(text, item.place);
    }
    const from = this.#place.line_start;
    for (const { text: sentence, line, lineEnd } of sentencesIn(token.content)) {
      const place = { line_start: from + line, line_end: from + lineEnd };
      const isQuote = this.#quotes > 0;
      this.#keep('sentences', { text: sentence, ...place, part: this.#part(), isQuote });
    }
  }

  #item(text: string, place: Place): void {
    const [box] = /^\[[ xX]\](?=\s|$)/.exec(text) ?? [];
    this.#keep('items', {
      ...place,
      text: text.slice(box?.length ?? 0).trim(),
      isOrdered: this.#lists.at(-1)?.isOrdered ?? false,
    });
  }

  /** Links and code, each in its line: pieces are looked for from the last one on, for a code span may hold a break. */
  #spans({ content, children }: Token): void {
    let at = 0;
    let line = this.#place.line_start;
    const goTo = (piece: string): void => {
      const found = piece === '' ? -1 : content.slice(at, at + searchChars).indexOf(piece);
      if (found < 0) return;
      line += breaksIn(content.slice(at, at + found));
      // Those of text hold no break.
      at += found + piece.length;
    };
    const open: Link[] = [];
    const pieces: Piece[] = [];
    const add = (type: Piece['type'], text: string, target = ''): void => {
      const begin = type === 'text' ? Math.max(0, at - text.length) : at;
      pieces.push({ type, text, target, line, at: begin, isInLink: open.length > 0 });
    };
    for (const child of children ?? []) {
      const { type, content: text } = child;
      if (type === 'link_open') {
        const target = String(child.attrGet('href') ?? '');
        open.push({ text: '', target, kind: 'link', line });
        continue;
      }
      if (type === 'link_close') {
        const link = open.pop();
        if (link === undefined) continue;
        this.#keep('links', link);
        add('link', link.text, link.target);
        continue;
      }
      goTo(type === 'code_inline' ? child.markup : text);
      const link = open.at(-1);
      if (type === 'text') add('text', text);
      if (link !== undefined) {
        if (link.text === '') link.line = line;
        link.text += text;
      }
      if (type === 'code_inline') {
        add('code', text);
        this.#keep('codes', { text, line });
        // What follows is not looked for in the code.
        const end = closing(content, at, child.markup);
        line += breaksIn(content.slice(at, end));
        at = end;
      }
      if (type === 'image')
        this.#keep('links', {
          text,
          target: String(child.attrGet('src') ?? ''),
          kind: 'image',
          line,
        });
    }
    const isHeading = this.#headingLevel > 0;
    this.#keep('passages', { ...this.#place, text: content, isHeading, pieces });
  }

  #part(): number {
    const [first] = this.read.headings;
    const hasPreamble = first === undefined || first.line_start > 1;
    return this.read.headings.length - (hasPreamble ? 0 : 1);
  }

  #keep<K extends keyof Read>(kind: K, part: Read[K][number]): void {
    const kept = this.read[kind] as Read[K][number][];
    if (kept.length < markdownLimits.parts) kept.push(part);
    else this.isCut = true;
  }
}

/** Behind the mark that ends a span of code: the next one of its length. */
function closing(content: string, from: number, mark: string): number {
  for (const { 0: run, index } of content.slice(from, from + searchChars).matchAll(/`+/g))
    if (run.length === mark.length) return from + index + run.length;
  return from;
}

function breaksIn(text: string): number {
  return text.split('\n').length - 1;
}

function plainOf(children: readonly Token[]): string {
  return children
    .map(({ type, content }) => (/break$/.test(type) ? ' ' : type === 'html_inline' ? '' : content))
    .join('')
    .trim();
}
