import type { Interpreter } from './policy.js';
import type { Word } from './shell.js';

/** How the words of an interpreter are read: its code, its module, its script, what it loads before. */

export interface Reading {
  code: Word[];
  module: Word | undefined;
  file: Word | undefined;
  /** Files that are loaded before. */
  loaded: Word[];
  rest: Word[];
  flags: Set<string>;
}

const loading = new Set([
  '-r',
  '--require',
  '--import',
  '--loader',
  '--experimental-loader',
  '--rcfile',
  '--init-file',
]);
/** They ask an interpreter about itself, or have it look at a script without running it. */
const asking = new Set([
  '--version',
  '--help',
  '-V',
  '-h',
  '-v',
  '--check',
  '--test',
  '-l',
  '-c',
  '--syntax-check',
  '--ini',
  '-n',
  '--noexec',
]);

/** Every word of it is known to compute, and nothing in its texts is told only when it runs. */
export function isPure(code: string, words: readonly string[]): boolean {
  const bare = code.replace(/"(?:\\.|[^"\\#$])*"/g, ' ');
  if (/["'`#$@!\\]/.test(bare)) return false;
  return (bare.match(/[A-Za-z_]\w*/g) ?? []).every(
    (each) => each.length === 1 || words.includes(each),
  );
}

export function isAsking(flags: Set<string>, { language }: Interpreter): boolean {
  return [...flags].some(
    (flag) =>
      asking.has(flag) &&
      !(flag === '-n' && language !== 'shell') &&
      !(flag === '-c' && !['ruby', 'perl'].includes(language)) &&
      !((flag === '-l' || flag === '--ini') && language !== 'php') &&
      !(flag === '-v' && language === 'shell') &&
      !(flag === '-h' && language === 'shell'),
  );
}

export function readingOf(words: readonly Word[], interpreter: Interpreter): Reading {
  const reading: Reading = {
    code: [],
    module: undefined,
    file: undefined,
    loaded: [],
    rest: [],
    flags: new Set(),
  };
  const isShell = interpreter.language === 'shell';
  let wantsCode = false;
  let isInput = false;
  let at = 1;
  for (; at < words.length; at += 1) {
    const each = words[at];
    if (each === undefined) break;
    const { text } = each;
    if (text === '--') {
      at += 1;
      break;
    }
    if (!/^[-+]./.test(text)) {
      if (interpreter.words?.includes(text) === true) continue;
      break;
    }
    const next = words[at + 1];
    const code = codeOf(each, next, interpreter);
    if (isShell && /^-[a-zA-Z]*c[a-zA-Z]*$/.test(text)) wantsCode = true;
    else if (isShell && /^-[a-z]*s[a-z]*$/.test(text)) isInput = true;
    else if (code !== undefined) {
      reading.code.push(code.word);
      at += code.taken;
      if (interpreter.language !== 'python') continue;
      at += 1;
      break;
    } else if (interpreter.module?.some((flag) => text.startsWith(flag)) === true) {
      reading.module = text.length > 2 ? { ...each, text: text.slice(2) } : next;
      at += text.length > 2 ? 1 : 2;
      break;
    } else {
      const name = text.split('=')[0] ?? '';
      reading.flags.add(name);
      if (/^-[a-z]*i/.test(text)) reading.flags.add('-i');
      const isValued = interpreter.valued?.includes(name) === true && !text.includes('=');
      const value = text.includes('=')
        ? { ...each, text: text.slice(text.indexOf('=') + 1) }
        : next;
      if (loading.has(name) && value !== undefined) reading.loaded.push(value);
      if (isValued) at += 1;
    }
  }
  const [first, ...rest] = words.slice(at);
  const isCode =
    wantsCode ||
    (interpreter.first_is_code === true &&
      !reading.flags.has('-f') &&
      !reading.flags.has('--file'));
  if (isCode) reading.code.push(...(first === undefined ? [] : [first]));
  else if (
    reading.code.length === 0 &&
    reading.module === undefined &&
    !isInput &&
    first?.text !== '-' &&
    first?.text !== '/dev/stdin'
  )
    reading.file = first;
  reading.rest = isCode || reading.file !== undefined ? rest : words.slice(at);
  return reading;
}

/** The code in a flag: `-c 'code'`, `-ne 'code'`, `--eval=code`, `-ccode`. */
function codeOf(
  each: Word,
  next: Word | undefined,
  { code, language }: Interpreter,
): { word: Word; taken: number } | undefined {
  if (language === 'shell') return undefined;
  const { text } = each;
  for (const flag of code) {
    if (text === flag) return next === undefined ? undefined : { word: next, taken: 1 };
    if (text.startsWith(`${flag}=`))
      return { word: { ...each, text: text.slice(flag.length + 1) }, taken: 0 };
    const isShort = /^-\w$/.test(flag) && /^-\w/.test(text) && !text.startsWith('--');
    const letter = isShort ? text.indexOf(flag[1] ?? '', 1) : -1;
    if (letter <= 0 || !/^\w*$/.test(text.slice(1, letter))) continue;
    const rest = text.slice(letter + 1);
    if (rest === '' && next !== undefined) return { word: next, taken: 1 };
    if (letter === 1 && rest !== '') return { word: { ...each, text: rest }, taken: 0 };
  }
  return undefined;
}
