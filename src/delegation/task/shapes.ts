/**
 * The task that a manager gives to a worker, and the response. They mirror `proto/delegation.proto` and are the JSON that agents write, hence snake case: a field may be added, never renamed.
 */

import type { Classification, Grant } from '../../attention/shapes.js';

export const strategies = ['pgc_first', 'pgc_verify', 'pgc_cite', 'none'] as const;
export type Strategy = (typeof strategies)[number];

export const analysisTypes = [
  'blast_radius',
  'security_impact',
  'dependency_check',
  'algebra_query',
] as const;
export type AnalysisType = (typeof analysisTypes)[number];

export const overlayHints = ['O1', 'O2', 'O3', 'O4', 'O5', 'O6', 'O7'] as const;
export type OverlayHint = (typeof overlayHints)[number];

/** Kind of work: chooses the strategy when none is given. */
export const taskKinds = [
  'simple_refactor',
  'bug_fix',
  'feature',
  'architecture',
  'documentation',
  'question',
] as const;
export type TaskKind = (typeof taskKinds)[number];

/** Criticality; C3 and C4 are critical. */
export const criticalities = ['C1', 'C2', 'C3', 'C4'] as const;
export type Criticality = (typeof criticalities)[number];

export const runners = ['answer', 'command', 'model', 'agent', 'prompt'] as const;
export type RunnerName = (typeof runners)[number];

export const responseStatuses = ['completed', 'failed', 'blocked', 'needs_clarification'] as const;
export type ResponseStatus = (typeof responseStatuses)[number];

export const protocolVersion = '2.0';
export const legacyVersion = '1.0-legacy';
/** Capability of workers that speak this protocol. */
export const delegationCapability = 'delegation:2.0';
export const runnerCapability = (runner: RunnerName): string => `runner:${runner}`;

/** Overlay name of an error that a legacy worker puts among its citations: no evidence. */
export const errorOverlay = 'error';

/** Limits of the delegation protocol. */
export const evidenceLimits = { citations: 10, contentChars: 500 } as const;
/** Limits of a task. Beyond them it is refused, not cut. */
export const taskLimits = {
  idChars: 96,
  taskChars: 16_000,
  /** Of a task for the runner `prompt`. */
  promptChars: 262_144,
  nameChars: 64,
  modelChars: 200,
  tokensMax: 100_000_000,
  contextChars: 64_000,
  criteria: 32,
  criterionChars: 2_000,
  hints: 16,
  hintChars: 1_000,
  optionsChars: 4_000,
  expressionChars: 1_000,
  dependencies: 64,
  clarifications: 8,
  clarificationChars: 4_000,
  scope: 64,
  feedback: 16,
  feedbackChars: 4_000,
  argv: 256,
  argChars: 32_000,
  environment: 64,
  stdinChars: 262_144,
  resultChars: 65_536,
  timeoutMs: { min: 100, default: 10 * 60_000, max: 24 * 3_600_000 },
  attempts: { default: 3, max: 10 },
  /** The whole task as JSON: with the history of its attempts it still fits into one frame. */
  bytes: 1024 * 1024,
} as const;

/** Limits of a response that is still read. `citations` and `contentChars` exceed those of the protocol, so that the review can name a violation. */
export const responseLimits = {
  /** The whole response as JSON. */
  bytes: 512 * 1024,
  citations: 64,
  contentChars: 8_000,
  queries: 256,
  overlays: 64,
  warnings: 64,
  errors: 64,
  files: 4_096,
  steps: 200,
  stepChars: 500,
  /** Of a code, an overlay, a version, an agent. */
  wordChars: 256,
  pathChars: 4_096,
  textChars: 8_000,
} as const;

export interface AnalysisHint {
  type: AnalysisType;
  target: string;
  /** A JSON object as text; empty: none. */
  options: string;
}

export interface Grounding {
  /** Empty: chosen by the kind of the task. */
  strategy: Strategy | '';
  analysis_hints: AnalysisHint[];
  algebra_expression: string;
  overlay_hints: OverlayHint[];
  query_hints: string[];
  /** Absent: required, unless the strategy is `none`. */
  evidence_required?: boolean;
}

/** The part of an acceptance criterion that a program checks; all empty: a reader judges it. */
export interface Check {
  cites_symbol: string;
  cites_file: string;
  pattern: string;
  citations_min: number;
}

export interface Criterion {
  text: string;
  check: Check | null;
}

/** A program to run: an argument list, never a shell's text. */
export interface Action {
  argv: string[];
  /** Below the root of the executor; empty: the root. */
  cwd: string;
  env: Record<string, string>;
  stdin: string;
  /** It changes nothing that outlives it, and may be run again. */
  read_only: boolean;
  /** It may be run again under this key, which it finds in its environment. */
  idempotency_key: string;
}

export interface Clarification {
  question: string;
  answer: string;
}

export interface DelegatedTask {
  id: string;
  task: string;
  acceptance_criteria: Criterion[];
  context: string;
  /** Null: a legacy task, without any. */
  grounding: Grounding | null;
  kind: TaskKind | '';
  criticality: Criticality;
  runner: RunnerName;
  action: Action | null;
  depends_on: string[];
  /** `tokens`: of a language model, for the whole task; 0: the default. */
  limits: { timeout_ms: number; attempts_max: number; tokens: number };
  /** Agent or alias of the worker; empty: any suitable one. */
  to: string;
  /** PGC agent that is asked; empty: the whole lattice. */
  pgc: string;
  clarifications: Clarification[];
  /** What an earlier attempt has to correct. */
  feedback: string[];
  /** Session whose approvals of risky actions count; empty: that of the delegating agent. */
  session: string;
  /** Files and folders that the task may change, from the root; none: all below the root. */
  scope: string[];
  /** Name in its queue; empty: its id. */
  name: string;
  /** Language model for the runner `prompt`; empty: the configured one. */
  model: string;
  /** Its result is reviewed by a critic before it counts. Absent: where the policy wants it. */
  critique?: boolean;
}

export interface EvidenceCitation {
  overlay: string;
  content: string;
  relevance: string;
  file_path: string;
  /** 1-based, inclusive; 0: not said. */
  line_start: number;
  line_end: number;
  symbol: string;
  /** Git blob id of the file that was read. */
  blob: string;
  agent: string;
  /** 0 to 1. */
  similarity?: number;
}

export type ConfidenceLevel = 'high' | 'medium' | 'low';

export interface GroundingEvidence {
  queries_executed: string[];
  overlays_consulted: string[];
  citations: EvidenceCitation[];
  grounding_confidence: ConfidenceLevel;
  overlay_warnings: string[];
}

export interface TaskFailure {
  code: string;
  text: string;
  retryable: boolean;
}

/** Cost of a task at its worker. */
export interface Usage {
  grounding_ms: number;
  elapsed_ms: number;
  /**
   * Bytes read from the PGC, and bytes of it given to the runner: 0 for the runner `answer`, which is given none.
   */
  grounding_bytes: number;
  context_bytes: number;
  /** Tokens of a language model; 0: none was used. */
  tokens: number;
}

export interface TaskResponse {
  task_id: string;
  status: ResponseStatus;
  result: string;
  grounding_evidence: GroundingEvidence | null;
  /** Code of a failure or a block. */
  reason: string;
  errors: TaskFailure[];
  protocol_version: string;
  clarification_request: string;
  /** The fencing token of the assignment. */
  attempt: number;
  /** The result is what was done before the work failed or was stopped. */
  partial: boolean;
  files_modified: string[];
  usage: Usage | null;
  /** The classification of the action, when the reason is GATE_DETECTED. */
  classification: Classification | null;
  /** Steps of the runner `prompt`, in order; of a long history the beginning and the end. */
  steps: Step[];
}

export interface Step {
  at_ms: number;
  /** `read`, `push`, `run`, `content`, `model`, `teardown`, `end`, or the name of a tool that was called. */
  what: string;
  text: string;
}

export interface Assignment {
  task: DelegatedTask;
  attempt: number;
  lease_ms: number;
  /** Unix time of the deadline. */
  until_ms: number;
  /** The agent that manages it. */
  manager: string;
  /** Permissions for risky actions, each valid once. */
  grants: Grant[];
  /** Number of tasks above it: 0 when no task pushed it. */
  depth: number;
  /** Who gets the result. */
  parent: string;
}

/** Whether the task may have lasting effects, so that it must not be repeated without a decision. */
export function hasEffects({ runner, action }: Pick<DelegatedTask, 'runner' | 'action'>): boolean {
  // A prompt pushes tasks and sends messages: another executor would push and send them again.
  if (runner === 'prompt') return true;
  if (runner !== 'command' && runner !== 'agent') return false;
  return action === null || (!action.read_only && action.idempotency_key === '');
}

/** Absent means required, unless the strategy is `none` or there is no grounding. */
export function isEvidenceRequired(grounding: Grounding | null): boolean {
  if (grounding === null) return false;
  return grounding.evidence_required ?? grounding.strategy !== 'none';
}
