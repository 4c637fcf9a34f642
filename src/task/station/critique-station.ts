import { createHash } from 'node:crypto';
import { standingAfter, type Standing } from '../../critic/cycle/cycle.js';
import { roundOf } from '../../critic/cycle/cycle-verdict.js';
import {
  qualityGate,
  type Criticality,
  type Critique,
  type CritiqueRequest,
  type Finding,
  type PersonJudgement,
} from '../../critic/shapes.js';
import { disputedIn, findingsOf } from '../../critic/cycle/tracking.js';
import { trendText, type TaskFinding, type TaskIteration } from '../life/task-iteration.js';
import { failureOf } from '../../delegation/worker/task-response.js';
import { hasEffects, type DelegatedTask, type TaskFailure } from '../../delegation/task/shapes.js';
import type { ErrorCode } from '../../errors/catalogue.js';
import { withNote } from '../life/advance.js';
import type { Transition } from '../life/transition.js';
import { recordLimits, type TaskRecord } from '../life/record.js';
import type { CritiqueOutcome } from '../life/task.machine.js';

export const reviewFromNames = ['off', 'C2', 'C3', 'C4'] as const;
/** From which criticality on the result of a task is reviewed by a critic before it counts. */
export type ReviewFrom = (typeof reviewFromNames)[number];

export const critiqueLimits = {
  /** Time to wait for a critic that is absent or full. */
  waitMs: 60_000,
  pauseMs: 2_000,
  /** All modes of one review. */
  reviewMs: 15 * 60_000,
  /** Findings in the feedback for the next attempt, worst first. */
  feedback: 8,
  feedbackChars: 700,
  findings: 10,
  findingChars: 600,
  /** Ids of open findings. */
  open: 50,
  criteriaChars: 4_000,
  /** Names of files behind the result. */
  files: 200,
  idChars: 80,
} as const;

/** Prefix of feedback that comes from a critic: a newer critique replaces it. */
const feedbackMark = 'critique: ';

/** A task may ask for a critic; it cannot avoid one that the policy requires. */
export function isCritiqued(
  { critique, criticality }: Pick<DelegatedTask, 'critique' | 'criticality'>,
  from: ReviewFrom,
): boolean {
  return critique === true || (from !== 'off' && criticality >= from);
}

/** Settings of the quality gate; absent ones have their defaults. */
export interface GateSettings {
  threshold?: number;
  iterationsMax?: number;
}

/** The request to a critic about the result of this attempt; the same attempt always gives the same request. */
export function critiqueRequestOf(
  record: TaskRecord,
  root: string,
  { threshold, iterationsMax = qualityGate.iterationsMax }: GateSettings = {},
): CritiqueRequest {
  const { id, task, iterations, attempt, assignment } = record;
  const previous = iterations.findLast(({ score }) => score !== null)?.score ?? undefined;
  const iteration = (iterations.at(-1)?.iteration ?? 1) + 1;
  return {
    id: `${shortId(id)}-c${iteration}-a${attempt}`,
    // The history of a task does not depend on a tree.
    artifact: { path: artifactOf(id), text: textOf(record), tree: '' },
    root,
    modes: [],
    strict_order: false,
    is_adversarial: true,
    context: {
      criticality: task.criticality,
      target_type: targetOf(task),
      phase: 'PH-DESIGN',
      maturity: 'MAT-DRAFT',
      team: 'TEAM-MULTI',
      platform: 'PLAT-GENERIC',
      token_budget: 'TOK-FULL',
    },
    is_revision: false,
    iteration,
    ...(previous !== undefined && { previous_score: previous }),
    ...(threshold !== undefined && { threshold }),
    iterations_max: iterationsMax,
    tokens: 0,
    rules: [],
    criteria: criteriaOf(task),
    ps_id: '',
    entry_id: '',
    generator: assignment?.worker ?? '',
  };
}

/** The name of a task's result in the critic's history. */
export function artifactOf(id: string): string {
  return `task/${id}`;
}

function shortId(id: string): string {
  if (id.length <= critiqueLimits.idChars) return id;
  return createHash('sha256').update(id).digest('hex').slice(0, 40);
}

function targetOf({ kind, runner }: DelegatedTask): string {
  if (kind === 'architecture') return 'TGT-ARCH';
  const isCode = ['simple_refactor', 'bug_fix', 'feature'].includes(kind) || runner === 'command';
  return isCode ? 'TGT-CODE' : 'TGT-RES';
}

function textOf({ response }: TaskRecord): string {
  const files = (response?.files_modified ?? []).slice(0, critiqueLimits.files);
  const listed = files.length === 0 ? '' : `\n\nFiles modified:\n${lines(files)}`;
  return `${response?.result.trim() || '(The worker returned no text.)'}${listed}\n`;
}

function criteriaOf({ task, acceptance_criteria }: DelegatedTask): string {
  const asked = acceptance_criteria.map(({ text }) => text);
  const said = asked.length === 0 ? task : `${task}\n\nIt counts as done when:\n${lines(asked)}`;
  return said.slice(0, critiqueLimits.criteriaChars);
}

const lines = (texts: readonly string[]): string => texts.map((each) => `- ${each}`).join('\n');

/** The transition that follows from a critique of the last attempt. */
export function transitionAfterCritique(
  record: TaskRecord,
  critique: Critique,
  nowMs: number,
  gate: GateSettings = {},
): Transition {
  const { iterations, task } = record;
  const known = iterations.at(-1)?.open ?? [];
  const disputed = disputedIn(record.response?.result ?? '', known);
  const { standing, iteration } = standingAfterCritique(record, critique, {
    disputed,
    gate,
    at_ms: nowMs,
  });
  const kept = [...iterations, iteration].slice(-recordLimits.iterations);
  const counted = outcomeOf(standing, task);
  const unread = counted === 'accepted' ? unreadCriteriaIn(record, critique) : '';
  const outcome = unread === '' ? counted : 'person';
  const detail = [unread, detailOf(kept, standing, task)].filter(Boolean).join('; ');
  const asks = `accept it? ${detail}`.slice(0, recordLimits.asksChars);
  const code: ErrorCode =
    standing.state === 'ratifying' || unread !== '' ? 'CRITIQUE_CONDITIONAL' : 'CRITIQUE_REFUSED';
  const reason = outcome === 'accepted' ? '' : code;
  return {
    event: { type: 'critique.done', outcome, reason },
    patch: {
      iterations: kept,
      ...(outcome === 'person' && { asks, error: failure(code, detail) }),
      ...(outcome === 'revise' && { error: failure('CRITIQUE_REFUSED', lineOf(iteration)) }),
      ...(outcome === 'accepted' && { error: null }),
    },
  };
}

/** Criteria in words need a model, else a person: says which were not read. Empty: all were read. */
function unreadCriteriaIn({ reviews, task }: TaskRecord, { reports }: Critique): string {
  const isUnchecked = reviews.at(-1)?.findings.some(({ code }) => code === 'CRITERIA_UNCHECKED');
  const judges = reports.filter(({ score }) => score !== null);
  if (isUnchecked !== true || judges.some(({ engine }) => engine === 'model')) return '';
  return `no model has checked the ${task.acceptance_criteria.length} criteria in words`;
}

/** Without a critic a critical task (C3, C4) waits for a person; others are accepted with a note. */
export function transitionWithoutCritic(
  record: TaskRecord,
  { code, message }: { code: string; message: string },
  nowMs: number,
): Transition {
  const isCritical = record.task.criticality >= 'C3';
  const detail = `${message} (${code})`;
  const note = `the critic: not reviewed: ${detail}`;
  const asks = `accept it without a critique? It was to be reviewed, but ${detail}`;
  return {
    event: isCritical
      ? { type: 'critique.done', outcome: 'person', reason: 'CRITIC_UNAVAILABLE' }
      : { type: 'critique.done', outcome: 'accepted', reason: 'CRITIC_UNAVAILABLE' },
    patch: {
      notes: withNote(record, note, nowMs),
      ...(isCritical
        ? {
            asks: asks.slice(0, recordLimits.asksChars),
            error: failure('CRITIC_UNAVAILABLE', detail),
          }
        : { error: null }),
    },
  };
}

/** The feedback for the next attempt: findings of the last critique, worst first, replace those of earlier ones. */
export function feedbackWithCritique(feedback: readonly string[], last: TaskIteration): string[] {
  const others = feedback.filter((each) => !each.startsWith(feedbackMark));
  const said = last.findings
    .slice(0, critiqueLimits.feedback)
    .map(({ id, severity, text, remedy }) =>
      `${feedbackMark}${severity} ${id}: ${text} ${remedy}`.slice(0, critiqueLimits.feedbackChars),
    );
  const score = last.score === null ? 'no score' : `${last.score.toFixed(2)} of ${last.threshold}`;
  const how = 'put the findings right, or answer one that is wrong by a line `disputed: ID, why`';
  return [...others, `${feedbackMark}${score} (${last.why}): ${how}`, ...said];
}

/** The critique of the current attempt; undefined: there is none. */
export function lastCritique({ iterations, attempt }: TaskRecord): TaskIteration | undefined {
  const last = iterations.at(-1);
  return last?.attempt === attempt ? last : undefined;
}

/** The critiques with the judgement of a person on the last one. */
export function withPersonJudgement(
  record: TaskRecord,
  judged: PersonJudgement,
  by: string,
): Pick<TaskRecord, 'iterations'> | Record<string, never> {
  const last = lastCritique(record);
  if (last === undefined) return {};
  return { iterations: [...record.iterations.slice(0, -1), { ...last, judged, judged_by: by }] };
}

/** The judgement that a person has just given, for the critic's history; undefined: none. */
export function ratificationIn(
  before: TaskRecord,
  after: TaskRecord,
): { artifact: string; critique: string; judgement: PersonJudgement } | undefined {
  const last = after.iterations.at(-1);
  const known = before.iterations.find(({ critique }) => critique === last?.critique);
  if (last === undefined || last.judged === '' || known?.judged === last.judged) return undefined;
  const { critique, judged: judgement } = last;
  return { artifact: artifactOf(after.id), critique, judgement };
}

function standingAfterCritique(
  { iterations, task, attempt }: TaskRecord,
  critique: Critique,
  { disputed, gate, at_ms }: { disputed: string[]; gate: GateSettings; at_ms: number },
): { standing: Standing; iteration: TaskIteration } {
  const round = roundOf(critique, disputed);
  const earlier = iterations.map((each) => ({ ...each, findings: each.open }));
  // The critic may raise the criticality of the task, never lower it.
  const criticality = [task.criticality, critique.selection.criticality]
    .sort()
    .at(-1) as Criticality;
  const standing = standingAfter([...earlier, { ...round, judged: '' as const }], {
    criticality,
    isAdversarial: true,
    iterationsMax: gate.iterationsMax ?? qualityGate.iterationsMax,
    // The critic's threshold; for C1 only where the settings name one.
    ...((criticality !== 'C1' || gate.threshold !== undefined) && {
      threshold: critique.threshold,
    }),
  });
  const { digest, score, threshold, verdict, why, flags, reports } = critique;
  const iteration: TaskIteration = {
    ...{ iteration: standing.iteration, attempt, critique: critique.id, digest, score, threshold },
    ...{ verdict, why: why.slice(0, recordLimits.noteChars), disputed },
    modes: reports
      .filter(({ status }) => status === 'complete' || status === 'partial')
      .map(({ mode }) => mode),
    findings: findingsOf(critique).slice(0, critiqueLimits.findings).map(taskFindingOf),
    open: round.findings.slice(0, critiqueLimits.open),
    flags: [...new Set([...flags.map(({ code }) => code), standing.flag])].filter(Boolean),
    ...{ is_hard: round.is_hard, needs_person: round.needs_person },
    ...{ state: standing.state, reason: standing.reason, judged: '', judged_by: '', at_ms },
  };
  return { standing, iteration };
}

function taskFindingOf({ id, mode, severity, rule, text, remedy, is_hard }: Finding): TaskFinding {
  const most = critiqueLimits.findingChars;
  return {
    id,
    mode,
    severity,
    rule,
    is_hard,
    text: text.slice(0, most),
    remedy: remedy.slice(0, most),
  };
}

/** Work with effects is not repeated without a person. */
function outcomeOf({ state }: Standing, task: DelegatedTask): CritiqueOutcome {
  if (state === 'accepted' || state === 'reported') return 'accepted';
  return state === 'revising' && !hasEffects(task) ? 'revise' : 'person';
}

function detailOf(
  iterations: readonly TaskIteration[],
  { state, text }: Standing,
  task: DelegatedTask,
): string {
  const last = iterations.at(-1);
  if (last === undefined) return '';
  const effects = 'it would be done again, and what it did has effects';
  const why = state === 'revising' && hasEffects(task) ? `${effects}; ${text}` : text;
  const [worst] = last.findings;
  const said = [
    why,
    `scores ${trendText(iterations)}`,
    last.why,
    ...(worst === undefined ? [] : [`worst: ${worst.severity} ${worst.text}`]),
  ];
  return said.join('; ');
}

function lineOf({ score, verdict, why }: TaskIteration): string {
  return `${verdict} ${score === null ? 'without a score' : score.toFixed(2)}: ${why}`;
}

function failure(code: ErrorCode, detail: string): TaskFailure {
  return failureOf(code, { detail, service: 'critic', task: '' });
}
