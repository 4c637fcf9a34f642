import { word, type Word } from '../policy/command-pattern.js';
import { attentionLimits } from '../shapes.js';
import type { Examination, Site } from './examination.js';

/** A pager or an editor that starts nothing: `GIT_PAGER=cat`. Any other variable may name a folder called `cat`. */
const startsProgram = /(?:PAGER|EDITOR)$/;
const plainValues = new Set(['', 'cat']);

/** Variables that change what programs load, start or believe (SecurityBoundary). */
export function variableEffects(
  variables: Iterable<readonly [string, Word]>,
  exam: Examination,
  site: Site,
): void {
  const { changing, unchanging } = exam.book;
  for (const [name, value] of variables) {
    if (exam.variables.size < attentionLimits.commands && value.isStatic)
      exam.variables.set(name, value.text);
    const found = (rule: string, says: string): void =>
      exam.found({
        ...{ signal: 'SecurityBoundary', rule, says, site },
        words: [word(`${name}=${value.text}`)],
      });
    const isPlain = startsProgram.test(name) && value.isStatic && plainValues.has(value.text);
    if (changing.test(name) && !unchanging.test(name) && !isPlain)
      found('changing-variable', 'changes what programs load, start or believe');
    if (value.isStatic && /\$\(|`/.test(value.text))
      found('substitution-in-config', 'text that a shell may run later');
  }
}
