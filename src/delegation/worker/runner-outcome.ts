import type { Classification } from '../../attention/shapes.js';
import type { Gathered } from '../grounding/gathered.js';
import type { EvidenceCitation, Step, TaskFailure } from '../task/shapes.js';

/** The outcome of a runner. A runner does not throw for errors of the task. */
export interface Outcome {
  kind: 'finished' | 'failed' | 'blocked' | 'asked';
  result: string;
  /** Code of a failure or a block. */
  reason: string;
  errors: TaskFailure[];
  /** Set when the kind is `asked`. */
  question: string;
  files: string[];
  tokens: number;
  /** Results of its own queries to the PGC. */
  gathered: Gathered | null;
  /** What it cites itself: nothing that was gathered beside it takes its place. */
  cited: EvidenceCitation[];
  /** The result is in words of its own: what was gathered beside it is evidence as far as it cites or names it. */
  isOwnWords: boolean;
  contextBytes: number;
  /** The classification of the action, when the reason is GATE_DETECTED. */
  classification: Classification | null;
  /** Steps of the runner `prompt`. */
  steps: Step[];
}

export function outcome(kind: Outcome['kind'], said: Partial<Omit<Outcome, 'kind'>>): Outcome {
  return {
    ...{ kind, result: '', reason: '', errors: [], question: '', files: [], tokens: 0 },
    ...{
      gathered: null,
      cited: [],
      isOwnWords: false,
      contextBytes: 0,
      classification: null,
      steps: [],
    },
    ...said,
  };
}
