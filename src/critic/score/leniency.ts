import { difference, exceeds } from './decimals.js';
import type { Criticality, Flag } from '../shapes.js';

/** Source: the anti-leniency configuration of jerry's invocation protocol; it cannot be switched off. */
export const leniencyLimits = {
  /** A first score above this is rare for what matters. */
  score_threshold: 0.9,
  /** Strictly more than this in one iteration is unusual. */
  jump_threshold: 0.2,
  /** So many artifacts one after the other above `ceiling`. */
  ceiling_count: 3,
  ceiling: 0.95,
  /** More than this for the same text. */
  drift_threshold: 0.05,
} as const;

interface Judged {
  score: number | null;
  /** Of what was judged. */
  digest: string;
}

/** Of the last one of these, oldest first: whether its score can be trusted. */
export function leniencyFlags(rounds: readonly Judged[], criticality: Criticality): Flag[] {
  const scored = rounds.filter((each): each is Judged & { score: number } => each.score !== null);
  const last = rounds.at(-1);
  const now = scored.at(-1);
  if (now === undefined || now !== last) return [];
  const before = scored.at(-2);
  if (before === undefined) return firstFlags(now.score, criticality);
  const delta = difference(now.score, before.score);
  const step = `${before.score.toFixed(2)} to ${now.score.toFixed(2)}`;
  const jump: Flag = {
    code: 'LENIENCY_JUMP',
    level: 'mandatory',
    text: `the score went from ${step} in one iteration, by more than ${leniencyLimits.jump_threshold.toFixed(2)}: compare the two versions by hand before this is accepted`,
  };
  const drift: Flag = {
    code: 'LENIENCY_DRIFT',
    level: 'mandatory',
    text: `the score went from ${step} although not a letter was changed: have it judged again, and accept it by hand only`,
  };
  return [
    ...(exceeds(delta, leniencyLimits.jump_threshold) ? [jump] : []),
    ...(now.digest === before.digest && exceeds(delta, leniencyLimits.drift_threshold)
      ? [drift]
      : []),
  ];
}

function firstFlags(score: number, criticality: Criticality): Flag[] {
  if (criticality === 'C1' || !exceeds(score, leniencyLimits.score_threshold)) return [];
  const text = `the first score is ${score.toFixed(2)}, above ${leniencyLimits.score_threshold.toFixed(2)}, which is rare at ${criticality}: read the reasons of the judge`;
  return [{ code: 'LENIENCY_FIRST', level: 'recommended', text }];
}

/** `latest`: the last score of each artifact, in the order in which they were judged. */
export function ceilingFlags(latest: readonly number[]): Flag[] {
  const lower = latest.findLastIndex((score) => !exceeds(score, leniencyLimits.ceiling));
  const high = latest.length - 1 - lower;
  if (high < leniencyLimits.ceiling_count) return [];
  const text = `${high} artifacts one after the other were judged above ${leniencyLimits.ceiling.toFixed(2)}: calibrate the rubric, or have a person judge one of them`;
  return [{ code: 'LENIENCY_CEILING', level: 'warning', text }];
}

/** Each once. */
export function unique(flags: readonly Flag[]): Flag[] {
  const seen = new Map(flags.map((flag) => [`${flag.code}\0${flag.text}`, flag]));
  return [...seen.values()];
}
