import type { CallPart } from '../../pgc/mine/code-parts.js';

/** Words of names, as functions that belong together are called by convention. */
export const releaseWords = new Set(
  (
    'unlock put free kfree vfree kvfree release close destroy dispose cancel unregister unsubscribe remove del kill ' +
    'abort disconnect shutdown stop cleanup teardown deinit unmap unref detach unlink clear off'
  ).split(' '),
);
export const lockWords = new Set(['lock', 'trylock', 'acquire']);
export const assertWords = new Set(['assert', 'ensure', 'invariant']);
export const defenceWords = new Set(
  (
    'escape sanitize sanitise encode redact mask validate verify authorize authorise confine realpath capable nospec ' +
    'access check omit'
  ).split(' '),
);
export const reportWords = new Set(['error', 'warn', 'fatal', 'crit', 'err', 'alert', 'emerg']);
export const errorNames = new Set([
  'err',
  'error',
  'e',
  'ex',
  'cause',
  'reason',
  'failure',
  'exception',
]);

/** `clearTimeout` → clear, timeout; `spin_unlock_irq` → spin, unlock, irq. */
export function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z\d])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[_$#]+/)
    .filter((word) => word !== '');
}

export function hasWord(name: string, words: ReadonlySet<string>): boolean {
  return wordsOf(name).some((word) => words.has(word));
}

/** A method is named by what it does first: `release`, `closeAll`; a function of C anywhere in its name. */
export function beginsWith(
  { name, receiver }: Pick<CallPart, 'name' | 'receiver'>,
  words: ReadonlySet<string>,
): boolean {
  return receiver === '' ? hasWord(name, words) : words.has(wordsOf(name)[0] ?? '');
}

export const logWords = new Set(
  'log debug trace info warn error fatal print printf console emit'.split(' '),
);
const secretWords = new Set('password passwd passphrase secret credential credentials'.split(' '));
const secretPairs = /^(?:api|private|auth|access|bearer) (?:key|token)$/;

/** By the last part of a name. */
export function isSecret(argument: string): boolean {
  const words = wordsOf(argument.split('.').at(-1) ?? '');
  return words.some(
    (word, at) => secretWords.has(word) || secretPairs.test(`${word} ${words[at + 1]}`),
  );
}
