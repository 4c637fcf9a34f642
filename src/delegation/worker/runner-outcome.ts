import type { Classification } from '../../attention/shapes.js';
import type { Gathered } from '../grounding/gathered.js';
import type { Step, TaskFailure } from '../task/shapes.js';

/** What a runner came to. It never throws for what is wrong with the task. */
export interface Outcome {
  kind: 'finished' | 'failed' | 'blocked' | 'asked';
  result: string;
  /** A code, of what failed or is blocked. */
  reason: string;
  errors: TaskFailure[];
  /** Of one that asks. */
  question: string;
  files: string[];
  tokens: number;
  /** What it asked of the PGC itself. */
  gathered: Gathered | null;
  contextBytes: number;
  /** What stopped it: the reason is GATE_DETECTED. */
  classification: Classification | null;
  /** Of the runner `prompt`. */
  steps: Step[];
}

export function outcome(kind: Outcome['kind'], said: Partial<Omit<Outcome, 'kind'>>): Outcome {
  return {
    ...{ kind, result: '', reason: '', errors: [], question: '', files: [], tokens: 0 },
    ...{ gathered: null, contextBytes: 0, classification: null, steps: [] },
    ...said,
  };
}
