/**
 * What a critic is given and what it says. The fields are explained in `proto/critic.proto`, and are the JSON that
 * `sigma critic` and the MCP tools print, hence snake case: a field is added, never renamed.
 */

import type { Plain, sigma } from '../wire/codec.js';
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
export type Evidence = Plain<sigma.critic.Evidence>;

/** Worst first. */
export const severities = ['critical', 'major', 'minor', 'note'] as const;
export type Severity = (typeof severities)[number];

export type Finding = Plain<
  sigma.critic.Finding,
  { mode: ModeName; by: 'rules' | 'model'; severity: Severity }
>;
export type Section = Plain<sigma.critic.Section>;
export type DimensionScore = Plain<
  sigma.critic.DimensionScore,
  { score: number | null; faults?: number }
>;

export type Score = Plain<
  sigma.critic.Score,
  { score: number | null; dimensions: DimensionScore[] }
>;

/** Why a pipeline does not go on. */
export const abortReasons = [
  'GOVERNANCE_VIOLATION',
  'HARD_RULE_CONTRADICTED',
  'HARD_RULE_BROKEN',
] as const;
export type AbortReason = (typeof abortReasons)[number];

/** Claims about code that were looked up, by what came of it. */
export type ClaimCounts = Plain<sigma.critic.ClaimCounts, { named?: number }>;

/** What one mode says. */
export type ModeReport = Plain<
  sigma.critic.ModeReport,
  {
    mode: ModeName;
    engine: 'rules' | 'model';
    status: 'complete' | 'partial' | 'skipped' | 'failed';
    findings: Finding[];
    score: Score | null;
    claims?: ClaimCounts;
    abort: AbortReason | '';
  }
>;

/** A step of the selection, for `--explain`. */
export type SelectionStep = Plain<sigma.critic.SelectionStep, { modes: ModeName[] }>;

/** What a person has to know, or to do. */
export type Flag = Plain<
  sigma.critic.Flag,
  { level: 'mandatory' | 'recommended' | 'warning' | 'note' }
>;
export type SelectedMode = Plain<sigma.critic.SelectedMode, { mode: ModeName }>;

export const selectionOutcomes = ['review', 'human_required', 'end_session', 'refused'] as const;

/** Which modes are applied, and why. */
export type Selection = Plain<
  sigma.critic.Selection,
  {
    outcome: (typeof selectionOutcomes)[number];
    criticality: Criticality;
    floor: Criticality;
    context: ContextVector;
    modes: SelectedMode[];
    flags: Flag[];
    steps: SelectionStep[];
  }
>;

export const verdicts = ['PASS', 'REVISE', 'REJECTED', 'UNSCORED', 'ABORTED'] as const;
/** `UNSCORED`: without a judge, or too little could be judged; a person has to. */
export type Verdict = (typeof verdicts)[number];

export const personJudgements = ['accept', 'refuse', 'revise'] as const;
/** `accept`: it is ratified; `revise`: once more, also beyond the limit of iterations. */
export type PersonJudgement = (typeof personJudgements)[number];

/** One review of one version of one artifact: a whole pipeline. */
export type Critique = Plain<
  sigma.critic.Critique,
  {
    selection: Selection;
    reports: ModeReport[];
    score: number | null;
    verdict: Verdict;
    flags: Flag[];
    engine: 'rules' | 'model';
  }
>;

/** A request for a review. Words of dimensions are as they were given: the selection reads them. */
export type CritiqueRequest = Plain<
  sigma.critic.CritiqueRequest,
  {
    artifact: Pick<Artifact, 'path' | 'text'> & { tree?: string; named?: string };
    modes: ModeName[];
    context: Partial<Record<keyof ContextVector, string>>;
    previous_score?: number;
    threshold?: number;
    iterations_max?: number;
    rules: { path: string; text: string; named?: string }[];
    handed?: ModeReport[];
  }
>;

/** One iteration of an artifact, as the document's `quality_tracking` has it; what is ours beside it comes last. */
export type TrackedIteration = Plain<
  sigma.critic.TrackedIteration,
  {
    score: number | null;
    modes_applied: ModeName[];
    improvement_delta: number | null;
    flags: Flag[];
  }
>;
export type QualityTracking = Plain<
  sigma.critic.QualityTracking,
  { iterations: TrackedIteration[] }
>;
