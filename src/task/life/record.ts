import type { Plain, sigma } from '../../wire/codec.js';
import type { Finding as RiskFinding, Gate, Grant } from '../../attention/shapes.js';
import { assignmentMachine } from '../../delegation/manager/manager.machine.js';
import type { DelegatedTask, TaskFailure, TaskResponse } from '../../delegation/task/shapes.js';
import type { Review } from '../../delegation/manager/review.js';
import { restored, stored, type Snapshot } from '../../machine/step.js';
import type { TaskIteration } from './task-iteration.js';
import { taskMachine, type TimerName } from './task.machine.js';

/** Limits of the lists and texts of a record. */
export const recordLimits = {
  notes: 100,
  noteChars: 300,
  reviews: 10,
  /** Critiques of its results. */
  iterations: 16,
  progressChars: 500,
  asksChars: 4_000,
} as const;

export type Note = Plain<sigma.task.Note>;

/** The current assignment, or the last one. */
export interface AssignmentRecord {
  worker: string;
  attempt: number;
  snapshot: Snapshot<typeof assignmentMachine>;
}

/**
 * The durable record of a task, owned by its manager. `version` is that of this layout: a release that renames a field ships a migration, and a stored record of each earlier version as a test fixture.
 */
export interface TaskRecord {
  kind: 'task';
  version: 1;
  id: string;
  /** Counts every change. */
  revision: number;
  snapshot: Snapshot<typeof taskMachine>;
  task: DelegatedTask;
  /** The task as it was delegated; answers, feedback and relaxed requirements change `task` only. */
  asked: DelegatedTask;
  /** Who gets the result. */
  parent: string;
  /** The fencing token of the last assignment. */
  attempt: number;
  assignment: AssignmentRecord | null;
  /** Workers that failed at it; they get it again only when there is no other. */
  failed_workers: string[];
  response: TaskResponse | null;
  reviews: Review[];
  /** Critiques of its results, oldest first. */
  iterations: TaskIteration[];
  error: TaskFailure | null;
  /** The question to a person; empty: none. */
  asks: string;
  progress: string;
  /** Owner of the queue that it stands in; empty: it was delegated. */
  owner: string;
  /** Number of tasks above it. */
  depth: number;
  /** The topmost of them; empty: none. */
  root: string;
  /** Position in the order in which tasks were accepted. */
  order: number;
  /** Unix time of the first search for a worker; 0: not yet. */
  started_ms: number;
  /** Transient failures are tried again; another failure ends its whole queue. */
  is_supervised: boolean;
  /** Unix time of the next try; 0: at once. */
  not_before_ms: number;
  /** Unix time at which each is due. */
  timers: Partial<Record<TimerName, number>>;
  notes: Note[];
  /** Reactions to blocks that were tried, each once. */
  reactions: string[];
  /** Questions to a person about risky actions, and the permissions that followed. */
  gates: Gate[];
  grants: Grant[];
  /** Risks that were noted without a question. */
  findings: RiskFinding[];
  created_ms: number;
  updated_ms: number;
  finished_ms: number;
}

/** The record as it is stored. */
export function encodeRecord(record: TaskRecord): Buffer {
  const { assignment, snapshot } = record;
  const kept = {
    ...record,
    snapshot: stored(snapshot),
    assignment: assignment && { ...assignment, snapshot: stored(assignment.snapshot) },
  };
  return Buffer.from(JSON.stringify(kept));
}

type LaterField =
  | ('gates' | 'grants' | 'findings' | 'iterations')
  | ('owner' | 'depth' | 'root' | 'order' | 'started_ms' | 'is_supervised' | 'not_before_ms');
type Stored = Omit<TaskRecord, LaterField> & Partial<Pick<TaskRecord, LaterField>>;

/** Adds the fields that an earlier release did not have. */
function withDefaults(task: Partial<DelegatedTask>): DelegatedTask {
  const { limits, session = '', scope = [], name = '', model = '' } = task;
  // The order of fields stays: whether two tasks are the same is decided by their JSON.
  const { tokens = 0 } = (limits ?? {}) as Partial<DelegatedTask['limits']>;
  return { ...task, session, scope, name, model, limits: { ...limits, tokens } } as DelegatedTask;
}

/** Throws when it is damaged or of an unknown version. */
export function decodeRecord(bytes: Buffer): TaskRecord {
  const kept = JSON.parse(bytes.toString()) as Stored;
  if ((kept.version as number) !== 1) throw new Error(`a task of version ${kept.version}`);
  const { assignment, snapshot } = kept;
  return {
    ...kept,
    // Absent in a record of an earlier release.
    gates: kept.gates ?? [],
    grants: kept.grants ?? [],
    findings: kept.findings ?? [],
    iterations: kept.iterations ?? [],
    owner: kept.owner ?? '',
    depth: kept.depth ?? 0,
    root: kept.root ?? '',
    order: kept.order ?? 0,
    started_ms: kept.started_ms ?? 0,
    is_supervised: kept.is_supervised ?? false,
    not_before_ms: kept.not_before_ms ?? 0,
    task: withDefaults(kept.task),
    asked: withDefaults(kept.asked),
    snapshot: restored(taskMachine, snapshot),
    assignment: assignment && {
      ...assignment,
      snapshot: restored(assignmentMachine, assignment.snapshot),
    },
  };
}
