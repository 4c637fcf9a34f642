import type { Word } from './command-pattern.js';
import { anyMore, type Allowance } from './policy.js';

/**
 * What a person allows in a policy: opaque commands, word by word, and the folder in which they run. What a row spells out holds as
 * it is written; what `*` or `...` covers must be known and stay below the root.
 */

/** Undefined: none is about it. `folder`: below the root; undefined: not known, or outside. `isInside`: of a path. */
export function allowanceFor(
  words: readonly Word[],
  folder: string | undefined,
  allow: readonly Allowance[],
  isInside: (path: string) => boolean,
): Allowance | undefined {
  if (folder === undefined || words.some(({ isStatic, isGlob }) => !isStatic || isGlob === true))
    return undefined;
  return allow.find(
    ({ command, in: within }) =>
      isCovered(words, command, isInside) && (within === undefined || isFolderLike(folder, within)),
  );
}

function isCovered(
  words: readonly Word[],
  command: readonly string[],
  isInside: (path: string) => boolean,
): boolean {
  const isOpen = command.at(-1) === anyMore;
  const named = isOpen ? command.slice(0, -1) : command;
  if (words.length < named.length || (words.length > named.length && !isOpen)) return false;
  return words.every(({ text }, at) => {
    const pattern = named[at];
    if (text === pattern) return true;
    return (pattern === undefined || isLike(text, pattern)) && staysInside(text, isInside);
  });
}

/** Operands, values of options and lists of them; no address, nothing above the folder, nothing that a shell would read. */
function staysInside(text: string, isInside: (path: string) => boolean): boolean {
  if (text.includes('..') || /^-[^-].*[/~]|:\/\/|\bdata:|[$`;|&<>\\\n]/s.test(text)) return false;
  return partsOf(text).every((part) => isInside(part));
}

/** What of an argument may be a path. */
export function partsOf(text: string): string[] {
  return text.split(/[=:,@\s]+/);
}

/** The line of a policy that would allow it; empty: it has words that would stand for others there. */
export function allowingLine(words: readonly Word[], folder: string | undefined): string {
  if (words.some(({ text, isGlob }) => isGlob === true || text.includes('*') || text === anyMore))
    return '';
  const command = JSON.stringify(words.map(({ text }) => text));
  const where = folder === undefined || folder === '' ? '' : `, in: ${JSON.stringify(folder)}`;
  return `allow: [{ command: ${command}${where}, why: "…" }]`;
}

/** Part by part: * stands for anything within a name. */
function isFolderLike(folder: string, pattern: string): boolean {
  const wanted = pattern.replace(/^\.\/|\/+$/g, '');
  return wanted === '.' ? folder === '' : isLike(folder, wanted);
}

/** * stands for anything but `/`. In time that grows with the lengths alone: a policy is no program. */
function isLike(text: string, pattern: string): boolean {
  const wanted = pattern.split('/');
  const given = text.split('/');
  return (
    wanted.length === given.length && wanted.every((part, at) => isPartLike(given[at] ?? '', part))
  );
}

function isPartLike(text: string, pattern: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  if (rest.length === 0) return text === pattern;
  if (!text.startsWith(first)) return false;
  const last = rest.pop() ?? '';
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}
