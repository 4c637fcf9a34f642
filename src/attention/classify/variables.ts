import { word, type Word } from '../policy/command-pattern.js';
import { attentionLimits } from '../shapes.js';
import type { Examination, Site } from './examination.js';

/**
 * Variables that may change what programs load, start or believe (SecurityBoundary): all but those that a table lists. Without a
 * value: one that the shell has is handed on.
 */
export function variableEffects(
  variables: Iterable<readonly [name: string, value: Word | undefined]>,
  exam: Examination,
  site: Site,
): void {
  for (const [name, value] of variables) {
    const isKnown = value?.isStatic === true;
    if (exam.variables.size < attentionLimits.commands && isKnown)
      exam.variables.set(name, value.text);
    const found = (rule: string, says: string): void =>
      exam.found({
        ...{ signal: 'SecurityBoundary', rule, says, site },
        words: [word(value === undefined ? name : `${name}=${value.text}`)],
      });
    const isUnknown = value !== undefined && !isKnown;
    if (isUnknown || !exam.book.isUnchanging(name, value?.text))
      found('changing-variable', 'may change what programs load, start or believe');
    if (isKnown && /\$\(|`/.test(value.text))
      found('substitution-in-config', 'text that a shell may run later');
  }
}
