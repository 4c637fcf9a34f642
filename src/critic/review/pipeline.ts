import type { Clock } from '../../base/clock.js';
import { asBusError, BusError } from '../../errors/bus-error.js';
import { restored, start, step, stored, type Snapshot, type Step } from '../../machine/step.js';
import { advisoryIn, isWeighed } from './critique-of.js';
import { type ExaminedBy, reportOf, skippedReport } from './report.js';
import {
  pipelineMachine,
  type PipelineEffect,
  type PipelineEvent,
  type PipelineTimer,
} from './pipeline.machine.js';
import type { Examined, ModeInput } from '../mode.js';
import type { ReviewRecord } from './review-store.js';
import { qualityGate, type ModeReport } from '../shapes.js';
import type { ModeName } from '../strategies.js';

/** What a mode is given besides what its pipeline knows. */
export type Prepared = Omit<ModeInput, 'before' | 'signal' | 'partial'> & {
  /** What another review found. */
  handed: readonly ModeReport[];
};

export interface PipelineParts {
  clock: Clock;
  /** Applies one mode. Throws what the mode throws, MODE_UNAVAILABLE. */
  examine(mode: ModeName, input: ModeInput, spent: number): Promise<ExaminedBy>;
  /** Of the whole review; 0: without a limit. */
  tokensMax: number;
  /**
   * Before any effect: the record as it is now with what was said since the last time. `isOver`: it is the last one.
   * Throws STORE_UNAVAILABLE; then the review is left as it lies on disk.
   */
  keep(record: ReviewRecord, reports: Map<number, ModeReport>, isOver: boolean): Promise<void>;
  onProgress(reports: readonly ModeReport[], last: ModeReport | null): void;
}

interface Current {
  at: number;
  mode: ModeName;
  abort: AbortController;
  begunMs: number;
  found: Partial<Examined>;
  /** Why it was told to end. */
  reason: string;
}

type Machine = typeof pipelineMachine;

/** How a mode that was told to end is told apart from one that failed. */
const cutStatus = { status: 'partial' } as const;

/**
 * One review under way: performs what the machine of the pipeline emits. Events are taken one at a time:
 * first it is kept, then its effects are performed.
 */
export class Pipeline {
  readonly #parts: PipelineParts;
  readonly #prepared: Prepared;
  readonly #advisory: ReadonlySet<ModeName>;
  readonly #timers = new Map<PipelineTimer, Disposable>();
  readonly #ended: Promise<readonly ModeReport[]>;
  #resolve!: (reports: readonly ModeReport[]) => void;
  #reject!: (error: unknown) => void;
  #record: ReviewRecord;
  #reports: readonly ModeReport[];
  #current: Current | undefined;
  #turn: Promise<void> = Promise.resolve();
  #isOver = false;

  constructor(
    parts: PipelineParts,
    its: { record: ReviewRecord; reports: readonly ModeReport[]; prepared: Prepared },
  ) {
    this.#parts = parts;
    this.#ended = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#record = its.record;
    this.#reports = its.reports;
    this.#prepared = its.prepared;
    this.#advisory = advisoryIn(its.record.selection);
  }

  /** The first snapshot of a review of these modes, which is kept before `run`. */
  static begun(modes: readonly ModeName[], isGoverned: boolean): Step<Machine> {
    return start(pipelineMachine, { modes, modeMs: qualityGate.modeMs, isGoverned });
  }

  /** Begins with the effects of `first`, or goes on with what lies on disk. Throws STORE_UNAVAILABLE. */
  run(first?: Step<Machine>): Promise<readonly ModeReport[]> {
    if (this.#isOver) return this.#ended;
    this.#parts.onProgress(this.#reports, null);
    // Kept, and ended before it was kept as ended.
    if (this.#modes.length === 0)
      this.#performOne({ type: 'review.end', outcome: 'complete', reason: '' });
    else if (first === undefined) this.#dispatch({ type: 'critic.restarted' });
    else this.#perform(first.effects);
    return this.#ended;
  }

  /** `isNow`: also the mode under way ends; else it is the last one. */
  stop(reason: string, isNow: boolean): void {
    this.#dispatch({ type: 'review.stopped', reason, isNow });
  }

  /** This process ends: nothing is kept, nothing more is said. */
  leave(): void {
    this.#fail(new BusError('CANCELLED'));
  }

  #dispatch(event: PipelineEvent, report?: ModeReport): void {
    this.#turn = this.#turn
      .then(() => (this.#isOver ? undefined : this.#take(event, report)))
      .catch((error: unknown) => this.#fail(error));
  }

  async #take(event: PipelineEvent, report: ModeReport | undefined): Promise<void> {
    const next = this.#stepped(event);
    if (next === undefined) return;
    const said = new Map<number, ModeReport>();
    if (report !== undefined) said.set(this.#reports.length, report);
    for (const effect of next.effects)
      if (effect.type === 'modes.skip')
        for (const [at, mode] of this.#modes.entries())
          if (at >= effect.from) said.set(at, skippedReport(mode, effect.reason));
    const record = { ...this.#record, snapshot: stored(next.snapshot) };
    const isOver = next.effects.some(({ type }) => type === 'review.end');
    await this.#parts.keep(record, said, isOver);
    this.#record = record;
    this.#reports = [...this.#reports, ...said.values()];
    if (report !== undefined) this.#parts.onProgress(this.#reports, report);
    this.#perform(next.effects);
  }

  /** Undefined: what came too late. */
  #stepped(event: PipelineEvent): Step<Machine> | undefined {
    const snapshot: Snapshot<Machine> = restored(pipelineMachine, this.#record.snapshot);
    try {
      return step(pipelineMachine, snapshot, event);
    } catch (error) {
      if (asBusError(error).code === 'PROTOCOL_UNEXPECTED_EVENT') return undefined;
      throw error;
    }
  }

  #perform(effects: readonly PipelineEffect[]): void {
    for (const effect of effects) this.#performOne(effect);
  }

  #performOne(effect: PipelineEffect): void {
    switch (effect.type) {
      case 'mode.begin':
        return this.#begin(effect.at, effect.mode);
      case 'mode.cut':
        return this.#cut(effect.reason);
      case 'mode.leave':
        return this.#leaveMode(effect);
      case 'timer.arm':
        return this.#arm(effect.timer, effect.delayMs);
      case 'timer.clear':
        return this.#clear(effect.timer);
      case 'modes.skip':
        return;
      case 'review.end':
        this.#isOver = true;
        return this.#resolve(this.#reports);
    }
  }

  #begin(at: number, mode: ModeName): void {
    const { clock } = this.#parts;
    const abort = new AbortController();
    const current: Current = {
      ...{ at, mode, abort, found: {}, reason: '' },
      begunMs: clock.monotonicMs(),
    };
    this.#current = current;
    const { handed, ...prepared } = this.#prepared;
    const input: ModeInput = {
      ...prepared,
      before: [...handed, ...this.#reports],
      signal: abort.signal,
      // Also after its signal: it is heard until it has ended.
      partial: (found) => void (current.found = { ...current.found, ...found }),
    };
    const work = async (): Promise<ExaminedBy> => this.#parts.examine(mode, input, this.#spent);
    work().then(
      (found) => this.#done(current, found),
      (error: unknown) => this.#failed(current, error),
    );
  }

  #done(current: Current, found: ExaminedBy): void {
    if (current.reason !== '') {
      const whole = { ...found, reason: current.reason };
      return this.#end(current, whole, { ...cutStatus, reason: current.reason });
    }
    const status = found.reason === '' ? 'complete' : 'partial';
    this.#end(current, found, { status, reason: found.reason });
  }

  #failed(current: Current, error: unknown): void {
    const { reason, found } = current;
    if (reason !== '') return this.#end(current, found, { ...cutStatus, reason });
    this.#end(current, withWords(found, asBusError(error).message), {
      status: 'failed',
      reason: asBusError(error).code,
    });
  }

  #cut(reason: string): void {
    if (this.#current === undefined) return;
    this.#current.reason = reason;
    this.#current.abort.abort(asReason(reason, this.#current.mode));
  }

  /** Also of one that this process never began. */
  #leaveMode({ at, mode, reason }: { at: number; mode: ModeName; reason: string }): void {
    const current = this.#current ?? {
      ...{ at, mode, reason, found: {}, abort: new AbortController() },
      begunMs: this.#parts.clock.monotonicMs(),
    };
    const status = reason === 'MODE_INTERRUPTED' ? 'failed' : 'partial';
    this.#end(current, current.found, { status, reason });
  }

  #end(
    { at, mode, begunMs }: Current,
    found: Partial<ExaminedBy>,
    how: Pick<ModeReport, 'status' | 'reason'>,
  ): void {
    // It has ended already, or it was left and another one is under way.
    if (this.#isOver || at !== this.#reports.length) return;
    const elapsedMs = this.#parts.clock.monotonicMs() - begunMs;
    const report = reportOf(mode, found, { ...how, elapsedMs });
    const { tokensMax } = this.#parts;
    const isSpent = tokensMax > 0 && this.#spent + report.tokens >= tokensMax;
    this.#dispatch(
      {
        type: 'mode.ended',
        at,
        status: report.status === 'skipped' ? 'failed' : report.status,
        abort: this.#advisory.has(mode) && isWeighed(report.abort) ? '' : report.abort,
        isSpent,
      },
      report,
    );
  }

  #arm(timer: PipelineTimer, delayMs: number): void {
    const due = (): void => this.#dispatch({ type: 'timer.due', timer });
    this.#timers.set(timer, this.#parts.clock.after(delayMs, due));
  }

  #clear(timer: PipelineTimer): void {
    this.#timers.get(timer)?.[Symbol.dispose]();
    this.#timers.delete(timer);
  }

  #fail(error: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const timer of [...this.#timers.keys()]) this.#clear(timer);
    this.#current?.abort.abort(error);
    this.#reject(error);
  }

  get #modes(): readonly ModeName[] {
    return this.#record.selection.modes.map(({ mode }) => mode);
  }

  get #spent(): number {
    return this.#reports.reduce((sum, { tokens }) => sum + tokens, 0);
  }
}

function asReason(reason: string, mode: ModeName): BusError {
  return reason === 'MODE_TIMED_OUT'
    ? new BusError('MODE_TIMED_OUT', { mode, ms: qualityGate.modeMs })
    : new BusError('CANCELLED');
}

/** Why it failed stands beside what it could not do. */
function withWords(found: Partial<Examined>, words: string): Partial<Examined> {
  return { ...found, unable: [words, ...(found.unable ?? [])] };
}
