import { programName, type CommandPattern } from './command-pattern.js';
import { tableEffects } from './effects.js';
import { cut, inputOf, textOf, unreadInput, word, type Spot } from './examination.js';
import type { Wrapper } from './policy.js';
import { secretEffects } from './secret-effects.js';
import { searchedCache } from './search-words.js';
import type { ShellScope } from './shell-scope.js';
import type { Input, Word } from './shell.js';
import type { Unwrapper } from './unwrap.js';

/** Programs that start the one that stands in their arguments. */

const labelChars = 120;

interface Inner {
  words: Word[];
  /** Texts for a shell, in values of flags. */
  texts: Word[];
  assignments: [string, Word][];
  /** Words behind `:::`. */
  further: Word[];
  /** What is xargs' own: it stands for the text. */
  placeholder: string;
}

/** True: what it starts is judged, and nothing is left to judge. */
export async function unwrapped(
  words: readonly Word[],
  unwrapper: Unwrapper,
  spot: Spot,
): Promise<boolean> {
  const program = programName(words[0]?.text ?? '');
  if (program === 'find' || program === 'fd' || program === 'fdfind') {
    await searched(words, unwrapper, spot);
    return false;
  }
  const { exam } = unwrapper;
  const leading = exam.book.grammarOf(program).leading ?? [];
  const found = exam.book
    .wrappersOf(program)
    .map(({ of, pattern }) => ({ of, pattern, inner: innerOf(words, of, pattern, leading) }))
    .filter(({ inner }) => inner !== undefined)
    .at(-1);
  if (program === 'git' && (await gitSettings(words, unwrapper, spot))) return true;
  if (found?.inner === undefined) return false;
  const { of, pattern, inner } = found;
  await tableEffects(outerOnly(words, inner), exam.book.read(outerOnly(words, inner)), exam, spot);
  const isRemote = of.remote === true;
  const outer = outerOnly(words, inner);
  // Where it is done is told by the words before it.
  if (isRemote) exam.mark(outer);
  const label = isRemote ? outer : words.slice(0, pattern.words.length);
  const own = unwrapper.inner(spot, cut(textOf(label), labelChars), {
    remote: spot.remote || isRemote,
  });
  if (program === 'env' && inner.words.length + inner.texts.length === 0)
    exam.found({
      ...{ signal: 'SecurityBoundary', rule: 'credentials', words, spot },
      says: 'tells all variables, credentials among them',
    });
  secretEffects(outerOnly(words, inner), exam.book.read(outerOnly(words, inner)), exam, spot);
  await unwrapper.variables(inner.assignments, own);
  const fed: Spot = of.feeds === true ? { ...own, input: unreadInput } : own;
  for (const text of inner.texts) await shellText(text, words, unwrapper, fed);
  if (of.reads !== undefined) await laterRun(of.reads, words, unwrapper, own);
  if (of.only_flags === true) return inner.texts.length > 0 && program !== 'git';
  if (of.each === true) {
    for (const text of inner.words) await shellText(text, words, unwrapper, own);
    return true;
  }
  await inside(inner, of, words, unwrapper, own);
  return true;
}

async function inside(
  inner: Inner,
  of: Wrapper,
  words: readonly Word[],
  unwrapper: Unwrapper,
  spot: Spot,
): Promise<void> {
  if (inner.words.length === 0) {
    for (const text of inner.further) await shellText(text, words, unwrapper, spot);
    return await withoutCommand(inner, of, words, unwrapper, spot);
  }
  if (of.joined === true) {
    const text = inner.words.map((each) => each.text).join(' ');
    const isStatic = inner.words.every((each) => each.isStatic);
    const appended = of.appends === true ? `${text} "$UNKNOWN"` : text;
    return isStatic
      ? await shellText(word(appended), words, unwrapper, spot)
      : await unwrapper.run(inner.words, spot);
  }
  const added = of.appends === true ? [{ text: '…', isStatic: false }] : [];
  const given = inner.words.map((each) => filled(each, inner.placeholder));
  await unwrapper.run([...given, ...(inner.placeholder === '' ? added : [])], {
    ...spot,
    input: of.appends === true ? { kind: 'none' } : spot.input,
  });
}

/** What xargs puts in is told only when it runs. */
function filled(each: Word, placeholder: string): Word {
  return placeholder !== '' && each.text.includes(placeholder)
    ? { ...each, isStatic: false }
    : each;
}

/** `ssh host < script`, `sudo -s`: what it reads is what it runs. */
async function withoutCommand(
  inner: Inner,
  of: Wrapper,
  words: readonly Word[],
  unwrapper: Unwrapper,
  spot: Spot,
): Promise<void> {
  const isReader = of.joined === true || of.remote === true;
  if (!isReader || inner.texts.length + inner.further.length > 0) return;
  const input = await inputOf(spot, unwrapper.exam);
  if (input.kind === 'text' && input.text.trim() !== '')
    await unwrapper.shell(input.text, { ...spot, input: { kind: 'none' } });
  else if (input.kind === 'unknown')
    unwrapper.exam.opaque('hidden-code', words, spot, 'runs what it is sent');
}

/** `at now < file`, `crontab -`: what they are given is started by nobody, later. */
async function laterRun(
  kind: 'shell' | 'crontab',
  words: readonly Word[],
  unwrapper: Unwrapper,
  spot: Spot,
): Promise<void> {
  const { exam } = unwrapper;
  const given = exam.book.read(words);
  if (['-l', '-r', '-e', '-d', '-c', '-q'].some((flag) => given.flags.has(flag))) return;
  const file = kind === 'crontab' ? given.operands[1] : given.flags.get('-f')?.map(word)[0];
  const isFile = file !== undefined && file.text !== '-';
  const input: Input = isFile ? { kind: 'file', path: file } : spot.input;
  const told = await inputOf({ ...spot, input }, exam);
  if (told.kind === 'none') return;
  if (told.kind === 'unknown')
    return exam.opaque('hidden-code', words, spot, 'what it is given runs later');
  const text = kind === 'shell' ? told.text : crontabCommands(told.text);
  await unwrapper.shell(text, { ...spot, input: { kind: 'none' } });
  // Whatever it is: it runs when nobody looks.
  exam.found({ signal: 'Emergent', rule: 'runs-later', words, spot, irreversible: false });
}

/** The sixth field of each line: the others say when. */
function crontabCommands(text: string): string {
  const lines = text.split('\n').filter((line) => !/^\s*(?:#|$)/.test(line));
  return lines
    .map((line) => line.replace(/^\s*(?:@\w+|\S+\s+\S+\s+\S+\s+\S+\s+\S+)\s+/, '').trim())
    .join('\n');
}

async function shellText(
  text: Word,
  words: readonly Word[],
  unwrapper: Unwrapper,
  spot: Spot,
): Promise<void> {
  if (!text.isStatic)
    return unwrapper.exam.opaque('hidden-code', words, spot, 'runs what is told only then');
  const scope = unwrapper.fresh(spot, { name: '' });
  await unwrapper.shell(text.text, { ...spot, scope });
}

function outerOnly(words: readonly Word[], inner: Inner): Word[] {
  const [first] = inner.words;
  const at = first === undefined ? words.length : words.indexOf(first);
  return words.slice(0, at < 0 ? words.length : at);
}

/** Undefined: it is another command. */
function innerOf(
  words: readonly Word[],
  of: Wrapper,
  pattern: CommandPattern,
  leading: readonly string[],
): Inner | undefined {
  const inner: Inner = { words: [], texts: [], assignments: [], further: [], placeholder: '' };
  const wanted = pattern.words.slice(1);
  let left = of.skip ?? 0;
  let at = 1;
  for (; at < words.length; at += 1) {
    const each = words[at];
    if (each === undefined) break;
    const { text } = each;
    if (of.until?.includes(text) === true) break;
    if (text === '--' && wanted.length === 0) {
      at += 1;
      // `kubectl exec pod -- command`: behind it nothing is skipped.

      break;
    }
    if (/^-./.test(text)) {
      at += optionAt(each, words[at + 1], of, leading, wanted.length > 0, inner);
      continue;
    }
    const next = wanted[0];
    if (next !== undefined) {
      if (!next.test(text)) return undefined;
      wanted.shift();
    } else if (of.assignments === true && /^[A-Za-z_]\w*=/.test(text)) {
      const sign = text.indexOf('=');
      inner.assignments.push([text.slice(0, sign), { ...each, text: text.slice(sign + 1) }]);
    } else if (left > 0) left -= 1;
    else if (of.only_flags !== true) break;
  }
  if (wanted.length > 0) return undefined;
  const rest = words.slice(at);
  const end = rest.findIndex(({ text }) => of.until?.includes(text) === true);
  inner.words = of.only_flags === true ? [] : end < 0 ? rest : rest.slice(0, end);
  inner.further = end < 0 ? [] : rest.slice(end + 1);
  return inner;
}

/** How many words it takes besides its own. */
function optionAt(
  each: Word,
  next: Word | undefined,
  of: Wrapper,
  leading: readonly string[],
  isLeading: boolean,
  inner: Inner,
): number {
  const { text } = each;
  const sign = text.startsWith('--') ? text.indexOf('=') : -1;
  const name = sign > 0 ? text.slice(0, sign) : text;
  const short = text.startsWith('--') ? '' : text.slice(0, 2);
  const prefix = of.prefixed?.[name];
  if (prefix !== undefined) {
    const given = sign > 0 ? text.slice(sign + 1) : (next?.text ?? '');
    if (given.toLowerCase().startsWith(prefix.toLowerCase()))
      inner.texts.push({ ...each, text: given.slice(prefix.length) });
    return sign > 0 ? 0 : 1;
  }
  const value = sign > 0 ? text.slice(sign + 1) : undefined;
  if (name === '-I' || name === '-i' || name === '--replace')
    inner.placeholder = value ?? next?.text ?? '{}';
  else if (short === '-I' && of.appends === true) inner.placeholder = text.slice(2);
  if (of.shell?.includes(name) === true) {
    const code = value === undefined ? next : { ...each, text: value };
    if (code !== undefined) inner.texts.push(code);
    return value === undefined ? 1 : 0;
  }
  if (text.length > 2 && of.shell?.includes(short) === true && !text.startsWith('--')) {
    inner.texts.push({ ...each, text: text.slice(2) });
    return 0;
  }
  const isValued = of.valued?.includes(name) === true || (isLeading && leading.includes(name));
  return isValued && value === undefined ? 1 : 0;
}

/** What is found lies where is searched: `find /var/log -exec unlink {} ;` is no deed in this folder. */
function searchedFolder(words: readonly Word[], unwrapper: Unwrapper, spot: Spot): ShellScope {
  const from = words.slice(1).find(({ text }) => !/^-[HLP]$|^-[OD]/.test(text));
  if (unwrapper.nameOf(words) !== 'find' || from === undefined || /^[-(!]/.test(from.text))
    return spot.scope;
  const place = unwrapper.exam.place(from.text, spot);
  if (!from.isStatic || place.kind !== 'outside') return spot.scope;
  const scope = spot.scope.fork();
  scope.cwd = place.path;
  return scope;
}

/** `-exec rm {} +`, `-x rm`: what a search does with what it finds. */
async function searched(words: readonly Word[], unwrapper: Unwrapper, spot: Spot): Promise<void> {
  const starting = /^-(?:exec|execdir|ok|okdir|x|X)$|^--exec(?:-batch)?$/;
  const scope = searchedFolder(words, unwrapper, spot);
  const cache = searchedCache(words, unwrapper.exam);
  for (let at = 1; at < words.length; at += 1) {
    if (!starting.test(words[at]?.text ?? '')) continue;
    const rest = words.slice(at + 1);
    const end = rest.findIndex(({ text }) => text === ';' || text === '+' || text === '\\;');
    const inner = (end < 0 ? rest : rest.slice(0, end)).map((each) =>
      cache !== undefined && each.text === '{}' ? word(cache) : filled(each, '{}'),
    );
    const own = unwrapper.inner(spot, 'find', { scope });
    if (inner.length > 0) await unwrapper.run(inner, { ...own, input: { kind: 'none' } });
    at += inner.length;
  }
}

/** True: its command is one of them, and judged. Settings of git whose value is a command: `-c core.pager=…`, `-c alias.x='!…'`. */
async function gitSettings(
  words: readonly Word[],
  unwrapper: Unwrapper,
  spot: Spot,
): Promise<boolean> {
  const command = unwrapper.exam.book.read(words).operands[1];
  let isOwn = false;
  for (const [at, { text }] of words.entries()) {
    if (!['-c', '--config-env', '--config'].includes(text)) continue;
    const setting = words[at + 1];
    const sign = setting?.text.indexOf('=') ?? -1;
    if (setting === undefined || sign <= 0) continue;
    const key = setting.text.slice(0, sign);
    if (!unwrapper.exam.book.gitCommands.some((pattern) => pattern.test(key))) continue;
    const value = setting.text.slice(sign + 1).replace(/^!/, '');
    const isAlias = key.startsWith('alias.') && !setting.text.includes('=!');
    const isCalled = command !== undefined && key === `alias.${command.text}`;
    const rest = isCalled ? words.slice(words.indexOf(command) + 1) : [];
    const given = rest.map((each) => ` '${each.text.replaceAll("'", `'\\''`)}'`).join('');
    const called = {
      text: `${isAlias ? 'git ' : ''}${value}${given}`,
      isStatic: setting.isStatic && rest.every(({ isStatic }) => isStatic),
    };
    isOwn ||= isCalled;
    if (value !== '' && !/^(?:true|false|always|never)$/.test(value))
      await shellText(
        called,
        words,
        unwrapper,
        unwrapper.inner(spot, `git -c ${key}`, isCalled ? {} : { input: unreadInput }),
      );
  }
  return isOwn;
}
