import { isErrorCode } from '../../errors/catalogue.js';
import { BusError, type ErrorData } from '../../errors/bus-error.js';
import type { Conflict } from './proposal-check.js';
import { evidenceOf, merged, nothingGathered, type Gathered } from '../grounding/gathered.js';
import type { Outcome } from './runner-outcome.js';
import {
  legacyVersion,
  protocolVersion,
  responseLimits,
  taskLimits,
  type DelegatedTask,
  type ResponseStatus,
  type Strategy,
  type TaskFailure,
  type TaskResponse,
} from '../task/shapes.js';
import { strategyOf } from '../manager/strategy.js';

/** All that a worker knows of a task at its end. */
export interface Work {
  task: DelegatedTask;
  attempt: number;
  outcome: Outcome | null;
  /** Gathered before the runner began, and after it ended. */
  before: Gathered | null;
  after: Gathered | null;
  conflicts: Conflict[];
  names: number;
  turns: number;
  elapsedMs: number;
  errors: TaskFailure[];
}

const cutMark = '\n… cut here';

export function strategyInForce({ grounding, kind }: DelegatedTask): Strategy {
  if (grounding === null) return 'none';
  return grounding.strategy || (kind === '' ? 'pgc_first' : strategyOf[kind]);
}

/** The response of a worker: result, evidence and conflicts. */
export function respond(
  work: Work,
  { status, reason, isPartial }: { status: ResponseStatus; reason: string; isPartial: boolean },
): TaskResponse {
  const { task, outcome, before, after, attempt } = work;
  const strategy = strategyInForce(task);
  // Absent in a record of an earlier release.
  const { cited = [], isOwnWords = false } = (outcome ?? {}) as Partial<Outcome>;
  const last = after ?? nothingGathered;
  const gathered = merged(before ?? nothingGathered, outcome?.gathered ?? nothingGathered, last);
  const isSaid = isOwnWords && cited.length === 0;
  const evidence = evidenceOf(
    isSaid ? { ...gathered, citations: last.citations } : gathered,
    cited,
  );
  const result = status === 'needs_clarification' ? '' : resultOf(work, strategy);
  const errors = [...work.errors, ...(outcome?.errors ?? []), ...gathered.errors].slice(
    0,
    // Leaves room for the reason.
    responseLimits.errors - 1,
  );
  return {
    task_id: task.id,
    status,
    result,
    // Where none is wanted, what was found is told all the same.
    grounding_evidence: strategy === 'none' && evidence.citations.length === 0 ? null : evidence,
    reason,
    errors:
      reason === '' || errors.some(({ code }) => code === reason)
        ? errors
        : [failureOf(reason), ...errors],
    protocol_version: task.grounding === null ? legacyVersion : protocolVersion,
    clarification_request: status === 'needs_clarification' ? (outcome?.question ?? '') : '',
    attempt,
    partial: isPartial && result !== '',
    files_modified: outcome?.files ?? [],
    classification: outcome?.classification ?? null,
    // Absent in a record of an earlier release.
    steps: (outcome as Partial<Outcome> | null)?.steps ?? [],
    usage: {
      grounding_ms: gathered.ms,
      elapsed_ms: Math.round(work.elapsedMs),
      grounding_bytes: gathered.bytes,
      context_bytes: outcome?.contextBytes ?? 0,
      tokens: outcome?.tokens ?? 0,
    },
  };
}

/** The response to an assignment of which only the ids could be read. */
export function malformed(task_id: string, attempt: number, detail: string): TaskResponse {
  const { code, message, retryable } = new BusError('MALFORMED_PAYLOAD', { detail });
  return {
    ...{ task_id, status: 'failed', result: '', grounding_evidence: null, reason: code },
    errors: [{ code, text: message, retryable }],
    ...{ protocol_version: protocolVersion, clarification_request: '', attempt, partial: false },
    ...{ files_modified: [], usage: null, classification: null, steps: [] },
  };
}

export function failureOf(code: string, data: ErrorData = {}): TaskFailure {
  if (!isErrorCode(code)) return { code, text: code, retryable: false };
  const { message, retryable } = new BusError(code, data);
  // A text with an unfilled placeholder says less than the code.
  return { code, text: /\{\w+\}/.test(message) ? code : message, retryable };
}

function resultOf({ outcome, conflicts, names, turns }: Work, strategy: Strategy): string {
  const result = outcome?.result ?? '';
  if (strategy !== 'pgc_verify' || result === '' || names === 0) return cut(result);
  const again = turns > 1 ? `, in ${turns} turns` : '';
  const said =
    conflicts.length === 0
      ? `Verified afterwards: ${names} names looked up${again}, none contradicts the PGC.`
      : [
          `Verified afterwards: of ${names} names${again}, ${conflicts.length} contradict the PGC:`,
          ...conflicts.map(({ name, why }) => `- ${name}: ${why}`),
        ].join('\n');
  return `${cut(result, said.length + 2)}\n\n${said}`;
}

function cut(text: string, reserved = 0): string {
  const max = taskLimits.resultChars - reserved;
  return text.length <= max ? text : `${text.slice(0, max - cutMark.length)}${cutMark}`;
}
