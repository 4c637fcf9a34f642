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
export interface TaskIteration {
  /** 2: the first critique; see `src/critic/cycle-verdict.ts`. */
  iteration: number;
  attempt: number;
  critique: string;
  digest: string;
  score: number | null;
  threshold: number;
  verdict: Verdict;
  why: string;
  modes: string[];
  /** Worst first. */
  findings: TaskFinding[];
  /** Ids of all open findings. */
  open: string[];
  disputed: string[];
  flags: string[];
  is_hard: boolean;
  needs_person: string;
  /** State of the cycle after it, and why. */
  state: string;
  reason: string;
  judged: PersonJudgement | '';
  judged_by: string;
  at_ms: number;
}

/** `0.78, 0.86 of 0.92 (+0.08)` */
export function trendText(iterations: readonly TaskIteration[]): string {
  const threshold = iterations.at(-1)?.threshold ?? qualityGate.threshold;
  const rounds = iterations.map((each) => ({ ...each, findings: each.open }));
  const { delta } = trendOf(rounds, threshold);
  const scores = iterations.map(({ score }) => (score === null ? '-' : score.toFixed(2)));
  const change = delta === null ? '' : ` (${delta < 0 ? '' : '+'}${delta.toFixed(2)})`;
  return `${scores.join(', ')} of ${threshold}${change}`;
}
