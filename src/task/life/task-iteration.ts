import type { Plain, sigma } from '../../wire/codec.js';
import {
  type PersonJudgement,
  qualityGate,
  type Finding,
  type Verdict,
} from '../../critic/shapes.js';
import { trendOf } from '../../critic/cycle/tracking.js';

/** The part of a finding that is kept with the task. */
export type TaskFinding = Pick<
  Finding,
  'id' | 'mode' | 'severity' | 'rule' | 'text' | 'remedy' | 'is_hard'
>;

/** One critique of a task's result. */
export type TaskIteration = Plain<
  sigma.task.Iteration,
  { score: number | null; verdict: Verdict; findings: TaskFinding[]; judged: PersonJudgement | '' }
>;

/** `0.78, 0.86 of 0.92 (+0.08)` */
export function trendText(iterations: readonly TaskIteration[]): string {
  const threshold = iterations.at(-1)?.threshold ?? qualityGate.threshold;
  const rounds = iterations.map((each) => ({ ...each, findings: each.open }));
  const { delta } = trendOf(rounds, threshold);
  const scores = iterations.map(({ score }) => (score === null ? '-' : score.toFixed(2)));
  const change = delta === null ? '' : ` (${delta < 0 ? '' : '+'}${delta.toFixed(2)})`;
  return `${scores.join(', ')} of ${threshold}${change}`;
}
