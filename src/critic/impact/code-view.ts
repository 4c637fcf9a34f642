import { languageOf } from '../../pgc/source/language.js';

export const codeFamilies = ['c', 'es', 'python', 'go', 'java', 'rust'] as const;
/** Languages that are read alike. */
export type CodeFamily = (typeof codeFamilies)[number];

/** Remarks of one text that are looked at; a generated file may hold a hundred thousand. */
const commentsMax = 5_000;

export interface Comment {
  /** 1-based, inclusive. */
  line_start: number;
  line_end: number;
  /** Without its signs, in one line. */
  text: string;
}

/** A source text, told apart into what runs and what is said about it. Read in one pass. */
export interface CodeView {
  path: string;
  family: CodeFamily;
  text: string;
  lines: readonly string[];
  /** As long as `text`; what stands in comments and strings is blank, breaks of lines stay. */
  code: string;
  comments: readonly Comment[];
  /** 1-based line of an offset. */
  lineOf(offset: number): number;
  /** Offset of a line, 1-based. */
  offsetOf(line: number): number;
  /** Offset of the brace that closes the one at `open`; the end of the text where nothing does. */
  closeOf(open: number): number;
}

const families: Readonly<Record<string, CodeFamily>> = {
  ...{ c: 'c', cpp: 'c', typescript: 'es', tsx: 'es', javascript: 'es' },
  ...{ python: 'python', go: 'go', java: 'java', rust: 'rust' },
};

/** Undefined: it is no source of a language that is read here. */
export function familyOf(path: string): CodeFamily | undefined {
  return families[languageOf(path) ?? ''];
}

/** Undefined: it is no source of a language that is read here. */
export function codeViewOf(path: string, text: string): CodeView | undefined {
  const family = familyOf(path);
  if (family === undefined) return undefined;
  const starts = startsOfLines(text);
  const lineOf = (offset: number): number => lineAt(starts, offset);
  const { code, comments } = toldApart(text, family, lineOf);
  const braces = bracesIn(code);
  return {
    ...{ path, family, text, code, comments, lineOf },
    lines: text.split('\n'),
    offsetOf: (line) => starts[line - 1] ?? text.length,
    closeOf: (open) => braces.get(open) ?? text.length,
  };
}

function startsOfLines(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

function lineAt(starts: readonly number[], offset: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return low + 1;
}

interface Aside {
  end: number;
  isComment: boolean;
}

function toldApart(
  text: string,
  family: CodeFamily,
  lineOf: (offset: number) => number,
): { code: string; comments: Comment[] } {
  const parts: string[] = [];
  const comments: Comment[] = [];
  let from = 0;
  let at = 0;
  /** The last sign that is no blank: a slash behind a value divides. */
  let before = '';
  while (at < text.length) {
    const aside = asideAt(text, at, family, before);
    if (aside === undefined) {
      const sign = text.charAt(at);
      if (sign.trim() !== '') before = sign;
      at += 1;
      continue;
    }
    parts.push(text.slice(from, at), blank(text.slice(at, aside.end)));
    if (aside.isComment && comments.length < commentsMax)
      comments.push(commentOf(text, at, aside.end, lineOf));
    else if (!aside.isComment) before = '"';
    at = from = aside.end;
  }
  parts.push(text.slice(from));
  return { code: parts.join(''), comments: joined(comments, text, lineOf) };
}

function blank(aside: string): string {
  return aside.replace(/[^\n]/g, ' ');
}

/** `'c'`; a lifetime of Rust is none. */
const character = /'(?:\\[^\n]{1,10}?|[^'\\\n])'/y;
const oneLineString = /"(?:[^"\\\n]|\\[^])*"?/y;
const singleQuoted = /'(?:[^'\\\n]|\\[^])*'?/y;
const pythonLong = /"""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)/y;
const goRaw = /`[^`]*`?/y;
const pattern = /\/(?![*/])(?:[^/\\[\n]|\\[^\n]|\[(?:[^\]\\\n]|\\[^\n])*\])+\//y;
const operandBefore = /[\w$)\]}"]/;

/** A comment, a string or a pattern that begins at `at`. */
function asideAt(text: string, at: number, family: CodeFamily, before: string): Aside | undefined {
  const sign = text.charAt(at);
  if (family === 'python') {
    if (sign === '#') return { end: lineEnd(text, at), isComment: true };
    if (sign !== '"' && sign !== "'") return undefined;
    const end = matched(pythonLong, text, at);
    if (end !== undefined) return { end, isComment: /^\s*$/.test(lineBefore(text, at)) };
    return string(sign === '"' ? oneLineString : singleQuoted, text, at);
  }
  if (sign === '/') return slashAt(text, at, family, before);
  if (sign === '"') return string(oneLineString, text, at);
  if (sign === "'") return string(family === 'es' ? singleQuoted : character, text, at);
  if (sign === '`' && family === 'es') return { end: templateEnd(text, at), isComment: false };
  if (sign === '`' && family === 'go') return string(goRaw, text, at);
  return undefined;
}

function slashAt(text: string, at: number, family: CodeFamily, before: string): Aside | undefined {
  const next = text.charAt(at + 1);
  if (next === '/') return { end: lineEnd(text, at), isComment: true };
  if (next === '*') {
    const close = text.indexOf('*/', at + 2);
    return { end: close < 0 ? text.length : close + 2, isComment: true };
  }
  if (family !== 'es' || operandBefore.test(before)) return undefined;
  return string(pattern, text, at);
}

/** A text with holes: what stands in them is blank, too, which costs a call in it and nothing else. */
function templateEnd(text: string, at: number): number {
  let depth = 0;
  for (let to = at + 1; to < text.length; to += 1) {
    const sign = text.charAt(to);
    if (sign === '\\') to += 1;
    else if (sign === '$' && text.charAt(to + 1) === '{') {
      depth += 1;
      to += 1;
    } else if (sign === '}' && depth > 0) depth -= 1;
    else if (sign === '`' && depth === 0) return to + 1;
  }
  return text.length;
}

function string(kind: RegExp, text: string, at: number): Aside | undefined {
  const end = matched(kind, text, at);
  return end === undefined ? undefined : { end, isComment: false };
}

function matched(kind: RegExp, text: string, at: number): number | undefined {
  kind.lastIndex = at;
  return kind.test(text) ? kind.lastIndex : undefined;
}

function lineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end < 0 ? text.length : end;
}

function lineBefore(text: string, at: number): string {
  const near = text.slice(Math.max(0, at - 400), at);
  return near.slice(near.lastIndexOf('\n') + 1);
}

function commentOf(
  text: string,
  from: number,
  end: number,
  lineOf: (offset: number) => number,
): Comment {
  const plain = text
    .slice(from, end)
    .split('\n')
    .map((line) => line.replace(/^[ \t]*(?:\/\*\*?|\/\/+!?|\*(?!\/)|#+|"""|''')?[ \t]?/, ''))
    .join(' ')
    .replace(/(?:\*\/|"""|''')\s*$/, '');
  return {
    line_start: lineOf(from),
    line_end: lineOf(Math.max(from, end - 1)),
    text: plain.replace(/\s+/g, ' ').trim(),
  };
}

/** Lines of `//` below each other are one remark. */
function joined(
  comments: readonly Comment[],
  text: string,
  lineOf: (offset: number) => number,
): Comment[] {
  const lines = text.split('\n');
  const isAlone = (line: number): boolean => /^\s*(?:\/\/|#)/.test(lines[line - 1] ?? '');
  const all: Comment[] = [];
  for (const comment of comments) {
    const last = all.at(-1);
    const follows = last?.line_end === comment.line_start - 1;
    if (last !== undefined && follows && isAlone(last.line_end) && isAlone(comment.line_start)) {
      last.text = `${last.text} ${comment.text}`.trim();
      last.line_end = comment.line_end;
    } else all.push({ ...comment });
  }
  return all.filter((each) => each.text !== '' && each.line_start <= lineOf(text.length));
}

/** Which brace closes which, in one pass. */
function bracesIn(code: string): Map<number, number> {
  const braces = new Map<number, number>();
  const open: number[] = [];
  for (let at = 0; at < code.length; at += 1) {
    const sign = code.charCodeAt(at);
    if (sign === 0x7b) open.push(at);
    else if (sign === 0x7d) {
      const begun = open.pop();
      if (begun !== undefined) braces.set(begun, at);
    }
  }
  return braces;
}
