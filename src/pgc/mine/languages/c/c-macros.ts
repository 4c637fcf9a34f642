import { type CallDraft, Draft, receiverCharsMax } from '../../draft.js';
import { compact, renderSignature } from '../../signature.js';

/** A header of more lines than this that consists of `#define` alone is read by line. */
const definesLinesMin = 2_000;
const definesShareMin = 0.95;
/** Characters of a line that are read. */
const lineCharsMax = 4_096;
const valueCharsMax = 60;

/** Words before a parenthesis that are not calls. */
export const cKeywords = new Set(
  (
    'if for while switch return do else case default goto sizeof typeof __typeof__ __typeof typeof_unqual ' +
    'alignof _Alignof __alignof__ _Generic _Static_assert static_assert offsetof __builtin_offsetof ' +
    '__builtin_types_compatible_p defined asm __asm__ __asm volatile __volatile__ __attribute__ __attribute ' +
    '__declspec __extension__ void char short int long float double signed unsigned bool _Bool struct union ' +
    'enum const static extern inline typedef register restrict goto break continue __inline __inline__'
  ).split(' '),
);

/** Names followed by `(`, with comments and strings matched first so that nothing is found inside them. */
const callPattern =
  /\/\*[\s\S]*?(?:\*\/|$)|\/\/[^\n]*|"(?:[^"\\\n]|\\[\s\S])*"?|'(?:[^'\\\n]|\\.){1,8}'|(?<![\w$])([A-Za-z_]\w*)(?=(?:[ \t]|\\\n)*\((?!\s*\*\s*\w*\s*\)\s*\())/g;

/** Calls in text that the parser leaves alone: bodies of macros. `at` is the offset of `body`. */
export function scanCalls(body: string, at: number, notCalled: ReadonlySet<string>): CallDraft[] {
  const calls: CallDraft[] = [];
  for (const found of body.matchAll(callPattern)) {
    const callee = found[1];
    if (callee === undefined || cKeywords.has(callee) || notCalled.has(callee)) continue;
    const before = body.slice(Math.max(0, found.index - receiverCharsMax - 2), found.index);
    // `#name` and `a##name` are text that the preprocessor pastes together.
    if (/#\s*$/.test(before)) continue;
    const isMember = /(?:->|\.)\s*$/.test(before);
    const receiver = isMember ? receiverBefore(body, found.index) : '';
    calls.push({ callee, at: at + found.index, kind: isMember ? 'member' : 'direct', receiver });
  }
  return calls;
}

/** `a->b[i]` of `a->b[i].open(`, where `at` is the offset of `open`. */
export function receiverBefore(text: string, at: number): string {
  let end = at;
  while (end > 0 && /\s/.test(text.charAt(end - 1))) end -= 1;
  if (text.charAt(end - 1) === '.') end -= 1;
  else if (text.endsWith('->', end) || text.slice(end - 2, end) === '->') end -= 2;
  else return '';
  const stop = Math.max(0, end - 4 * receiverCharsMax);
  let start = end;
  for (let depth = 0; start > stop; start -= 1) {
    const sign = text.charAt(start - 1);
    if (sign === ')' || sign === ']') depth += 1;
    else if (sign === '(' || sign === '[') {
      if (depth === 0) break;
      depth -= 1;
    } else if (depth === 0 && !/[\w.]/.test(sign)) {
      const isArrow = sign === '>' && text.charAt(start - 2) === '-';
      if (!isArrow) break;
      start -= 1;
    }
  }
  return compact(text.slice(start, end)).slice(0, receiverCharsMax);
}

interface MacroHead {
  name: string;
  /** Offset of the name in the text. */
  nameAt: number;
  parameters: string[] | undefined;
  /** Offset behind name and parameters. */
  bodyAt: number;
}

/** Reads `#define NAME(a, b)` at offset `at`. */
export function macroHead(text: string, at: number): MacroHead | undefined {
  const head = /^([ \t]*#[ \t]*define(?:[ \t]|\\\r?\n)+)([A-Za-z_]\w*)(\([^)]*\))?/.exec(
    text.slice(at, at + lineCharsMax),
  );
  const [whole, before = '', name, list] = head ?? [];
  if (whole === undefined || name === undefined) return undefined;
  const parameters = list
    ?.slice(1, -1)
    .split(',')
    .map((each) =>
      each
        .replace(/\\\r?\n/g, ' ')
        .replace('...', '')
        .trim(),
    )
    .filter((each) => each !== '');
  return { name, nameAt: at + before.length, parameters, bodyAt: at + whole.length };
}

export function macroSignature(head: MacroHead, body: string): string {
  if (head.parameters !== undefined) {
    const properties = { params: head.parameters.length };
    return renderSignature('macro', head.name, properties, `(${head.parameters.join(', ')})`);
  }
  const value = compact(
    body
      .slice(0, 4 * valueCharsMax)
      .replace(/\\\r?\n/g, ' ')
      .replace(/\/\/.*/, ''),
  );
  return renderSignature('macro', head.name, { value: value.slice(0, valueCharsMax) });
}

const defineHead = /^[ \t]*#[ \t]*define[ \t]+([A-Za-z_]\w*)/;
const headCharsMax = 300;

/** Register lists of graphics drivers, mostly: hundreds of thousands of lines and not one function. */
export function isMostlyDefines(text: string): boolean {
  let lines = 0;
  let defines = 0;
  for (let at = 0; at < text.length;) {
    const newline = text.indexOf('\n', at);
    const end = newline < 0 ? text.length : newline;
    const head = text.slice(at, Math.min(end, at + 8)).trimStart();
    // Comments neither prove nor disprove it.
    if (head !== '' && !/^(?:\/\/|\/\*|\*)/.test(head)) {
      lines += 1;
      if (head.startsWith('#defin') || /^#\s*d/.test(head)) defines += 1;
    }
    at = end + 1;
  }
  return lines > definesLinesMin && defines > lines * definesShareMin;
}

/**
 * Only the names that `#define` gives and their lines, without a parse: a register list of a quarter of a
 * million lines is found by name, and has nothing else to say.
 */
export function scanDefines(text: string): Draft {
  const draft = new Draft(text, 0);
  for (let at = 0; at < text.length;) {
    const newline = text.indexOf('\n', at);
    const end = newline < 0 ? text.length : newline;
    const [, name] = defineHead.exec(text.slice(at, Math.min(end, at + headCharsMax))) ?? [];
    if (name !== undefined) draft.scanned.push({ name, at });
    at = end + 1;
  }
  return draft;
}
