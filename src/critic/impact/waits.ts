import { argumentsAt } from '../../pgc/mine/items/code-text.js';
import type { CodeView } from './code-view.js';
import { firstOf, isSaid, placeOf, placesMax, type Gap } from './gap.js';

interface Waiting {
  pattern: RegExp;
  /** Which, where its arguments have it, ends the wait. */
  ends: RegExp;
  /** Its arguments decide only when they stand there as they are. */
  isKnown: (given: string) => boolean;
}

const spread = /\.\.\.|\*\*/;
const literalOptions = (given: string): boolean =>
  !spread.test(given) && (!given.includes(',') || /\{[^]*\}\s*,?\s*$/.test(given));
const keywords = (given: string): boolean => !spread.test(given);

const waiting: Partial<Record<CodeView['family'], readonly Waiting[]>> = {
  es: [
    { pattern: /(?<![.\w$#])fetch(?=\s*\()/g, ends: /\bsignal\b/, isKnown: literalOptions },
    {
      pattern: /(?<![.\w$#])(?:execSync|execFileSync|spawnSync)(?=\s*\()/g,
      ends: /\btimeout\b/,
      isKnown: (given) => !spread.test(given) && /\{[^]*\}\s*,?\s*$/.test(given),
    },
  ],
  python: [
    {
      pattern: /\brequests\.(?:get|post|put|delete|head|patch|request)(?=\s*\()/g,
      ends: /\btimeout\b/,
      isKnown: keywords,
    },
    {
      pattern: /\b(?:subprocess\.(?:run|call|check_call|check_output)|urlopen)(?=\s*\()/g,
      ends: /\btimeout\b/,
      isKnown: keywords,
    },
  ],
  go: [
    { pattern: /\bhttp\.(?:Get|Post|Head|PostForm)(?=\s*\()/g, ends: /^\0/, isKnown: () => true },
  ],
};

/** Calls that wait for somebody else, without a time after which they give up. */
export function waits(view: CodeView): Gap[] {
  const found: Gap[] = [];
  for (const { pattern, ends, isKnown } of waiting[view.family] ?? []) {
    for (const match of firstOf(view.code.matchAll(pattern), placesMax)) {
      const end = match.index + match[0].length;
      const given = argumentsAt(view.code, end);
      // Cut at its limit: what stands behind is not known.
      if (given === undefined || given.length >= 400) continue;
      if (!isKnown(given) || ends.test(given)) continue;
      found.push({
        ...{ rule: 'WAIT_WITHOUT_END', ...placeOf(view, match.index, end + given.length) },
        what: `\`${match[0]}\` is called without a time after which it gives up`,
        then: 'when the other side neither answers nor fails, whoever called waits as long',
        remedy: 'Give the call a time limit or a signal, and say what happens at it.',
        isExplained: isSaid(view, match.index, end),
      });
    }
  }
  return found;
}
