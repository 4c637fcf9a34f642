import type { Policy } from '../policy/policy.js';
import { productionEnvironment, unknownEnvironment } from '../shapes.js';

/** Where an effect is, as far as words tell: a branch, a host, a profile, a variable. */

/** All that an action does is below its root, in no environment that others use. */
export const localEnvironment = 'local';

export interface EnvironmentSigns {
  /** Of the commands in which something was found: operands and values of flags. */
  words: Iterable<string>;
  /** Names with values, of the action and of its commands. */
  variables: Iterable<readonly [string, string]>;
  /** Every finding is about files below the root. */
  isLocal: boolean;
}

/** The strictest that is named; production before all. */
export function environmentOf(signs: EnvironmentSigns, policy: Policy['environments']): string {
  const known = new Set(policy.variables);
  const said = [...signs.variables].flatMap(([name, value]) => (known.has(name) ? [value] : []));
  const parts = new Set([...signs.words, ...said].flatMap(partsOf));
  if (policy.production.some((word) => parts.has(word))) return productionEnvironment;
  // A folder below the root that is called `tests` is no place where others work.
  const named = signs.isLocal ? new Set(said.flatMap(partsOf)) : parts;
  const order = ['staging', 'test', 'development'] as const;
  for (const each of order) if (policy[each].some((word) => named.has(word))) return each;
  return signs.isLocal ? localEnvironment : unknownEnvironment;
}

/** Whole parts of a path, a host, a name: `prod` is in `db.prod.example.com`, not in `product`. A text with blanks is none. */
function partsOf(word: string): string[] {
  if (/\s/.test(word) || word.length > 1_000) return [];
  const lower = word.toLowerCase();
  const larger = lower.split(/[/:@,=?&]+/);
  const parts = [lower, ...larger, ...lower.split(/[/:@.,=_?&-]+/)];
  // `prod2` is production too.
  return [...parts, ...parts.map((part) => part.replace(/^["']+|["'\d]+$/g, ''))];
}
