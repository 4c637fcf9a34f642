import { type Outcome, outcome } from '../delegation/worker/runner-outcome.js';
import { verified } from '../delegation/worker/proposal-check.js';
import type { Clock } from '../base/clock.js';
import type { Client } from '../client/client.js';
import type { Pgc } from '../delegation/grounding/gathered.js';
import { ground } from '../delegation/grounding/grounding.js';
import { respond, strategyInForce } from '../delegation/worker/task-response.js';
import type { Assignment, RunnerName } from '../delegation/task/shapes.js';
import {
  workerMachine,
  type WorkEffect,
  type WorkEvent,
} from '../delegation/worker/worker.machine.js';
import { asBusError, BusError } from '../errors/bus-error.js';
import type { Patience } from '../machine/persist.js';
import { restored, start, stateName, step, stored, type Snapshot } from '../machine/step.js';
import type { Logger } from '../observe/log.js';
import type { Attendant, Attended } from './attendant.js';
import type { Book, Kept } from './book.js';
import { ManagerLink } from './manager-link.js';
import type { Runner } from './runners/runner.js';

export interface ConversationParts {
  client: Client;
  book: Book;
  clock: Clock;
  log: Logger;
  runners: ReadonlyMap<RunnerName, Runner>;
  /** Undefined: it runs no programs. */
  attendant?: Attendant | undefined;
  /** `leftMs`: of the time of the task. */
  pgcFor: (agent: string, how: { signal: AbortSignal; leftMs: () => number }) => Pgc;
  /** It needs a slot no longer. */
  onIdle: () => void;
  onEnd: () => void;
}

/** Signs of life in the time of one lease. */
const signsPerLease = 4;
const leaseMsMin = 400;
/** At an action whose scripts change again and again. */
const looksMax = 3;
const working = new Set(['grounding', 'beginning', 'acting', 'stopping', 'verifying']);

/** What is wrong with the place, not with the task. */
const blocking: ReadonlySet<string> = new Set([
  'PGC_FAILED',
  'OVERLAYS_MISSING',
  'SANDBOX_UNAVAILABLE',
]);

/** The runners that change nothing: to begin them once more does no harm. */
const harmless = new Set<RunnerName>(['answer', 'model']);
/** The runner that goes on where it was: what it did stands in its history. */
const goesOn: RunnerName = 'prompt';
/** The runner that says what the PGC says, word by word: it is not verified by asking once more. */
const saysIt: RunnerName = 'answer';

export function newWork(assignment: Assignment): Kept {
  const { runner, action } = assignment.task;
  const isRepeatable =
    harmless.has(runner) ||
    runner === goesOn ||
    action?.read_only === true ||
    (action?.idempotency_key ?? '') !== '';
  const { snapshot } = start(workerMachine, {
    strategy: strategyInForce(assignment.task),
    isOnce: !isRepeatable,
    // A program takes no advice, and what the PGC says is not changed by asking it twice.
    isTeachable: runner === 'model' || runner === 'agent',
  });
  return {
    version: 1,
    assignment,
    snapshot: stored(snapshot),
    startedMs: 0,
    ...{ before: null, outcome: null, after: null, conflicts: [], names: 0, response: null },
  };
}

/** One assignment, from its claim to the acceptance of its response: what the machine says, on disk first, then done. */
export class Conversation {
  readonly #parts: ConversationParts;
  readonly #kept: Kept;
  readonly #link: ManagerLink;
  /** Given when the runner must stop. */
  readonly #stop = new AbortController();
  /** Given when this process leaves it as it is. */
  readonly #left = new AbortController();
  #snapshot: Snapshot<typeof workerMachine>;
  #queue: Promise<void> = Promise.resolve();
  #running: Promise<void> | undefined;
  #timer: Disposable | undefined;
  #signs: NodeJS.Timeout | undefined;
  #summary = '';

  constructor(parts: ConversationParts, kept: Kept) {
    this.#parts = parts;
    this.#kept = kept;
    this.#snapshot = restored(workerMachine, kept.snapshot);
    this.#link = new ManagerLink(parts.client, parts.log, kept.assignment);
    this.#armTimer();
  }

  get assignment(): Assignment {
    return this.#kept.assignment;
  }

  get state(): string {
    return stateName(this.#snapshot);
  }

  /** Resolves when what follows from it is on disk; what the machine does not expect now is left out. */
  tell(event: WorkEvent): Promise<void> {
    this.#queue = this.#parts.book
      .turn(this.#kept, () => this.#step(event))
      .catch((error: unknown) => {
        const { code, message } = asBusError(error);
        this.#parts.log.error({ code, task: this.#id }, message);
      });
    return this.#queue;
  }

  /** Ends the process group of its runner, and leaves the record to the next process. */
  async leave(): Promise<void> {
    this.#left.abort();
    this.#stop.abort();
    this.#endTimers();
    await this.#running;
    await this.#queue;
  }

  get #id(): string {
    return this.assignment.task.id;
  }

  async #step(event: WorkEvent): Promise<void> {
    if (this.#left.signal.aborted || !this.#snapshot.can(event)) return;
    const before = this.state;
    const { snapshot, effects } = step(workerMachine, this.#snapshot, event);
    this.#kept.snapshot = stored(snapshot);
    if (event.type === 'claim.granted' && this.#kept.startedMs === 0)
      this.#kept.startedMs = this.#parts.clock.nowMs();
    for (const each of effects) if (each.type === 'response.send') this.#write(each);
    const isOver = effects.some(({ type }) => type === 'record.delete');
    await this.#parts.book.write(this.#kept, isOver, this.#patience);
    this.#snapshot = snapshot;
    this.#parts.log.debug(
      { task: this.#id, on: event.type, from: before, state: this.state },
      'step',
    );
    if (!working.has(this.state) && this.state !== 'claiming') this.#parts.onIdle();
    if (event.type === 'claim.granted') this.#armTimer();
    for (const each of effects) this.#perform(each);
  }

  /** The response is fixed when it is decided; later events do not change it. */
  #write(effect: Extract<WorkEffect, { type: 'response.send' }>): void {
    const kept = this.#kept;
    const { task, attempt } = kept.assignment;
    const { turn } = this.#snapshot.context;
    const nowMs = this.#parts.clock.nowMs();
    kept.response ??= respond(
      {
        ...{ task, attempt, turns: turn, errors: [] },
        ...{ outcome: kept.outcome, before: kept.before, after: kept.after },
        ...{ conflicts: kept.conflicts, names: kept.names },
        elapsedMs: kept.startedMs === 0 ? 0 : nowMs - kept.startedMs,
      },
      effect,
    );
  }

  #perform(effect: WorkEffect): void {
    switch (effect.type) {
      case 'claim.ask':
        return void this.#claim();
      case 'grounding.start':
        return this.#run(() => this.#ground());
      case 'begin.store':
        // It was committed before this: the mark stands.
        return void this.tell({ type: 'begin.stored' });
      case 'runner.start':
        return this.#run(() => this.#act());
      case 'verification.start':
        return this.#run(() => this.#verify());
      case 'runner.stop':
        this.#stop.abort();
        if (this.#running === undefined) void this.tell({ type: 'runner.stopped' });
        return;
      case 'response.send':
        return void this.#send();
      case 'record.delete':
        this.#endTimers();
        this.#stop.abort();
        return this.#parts.onEnd();
    }
  }

  /** Nothing follows from what is not on disk. */
  get #patience(): Patience {
    const { clock, log } = this.#parts;
    const onTrouble = (error: unknown): void => {
      const { code, message } = asBusError(error);
      log.warn({ code, task: this.#id }, message);
    };
    return { clock, until: this.#left.signal, onTrouble };
  }

  async #claim(): Promise<void> {
    const claimed = await this.#link.claim(AbortSignal.any([this.#left.signal, this.#stop.signal]));
    // Dropped meanwhile: nothing would end its heartbeat.
    if (this.#left.signal.aborted || this.#stop.signal.aborted) return;
    if (claimed === 'over') return this.tell({ type: 'claim.refused' });
    this.#showLife(claimed.leaseMs);
    await this.tell({ type: 'claim.granted' });
  }

  async #send(): Promise<void> {
    const { response } = this.#kept;
    if (response === null) return;
    const said = await this.#link.respond(response, this.#left.signal);
    if (said !== 'left')
      await this.tell({ type: said === 'stored' ? 'response.accepted' : 'attempt.over' });
  }

  #run(work: () => Promise<WorkEvent>): void {
    this.#running = work()
      .catch((error: unknown) => failedBy(error))
      .then((event) => {
        this.#running = undefined;
        void this.tell(this.state === 'stopping' ? { type: 'runner.stopped' } : event);
      });
  }

  async #ground(): Promise<WorkEvent> {
    this.#summary = 'asking the PGC';
    try {
      const onProgress = (summary: string): void => void (this.#summary = summary);
      this.#kept.before = await ground(this.assignment.task, this.#pgc(), onProgress);
      return { type: 'grounding.done' };
    } catch (error) {
      return { type: 'grounding.failed', reason: this.#remember(error) };
    }
  }

  async #act(): Promise<WorkEvent> {
    const { task, attempt } = this.assignment;
    const { before, conflicts, outcome: earlier } = this.#kept;
    const runner = this.#parts.runners.get(task.runner);
    // These ask by themselves, with any grounding of their task.
    const asks = strategyInForce(task) !== 'none' || [goesOn, saysIt].includes(task.runner);
    const signal = AbortSignal.any([this.#stop.signal, this.#left.signal]);
    if (!(await this.#link.holds(signal))) return { type: 'attempt.over' };
    try {
      if (runner === undefined)
        throw new BusError('NO_RUNNER', { runner: task.runner, detail: 'it is not configured' });
      const attended = await this.#attended(signal, ({ task: placed, approved, unchanged }) =>
        runner({
          ...{ task: placed, attempt, parent: this.assignment.parent, approved, unchanged },
          ...{ gathered: before, conflicts, earlier: earlier?.result ?? '' },
          pgc: asks ? this.#pgc() : null,
          signal: this.#stop.signal,
          progress: (summary) => (this.#summary = summary),
        }),
      );
      if (attended === 'over') return { type: 'attempt.over' };
      this.#kept.outcome = attended;
    } catch (error) {
      const code = this.#remember(error);
      return { type: blocking.has(code) ? 'runner.blocked' : 'runner.failed', reason: code };
    }
    return eventOf(this.#kept.outcome);
  }

  /** Judged, then run; judged anew where a script is another one by the time of its start. Throws what `run` throws. */
  async #attended(
    signal: AbortSignal,
    run: (attended: Extract<Attended, { kind: 'go' }>) => Promise<Outcome>,
  ): Promise<Outcome | 'over'> {
    // Leave is for the first look alone: who says later that nothing was started may have started something.
    for (let looks = 1, { grants } = this.assignment; ; looks += 1, grants = []) {
      const attended = await this.#attend(grants, signal);
      if (attended.kind === 'over') return 'over';
      if (attended.kind === 'stop') return attended.outcome;
      try {
        const came = await run(attended);
        return { ...came, classification: came.classification ?? attended.noted };
      } catch (error) {
        const { code } = asBusError(error);
        if (code !== 'ACTION_CHANGED' || looks >= looksMax) throw error;
        this.#parts.log.warn({ task: this.#id, code }, 'judged anew');
      }
    }
  }

  /** What is risky of a program is stopped, or its leave used up. */
  async #attend(grants: Assignment['grants'], signal: AbortSignal): Promise<Attended> {
    const { attendant } = this.#parts;
    const { task } = this.assignment;
    // What an agent wants run it delegates: it is looked at there.
    if (harmless.has(task.runner) || task.runner === goesOn || attendant === undefined)
      return { kind: 'go', task, approved: [], unchanged: {}, noted: null };
    const { turn } = this.#snapshot.context;
    this.#summary = 'looking at the risk of it';
    const attended = await attendant.attend({ task, grants }, turn, (grant, digest) => {
      this.#summary = `using ${grant.id}`;
      return this.#link.use(grant.id, digest, signal);
    });
    if (attended.kind === 'stop')
      this.#parts.log.warn({ task: this.#id, code: 'GATE_DETECTED' }, 'stopped before it began');
    return attended;
  }

  async #verify(): Promise<WorkEvent> {
    this.#summary = 'verifying what was found';
    const { task } = this.assignment;
    const { outcome: proposed } = this.#kept;
    if (proposed === null || task.runner === saysIt)
      return { type: 'verification.done', conflicts: 0 };
    try {
      const { gathered, conflicts, names } = await verified(task, proposed, this.#pgc());
      // What the turn before was verified by is no evidence of this one; it took its time all the same.
      const { ms = 0, bytes = 0 } = this.#kept.after ?? {};
      const after = { ...gathered, ms: gathered.ms + ms, bytes: gathered.bytes + bytes };
      Object.assign(this.#kept, { after, conflicts, names });
      return { type: 'verification.done', conflicts: conflicts.length };
    } catch (error) {
      const { code, message: text, retryable } = asBusError(error);
      proposed.errors.push({ code, text, retryable });
      return { type: 'verification.failed', reason: code };
    }
  }

  /** What kept it from being done, for the response. */
  #remember(error: unknown): string {
    const { code, message: text, retryable } = asBusError(error);
    this.#parts.log.info({ task: this.#id, code }, text);
    const errors = [{ code, text, retryable }];
    this.#kept.outcome = outcome('failed', { reason: code, errors });
    return code;
  }

  #pgc(): Pgc {
    const signal = AbortSignal.any([this.#stop.signal, this.#left.signal]);
    const leftMs = (): number => Math.max(1, this.#endMs() - this.#parts.clock.nowMs());
    return this.#parts.pgcFor(this.assignment.task.pgc, { signal, leftMs });
  }

  /** Until the caller has gone; once begun, also until its own time is over. After that it does not keep the process alive. */
  #armTimer(): void {
    if (this.#left.signal.aborted) return;
    const endMs = this.#endMs();
    if (!Number.isFinite(endMs)) return;
    this.#timer?.[Symbol.dispose]();
    const leftMs = Math.min(2 ** 31 - 1, Math.max(0, endMs - this.#parts.clock.nowMs()));
    this.#timer = this.#parts.clock.after(leftMs, () => void this.tell({ type: 'time.over' }));
  }

  /** Infinity: nothing ends it. */
  #endMs(): number {
    const { until_ms, task } = this.assignment;
    const { startedMs } = this.#kept;
    const ends = [until_ms, ...(startedMs === 0 ? [] : [startedMs + task.limits.timeout_ms])];
    return Math.min(...ends.filter((each) => each > 0));
  }

  #showLife(leaseMs: number): void {
    if (this.#left.signal.aborted) return;
    clearInterval(this.#signs);
    const everyMs = Math.max(leaseMsMin, leaseMs) / signsPerLease;
    this.#signs = setInterval(() => {
      void this.#link.progress(this.#summary, this.#left.signal).then((said) => {
        if (said === 'over') void this.tell({ type: 'attempt.over' });
      });
    }, everyMs);
  }

  #endTimers(): void {
    this.#timer?.[Symbol.dispose]();
    clearInterval(this.#signs);
  }
}

function eventOf({ kind, reason }: Outcome): WorkEvent {
  switch (kind) {
    case 'finished':
      return { type: 'runner.finished' };
    case 'asked':
      return { type: 'runner.asked' };
    case 'blocked':
      return { type: 'runner.blocked', reason };
    case 'failed':
      return { type: 'runner.failed', reason };
  }
}

function failedBy(error: unknown): WorkEvent {
  return { type: 'runner.failed', reason: asBusError(error).code };
}
