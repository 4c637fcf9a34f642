import { inputOf, word, type Spot } from './examination.js';
import { attentionLimits } from '../shapes.js';
import type { Word } from './shell.js';
import type { Unwrapper } from './unwrap.js';

/** What a shell does itself, as far as it changes what comes after. True: it is judged. */
export async function builtin(
  words: readonly Word[],
  unwrapper: Unwrapper,
  spot: Spot,
): Promise<boolean> {
  const [program, ...rest] = words;
  switch (program?.text) {
    case 'eval':
      await evaluate(rest, words, unwrapper, spot);
      return true;
    case 'source':
    case '.':
      await source(rest, words, unwrapper, spot);
      return true;
    case 'trap':
      await trap(rest, words, unwrapper, spot);
      return true;
    case 'cd':
    case 'pushd':
      changeFolder(rest, unwrapper, spot);
      return true;
    case 'popd':
      spot.scope.cwd = undefined;
      return true;
    case 'alias':
      for (const each of rest)
        if (!setAlias(each, spot))
          unwrapper.exam.opaque('unreadable-shell', words, spot, 'too many aliases');
      return true;
    case 'unalias':
    case 'unset':
      for (const { text } of rest) spot.scope.variables.delete(text);
      return true;
    case 'set':
      if (rest.length === 0) return false;
      setPositionals(rest, spot);
      return true;
    case 'shift':
      spot.scope.positionals = spot.scope.positionals?.slice(Number(rest[0]?.text ?? 1) || 1);
      return true;
    case 'read':
    case 'mapfile':
    case 'readarray':
    case 'getopts':
      await readsInto(rest, unwrapper, spot);
      return true;
    case 'printf':
      if (rest[0]?.text === '-v' && rest[1] !== undefined)
        spot.scope.assign(rest[1].text, undefined);
      return false;
    default:
      return false;
  }
}

async function evaluate(
  rest: readonly Word[],
  words: readonly Word[],
  unwrapper: Unwrapper,
  spot: Spot,
): Promise<void> {
  const plain = rest[0]?.text === '--' ? rest.slice(1) : rest;
  if (plain.some(({ isStatic }) => !isStatic))
    return unwrapper.exam.opaque('hidden-code', words, spot, 'runs what is told only then');
  const text = plain.map((each) => each.text).join(' ');
  await unwrapper.shell(text, unwrapper.inner(spot, 'eval'));
}

async function source(
  rest: readonly Word[],
  words: readonly Word[],
  unwrapper: Unwrapper,
  spot: Spot,
): Promise<void> {
  const [path, ...positionals] = rest;
  if (path === undefined) return;
  if (unwrapper.exam.paths.isSecret(path.text))
    return unwrapper.exam.found({ signal: 'SecurityBoundary', rule: 'secret-path', words, spot });
  const text = await unwrapper.exam.read(path, spot);
  if (text === undefined) return await unwrapper.opaqueOrLater(path, words, spot);
  const place = unwrapper.exam.place(path.text, spot);
  const file = place.kind === 'inside' ? place.path : spot.file;
  if (positionals.length > 0) spot.scope.positionals = positionals;
  await unwrapper.shell(text, unwrapper.inner(spot, `. ${path.text}`, { file }));
}

async function trap(
  rest: readonly Word[],
  words: readonly Word[],
  unwrapper: Unwrapper,
  spot: Spot,
): Promise<void> {
  const [action] = rest;
  if (action === undefined || rest.length < 2 || action.text === '-' || action.text === '') return;
  if (!action.isStatic)
    return unwrapper.exam.opaque('hidden-code', words, spot, 'runs what is told only then');
  await unwrapper.shell(action.text, unwrapper.inner(spot, 'trap'));
}

/** An unknown folder stays unknown: what is written there may be anywhere. */
function changeFolder(rest: readonly Word[], unwrapper: Unwrapper, spot: Spot): void {
  const target = rest.find(({ text }) => !/^-[PLe@]$|^--$/.test(text)) ?? word('~');
  const place = unwrapper.exam.place(target.text, spot);
  const isKnown = target.isStatic && place.kind !== 'unknown' && target.text !== '-';
  spot.scope.cwd = isKnown ? (target.text === '' ? spot.scope.cwd : place.path) : undefined;
}

/** False: more than are remembered. */
function setAlias(each: Word, spot: Spot): boolean {
  const at = each.text.indexOf('=');
  const { aliases } = spot.scope;
  if (aliases.size >= attentionLimits.names) return false;
  if (at > 0) aliases.set(each.text.slice(0, at), each.text.slice(at + 1));
  return true;
}

function setPositionals(rest: readonly Word[], spot: Spot): void {
  const at = rest.findIndex(({ text }) => text === '--');
  if (at >= 0) spot.scope.positionals = rest.slice(at + 1);
  else if (!/^[-+]/.test(rest[0]?.text ?? '')) spot.scope.positionals = [...rest];
}

/** `read X <<< rm`: known where its input is. */
async function readsInto(rest: readonly Word[], unwrapper: Unwrapper, spot: Spot): Promise<void> {
  const names = rest.filter(({ text }) => /^[A-Za-z_]\w*$/.test(text)).map(({ text }) => text);
  const input = await inputOf(spot, unwrapper.exam);
  const line = input.kind === 'text' ? (input.text.split('\n')[0] ?? '').trim() : undefined;
  const [only, more] = names;
  for (const name of names) spot.scope.assign(name, undefined);
  if (only !== undefined && more === undefined && line !== undefined)
    spot.scope.assign(only, [line]);
}
