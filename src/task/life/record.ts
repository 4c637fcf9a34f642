import type { Finding as RiskFinding, Gate, Grant } from '../../attention/shapes.js';
import { assignmentMachine } from '../../delegation/manager/manager.machine.js';
import type { DelegatedTask, TaskFailure, TaskResponse } from '../../delegation/task/shapes.js';
import type { Review } from '../../delegation/manager/review.js';
import { restored, stored, type Snapshot } from '../../machine/step.js';
import type { TaskIteration } from './task-iteration.js';
import { taskMachine, type TimerName } from './task.machine.js';

/** What a person may be asked about one task, and how long the story of it may get. */
export const recordLimits = {
  notes: 100,
  noteChars: 300,
  reviews: 10,
  /** Critiques of its result. */
  iterations: 16,
  progressChars: 500,
  asksChars: 4_000,
} as const;

export interface Note {
  at_ms: number;
  state: string;
  text: string;
}

/** One worker at work on it, or the last one. */
export interface AssignmentRecord {
  worker: string;
  attempt: number;
  snapshot: Snapshot<typeof assignmentMachine>;
}

/**
 * The one durable record of a task, owned by its manager. `version` is of this layout: a release that renames something
 * ships a migration, and a stored record of each earlier version as a test fixture.
 */
export interface TaskRecord {
  kind: 'task';
  version: 1;
  id: string;
  /** Counts every change. */
  revision: number;
  snapshot: Snapshot<typeof taskMachine>;
  task: DelegatedTask;
  /** As it was delegated: answers, feedback and what was relaxed change `task`. */
  asked: DelegatedTask;
  /** Who gets the result. */
  parent: string;
  /** The fencing token that was given out last. */
  attempt: number;
  assignment: AssignmentRecord | null;
  /** Workers that failed at it, and shall not get it again while there are others. */
  failed_workers: string[];
  response: TaskResponse | null;
  reviews: Review[];
  /** What a critic said about each result that it was given, oldest first. */
  iterations: TaskIteration[];
  error: TaskFailure | null;
  /** What somebody is asked. */
  asks: string;
  progress: string;
  /** Whose queue it stands in; empty: it was delegated. */
  owner: string;
  /** Tasks above it. */
  depth: number;
  /** The first of them; empty: there is none above it. */
  root: string;
  /** Counts tasks in the order in which they were accepted. */
  order: number;
  /** When a worker was looked for at first; 0: not yet. */
  started_ms: number;
  /** What passes by itself is tried again, what does not ends its whole queue. */
  is_supervised: boolean;
  /** A pause between two tries; 0: none. */
  not_before_ms: number;
  /** Unix time by name. */
  timers: Partial<Record<TimerName, number>>;
  notes: Note[];
  /** What was done about a block, so that nothing is tried twice. */
  reactions: string[];
  /** Questions to a person about the risk of an action, and what was given leave by the answers. */
  gates: Gate[];
  grants: Grant[];
  /** Risks that were noticed in passing. */
  findings: RiskFinding[];
  created_ms: number;
  updated_ms: number;
  finished_ms: number;
}

/** As it lies on disk. */
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

/** Fields that an earlier release did not know. */
function withDefaults(task: Partial<DelegatedTask>): DelegatedTask {
  const { limits, session = '', scope = [], name = '', model = '' } = task;
  // What stands there keeps its place: the same task again is known by its text.
  const { tokens = 0 } = (limits ?? {}) as Partial<DelegatedTask['limits']>;
  return { ...task, session, scope, name, model, limits: { ...limits, tokens } } as DelegatedTask;
}

/** Throws when it is damaged, or of a version that this one does not know. */
export function decodeRecord(bytes: Buffer): TaskRecord {
  const kept = JSON.parse(bytes.toString()) as Stored;
  if ((kept.version as number) !== 1) throw new Error(`a task of version ${kept.version}`);
  const { assignment, snapshot } = kept;
  return {
    ...kept,
    // Absent in one of an earlier release.
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
