import { programName } from './command-pattern.js';
import type { Examination } from './examination.js';
import type { Word } from './shell.js';

/** What a search is about. */

/** The one name that is searched for, if tools make all of that name again; undefined where it may find anything else. */
export function searchedCache(words: readonly Word[], exam: Examination): string | undefined {
  const end = words.findIndex(({ text }) => /^-(?:exec|ok)/.test(text));
  const asked = end < 0 ? words : words.slice(0, end);
  if (programName(words[0]?.text ?? '') !== 'find' || asked.some(({ isStatic }) => !isStatic))
    return undefined;
  if (asked.some(({ text }) => /^(?:-o|-or|-not|!|,|-iname|-path|-regex|-L|-H)$/.test(text)))
    return undefined;
  const [name, ...more] = asked.filter((_, at) => asked[at - 1]?.text === '-name');
  if (name === undefined || more.length > 0) return undefined;
  return exam.paths.isRebuildable(name.text) ? name.text : undefined;
}
