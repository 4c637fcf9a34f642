import type { Clock } from '../../base/clock.js';
import { pause } from '../../base/pause.js';
import { asBusError, BusError } from '../../errors/bus-error.js';
import { leaseMs } from '../../delegation/manager/manager.machine.js';
import { assignmentId } from '../../delegation/task/messages.js';
import { reasonOf, reviewResponse } from '../../delegation/manager/response-review.js';
import type { Critique } from '../../critic/shapes.js';
import type {
  CheckedCitation,
  Nearness,
  Review,
  SaidWords,
} from '../../delegation/manager/review.js';
import {
  type Assignment,
  type DelegatedTask,
  type EvidenceCitation,
  type GroundingEvidence,
  type TaskResponse,
  type TaskFailure,
  evidenceLimits,
  hasEffects,
  taskLimits,
} from '../../delegation/task/shapes.js';
import {
  workClassOf,
  type WorkerRequest,
  type WorkerPool,
} from '../../delegation/manager/worker-pool.js';
import { hasAgent, isOver, stateOf, withNoteOnce, type SideEffect } from '../life/advance.js';
import {
  attend,
  sessionEndedBy,
  withdrawSession,
  type AttentionPorts,
} from './attention-station.js';
import type { TaskBook } from '../book/book.js';
import type { Patch } from '../life/transition.js';
import {
  transitionWithoutCritic,
  transitionAfterCritique,
  lastCritique,
  feedbackWithCritique,
  type GateSettings,
} from './critique-station.js';
import { relaxed, withoutDependency } from '../life/patches.js';
import { critiqueWithin } from './critique-wait.js';
import type { Queues } from '../queue/queues.js';
import { recordLimits, type TaskRecord } from '../life/record.js';
import { reactionToBlock } from '../life/block-reaction.js';
import type { TaskEvent } from '../life/task.machine.js';

export interface AssignedTo {
  worker: string;
  /** It speaks the delegation protocol. */
  isCapable: boolean;
}

/** What the conductor needs from outside. */
export interface ConductorPorts {
  /** Id of this manager, as workers address it. */
  manager: string;
  attention: AttentionPorts;
  clock: Clock;
  queues: Pick<Queues, 'turn' | 'taskChanged' | 'attemptStarting' | 'taskEnded' | 'isOver'>;
  /** Registers the agent of a task on the bus; a second time it changes nothing. Throws what the broker refuses. */
  enrol: (id: string) => Promise<void>;
  dismiss: (id: string) => Promise<void>;
  /** Sends a durable message, stored once under its id. Throws what the broker refuses. */
  assign: (worker: AssignedTo, assignment: Assignment, id: string) => Promise<void>;
  withdraw: (worker: string, task: string, attempt: number, reason: string) => Promise<void>;
  /** Sends the result to the parent, from the agent of the task where it has one. Stored once, however often it is sent. */
  deliver: (record: TaskRecord) => Promise<void>;
  /** The citations in their order, each with its verdict, computed in this process. */
  verify: (
    citations: readonly EvidenceCitation[],
    task: DelegatedTask,
  ) => Promise<CheckedCitation[]>;
  /** What the PGC itself says of evidence; absent: what it says of itself counts. */
  nearness?: (task: DelegatedTask, evidence: GroundingEvidence) => Promise<Nearness>;
  /** What is known of the words of a response, beside its citations. */
  words?: (task: DelegatedTask, response: TaskResponse, worker: string) => Promise<SaidWords>;
  /** Asks a critic; the same request again is the same review. Throws NO_RESPONDER, and what the critic refuses. */
  critique: (record: TaskRecord, signal: AbortSignal) => Promise<Critique>;
  /** Settings of the quality gate; absent: the defaults. */
  gate?: GateSettings;
  /** Has missing overlays built; resolves when they are there. Throws OVERLAYS_MISSING. */
  generate: (overlays: readonly string[], signal: AbortSignal) => Promise<void>;
}

/** Reason of an abort: this process ends, and the next one continues. */
export const handedOver = 'handed over';

const openStates = new Set(['pending', 'attending', 'assigned', 'running']);

/** Performs the effects of a book. Each may be performed twice: the second time changes nothing. */
export class Conductor {
  readonly #pool: WorkerPool;
  readonly #ports: ConductorPorts;
  #book: TaskBook | undefined;

  constructor(pool: WorkerPool, ports: ConductorPorts) {
    this.#pool = pool;
    this.#ports = ports;
  }

  /** Attached after construction, because the book needs `perform` to open. */
  attach(book: TaskBook): void {
    this.#book = book;
    for (const { id, assignment, task, depth } of book.open())
      if (assignment?.snapshot.status === 'active')
        this.#pool.restore(id, assignment.worker, workClassOf(task.runner, depth));
  }

  /** After each change of a record. */
  taskChanged(record: TaskRecord): void {
    // A task that waits for a person gives up its worker.
    const isIdle = !openStates.has(stateOf(record)) || record.snapshot.context.isGated;
    if (isIdle) this.#pool.release(record.id);
    this.#ports.queues.taskChanged(record);
  }

  readonly perform = async (record: TaskRecord, effect: SideEffect): Promise<void> => {
    const { id } = record;
    switch (effect.type) {
      case 'agent.enrol':
        // If it is over already, `task.finish` registers it again.
        return isOver(record) ? undefined : this.#ports.enrol(id).catch(ignoreIfRefused);
      case 'turn.await':
        return this.whileIn(record, 'pending', (signal) => this.#awaitTurn(record, signal));
      case 'task.attend':
        return this.#attend(record);
      case 'worker.choose':
        return this.#choose(record);
      case 'assignment.send':
        return this.#assign(record, effect.attempt);
      case 'withdrawal.send':
        return this.#ports
          .withdraw(effect.worker, id, effect.attempt, effect.reason)
          .catch(ignoreIfGone);
      case 'response.review':
        return this.#review(record);
      case 'result.critique':
        return this.whileIn(record, 'critiquing', (signal) => this.#critique(record, signal));
      case 'revision.prepare':
        return this.#revise(record);
      case 'block.react':
        return this.whileIn(record, 'blocked', (signal) =>
          this.#react(record, effect.reason, signal),
        );
      case 'task.finish':
        return this.#finish(record);
    }
  };

  /** Works as long as the task is in that state, and not at all when it no longer is. Throws CANCELLED when the book is closed, so that the effect stays pending. */
  async whileIn(
    record: TaskRecord,
    state: string,
    work: (signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    const book = this.attachedBook();
    const over = new AbortController();
    const watched = (async () => {
      let current = record;
      try {
        while (!over.signal.aborted && stateOf(current) === state)
          current = await this.#changed(record.id, current.revision, over.signal);
      } finally {
        // Requests that were sent stay valid: the next process takes the answer.
        over.abort(book.isClosed ? handedOver : undefined);
      }
    })();
    // Awaited below, once the work has ended.
    watched.catch(() => undefined);
    try {
      if (stateOf(await book.get(record.id)) === state) await work(over.signal);
    } catch (error) {
      if (!over.signal.aborted) throw error;
    } finally {
      over.abort();
      await watched;
    }
  }

  /** Throws CANCELLED when the book is closed. */
  async #changed(id: string, revision: number, signal: AbortSignal): Promise<TaskRecord> {
    const book = this.attachedBook();
    const record = await book.changed(id, revision, signal);
    if (book.isClosed) throw new BusError('CANCELLED');
    return record;
  }

  async #awaitTurn({ id, task, reactions }: TaskRecord, signal: AbortSignal): Promise<void> {
    const book = this.attachedBook();
    for (const each of task.depends_on) {
      let other = await book.get(each);
      while (!isOver(other) && !signal.aborted)
        other = await this.#changed(each, other.revision, signal);
      if (signal.aborted) return;
      const state = stateOf(other);
      if (state === 'completed' || reactions.includes(withoutDependency)) continue;
      const failure = new BusError('DEPENDENCY_FAILED', { task: each, state });
      const reason = failure.code;
      await book.send(id, { type: 'dependency.failed', reason }, { error: failureOf(failure) });
      return;
    }
    const record = await book.get(id);
    const { clock, queues } = this.#ports;
    await queues.turn(record, signal);
    await pause(clock, Math.max(0, record.not_before_ms - clock.nowMs()), signal);
    if (signal.aborted) return;
    const wish = workerRequestOf(record);
    if (!this.#pool.isPossible(wish)) {
      const detail =
        wish.to === '' ? `no worker runs ${wish.runner}` : `${wish.to} is not connected`;
      await book.amend(id, { progress: new BusError('NO_WORKER', { task: id, detail }).message });
    }
    // Risk is judged first, whether a worker is free or not.
    const isJudgedFirst = !record.snapshot.context.isAttended && task.runner !== 'answer';
    if (!isJudgedFirst) await this.#pool.take(wish, signal);
    await this.send(record, 'pending', { type: 'task.ready' }, { progress: '' });
  }

  async #finish(record: TaskRecord): Promise<void> {
    const ended = sessionEndedBy(record, this.#ports.attention);
    if (ended !== undefined) await withdrawSession(this.attachedBook(), ended);
    const { queues, deliver, enrol, dismiss } = this.#ports;
    await queues.taskEnded(record);
    // An earlier process may have dismissed the agent already: the broker must know it to recognise the message.
    if (hasAgent(record)) await enrol(record.id).catch(ignoreIfRefused);
    // A new attempt of the parent does not know the tasks that an earlier attempt pushed.
    const isWanted = !queues.isOver(record.parent) && record.error?.code !== 'PARENT_OVER';
    if (isWanted) await deliver(record).catch(ignoreIfGone);
    if (hasAgent(record)) await dismiss(record.id).catch(ignoreIfRefused);
  }

  async #attend(record: TaskRecord): Promise<void> {
    if (stateOf(record) !== 'attending') return;
    const { attention, clock } = this.#ports;
    const next = await attend(record, attention, clock.nowMs());
    if (next !== undefined) await this.send(record, 'attending', next.event, next.patch);
  }

  async #choose(record: TaskRecord): Promise<void> {
    if (record.assignment?.snapshot.status === 'active') return;
    await this.#ports.queues.attemptStarting(record);
    const worker = this.#pool.tryTake(workerRequestOf(record));
    const event: TaskEvent =
      worker === undefined
        ? { type: 'worker.absent', reason: 'NO_WORKER' }
        : { type: 'worker.chosen', worker: worker.id, isCapable: worker.isCapable };
    await this.send(record, 'assigned', event, { response: null, progress: '' });
  }

  async #assign(record: TaskRecord, attempt: number): Promise<void> {
    const { id, task, assignment, created_ms, timers, grants } = record;
    if (assignment?.attempt !== attempt || assignment.snapshot.status !== 'active') return;
    const { manager, assign } = this.#ports;
    const { worker, isCapable } = assignment.snapshot.context;
    // The deadline moved if a person was asked meanwhile.
    const until_ms = timers.whole ?? created_ms + task.limits.timeout_ms;
    const leave = grants.filter(({ used_ms }) => used_ms === 0);
    const { depth, parent } = record;
    const whole = {
      task,
      attempt,
      lease_ms: leaseMs,
      until_ms,
      manager,
      grants: leave,
      depth,
      parent,
    };
    try {
      await assign({ worker, isCapable }, whole, assignmentId.of(id, attempt));
    } catch (error) {
      const { code, retryable } = asBusError(error);
      if (retryable) throw error;
      await this.attachedBook()
        .sendAssignment(id, attempt, { type: 'worker.lost', reason: code })
        .catch(ignoreIfStale);
    }
  }

  async #review(record: TaskRecord): Promise<void> {
    const { task, response, reviews, assignment } = record;
    if (stateOf(record) !== 'reviewing' || response === null) return;
    // A response with more citations is refused; the rest need not be verified.
    const evidence = response.grounding_evidence;
    const given = evidence?.citations ?? [];
    const checked = await this.#ports.verify(given.slice(0, evidenceLimits.citations), task);
    const verdicts = checked.map(({ verdict }) => verdict);
    const placed = given.map((each, at) => checked[at]?.citation ?? each);
    const near =
      evidence && (await this.#ports.nearness?.(task, { ...evidence, citations: placed }));
    const citations = near?.citations ?? placed;
    const its = { ...response, grounding_evidence: evidence && { ...evidence, citations } };
    const worker = assignment?.worker ?? '';
    const { isCritiqued = false } = record.snapshot.context;
    const words = await this.#ports.words?.(task, its, worker);
    const found = reviewResponse(task, its, worker, verdicts, {
      near: near ?? undefined,
      ...(words !== undefined && { words }),
    });
    const review = adjustedReview(task, found, isCritiqued);
    const reason = reasonOf(review);
    const patch: Patch = {
      ...(evidence !== null && { response: its }),
      reviews: [...reviews, review].slice(-recordLimits.reviews),
    };
    if (review.verdict === 'refused') {
      patch.failed_workers = [...new Set([...record.failed_workers, worker])];
      patch.error = refusalOf(review, reason);
    }
    // The error of an earlier attempt stays in its review.
    else patch.error = null;
    if (review.verdict === 'undecided') patch.asks = questionAfter(review);
    await this.send(
      record,
      'reviewing',
      { type: 'review.done', verdict: review.verdict, reason },
      patch,
    );
    if (review.verdict !== 'refused' || patch.error === null) return;
    const { code, text } = patch.error;
    await this.#ports
      .withdraw(worker, task.id, record.attempt, `${code}: ${text}`)
      .catch(ignoreIfGone);
  }

  async #critique(record: TaskRecord, signal: AbortSignal): Promise<void> {
    const { clock, critique, gate } = this.#ports;
    const { id } = record;
    const said = await critiqueWithin(() => critique(record, signal), {
      ...{ clock, signal },
      onWaiting: (code) =>
        this.attachedBook().amend(id, (now) => ({
          progress: `waits for a critic: ${code}`,
          notes: withNoteOnce(now, 'critic.awaited', clock.nowMs()),
        })),
    });
    if (said === undefined || signal.aborted) return;
    const nowMs = clock.nowMs();
    const next =
      said instanceof BusError
        ? transitionWithoutCritic(record, said, nowMs)
        : transitionAfterCritique(record, said, nowMs, gate);
    await this.send(record, 'critiquing', next.event, { ...next.patch, progress: '' });
  }

  /** Adds the findings as feedback for the next attempt. */
  async #revise(record: TaskRecord): Promise<void> {
    const { task, reviews } = record;
    const findings = reviews.at(-1)?.findings ?? [];
    const said = findings.map(({ code, text }) => `${code}: ${text}`);
    const last = lastCritique(record);
    const all =
      last === undefined ? [...task.feedback, ...said] : feedbackWithCritique(task.feedback, last);
    const feedback = all.slice(-taskLimits.feedback);
    await this.send(
      record,
      'revising',
      { type: 'revision.prepared' },
      { task: { ...task, feedback } },
    );
  }

  async #react(record: TaskRecord, reason: string, signal: AbortSignal): Promise<void> {
    const { id, task, assignment, failed_workers, reactions } = record;
    const worker = assignment?.worker ?? '';
    const others = { ...workerRequestOf(record), to: '', failed: [...failed_workers, worker] };
    const reaction = reactionToBlock(reason, {
      task,
      tried: reactions,
      hasOthers: this.#pool.hasUntried(others),
    });
    const book = this.attachedBook();
    const tried = [...reactions, reaction];
    switch (reaction) {
      case 'reassign':
        await book.send(
          id,
          { type: 'block.resolved' },
          { failed_workers: [...new Set([...failed_workers, worker])], reactions: tried },
        );
        return;
      case 'regenerate': {
        await book.amend(id, { reactions: tried, progress: 'missing overlays are being built' });
        const overlays = task.grounding?.overlay_hints ?? [];
        const made = await this.#ports.generate(overlays, signal).then(
          () => true,
          () => false,
        );
        if (signal.aborted) return;
        // Without them the next reaction is tried.
        if (!made) return this.#react(await book.get(id), reason, signal);
        await book.send(id, { type: 'block.resolved' }, { progress: '' });
        return;
      }
      case 'relax': {
        const { event, patch } = relaxed(record);
        await book.send(id, event, { ...patch, reactions: tried });
        return;
      }
      case 'ask':
        await book.amend(id, { asks: questionAt(record, reason) });
    }
  }

  /** Sends an event only if the task is still in that state: an effect performed a second time comes too late. */
  async send(
    record: TaskRecord,
    state: string,
    event: TaskEvent,
    patch: Patch = {},
  ): Promise<void> {
    const book = this.attachedBook();
    if (stateOf(await book.get(record.id)) !== state) return;
    await book.send(record.id, event, patch).catch(ignoreIfStale);
  }

  attachedBook(): TaskBook {
    if (this.#book === undefined) throw new Error('bug: no book is attached');
    return this.#book;
  }
}

/** What a critic, or a person, has to judge. */
const forReader = new Set(['CRITERIA_UNCHECKED', 'WORDS_UNCHECKED']);

/**
 * Work that had effects is not repeated because its evidence was refused: a person decides. Criteria in words are left to the critic where one follows.
 */
function adjustedReview(task: DelegatedTask, review: Review, isCritiqued: boolean): Review {
  const isRepeated = review.verdict === 'refused' && hasEffects(task);
  if (isRepeated) return { ...review, verdict: 'undecided' };
  const isForReader = review.findings.every(({ code }) => forReader.has(code));
  return isCritiqued && review.verdict === 'undecided' && isForReader
    ? { ...review, verdict: 'warned' }
    : review;
}

export function workerRequestOf({
  id,
  task,
  failed_workers,
  grants,
  depth,
}: TaskRecord): WorkerRequest {
  const hasGrant = grants.some(({ used_ms }) => used_ms === 0);
  const { runner, to } = task;
  return { task: id, runner, depth, to, failed: failed_workers, hasGrant };
}

function refusalOf({ findings }: Review, code: string): TaskFailure {
  const errors = findings.filter(({ severity }) => severity === 'error');
  const detail = errors.map(({ text }) => text).join('; ');
  const known = new BusError('EVIDENCE_REFUSED', { detail });
  return { ...failureOf(known), code };
}

function questionAfter({ findings, citations, confidence }: Review): string {
  const why = findings.map(({ text }) => text).join('; ');
  // Of what cites nothing there is no confidence.
  const sure = citations.length === 0 ? '' : `confidence is ${confidence}: `;
  const whole = `accept it? ${sure}${why}`;
  return whole.slice(0, recordLimits.asksChars);
}

function questionAt({ error }: TaskRecord, reason: string): string {
  const why = error?.code === reason ? error.text : reason;
  return `how shall it go on? It is blocked: ${why}`.slice(0, recordLimits.asksChars);
}

function failureOf(error: BusError): TaskFailure {
  const { code, text, retryable } = error.toFailure();
  return { code, text, retryable };
}

/** The recipient does not exist any more. */
function ignoreIfGone(error: unknown): void {
  const { code } = asBusError(error);
  if (code !== 'UNKNOWN_AGENT' && code !== 'NO_MAILBOX') throw error;
}

/** A permanent refusal is not tried again. */
function ignoreIfRefused(error: unknown): void {
  if (asBusError(error).retryable) throw error;
}

/** Another event came first. */
function ignoreIfStale(error: unknown): void {
  const { code } = asBusError(error);
  if (code !== 'TASK_STATE' && code !== 'STALE_ATTEMPT' && code !== 'NO_SUCH_TASK') throw error;
}
