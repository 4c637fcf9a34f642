/**
 * What is said of the risk of an action, and what a person judges about it. They mirror `proto/attention.proto` and are the
 * JSON that agents read, hence snake case: a field is added, never renamed.
 */

/** The six of the protocol's taxonomy; `Emergent` is a risk that none of them names. */
export const signals = [
  'Irreversibility',
  'HumanCommunication',
  'ExternalMutation',
  'SecurityBoundary',
  'PromptInjection',
  'ScopeEscalation',
  'Emergent',
] as const;
export type Signal = (typeof signals)[number];

/** An advisory finding informs, a gate stops. */
export const severities = ['Advisory', 'Gate'] as const;
export type Severity = (typeof severities)[number];

export const riskLevels = ['Low', 'Elevated'] as const;
export type RiskLevel = (typeof riskLevels)[number];

/** Of a worker that runs nothing risky without permission: permitted actions go to such workers only. */
export const attendCapability = 'attend';

/** How much is shown: nothing, a note in passing, one finding to be judged, all of the evidence. */
export const intensities = ['none', 'light', 'medium', 'heavy'] as const;
export type Intensity = (typeof intensities)[number];

/** Where an action has its effect is not known: it never matches an approval. */
export const unknownEnvironment = 'unknown';
/** Effects here are promoted from advisory to gate. */
export const productionEnvironment = 'production';

export const attentionLimits = {
  /** Of one action; what is found beyond is counted in the last one. */
  findings: 32,
  evidenceChars: 500,
  descriptionChars: 500,
  /** Scripts to whose content an approval of one action is bound, and bytes of each. */
  scripts: 16,
  scriptBytes: 256 * 1024,
  /** Shells in shells, programs that start programs. */
  depth: 12,
  /** Commands of one action. */
  commands: 4_000,
  /** Characters of all texts and arguments of one action that are judged, each as often as it is. */
  chars: 2_000_000,
  /** Files of which is asked whether they are under version control; the others are taken as not. */
  tracked: 64,
  /** Paths whose links are followed; an action with more is a gate. */
  looks: 2_000,
  gates: 16,
  grants: 16,
  directionChars: 4_000,
} as const;

export interface Finding {
  signal: Signal;
  severity: Severity;
  /** What was seen: the command, and where. */
  evidence: string;
  action_description: string;
  /** Rule of the policy by which it was found. */
  rule: string;
  /** Script below the root of the executor in which it was seen; empty: the action itself. */
  file: string;
}

/** What an approval is remembered under: all four must be the same. */
export interface Pattern {
  /** Program with its subcommand, `git push`. */
  tool: string;
  /** What it has its effect on: a branch, a file, a host. */
  target: string;
  environment: string;
  /** In the order of `signals`. */
  signals: Signal[];
}

/** The exact action, so that another one is seen to be another. */
export interface ActionDigest {
  /** Hexadecimal SHA-256 of runner, arguments, folder, given environment, input and promises. */
  action: string;
  /** Of each script that was read, by its path below the root. */
  files: Record<string, string>;
}

export interface Classification {
  level: RiskLevel;
  /** After promotion: compound, production, irreversible out of scope. */
  findings: Finding[];
  intensity: Intensity;
  pattern: Pattern;
  /** False: of a prompt injection, or of an unknown environment. */
  is_cacheable: boolean;
  digest: ActionDigest;
  /** The action in words, as a person reads it. */
  description: string;
}

export const judgements = ['approve', 'dismiss', 'modify', 'halt', 'withdraw'] as const;
export type Judgement = (typeof judgements)[number];

export const gateStates = ['open', 'judged', 'expired', 'void'] as const;
/** `void`: its task ended, or asks something else by now. */
export type GateState = (typeof gateStates)[number];

/** A question to a person, about one exact action of one task. */
export interface Gate {
  /** `gate-<task>-<number>`. */
  id: string;
  task: string;
  state: GateState;
  classification: Classification;
  /** Who saw it: the manager, or the executor that stopped. */
  seen_by: string;
  session: string;
  asked_ms: number;
  /** Unix time at which it is answered by the policy. */
  expires_ms: number;
  /** Empty: none yet. */
  judgement: Judgement | '';
  judged_by: string;
  judged_ms: number;
  /** Of `modify`: what to do instead. */
  direction: string;
}

/** Permission to run one exact action of one task, once. */
export interface Grant {
  /** `grant-<task>-<number>`. */
  id: string;
  task: string;
  digest: ActionDigest;
  /** The gate by which it was given; empty: by an approval of the session. */
  gate: string;
  by: string;
  given_ms: number;
  /** 0: not used yet. */
  used_ms: number;
  /** Attempt that used it. */
  used_attempt: number;
  /** What an agent stopped at by itself, where that was approved: its next attempt says so. */
  findings?: Finding[];
}

/** An action as it is classified. */
export interface ActionInQuestion {
  runner: string;
  argv: readonly string[];
  /** Below the root; empty: the root. */
  cwd: string;
  env: Readonly<Record<string, string>>;
  stdin: string;
  read_only: boolean;
  idempotency_key: string;
  /** Words that come with it and are data: context, feedback, clarifications. */
  data: readonly string[];
  /** Paths below the root that it is meant for; none: all of the root. */
  scope: readonly string[];
}

/** What may be looked at besides the action itself; without it commands that run files of the tree are left to the executor. */
export interface Sight {
  kind: 'nothing' | 'file' | 'folder';
  /** From the root, without links; undefined: outside of the root, or known only once something is there. */
  path: string | undefined;
}

export interface Inspector {
  /** The text of a file below the root. Undefined: there is none, it is outside, too large, or no text. */
  read(path: string): Promise<string | undefined>;
  /** Whether something is there, text or not; undefined, or no such method: it is not known. */
  exists?(path: string): Promise<boolean | undefined>;
  /** What is there, links followed; undefined, or no such method: it is not known. */
  look?(path: string): Promise<Sight | undefined>;
  /** Whether the file below the root is under version control, and unchanged edits can be taken back. */
  isTracked(path: string): Promise<boolean>;
  /**
   * Files of a folder below the root, by their paths from the root, sorted; `deep`: of all folders in it too, but for those that
   * begin with a point and `node_modules`. At most `max`. Undefined, or no such method: it is not known.
   */
  list?(folder: string, deep: boolean, max: number): Promise<string[] | undefined>;
}
