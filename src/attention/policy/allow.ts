import type { Word } from './command-pattern.js';
import type { Allowance } from './policy.js';

/** What a person allows in a policy: opaque commands, by the beginning of their words and the folder in which they run. */

/** Undefined: none is about it. `folder`: below the root; undefined: not known, or outside. */
export function allowanceFor(
  words: readonly Word[],
  folder: string | undefined,
  allow: readonly Allowance[],
): Allowance | undefined {
  if (folder === undefined || words.some(({ isStatic }) => !isStatic)) return undefined;
  return allow.find(
    ({ command, in: within }) =>
      command.length <= words.length &&
      command.every((pattern, at) => isLike(words[at]?.text ?? '', pattern)) &&
      (within === undefined || isFolderLike(folder, within)),
  );
}

/** The line of a policy that would allow it. */
export function allowingLine(words: readonly Word[], folder: string | undefined): string {
  const command = JSON.stringify(words.map(({ text }) => text));
  const where = folder === undefined || folder === '' ? '' : `, in: ${JSON.stringify(folder)}`;
  return `allow: [{ command: ${command}${where}, why: "…" }]`;
}

/** Part by part: * stands for anything within a name. */
function isFolderLike(folder: string, pattern: string): boolean {
  const wanted = pattern.replace(/^\.\/|\/+$/g, '').split('/');
  const given = folder.split('/');
  if (pattern === '.' || pattern === './') return folder === '';
  return (
    wanted.length === given.length && wanted.every((part, at) => isLike(given[at] ?? '', part))
  );
}

/** In time that grows with the lengths alone: a policy is no program. */
function isLike(text: string, pattern: string): boolean {
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
