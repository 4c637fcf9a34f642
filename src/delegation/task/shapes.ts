/**
 * The task that a manager gives to a worker, and the response. They mirror `proto/delegation.proto` and are the JSON that agents write, hence snake case: a field may be added, never renamed.
 */

import type { Plain, sigma } from '../../wire/codec.js';
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

export type AnalysisHint = Plain<sigma.delegation.AnalysisHint, { type: AnalysisType }>;
export type Grounding = Plain<
  sigma.delegation.Grounding,
  {
    strategy: Strategy | '';
    analysis_hints: AnalysisHint[];
    overlay_hints: OverlayHint[];
    evidence_required?: boolean;
  }
>;

/** The part of an acceptance criterion that a program checks; all empty: a reader judges it. */
export type Check = Plain<sigma.delegation.Check>;
export type Criterion = Plain<sigma.delegation.Criterion, { check: Check | null }>;

/** A program to run: an argument list, never a shell's text. */
export type Action = Plain<sigma.delegation.Action>;
export type DelegatedTask = Plain<
  sigma.delegation.DelegatedTask,
  {
    acceptance_criteria: Criterion[];
    grounding: Grounding | null;
    kind: TaskKind | '';
    criticality: Criticality;
    runner: RunnerName;
    action: Action | null;
    critique?: boolean;
    project?: string;
  }
>;
export type EvidenceCitation = Plain<sigma.delegation.EvidenceCitation, { similarity?: number }>;

export type ConfidenceLevel = 'high' | 'medium' | 'low';

export type GroundingEvidence = Plain<
  sigma.delegation.GroundingEvidence,
  { citations: EvidenceCitation[]; grounding_confidence: ConfidenceLevel }
>;
export type TaskFailure = Plain<sigma.delegation.TaskFailure>;

/** Cost of a task at its worker. */
export type Usage = Plain<sigma.delegation.Usage>;
export type TaskResponse = Plain<
  sigma.delegation.TaskResponse,
  {
    status: ResponseStatus;
    grounding_evidence: GroundingEvidence | null;
    usage: Usage | null;
    classification: Classification | null;
  }
>;
export type Step = Plain<sigma.delegation.Step>;
export type Assignment = Plain<
  sigma.delegation.Assignment,
  { task: DelegatedTask; grants: Grant[] }
>;

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
