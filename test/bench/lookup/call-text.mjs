// What the text itself says of a name on a line: is it called there? Read without the product, and without cscope.
import { wordPattern } from '../kernel/c-source.mjs';

/** A word before a call; before anything else that looks like a call it is a type, so that a declaration begins. */
const beforeCalls = new Set(['return', 'else', 'do', 'case', 'goto', 'sizeof', 'typeof', 'in']);
/** A token before the name, or the bracket behind it, may stand on a line of its own. */
const linesAround = 6;

/**
 * `call`; or why it is none: `prose` (comment or string), `member` (a call through a field of that name),
 * `declaration`, `definition` or `mention` (no bracket behind it). `call` when the line holds one among others.
 */
export function useOf(source, file, line, name) {
  const code = source.codeLine(file, line);
  const uses = [];
  const pattern = new RegExp(wordPattern(name).source, 'g');
  for (const { index } of code.matchAll(pattern))
    uses.push(useAt(source, { file, line, at: index, end: index + name.length }));
  return uses.find((each) => each === 'call') ?? uses[0] ?? 'prose';
}

function useAt(source, place) {
  const lines = source.file(place.file);
  const code = lines.code[place.line - 1] ?? '';
  const behind = [code.slice(place.end), ...lines.code.slice(place.line, place.line + linesAround)];
  const directive = directiveStart(lines.raw, place.line);
  if (!/^[\s\\]*\(/.test(behind.join('\n'))) return 'mention';
  const before = textBefore(lines, place, directive);
  if (/(?:->|\.)$/.test(before) && !/\.\.\.$/.test(before)) return 'member';
  const word = /[A-Za-z_]\w*$/.exec(before)?.[0];
  if (directive > 0) {
    if (/#\s*define$/.test(before)) return 'definition';
    if (word !== undefined && /#\s*define\s+\w+$/.test(before)) return 'call';
  }
  if (word !== undefined) return beforeCalls.has(word) ? 'call' : declared(source, place);
  if (directive > 0 || isInside(lines, place)) return 'call';
  // At file level a call stands in an initialiser only.
  return /(?:^|[*)};])$/.test(before) ? declared(source, place) : 'call';
}

function declared(source, { file, line }) {
  const code = source
    .file(file)
    .code.slice(line - 1, line + 40)
    .join('\n');
  return /^[^;{]*\{/.test(code) ? 'definition' : 'declaration';
}

/** First line of the directive that the line belongs to; 0: none. */
function directiveStart(raw, line) {
  let first = line;
  while (first > 1 && raw[first - 2].endsWith('\\')) first -= 1;
  return /^\s*#/.test(raw[first - 1] ?? '') ? first : 0;
}

/** The code before the name, without blanks at its end; never out of a directive nor into one. */
function textBefore({ raw, code }, { line, at }, directive) {
  const first = directive > 0 ? directive : Math.max(1, line - linesAround);
  const above = [];
  for (let each = first; each < line; each += 1)
    if (directive > 0 || directiveStart(raw, each) === 0) above.push(code[each - 1]);
  return [...above, code[line - 1].slice(0, at)].join('\n').replace(/[\s\\]+$/, '');
}

/** Between the braces of a function or an initialiser: in the kernel both end in the first column, or on one line. */
function isInside({ raw, code }, { line, at }) {
  if (code[line - 1].slice(0, at).includes('{')) return true;
  for (let each = line - 1; each >= 1; each -= 1) {
    const text = code[each - 1];
    if (directiveStart(raw, each) > 0) continue;
    if (/\{\s*$/.test(text)) return true;
    if (text.startsWith('}') || text.startsWith('{')) return !/\}/.test(text);
  }
  return false;
}
