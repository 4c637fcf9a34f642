import { atLeast, percent, shortFigure } from './decimals.js';
import { judgeDimensions } from '../modes/llm-as-judge.js';
import { standardDimensions } from '../modes/standard.js';
import { coverageMin, dimensionCritical, scoreOf, scoring } from './scoring.js';
import {
  qualityGate,
  type AbortReason,
  type ModeReport,
  type Score,
  type Verdict,
} from '../shapes.js';
import type { ModeName } from '../strategies.js';

export interface Ruling {
  verdict: Verdict;
  /** Recomputed; null: nothing was scored, or too little. */
  score: number | null;
  /** In a sentence. */
  why: string;
  /** A person has to look at it before anything goes on. */
  needsPerson: boolean;
}

const abortWords: Readonly<Record<AbortReason, string>> = {
  GOVERNANCE_VIOLATION: 'the artifact breaks a rule of governance',
  HARD_RULE_CONTRADICTED: 'what it states as a hard rule is wrong of the code',
  HARD_RULE_BROKEN: 'it holds what no artifact may hold',
};
/** What of it was found. */
const brokenWords: Readonly<Record<string, string>> = {
  SECRET_EXPOSED: 'a secret',
  MERGE_CONFLICT: 'lines of a merge that was not finished',
};

/** A review that scored this little after so many iterations is for a person (S-014 template, step 5). */
const escalateBelow = 0.5;
const escalateFrom = 3;

/**
 * What a review comes to. PASS from the threshold on, REVISE from `qualityGate.conditional` up to it, REJECTED below,
 * each compared unrounded. A dimension at or below .50, and a critical finding of any mode, make REVISE of a PASS.
 * `advisory`: modes whose findings a person weighs.
 */
export function verdictOf(
  reports: readonly ModeReport[],
  threshold: number,
  iteration: number,
  iterationsMax: number,
  advisory: ReadonlySet<ModeName> = new Set(),
): Ruling {
  const aborted = reports.find(({ abort }) => abort !== '');
  if (aborted !== undefined) {
    const abort = aborted.abort === '' ? 'HARD_RULE_BROKEN' : aborted.abort;
    const rules = new Set(aborted.findings.map(({ rule }) => rule));
    const found = [...rules].flatMap((rule) => brokenWords[rule] ?? []);
    const what = abort === 'HARD_RULE_BROKEN' && found.length > 0 ? `: ${found.join(' and ')}` : '';
    const why = `${aborted.mode} ended the review: ${abortWords[abort]}${what}`;
    return { verdict: 'ABORTED', score: null, why, needsPerson: true };
  }
  // The last judge is the one that knew most.
  const judged = reports.findLast(({ score }) => score !== null);
  const { score, dimensions, note } = recomputed(judged);
  if (score === null) {
    // What was not asked for needs no decision.
    const isAsked = reports.length === 0 || reports.some(({ mode }) => scoring.has(mode));
    const why = isAsked ? note : 'no score was asked for: `llm-as-judge` and `standard` give one';
    return { verdict: 'UNSCORED', score, why, needsPerson: isAsked };
  }
  const said = `${shortFigure(score)} against ${shortFigure(threshold)}${note}`;
  const conditional = Math.min(qualityGate.conditional, threshold);
  const band: Verdict = atLeast(score, threshold)
    ? 'PASS'
    : atLeast(score, conditional)
      ? 'REVISE'
      : 'REJECTED';
  const obstacle = band === 'PASS' ? obstacleOf(reports, dimensions, advisory) : undefined;
  const verdict = obstacle === undefined ? band : 'REVISE';
  const unrun = reports.filter(({ status }) => status === 'failed' || status === 'skipped');
  const missing =
    unrun.length === 0 ? '' : `; not done: ${unrun.map(({ mode }) => mode).join(', ')}`;
  const isLast = verdict !== 'PASS' && iteration >= iterationsMax;
  const isHopeless = !atLeast(score, escalateBelow) && iteration >= escalateFrom;
  return {
    verdict,
    score,
    why: `${said}${obstacle === undefined ? '' : `; ${obstacle}`}${missing}`,
    needsPerson: isLast || isHopeless || unrun.length > 0,
  };
}

/** By our weights and our arithmetic: what a judge adds up itself does not count. */
function recomputed(
  report: ModeReport | undefined,
): Pick<Score, 'score' | 'dimensions'> & { note: string } {
  if (report?.score == null)
    return {
      score: null,
      dimensions: [],
      note:
        report === undefined
          ? 'no score: nothing was scored'
          : 'no score: none of the modes that were applied gives one',
    };
  const rubric = report.mode === 'standard' ? standardDimensions : judgeDimensions;
  const dimensions = rubric.map(({ name, weight }) => {
    const its = report.score?.dimensions.find((each) => each.name === name);
    const score = its?.score ?? null;
    const isScore = score !== null && score >= 0 && score <= 1;
    return { name, weight, score: isScore ? score : null, why: '', evidence: [] };
  });
  const { score, coverage } = scoreOf(dimensions);
  const judged = `criteria with ${percent(coverage)} of the weight could be judged`;
  if (score === null) {
    // Why, stands with each of them.
    const open = report.score.dimensions.filter((each) => each.score === null);
    const names = open.map(({ name }) => name).join(', ');
    const note = `no score: ${judged}, ${percent(coverageMin)} are needed. Not judged: ${names}`;
    return { score, dimensions, note };
  }
  const isSame = report.score.score !== null && Math.abs(report.score.score - score) < sameWithin;
  const wrong = isSame
    ? ''
    : `; the report says ${shortFigure(report.score.score ?? 0)}, which its dimensions do not add up to`;
  return { score, dimensions, note: `${coverage < 1 - sameWithin ? `; ${judged}` : ''}${wrong}` };
}

const sameWithin = 1e-9;

function obstacleOf(
  reports: readonly ModeReport[],
  dimensions: Score['dimensions'],
  advisory: ReadonlySet<ModeName>,
): string | undefined {
  const low = dimensions.find(({ score }) => score !== null && atLeast(dimensionCritical, score));
  if (low !== undefined) return `${low.name} is ${shortFigure(low.score ?? 0)}, which is critical`;
  const open = reports
    .filter(({ mode }) => !advisory.has(mode))
    .flatMap(({ findings }) => findings)
    .filter(({ severity, is_hard }) => severity === 'critical' || is_hard);
  const [first] = open;
  if (first === undefined) return undefined;
  return `${open.length} critical findings are open, the first: ${first.rule} of ${first.mode}`;
}
