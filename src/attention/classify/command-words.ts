import type { Arguments } from './command-pattern.js';

/** Whether it is one of `git log`, `cat`: a program, or a program with its first words. */
export function hasWords(given: Arguments, lists: readonly string[]): boolean {
  const operands = given.operands.map(({ text }) => text);
  return lists.some((list) => {
    const words = list.split(' ').filter((each) => !each.startsWith('-'));
    return words.every((each, at) => operands[at] === each);
  });
}
