import type { Outcome } from '../../delegation/worker/runner-outcome.js';
import type { Finding } from '../../attention/shapes.js';
import type { Gathered, Pgc } from '../../delegation/grounding/gathered.js';
import type { Conflict } from '../../delegation/worker/proposal-check.js';
import type { DelegatedTask } from '../../delegation/task/shapes.js';

/** One turn of a runner. */
export interface Turn {
  task: DelegatedTask;
  attempt: number;
  /** Who gets its result. */
  parent: string;
  /** Null: nothing was gathered beforehand. */
  gathered: Gathered | null;
  /** Null: the PGC must not be asked. */
  pgc: Pgc | null;
  /** What was wrong with the turn before, and what it gave. */
  conflicts: readonly Conflict[];
  earlier: string;
  /** What an agent stopped at before, and a person approved for this turn. */
  approved?: readonly (readonly Finding[])[];
  /** SHA-256 of the scripts that were judged, by absolute path: with others nothing is started. */
  unchanged?: Readonly<Record<string, string>>;
  signal: AbortSignal;
  progress: (summary: string) => void;
}

/** Does the work of a task. Throws BusErrors only; when the signal is given, it gives what it has so far. */
export type Runner = (turn: Turn) => Promise<Outcome>;
