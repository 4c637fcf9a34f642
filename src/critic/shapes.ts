/**
 * What a critic is given and what it says. The shapes mirror `proto/critic.proto` and are the JSON that `sigma critic` and
 * the MCP tools print, hence snake case: a field is added, never renamed.
 */

import { criticalities, type Criticality } from '../delegation/task/shapes.js';
import type { ModeName } from './strategies.js';

export { criticalities, type Criticality };

export const phases = ['PH-EXPLORE', 'PH-DESIGN', 'PH-IMPL', 'PH-VALID', 'PH-MAINT'] as const;
export type Phase = (typeof phases)[number];
export const targetTypes = [
  'TGT-CODE',
  'TGT-ARCH',
  'TGT-REQ',
  'TGT-RES',
  'TGT-DEC',
  'TGT-PROC',
] as const;
export type TargetType = (typeof targetTypes)[number];
export const maturities = ['MAT-DRAFT', 'MAT-REVIEW', 'MAT-APPR', 'MAT-BASE'] as const;
export type Maturity = (typeof maturities)[number];
export const teams = ['TEAM-SINGLE', 'TEAM-MULTI', 'TEAM-HIL'] as const;
export type Team = (typeof teams)[number];
export const enforcements = ['ENF-FULL', 'ENF-PORT', 'ENF-MIN'] as const;
export type Enforcement = (typeof enforcements)[number];
export const platforms = ['PLAT-CC', 'PLAT-CC-WIN', 'PLAT-GENERIC'] as const;
export type Platform = (typeof platforms)[number];
export const tokenBudgets = ['TOK-FULL', 'TOK-CONST', 'TOK-EXHAUST'] as const;
export type TokenBudget = (typeof tokenBudgets)[number];

/** Eight dimensions of a review; 38 880 of them. */
export interface ContextVector {
  criticality: Criticality;
  phase: Phase;
  target_type: TargetType;
  maturity: Maturity;
  team: Team;
  enforcement: Enforcement;
  platform: Platform;
  token_budget: TokenBudget;
}

/** Of a review: the gate, its bands, and how often it is gone through. */
export const qualityGate = {
  /** With an adversarial context. Scores are compared unrounded. */
  threshold: 0.92,
  /** Of `standard`. */
  standardThreshold: 0.85,
  /** From here up to the threshold: at the limit of iterations a person may ratify it. */
  conditional: 0.85,
  /** 1 create, 2 critique, 3 revise: accepted from 3 on (criticality C2 and above). */
  iterationsMin: 3,
  iterationsMax: 3,
  /** One mode of a pipeline. */
  modeMs: 60_000,
} as const;

/** Ours: what is beyond is refused with TOO_LARGE, or cut and said so where `cut` stands. */
export const criticLimits = {
  pathChars: 4_096,
  /** Of the artifact as text. */
  artifactBytes: 256 * 1024,
  /** Rule files of one review. */
  ruleFiles: 16,
  ruleBytes: 128 * 1024,
  rules: 500,
  /** Of one mode, cut: the worst are kept. */
  findings: 100,
  findingChars: 600,
  evidence: 5,
  contentChars: 500,
  sections: 16,
  /** Cut. */
  sectionChars: 16_000,
  unable: 16,
  /** Of one mode as JSON, cut. */
  reportBytes: 128 * 1024,
  iterations: 64,
  /** In one batch of `--select`. */
  vectors: 100_000,
} as const;

export interface Artifact {
  /** As it was named; of a file of the tree: from its root, with `/`. */
  path: string;
  text: string;
  /** Of the text: SHA-256 in hex. */
  digest: string;
}

/** A place in the code that shows what a finding says. Checked before it is reported. */
export interface Evidence {
  file_path: string;
  /** 1-based, inclusive. */
  line_start: number;
  line_end: number;
  content: string;
  /** Git blob id of the file that was read; empty: of no index. */
  blob: string;
  symbol: string;
}

/** Worst first. */
export const severities = ['critical', 'major', 'minor', 'note'] as const;
export type Severity = (typeof severities)[number];

export interface Finding {
  /** The same for the same fault in another version of the artifact, as far as that can be told. */
  id: string;
  mode: ModeName;
  /** Who found it: a rule that anyone can follow, or a model. */
  by: 'rules' | 'model';
  /** Which check, as a short code: `CLAIM_CONTRADICTED`, `LINK_BROKEN`. */
  rule: string;
  severity: Severity;
  /** Of a rule that must not be broken: the artifact cannot pass. */
  is_hard: boolean;
  text: string;
  /** In the artifact, 1-based; 0: nowhere in particular. */
  line_start: number;
  line_end: number;
  /** What to do about it. */
  remedy: string;
  evidence: Evidence[];
}

export interface Section {
  title: string;
  /** Markdown. */
  text: string;
}

export interface DimensionScore {
  name: string;
  /** All of them are 1 together. */
  weight: number;
  /** 0 to 1; null: it could not be judged, and does not count. */
  score: number | null;
  why: string;
  /** Quotes, figures: at most three. */
  evidence: string[];
}

export interface Score {
  /** Weighted mean of what was judged, unrounded; null: too little was. */
  score: number | null;
  /** Weight of what was judged. */
  coverage: number;
  dimensions: DimensionScore[];
}

/** Why a pipeline does not go on. */
export const abortReasons = ['GOVERNANCE_VIOLATION', 'HARD_RULE_CONTRADICTED'] as const;
export type AbortReason = (typeof abortReasons)[number];

/** Claims about code that were looked up, by what came of it. */
export interface ClaimCounts {
  verified: number;
  contradicted: number;
  unverified: number;
}

/** What one mode says. */
export interface ModeReport {
  mode: ModeName;
  /** S-NNN; empty: standard. */
  strategy: string;
  /** `model`: a model spoke beside the rules. */
  engine: 'rules' | 'model';
  /** `partial`: cut by its time, or something of it could not be done; `skipped`: not begun. */
  status: 'complete' | 'partial' | 'skipped' | 'failed';
  /** A code of the catalogue where it is not complete. */
  reason: string;
  sections: Section[];
  findings: Finding[];
  /** Of `llm-as-judge` and `standard`; null: this mode scores nothing. */
  score: Score | null;
  /** Of `chain-of-verification`. */
  claims?: ClaimCounts;
  /** What it could not do here, in words: without a model, an index, rules. */
  unable: string[];
  /** Findings and sentences of a model that were left out, because what they quote is not there. */
  dropped: number;
  /** Empty: go on. */
  abort: AbortReason | '';
  /** Versions of the texts that a model was told. */
  texts: string[];
  elapsed_ms: number;
  tokens: number;
}

/** A step of the selection, for `--explain`. */
export interface SelectionStep {
  /** `escalate`, `phase`, `base`, `budget`, `maturity`, `team`, `enforcement`, `platform`, `sequence`, `explicit` */
  step: string;
  text: string;
  modes: ModeName[];
}

/** What a person has to know, or to do. */
export interface Flag {
  /** `ESC-001`, `AE-006`, `ENF-MIN-002`, `PR-001`, `TEN`, … */
  code: string;
  level: 'mandatory' | 'recommended' | 'warning' | 'note';
  text: string;
}

export interface SelectedMode {
  mode: ModeName;
  tokens: number;
  /** Its finding gates nothing: a person weighs it. */
  is_advisory: boolean;
  /** One pass instead of several. */
  is_single_pass: boolean;
}

export const selectionOutcomes = ['review', 'human_required', 'end_session', 'refused'] as const;

/** Which modes are applied, and why. */
export interface Selection {
  /** `refused`: `error` says why. Only `review` has modes for sure; `human_required` may. */
  outcome: (typeof selectionOutcomes)[number];
  /** After escalation and phase. */
  criticality: Criticality;
  /** Below which nothing may bring it. */
  floor: Criticality;
  /** With every dimension filled. */
  context: ContextVector;
  /** In the order in which they are applied. */
  modes: SelectedMode[];
  /** Of all of them. */
  tokens: number;
  flags: Flag[];
  steps: SelectionStep[];
  error: string;
}

export const verdicts = ['PASS', 'REVISE', 'REJECTED', 'UNSCORED', 'ABORTED'] as const;
/** `UNSCORED`: without a judge, or too little could be judged; a person has to. */
export type Verdict = (typeof verdicts)[number];

export const personJudgements = ['accept', 'refuse', 'revise'] as const;
/** `accept`: it is ratified; `revise`: once more, also beyond the limit of iterations. */
export type PersonJudgement = (typeof personJudgements)[number];

/** One review of one version of one artifact: a whole pipeline. */
export interface Critique {
  id: string;
  /** Path and digest of what was reviewed. */
  artifact: string;
  digest: string;
  iteration: number;
  selection: Selection;
  /** In the order in which they ran; also those that were skipped. */
  reports: ModeReport[];
  score: number | null;
  threshold: number;
  verdict: Verdict;
  /** Why, in a sentence. */
  why: string;
  /** A person has to look at it before anything goes on. */
  needs_person: boolean;
  flags: Flag[];
  engine: 'rules' | 'model';
  tokens: number;
  begun_ms: number;
  elapsed_ms: number;
}

/** A request for a review. Words of dimensions are as they were given: the selection reads them. */
export interface CritiqueRequest {
  /** Empty: made by the critic. The same id again is the same review: it goes on where it was. */
  id: string;
  artifact: Pick<Artifact, 'path' | 'text'> & {
    /** That it lies in; absent: `root`; empty: none, there is one of this path. */
    tree?: string;
    /** As it was named, where links lead to another path: rules of either hold. */
    named?: string;
  };
  /** Tree that it is about, as a path of this machine; empty: whichever index knows the file, or none. */
  root: string;
  /** Named explicitly; empty: chosen by the context, or `standard` where there is none. */
  modes: ModeName[];
  strict_order: boolean;
  /** There is an adversarial context, or a mode that belongs to one: the gate is that of it. */
  is_adversarial: boolean;
  context: Partial<Record<keyof ContextVector, string>>;
  /** The artifact is formally reopened: approved and baselined ones are then reviewed as a whole. */
  is_revision: boolean;
  iteration: number;
  /** Of the iteration before; goes into the trend, never to the judge. */
  previous_score?: number;
  /** Absent: that of the gate. */
  threshold?: number;
  iterations_max?: number;
  /** Tokens of a model for all of it; 0: by the budget of the context. */
  tokens: number;
  /** Files of rules, already read. */
  rules: { path: string; text: string; named?: string }[];
  /** Criteria of the caller beside those of the modes, in words. */
  criteria: string;
  ps_id: string;
  entry_id: string;
  /** Agent that made the artifact. */
  generator: string;
  /** What another review found, handed over at a barrier: every mode knows it beside what was said before it. Without scores. */
  handed?: ModeReport[];
}

/** One iteration of an artifact, as the document's `quality_tracking` has it; what is ours beside it comes last. */
export interface TrackedIteration {
  iteration: number;
  /** Null: it was not scored, as where it was created. */
  score: number | null;
  modes_applied: ModeName[];
  improvement_areas: string[];
  /** Against the scored iteration before; null: there is none. */
  improvement_delta: number | null;
  threshold_met: boolean;
  notes: string;
  digest: string;
  critique: string;
  /** Ids of findings that were open then, worst first. */
  findings: string[];
  flags: Flag[];
  at_ms: number;
}

export interface QualityTracking {
  artifact: string;
  threshold: number;
  iterations: TrackedIteration[];
}
