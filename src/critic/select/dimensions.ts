import {
  criticalities,
  enforcements,
  maturities,
  phases,
  platforms,
  targetTypes,
  teams,
  tokenBudgets,
  type ContextVector,
  type Criticality,
  type Enforcement,
  type Flag,
  type Platform,
} from '../shapes.js';
import { fallbacks } from './tables.js';

/** Words of dimensions as they were given. */
export type ContextWords = Partial<Record<keyof ContextVector, string>>;

export const dimensions = {
  criticality: { name: 'Criticality', prefix: '', values: criticalities },
  phase: { name: 'Phase', prefix: 'PH-', values: phases },
  target_type: { name: 'Target Type', prefix: 'TGT-', values: targetTypes },
  maturity: { name: 'Maturity', prefix: 'MAT-', values: maturities },
  team: { name: 'Team', prefix: 'TEAM-', values: teams },
  enforcement: { name: 'Enforcement', prefix: 'ENF-', values: enforcements },
  platform: { name: 'Platform', prefix: 'PLAT-', values: platforms },
  token_budget: { name: 'Token Budget', prefix: 'TOK-', values: tokenBudgets },
} as const satisfies Record<
  keyof ContextVector,
  { name: string; prefix: string; values: readonly string[] }
>;
export const dimensionNames = Object.keys(dimensions) as (keyof ContextVector)[];

/** What is known of an artifact without being told. */
export interface Detected {
  criticality: Criticality;
  /** By what. */
  why: string;
  target_type?: ContextVector['target_type'];
}

export interface Filled {
  context: ContextVector;
  flags: Flag[];
  /** A value that looks like one of its dimension, but is none of it: the review goes one level up. */
  novel: (keyof ContextVector)[];
}

const wordCharsMax = 60;

/**
 * The whole vector of the words that were given. A word that is missing is replaced by its fallback; `isAsked`: the
 * modes follow from it, and a missing word is a warning.
 */
export function filled(words: ContextWords, detected: Detected, isAsked: boolean): Filled {
  const flags: Flag[] = [];
  const novel: (keyof ContextVector)[] = [];
  const missing: { name: string; taken: string }[] = [];
  const one = <K extends Exclude<keyof ContextVector, 'criticality'>>(
    dimension: K,
    fallback: ContextVector[K],
    why: string,
  ): ContextVector[K] => {
    const read = readWord(dimension, words[dimension]);
    if (read.value !== undefined) return read.value;
    const { name } = dimensions[dimension];
    if (read.kind === 'unknown') {
      const text = `${name}: '${read.word}' is none of ${dimensions[dimension].values.join(', ')}; ${fallback} is taken`;
      flags.push({ code: 'CONTEXT_UNKNOWN', level: 'warning', text });
      if (read.isNovel) novel.push(dimension);
    } else if (why !== '') {
      flags.push({ code: 'CONTEXT_DETECTED', level: 'note', text: `${name}: ${fallback}, ${why}` });
    } else {
      missing.push({ name, taken: fallback });
    }
    return fallback;
  };
  const criticality = criticalityIn(words.criticality, detected, flags);
  const type = detected.target_type;
  const target_type = one('target_type', type ?? fallbacks.target_type, type ? 'by its path' : '');
  const platform = one('platform', fallbacks.platform, '');
  const context = {
    criticality,
    phase: one('phase', fallbacks.phase, ''),
    target_type,
    maturity: one('maturity', fallbacks.maturity, ''),
    team: one('team', fallbacks.team, ''),
    enforcement: one(
      'enforcement',
      enforcementOf(platform),
      isAsked ? `which ${platform} has` : '',
    ),
    platform,
    token_budget: one('token_budget', fallbacks.token_budget, ''),
  };
  context.enforcement = possible(context.enforcement, platform, flags);
  if (isAsked && missing.length > 0) flags.push(missingFlag(missing));
  return { context, flags, novel };
}

/** One of all of them. */
function missingFlag(missing: readonly { name: string; taken: string }[]): Flag {
  const is = missing.length === 1 ? 'is' : 'are';
  const names = missing.map(({ name }) => name).join(', ');
  const taken = missing.map((each) => each.taken).join(', ');
  const text = `${names} ${is} not given; ${taken} ${is} taken`;
  return { code: 'CONTEXT_MISSING', level: 'warning', text };
}

type Read<K extends keyof ContextVector> =
  | { kind: 'known'; value: ContextVector[K] }
  | { kind: 'missing'; value?: undefined }
  | { kind: 'unknown'; value?: undefined; word: string; isNovel: boolean };

/** In any case, with or without its prefix, with `_` for `-`. A placeholder that was not filled in is no word. */
export function readWord<K extends keyof ContextVector>(dimension: K, given?: string): Read<K> {
  const word = (given ?? '').trim().replace(/^[`"']+|[`"']+$/g, '');
  if (isBlank(word)) return { kind: 'missing' };
  const { prefix, values } = dimensions[dimension];
  const upper = word.toUpperCase().replaceAll('_', '-');
  const value = (values as readonly string[]).find(
    (each) => each === upper || each === `${prefix}${upper}`,
  );
  if (value !== undefined) return { kind: 'known', value: value as ContextVector[K] };
  const isNovel = prefix !== '' && upper.startsWith(prefix) && /^[A-Z][A-Z-]*$/.test(upper);
  return { kind: 'unknown', word: word.slice(0, wordCharsMax), isNovel };
}

/** Nothing, or a word that says that it is not known, or a placeholder of a form. */
export function isBlank(word: string): boolean {
  return (
    /^(?:|unknown|null|none|n\/a|-+|auto|auto-?detect(?:ed)?)$/i.test(word) || /^\{.*\}$/.test(word)
  );
}

/** The next one up; C4 stays. */
export function above(criticality: Criticality): Criticality {
  return criticalities[criticalities.indexOf(criticality) + 1] ?? criticality;
}

export function atLeast(one: Criticality, other: Criticality): Criticality {
  return criticalities.indexOf(one) >= criticalities.indexOf(other) ? one : other;
}

function criticalityIn(given: string | undefined, detected: Detected, flags: Flag[]): Criticality {
  const read = readWord('criticality', given);
  if (read.value !== undefined) return read.value;
  const { criticality, why } = detected;
  if (read.kind === 'unknown') {
    const text = `Invalid criticality value '${read.word}': detected as ${criticality}, ${why}`;
    flags.push({ code: 'CRITICALITY_INVALID', level: 'warning', text });
  } else {
    const text = `Criticality: detected as ${criticality}, ${why}`;
    flags.push({ code: 'CRITICALITY_DETECTED', level: 'note', text });
  }
  return criticality;
}

function enforcementOf(platform: Platform): Enforcement {
  return platform === 'PLAT-GENERIC' ? 'ENF-PORT' : 'ENF-FULL';
}

/** It follows from the platform, and can be said to be less, never more. */
function possible(stated: Enforcement, platform: Platform, flags: Flag[]): Enforcement {
  const most = enforcementOf(platform);
  if (enforcements.indexOf(stated) >= enforcements.indexOf(most)) return stated;
  const text = `${platform} has no ${stated}; ${most} is taken`;
  flags.push({ code: 'ENFORCEMENT', level: 'note', text });
  return most;
}
