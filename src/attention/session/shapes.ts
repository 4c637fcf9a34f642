import type { Finding, Judgement, RiskLevel } from '../shapes.js';

/**
 * What an attended session is about: the outer protocol around tasks. It is the JSON that command lines and agents read,
 * hence snake case: a field is added, never renamed. Source of the names: the attention protocol, TYPES.
 */

/** In the order in which they are looked for; the last three have no order among them. */
export const protocols = ['clarify', 'goal', 'bound', 'inquire', 'frame', 'ground'] as const;
export type Protocol = (typeof protocols)[number];

/** What is missing, by the protocol that resolves it. Source: upstream heuristics. */
export const deficitOf = {
  clarify: 'IntentMisarticulated',
  goal: 'GoalIndeterminate',
  bound: 'BoundaryUndefined',
  inquire: 'ContextInsufficient',
  frame: 'FrameworkAbsent',
  ground: 'MappingUncertain',
} as const satisfies Record<Protocol, string>;
/** What is to be done where a protocol is called for: by a person, or by an agent of theirs. Nothing here runs one. */
export const dutyOf: Readonly<Record<Protocol, string>> = {
  clarify: 'say in other words what is meant',
  goal: 'say by what it will be seen that the work is done',
  bound: 'say what may be decided in the work, and what only a person decides',
  inquire: 'find out what is not known',
  frame: 'choose one of the ways in which it can be looked at',
  ground: 'check that the general instruction fits the case at hand',
};
export type DeficitCondition = (typeof deficitOf)[Protocol];
export const deficitConditions = Object.values(deficitOf);

export const sessionLimits = {
  /** Sessions that are open, and those that are over and kept. */
  open: 256,
  kept: 1_000,
  /** Of one session. */
  tasks: 64,
  deficits: 32,
  /** Upper bound of the upstream loop: |ProtocolId| iterations. */
  rounds: protocols.length,
  contextChars: 64,
  argsChars: 16_000,
  priorChars: 64_000,
  conversationChars: 64_000,
  evidenceChars: 1_000,
  /** Of an answer, and of what an upstream protocol brought. */
  textChars: 16_000,
  /** Whole request, as JSON. */
  bytes: 512 * 1024,
  /** Roles of an augmented team, those that it has included. */
  roles: 6,
  members: 32,
  wordChars: 96,
  focusChars: 1_000,
  /** Findings of a task that are kept; what is beyond stands in its gates. */
  findings: 8,
  notes: 100,
  noteChars: 300,
  answers: 64,
  /** How long a question may stay without an answer before the session is withdrawn. */
  questionMs: 7 * 24 * 3_600_000,
} as const;

export interface Deficit {
  protocol: Protocol;
  deficit: DeficitCondition;
  evidence: string;
  /** Said by the caller, or seen by a rule of the policy. */
  origin: 'declared' | 'found';
  /** Rule by which it was found; empty: it was declared. */
  rule: string;
  /** Where: prior, tasks, args or conversation. */
  source: string;
  /** True when it is not known: one question too many is better. */
  blocking: boolean;
}

/** A task as it was written, in the form of `sigma delegate --schema`. */
export interface Draft {
  id: string;
  /** Of the team, to find the agent that does it; empty: none. */
  role: string;
  document: Record<string, unknown>;
}

/** What protocols before this one brought: more of them is more that a person has verified. */
export interface Prior {
  protocols: string[];
  text: string;
  tasks: Draft[];
}

export interface Member {
  /** Agent or alias. */
  name: string;
  type: string;
  perspective: string;
}

export interface TeamRef {
  name: string;
  members: Member[];
}

export interface Role {
  /** Agent or alias that plays it. */
  name: string;
  type: string;
  focus: string;
}

export type TeamStructure =
  | { kind: 'solo' }
  | { kind: 'retained'; team: TeamRef }
  | { kind: 'augmented'; team: TeamRef; roles: Role[] }
  | { kind: 'restructured'; team: TeamRef; roles: Role[]; retained: string[] };

/** What a session is begun with. */
export interface AttendRequest {
  context: string;
  /** The intent in words (`C.args`). */
  args: string;
  prior: Prior | null;
  tasks: Draft[];
  conversation: string;
  deficits: Deficit[];
  team: TeamRef | null;
  /** Who gets the results; absent: the caller. */
  owner?: string;
}

/** By what the tasks came to be. Source: MATERIALIZATION ROUTING. */
export const routes = [
  'resume',
  'conflict',
  'confirm_boundary',
  'auto_proceed',
  'confirm',
] as const;
export type Route = (typeof routes)[number];

export const granularities = ['Meso', 'Micro'] as const;
export type Granularity = (typeof granularities)[number];

/**
 * By what a task is not executed blindly. `noted`: only advisory findings, shown in passing. Empty: by nothing (yet).
 * Unlike in the source, an escape is a value of its own: otherwise every task would be situated after it.
 */
export type SituatedBy = 'low' | 'noted' | 'approved' | 'adapted' | 'escape' | '';

/** One task of a session, and at the same time its line of the convergence trace. */
export interface Row {
  /** In the list `attend-<context>`. */
  entry: string;
  /** At the manager; empty: not delegated. */
  task: string;
  content: string;
  role: string;
  /** The wanted agent; empty: any that can do it. */
  to: string;
  /** Empty: not classified yet. */
  risk: RiskLevel | '';
  findings: Finding[];
  /** Whether an approval of the session covers it. */
  is_approved: boolean;
  description: string;
  judgements: { gate: string; judgement: Judgement | 'expired'; by: string }[];
  /** Gate that waits for a judgement; empty: none. */
  open_gate: string;
  gates: number;
  situated_by: SituatedBy;
  /** State of the task; empty: not delegated. */
  outcome: string;
  /** Why it was not done, or what it waits for, in words; empty or absent: it was done, or is under way. */
  why?: string;
  /** What it asks a person, apart from gates; empty or absent: nothing. */
  asks?: string;
  is_over: boolean;
  /** Of the task that was looked at. */
  revision: number;
}

export const questionKinds = [
  'upstream',
  'restore',
  'conflict',
  'confirm_boundary',
  'confirm',
  'team',
  'augment',
  'classification',
  'plan',
] as const;
export type QuestionKind = (typeof questionKinds)[number];

export interface Option {
  choice: string;
  means: string;
  /** What has to be said with it; empty: nothing. */
  needs: string;
}

/** Options are those of the protocol: none is added, dropped or exchanged (rule 21). */
export interface Question {
  /** Counts the questions of a session: an answer to an earlier one is refused. */
  number: number;
  kind: QuestionKind;
  text: string;
  options: Option[];
}

export interface Answer {
  number: number;
  kind: QuestionKind;
  choice: string;
  text: string;
  by: string;
  at_ms: number;
}

export interface SessionNote {
  at_ms: number;
  state: string;
  text: string;
}

export interface Counts {
  /** Tasks whose risk was assessed. */
  assessed: number;
  /** Gates that were opened. */
  surfaced: number;
  /** What was halted, in words. */
  halted: string[];
}

/** A session as others see it. */
export interface SessionView {
  context: string;
  /** The list of its tasks, and the session under which they are delegated. */
  session: string;
  /** How often this context was attended. */
  run: number;
  revision: number;
  state: string;
  is_over: boolean;
  owner: string;
  args: string;
  reason: string;
  question: Question | null;
  upstream: {
    deficits: Deficit[];
    resolved: string[];
    rounds: number;
    suspended: Protocol | '';
    brought: { protocol: Protocol; text: string }[];
  };
  route: Route | '';
  team: TeamStructure | null;
  /** Members of the team that can be given nothing, with the reason. */
  absent?: Record<string, string>;
  granularity: Granularity;
  counts: Counts;
  /** The convergence trace, as far as it is. */
  trace: Row[];
  /** All tasks are over and every one that was completed is situated; the trace shows by what. */
  is_converged: boolean;
  answers: Answer[];
  notes: SessionNote[];
  created_ms: number;
  updated_ms: number;
  finished_ms: number;
}

/** List of the tasks of a context, and the session of their approvals. */
export const sessionOfContext = (context: string): string => `attend-${context}`;
/** Undefined: no session of this kind. */
export const contextOfSession = (session: string): string | undefined =>
  session.startsWith('attend-') ? session.slice('attend-'.length) : undefined;
