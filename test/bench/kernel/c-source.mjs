// What the source itself says, read without the product: does this line define that name, does that line call it?
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';

/** Between the first line of a definition and its name: a return type and attributes on lines of their own. */
const headLinesMax = 6;
const definitionLinesMax = 40;

export class CSource {
  #root;
  #filesMax;
  #files = new Map();

  /** `filesMax`: how many files are kept in memory; the one read first is dropped first. */
  constructor(root, filesMax = Infinity) {
    this.#root = root;
    this.#filesMax = filesMax;
  }

  /** Undefined when there is no such file below the root. */
  file(name) {
    if (!this.#files.has(name)) {
      if (this.#files.size >= this.#filesMax) this.#files.delete(this.#files.keys().next().value);
      this.#files.set(name, readFile(this.#root, name));
    }
    return this.#files.get(name);
  }

  /** The line without comments and strings, so that a name in prose is no call. */
  codeLine(name, line) {
    return this.file(name)?.code[line - 1] ?? '';
  }

  holdsWord(name, line, word) {
    return wordPattern(word).test(this.codeLine(name, line));
  }

  /** `function`, `macro`, `type` or undefined: what the text that begins on this line defines under that name. */
  definesAt(name, line, symbol) {
    const source = this.file(name);
    const first = source?.code[line - 1];
    // Off by one line is wrong: nothing begins on an empty line or in a comment.
    if (first === undefined || first.trim() === '') return undefined;
    if (new RegExp(`^\\s*#\\s*define\\s+${symbol}\\b`).test(first)) return 'macro';
    if (/^\s*#/.test(first)) return undefined;
    if (new RegExp(`^\\s*(typedef\\s+)?(struct|union|enum)\\s+${symbol}\\s*({|$)`).test(first))
      return 'type';
    const text = source.code
      .slice(line - 1, line - 1 + definitionLinesMax)
      .filter((each) => !/^\s*#/.test(each))
      .join('\n')
      // A name that a macro makes: FNAME(walk_addr)(…)
      .replace(new RegExp(`\\b[A-Z][A-Z0-9_]*\\(\\s*(${symbol})\\s*\\)(?=\\s*\\()`), '$1');
    // Kernel macros that define the function they name, as SYSCALL_DEFINE3(brk, …) does: brk, which is sys_brk.
    const named = `(?:${symbol}|${symbol.replace(/^(?:__\w+?_)?(?:compat_)?sys_/, '')})`;
    if (
      new RegExp(`^\\w*(DEFINE\\w*|BPF_CALL_\\d|COMPAT_SYSCALL\\w*)\\s*\\(\\s*${named}\\b`).test(
        text,
      )
    )
      return 'function';
    const head = wordPattern(symbol).exec(text);
    if (head === null || text.slice(0, head.index).split('\n').length > headLinesMax)
      return undefined;
    const before = text.slice(0, head.index);
    if (/[;{}=]/.test(before)) return undefined;
    const open = head.index + symbol.length;
    if (!/^\s*\(/.test(text.slice(open))) return undefined;
    const close = closing(text, text.indexOf('(', open), '(', ')');
    if (close < 0) return undefined;
    // Attributes may stand between the parameters and the body: __acquires(lock), __init.
    return /^(\s|\w+(\s*\([^()]*\))?)*\{/.test(text.slice(close + 1)) ? 'function' : undefined;
  }

  /** Last line of the function or macro that begins on this line. */
  endOf(name, line) {
    const code = this.file(name)?.code ?? [];
    if (/^\s*#/.test(code[line - 1] ?? '')) {
      let last = line;
      while (/\\\s*$/.test(this.file(name)?.raw[last - 1] ?? '')) last += 1;
      return last;
    }
    let open = line;
    while (open <= code.length && !code[open - 1].includes('{')) open += 1;
    // Conditional compilation may leave braces unbalanced; the closing one in the first column does not lie.
    if (code[open - 1]?.startsWith('{')) {
      let last = open;
      while (last < code.length && !code[last - 1].startsWith('}')) last += 1;
      return last;
    }
    const text = code.slice(open - 1).join('\n');
    const close = closing(text, text.indexOf('{'), '{', '}');
    return close < 0 ? open : open + text.slice(0, close).split('\n').length - 1;
  }

  /** Why a citation is not true of the file as it is; undefined when it is. */
  objectionTo({ file_path, line_start, line_end, content, blob }) {
    const source = this.file(file_path);
    if (source === undefined) return `there is no ${file_path}`;
    if (blob !== '' && blob !== source.blob) return `${file_path} is not blob ${blob}`;
    const cited = source.raw.slice(line_start - 1, line_end).join('\n');
    if (content === '' || !cited.startsWith(content.replace(/\n+$/, '')))
      return `${file_path}:${line_start}-${line_end} does not hold the content`;
    return undefined;
  }
}

/** `path:line` → `{ file, line }` */
export function place(text) {
  const at = text.lastIndexOf(':');
  return { file: text.slice(0, at), line: Number(text.slice(at + 1)) };
}

export function wordPattern(word) {
  return new RegExp(`(?<![\\w$])${word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}(?![\\w$])`);
}

function readFile(root, name) {
  const file = path.resolve(root, name);
  if (!file.startsWith(`${root}${path.sep}`)) return undefined;
  let bytes;
  try {
    bytes = readFileSync(file);
  } catch {
    return undefined;
  }
  const text = bytes.toString('utf8');
  const blob = createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
  return { blob, raw: text.split('\n'), code: withoutProse(text).split('\n') };
}

const proseOrCode =
  /\/\*[^]*?(?:\*\/|$)|\/\/[^\n]*|"(?:\\[^]|[^"\\\n])*"|'(?:\\[^\n][^'\n]{0,8}|[^'\\\n])'/g;

/** The text with comments and literals blanked; every line keeps its place. */
function withoutProse(text) {
  return text.replace(proseOrCode, (prose) => prose.replace(/[^\n]/g, ' '));
}

function closing(text, from, open, close) {
  let depth = 0;
  for (let at = from; at >= 0 && at < text.length; at += 1) {
    if (text[at] === open) depth += 1;
    else if (text[at] === close && (depth -= 1) === 0) return at;
  }
  return -1;
}
