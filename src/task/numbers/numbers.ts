import { isEvidenceRequired } from '../../delegation/task/shapes.js';
import {
  attentionCounted,
  noAttentionNumbers,
  type AttentionNumbers,
} from './attention-numbers.js';
import { stateOf } from '../life/advance.js';
import type { TaskRecord } from '../life/record.js';

/** Findings that mean there is no evidence at all. */
const groundless = new Set([
  'PROTOCOL_MISMATCH',
  'EVIDENCE_MISSING',
  'CITATIONS_MISSING',
  'NOTHING_VERIFIED',
]);

/**
 * Sums over all finished tasks, for the metrics of the delegation document (section 7). Each task is counted once, in the batch that finishes it.
 */
export interface TaskNumbers {
  finished: number;
  /** By state. */
  outcomes: Record<string, number>;
  completed_at_first: number;
  /** Completed without the decision of a person. */
  completed_unaided: number;
  grounded: number;
  /** Reviewed responses; those that needed evidence; those of them without any. */
  responses: number;
  responses_required: number;
  responses_groundless: number;
  /** Reviews by confidence, and the refused ones among them. */
  reviewed: Record<string, number>;
  refused: Record<string, number>;
  grounding_ms: number;
  working_ms: number;
  grounding_bytes: number;
  context_bytes: number;
  tokens: number;
  /** Tasks that reported their usage. */
  told_usage: number;
  /** By overlay: tasks that consulted it, and tasks with a verified citation of it. */
  overlays_consulted: Record<string, number>;
  overlays_cited: Record<string, number>;
  attention: AttentionNumbers;
}

export const noNumbers: TaskNumbers = {
  finished: 0,
  outcomes: {},
  completed_at_first: 0,
  completed_unaided: 0,
  grounded: 0,
  responses: 0,
  responses_required: 0,
  responses_groundless: 0,
  reviewed: {},
  refused: {},
  grounding_ms: 0,
  working_ms: 0,
  grounding_bytes: 0,
  context_bytes: 0,
  tokens: 0,
  told_usage: 0,
  overlays_consulted: {},
  overlays_cited: {},
  attention: noAttentionNumbers,
};

/** The sums with one more finished task. */
export function counted(before: TaskNumbers, record: TaskRecord): TaskNumbers {
  const { task, reviews, response, notes } = record;
  const state = stateOf(record);
  const isCompleted = state === 'completed';
  const wasDecided = notes.some((each) => each.state === 'deciding');
  const isGrounded = task.grounding !== null && task.grounding.strategy !== 'none';
  const isRequired = isEvidenceRequired(record.asked.grounding);
  const groundlessOnes = reviews.filter(({ findings }) =>
    findings.some(({ code }) => groundless.has(code)),
  ).length;
  const usage = response?.usage ?? null;
  const evidence = response?.grounding_evidence ?? null;
  const last = reviews.at(-1);
  const cited = (evidence?.citations ?? []).filter(
    (_, at) => last?.citations[at]?.status === 'valid',
  );
  return {
    finished: before.finished + 1,
    outcomes: added(before.outcomes, [state]),
    completed_at_first: before.completed_at_first + (isCompleted && reviews.length <= 1 ? 1 : 0),
    completed_unaided: before.completed_unaided + (isCompleted && !wasDecided ? 1 : 0),
    grounded: before.grounded + (isGrounded ? 1 : 0),
    responses: before.responses + reviews.length,
    responses_required: before.responses_required + (isRequired ? reviews.length : 0),
    responses_groundless: before.responses_groundless + (isRequired ? groundlessOnes : 0),
    reviewed: added(
      before.reviewed,
      reviews.map(({ confidence }) => confidence),
    ),
    refused: added(
      before.refused,
      reviews.flatMap(({ confidence, verdict }) => (verdict === 'refused' ? [confidence] : [])),
    ),
    // Concurrent questions cannot take longer than the whole task.
    grounding_ms: before.grounding_ms + Math.min(usage?.grounding_ms ?? 0, usage?.elapsed_ms ?? 0),
    working_ms: before.working_ms + (usage?.elapsed_ms ?? 0),
    grounding_bytes: before.grounding_bytes + (usage?.grounding_bytes ?? 0),
    context_bytes: before.context_bytes + (usage?.context_bytes ?? 0),
    tokens: before.tokens + (usage?.tokens ?? 0),
    told_usage: before.told_usage + (usage === null ? 0 : 1),
    overlays_consulted: added(before.overlays_consulted, new Set(evidence?.overlays_consulted)),
    overlays_cited: added(before.overlays_cited, new Set(cited.map(({ overlay }) => overlay))),
    attention: attentionCounted(before.attention, record),
  };
}

/** Shares between 0 and 1; 0 where there is nothing to divide by. */
export interface TaskRates {
  /** Completed, of the finished tasks. */
  completed: number;
  /** Accepted at the first attempt, of the completed tasks. */
  accepted_without_revision: number;
  accepted_without_manual_review: number;
  /** Of the responses that needed evidence. */
  responses_without_grounding: number;
  adoption: number;
  /** Time spent on the PGC, of the working time. */
  grounding_overhead: number;
  /** Bytes read from the PGC and given to the runner. */
  bytes_per_task: number;
  tokens_per_task: number;
  rejection_by_confidence: Record<string, number>;
  /** Of the finished tasks. */
  overlay_coverage: Record<string, number>;
}

export function ratesOf(numbers: TaskNumbers): TaskRates {
  const { finished, outcomes, told_usage: reported } = numbers;
  const completed = outcomes.completed ?? 0;
  const each = (
    parts: Record<string, number>,
    wholes: (name: string) => number,
  ): Record<string, number> =>
    Object.fromEntries(
      Object.keys(parts).map((name) => [name, share(parts[name] ?? 0, wholes(name))]),
    );
  return {
    completed: share(completed, finished),
    accepted_without_revision: share(numbers.completed_at_first, completed),
    accepted_without_manual_review: share(numbers.completed_unaided, completed),
    responses_without_grounding: share(numbers.responses_groundless, numbers.responses_required),
    adoption: share(numbers.grounded, finished),
    grounding_overhead: share(numbers.grounding_ms, numbers.working_ms),
    bytes_per_task: Math.round(share(numbers.grounding_bytes + numbers.context_bytes, reported)),
    tokens_per_task: Math.round(share(numbers.tokens, reported)),
    rejection_by_confidence: each(
      { high: 0, medium: 0, low: 0, ...numbers.refused },
      (level) => numbers.reviewed[level] ?? 0,
    ),
    overlay_coverage: each(numbers.overlays_cited, () => finished),
  };
}

function share(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole;
}

function added(before: Record<string, number>, names: Iterable<string>): Record<string, number> {
  const after = { ...before };
  for (const name of names) after[name] = (after[name] ?? 0) + 1;
  return after;
}
