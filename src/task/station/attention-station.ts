import type { Approval } from '../../attention/approvals.js';
import {
  covers,
  granted,
  isGated,
  judged,
  leaveFor,
  nextGrant,
  openGate,
  opened,
  questionOfGate,
  taskOfGate,
} from '../../attention/gates.js';
import { canonicalJson } from '../../attention/digest.js';
import { reportedBy, reportedIn, statedGate } from '../../attention/gate-block.js';
import type { GateJudgement, GrantUse } from '../../attention/messages.js';
import {
  attentionLimits,
  judgements,
  type Classification,
  type Gate,
  type Grant,
} from '../../attention/shapes.js';
import { parseJson } from '../../delegation/task/json.js';
import { readAction } from '../../delegation/task/schema.js';
import { taskLimits, type DelegatedTask, type TaskResponse } from '../../delegation/task/shapes.js';
import { asBusError, BusError } from '../../errors/bus-error.js';
import { stateOf } from '../life/advance.js';
import type { TaskBook } from '../book/book.js';
import { currentGateState, sessionOf } from '../life/gates.js';
import type { TaskRecord } from '../life/record.js';
import type { Patch, Transition } from '../life/transition.js';

/** What the station needs from outside. */
export interface AttentionPorts {
  /** Classifies by the task alone; the executor classifies scripts, which only it can read. Undefined: the task runs no action. */
  classify: (task: DelegatedTask) => Promise<Classification | undefined>;
  approved: (session: string, seen: Classification) => Promise<Approval | undefined>;
  /** Time that a person has. */
  gateMs: number;
  /** What ends when a gate expires: its task, or all open tasks of its session. */
  onExpiry: 'halt' | 'withdraw';
  /** Name of this manager in classifications. */
  self: string;
}

/**
 * Whether a task passes the attention station: silently, with a note, by an approval of its session, or after a person is asked. Undefined: a gate is open already. Source: the attention protocol, phases 0 to 2.
 */
export async function attend(
  record: TaskRecord,
  ports: AttentionPorts,
  nowMs: number,
): Promise<Transition | undefined> {
  const { task, grants, gates, findings } = record;
  // The effect is performed a second time: the question stands already.
  if (openGate(gates) !== undefined) return undefined;
  const seen = await classificationOf(record, ports);
  if (seen === undefined) return passed({});
  const { classification, by } = seen;
  if (!isGated(classification)) return passed({ findings: withFindings(findings, classification) });
  const leave = leaveFor(grants, classification);
  if (leave !== undefined && by === ports.self) return passed({});
  const session = sessionOf(record);
  // An executor that had a grant and stopped all the same needs a person, not the same approval.
  const approval = leave === undefined ? await ports.approved(session, classification) : undefined;
  if (approval !== undefined) {
    const given = { task: task.id, digest: classification.digest, gate: '', by: approval.by };
    return passed({ grants: granted(grants, { ...given, nowMs, n: nextGrant(grants) }) });
  }
  const { gateMs } = ports;
  const asked = { task: task.id, classification, seenBy: by, session, nowMs, expiresMs: gateMs };
  const next = opened(gates, asked);
  const gate = next?.at(-1);
  if (next === undefined || gate === undefined) {
    const { code, text, retryable } = new BusError('GATES_EXCEEDED', {
      task: task.id,
      limit: attentionLimits.gates,
    }).toFailure();
    const event = { type: 'gate.judged', outcome: 'halted', reason: code } as const;
    return { event, patch: { error: { code, text, retryable } } };
  }
  return {
    event: { type: 'attention.gated', reason: 'GATE_DETECTED', expiresMs: gateMs },
    patch: {
      gates: next,
      grants: grants.filter((each) => each !== leave),
      asks: questionOfGate(gate),
    },
  };
}

/**
 * The session that ends with a finished task, where a person withdrew it at a gate or the policy does. It is derived from the record, so that a restarted manager repeats it. Undefined: none.
 */
export function sessionEndedBy(
  record: TaskRecord,
  { onExpiry }: Pick<AttentionPorts, 'onExpiry'>,
): { session: string; reason: string; untilMs: number } | undefined {
  const { reason } = record.snapshot.context;
  const isWithdrawn =
    reason === 'GATE_WITHDRAWN' || (reason === 'GATE_EXPIRED' && onExpiry === 'withdraw');
  if (stateOf(record) !== 'halted' || !isWithdrawn) return undefined;
  return { session: sessionOf(record), reason, untilMs: record.finished_ms };
}

/** Cancels all open tasks of a session that were created up to `untilMs`. Throws STORE_UNAVAILABLE. */
export async function withdrawSession(
  book: TaskBook,
  { session, reason, untilMs = Infinity }: { session: string; reason: string; untilMs?: number },
): Promise<void> {
  const open = book
    .open()
    .filter((record) => sessionOf(record) === session && record.created_ms <= untilMs);
  for (const { id } of open)
    await book.send(id, { type: 'task.cancelled', reason }).catch((error: unknown) => {
      // The task has ended meanwhile.
      if (asBusError(error).code !== 'TASK_STATE') throw error;
    });
}

/** The classification of the executor that stopped, else that of this manager. */
async function classificationOf(
  { response, task, assignment }: TaskRecord,
  { classify, self }: AttentionPorts,
): Promise<{ classification: Classification; by: string } | undefined> {
  if (response?.reason === 'GATE_DETECTED' && response.status === 'blocked') {
    const by = assignment?.worker ?? '';
    return { classification: reportedClassification(response, task.id, by), by };
  }
  const classification = await classify(task);
  return classification && { classification, by: self };
}

/**
 * A worker that stopped is believed, even when it reports no risk: sent back without a question it would stop at the same action again.
 */
function reportedClassification(
  { classification, result, errors }: TaskResponse,
  task: string,
  worker: string,
): Classification {
  if (classification !== null && isGated(classification)) return classification;
  const texts = [result, ...errors.map(({ text }) => text)];
  return reportedBy(task, worker, statedGate(texts, { given: [], mark: '' }));
}

function passed(patch: Patch): Transition {
  return { event: { type: 'attention.passed' }, patch };
}

function withFindings(
  before: TaskRecord['findings'],
  { findings }: Classification,
): TaskRecord['findings'] {
  const known = new Set(before.map((each) => JSON.stringify(each)));
  const fresh = findings.filter((each) => !known.has(JSON.stringify(each)));
  return [...before, ...fresh].slice(-attentionLimits.findings);
}

/** The transition that a judgement of an open gate causes. Throws NO_SUCH_GATE, GATE_JUDGED, GATE_CHANGED, USAGE, TOO_LARGE, TASK_INVALID. */
export function transitionByJudgement(
  record: TaskRecord,
  said: GateJudgement,
  by: string,
  nowMs: number,
): Transition & { gate: Gate } {
  const gate = gateIn(record, said.id);
  const { judgement, direction } = said;
  if (!judgements.includes(judgement))
    throw new BusError('USAGE', { detail: `a gate is judged by ${judgements.join(', ')}` });
  if (gate.state !== 'open' || stateOf(record) !== 'attending')
    throw new BusError('GATE_JUDGED', { gate: gate.id, state: currentGateState(gate, record) });
  const { digest } = gate.classification;
  if (said.action !== '' && said.action !== digest.action)
    throw new BusError('GATE_CHANGED', { gate: gate.id });
  if (direction.length > attentionLimits.directionChars)
    throw new BusError('TOO_LARGE', {
      what: 'a direction',
      unit: 'characters',
      bytes: direction.length,
      limit: attentionLimits.directionChars,
    });
  const gates = judged(record.gates, { judgement, by, direction, nowMs });
  const base: Patch = { gates, asks: '', error: null };
  const { grants, id: task } = record;
  const reason = `${judgement} by ${by}`;
  switch (judgement) {
    case 'approve':
    case 'dismiss': {
      const findings = reportedIn(gate.classification);
      const given = { task, digest, gate: gate.id, by, nowMs, n: nextGrant(grants), findings };
      const patch = { ...base, grants: granted(grants, given) };
      return { gate, event: { type: 'gate.judged', outcome: 'granted', reason }, patch };
    }
    case 'modify': {
      const patch = { ...base, response: null, ...modification(record, direction) };
      return { gate, event: { type: 'gate.judged', outcome: 'modified', reason }, patch };
    }
    case 'halt':
    case 'withdraw': {
      const { code, text, retryable } = new BusError(
        judgement === 'halt' ? 'GATE_HALTED' : 'GATE_WITHDRAWN',
        { gate: gate.id, by },
      ).toFailure();
      const outcome = judgement === 'halt' ? 'halted' : 'withdrawn';
      const patch = { ...base, error: { code, text, retryable } };
      return { gate, event: { type: 'gate.judged', outcome, reason: code }, patch };
    }
  }
}

/** Whether the gate was judged exactly so before. */
export function isSameJudgement(record: TaskRecord, said: GateJudgement, by: string): boolean {
  const { state, judgement, judged_by, direction, classification } = gateIn(record, said.id);
  const isShown = said.action === '' || said.action === classification.digest.action;
  const isSame = judgement === said.judgement && direction === said.direction && isShown;
  return state === 'judged' && judged_by === by && isSame;
}

/** Another action as JSON for the runner `command`; for other runners a direction in words. */
function modification({ task }: TaskRecord, direction: string): Patch {
  const usage = (detail: string): BusError => new BusError('USAGE', { detail });
  if (task.runner === 'command') {
    const value = parseJson(direction);
    if (!('argv' in value))
      throw usage('a program is modified by another action as JSON: {"argv": [...]}');
    const action = readAction(value, task.action);
    if (canonicalJson(action) === canonicalJson(task.action))
      throw usage('this is the action that was stopped; approve or dismiss it');
    return { task: { ...task, action } };
  }
  if (direction.trim() === '') throw usage('modify needs a direction');
  const feedback = [...task.feedback, direction].slice(-taskLimits.feedback);
  return { task: { ...task, feedback } };
}

/** Throws NO_SUCH_GATE. */
export function gateIn({ gates }: Pick<TaskRecord, 'gates'>, id: string): Gate {
  const gate = gates.find((each) => each.id === id);
  if (gate === undefined) throw new BusError('NO_SUCH_GATE', { gate: id });
  return gate;
}

/** The task of a gate, by the id of the gate. Throws NO_SUCH_GATE. */
export async function recordOfGate(book: TaskBook, id: string): Promise<TaskRecord> {
  const task = taskOfGate(id);
  if (task === undefined || book.stateOf(task) === undefined)
    throw new BusError('NO_SUCH_GATE', { gate: id });
  return book.get(task);
}

/**
 * The grants of a record after the current worker used one. The same use of the same attempt again changes nothing. Throws STALE_ATTEMPT, GRANT_REFUSED, GRANT_USED.
 */
export function withGrantUsed(
  record: TaskRecord,
  use: GrantUse,
  by: string,
  nowMs: number,
): Grant[] {
  const { assignment, attempt: now } = record;
  const isTheirs = assignment?.attempt === use.attempt && assignment.worker === by;
  // The worker may not know yet that the task was cancelled.
  if (!isTheirs || assignment.snapshot.status !== 'active')
    throw new BusError('STALE_ATTEMPT', { task: record.id, attempt: use.attempt, now });
  const grant = record.grants.find(({ id }) => id === use.grant);
  const refused = (detail: string): BusError =>
    new BusError('GRANT_REFUSED', { task: record.id, detail });
  if (grant === undefined) throw refused('there is no such grant for this task');
  // The executor has classified scripts; only the action is compared here.
  if (!covers(grant.digest, { digest: use.digest, findings: [] }))
    throw refused('it was given for another action');
  if (grant.used_ms > 0) {
    if (grant.used_attempt === use.attempt) return record.grants;
    throw new BusError('GRANT_USED', { grant: grant.id });
  }
  return record.grants.map((each) =>
    each === grant ? { ...each, used_ms: nowMs, used_attempt: use.attempt } : each,
  );
}
