import { atLeast, shortFigure } from './decimals.js';
import type { Aspect, Checked } from '../checks/check.js';
import type { EarlierReport, Weighted } from '../mode.js';
import type { DimensionScore, Score, Severity } from '../shapes.js';
import type { Judged } from '../rules/apply-rules.js';

/** Of the weight of all dimensions; with less judged there is no score. */
export const coverageMin = 0.6;
/** A dimension at or below it is a critical fault by itself. */
export const dimensionCritical = 0.5;
/** Things looked at in one dimension: of fewer no share is told. */
const lookedMin = 3;
const evidenceMax = 3;

/** What a dimension reaches at most with such a fault (bands of the S-014 template: critical, major, minor). */
const capOf: Readonly<Record<Severity, number>> = {
  critical: 0.5,
  major: 0.84,
  minor: 0.91,
  note: 1,
};

/** Modes that score. What they said is told to no judge. */
export const scoring: ReadonlySet<string> = new Set(['llm-as-judge', 'standard']);

/** The reports that a judge may see: none with a score. */
export function unscored(before: readonly EarlierReport[]): EarlierReport[] {
  return before.filter(({ mode }) => !scoring.has(mode));
}

/** A dimension that was not judged. */
export function unjudged({ name, weight }: Weighted, why: string): DimensionScore {
  return { name, weight, score: null, why, evidence: [], faults: 0 };
}

/**
 * What the share that holds shows of the whole, at most what the worst fault leaves. With too little checked there is no score;
 * the faults are findings all the same.
 */
export function sharedScore(
  { name, weight }: Weighted,
  checked: readonly Checked[],
  nothing: string,
): DimensionScore {
  const looked = checked.reduce((sum, each) => sum + each.looked, 0);
  const faults = checked.flatMap((each) => each.faults);
  const cap = Math.min(1, ...faults.map(({ severity }) => capOf[severity]));
  const evidence = faults
    .slice(0, evidenceMax)
    .map(({ rule, place, text }) => `${rule}, line ${place?.line_start ?? 0}: ${text}`);
  if (looked < lookedMin) return unjudged({ name, weight }, nothing);
  const wrong = checked.reduce(
    (sum, each) => sum + Math.min(each.looked, each.wrong ?? each.faults.length),
    0,
  );
  const counts = checked
    .filter((each) => each.looked > 0)
    .map(
      (each) =>
        `${Math.max(0, each.looked - (each.wrong ?? each.faults.length))} of ${each.looked} ${each.what}`,
    );
  const isAll = checked.every((each) => each.isAll === true || each.looked === 0);
  // Laplace's rule of succession: a few things that hold show little of the unchecked ones.
  const shown = isAll ? (looked - wrong) / looked : (looked - wrong + 1) / (looked + 2);
  const score = Math.min(shown, cap);
  const few =
    wrong === 0 && !isAll ? [`${looked} that hold show no more than ${shortFigure(score)}`] : [];
  return {
    name,
    weight,
    score,
    why: [...counts, ...few].join('; '),
    evidence: [...evidence, ...counts].slice(0, evidenceMax),
    faults: wrong,
  };
}

export function ofAspects(checked: readonly Checked[], ...aspects: Aspect[]): Checked[] {
  return checked.filter(({ aspect }) => aspects.includes(aspect));
}

/** Rules as something that was looked at. */
export function rulesLookedAt(judged: readonly Judged[], aspect: Aspect, what: string): Checked {
  const seen = judged.filter(({ verdict }) => verdict === 'met' || verdict === 'broken');
  const faults = seen
    .filter(({ verdict }) => verdict === 'broken')
    .map(({ rule, line, why }) => ({
      ...{ rule: 'CRITERION_UNMET', severity: 'major' as const, words: rule.id },
      text: `${rule.text}: ${why}.`,
      ...{ remedy: 'Meet it, or have it withdrawn.', place: { line_start: line, line_end: line } },
    }));
  return { aspect, what, looked: seen.length, faults, isAll: true };
}

/** Weighted mean of what was judged, unrounded; null where that is less than `coverageMin` of it. */
export function scoreOf(dimensions: readonly DimensionScore[]): Score {
  let coverage = 0;
  let sum = 0;
  for (const { weight, score } of dimensions) {
    if (score === null) continue;
    coverage += weight;
    sum += weight * score;
  }
  const judged = plain(coverage);
  const score = atLeast(judged, coverageMin) ? plain(sum / coverage) : null;
  return { score, coverage: judged, dimensions: [...dimensions] };
}

/** Binary fractions of tenths do not add up exactly; what is in their 16th digit is no score, and decides nothing. */
function plain(value: number): number {
  return Number(value.toPrecision(digits));
}

const digits = 12;
