import { newId } from '../../base/ids.js';
import { pause } from '../../base/pause.js';
import { Semaphore } from '../../base/semaphore.js';
import { asBusError, BusError } from '../../errors/bus-error.js';
import { stored } from '../../machine/step.js';
import { wholeNameOf, type ArtifactName } from '../artifact/artifact-name.js';
import { critiqueOf, withFlags, withStanding, type Judge } from './critique-of.js';
import type { Ground } from '../ground.js';
import type { CritiqueProgress } from './messages.js';
import type { ModeInput } from '../mode.js';
import { Pipeline } from './pipeline.js';
import { digestOf, digestOfText, readRequest } from './read-request.js';
import type { ExaminedBy } from './report.js';
import { ReviewStore, type EndedParts, type ReviewRecord } from './review-store.js';
import { tokensOf } from './review-tokens.js';
import type { Critique, CritiqueRequest, Flag, ModeReport, Selection } from '../shapes.js';
import type { ModeName } from '../strategies.js';

export const reviewLimits = {
  /** At once; the others wait for their turn. */
  atOnce: 2,
  /** One more is refused REVIEW_BUSY. */
  waiting: 16,
  /** Reviews that are over, and as many that a process left; the oldest make room, with all that they said. */
  finished: 256,
  finishedMs: 30 * 24 * 3_600_000,
} as const;

export interface Grounded {
  ground: Ground | undefined;
  /** Why there is none. */
  why: string;
}

export interface ReviewsParts extends EndedParts {
  /** Pure: which modes, and why. */
  select: (request: CritiqueRequest) => Selection;
  judge: Judge;
  /** Which iteration of the artifact this is, and the score before it, where they are known; absent: as it was asked. */
  counted?: (
    request: CritiqueRequest,
  ) => Promise<Pick<CritiqueRequest, 'iteration' | 'previous_score'>>;
  /** What its critiques so far show of this one. */
  trend?: (critique: Critique, request: CritiqueRequest) => Promise<readonly Flag[]>;
  /** Where the artifact stands after it; absent: as its history does not say. */
  standing?: (
    critique: Critique,
    request: CritiqueRequest,
  ) => Promise<{ state: string; text: string }>;
  /** The code that an artifact is about. */
  ground: (request: CritiqueRequest) => Promise<Grounded>;
  /** Applies one mode, by rules or with a model. `spent`, of so many: tokens of this review. */
  examine: (
    mode: ModeName,
    input: ModeInput,
    budget: { tokensMax: number; spent: number; request: CritiqueRequest },
  ) => Promise<ExaminedBy>;
  /** What is on disk now, and which mode begins. */
  onProgress?: (progress: CritiqueProgress) => void;
  limits?: Partial<Limits>;
}

export interface Waiting {
  onProgress?: (progress: CritiqueProgress) => void;
  /** It is not waited for any more. When no caller is left, the mode under way is cut, and the rest is skipped. */
  signal?: AbortSignal;
  /** Deadlines of the caller: at the last (`isNow`) the review is cut, at those before it no further mode begins. */
  times?: readonly { afterMs: number; isNow: boolean }[];
}

type StopReason = 'CANCELLED' | 'REVIEW_TIMED_OUT';

/** For the index to say that it is there. */
const groundMsMax = 60_000;

type Limits = Record<keyof typeof reviewLimits, number>;

/** A review under way. */
interface Open extends ArtifactName {
  id: string;
  wishes: string;
  done: Promise<Critique>;
  listeners: Set<(progress: CritiqueProgress) => void>;
  last: CritiqueProgress | undefined;
  /** Who still waits for it. */
  waiters: number;
  abort: AbortController;
  pipeline: Pipeline | undefined;
  stopped: { reason: StopReason; isNow: boolean } | undefined;
  iteration: number;
}

/**
 * Reviews of one critic, durable: one id is one review, for all callers and over restarts. What a mode said is on
 * disk before the next one begins.
 */
export class Reviews implements AsyncDisposable {
  readonly #parts: ReviewsParts;
  readonly #turns: Semaphore;
  readonly #kept: ReviewStore;
  readonly #open = new Map<string, Open>();
  #isClosed = false;

  private constructor(parts: ReviewsParts, kept: ReviewStore, limits: Limits) {
    this.#parts = parts;
    this.#kept = kept;
    const { atOnce, waiting } = limits;
    this.#turns = new Semaphore({
      ...{ atOnce, waitingMax: waiting },
      refusal: () => new BusError('REVIEW_BUSY', { limit: atOnce + waiting }),
    });
  }

  /** Throws STORE_UNAVAILABLE. A review that is damaged is reported, and left as it is. */
  static async open(parts: ReviewsParts): Promise<Reviews> {
    const limits = { ...reviewLimits, ...parts.limits };
    return new Reviews(parts, await ReviewStore.open({ ...parts, ...limits }), limits);
  }

  /** Goes on with what an earlier process left, and reports what it did not. Once, after `open`. */
  async resume(): Promise<void> {
    await this.#kept.resume();
    for (const request of await this.#kept.left()) {
      const { id } = request;
      if (this.#isClosed || this.#open.has(id)) continue;
      this.#opened(request).done.catch((error: unknown) => this.#parts.onTrouble(id, error));
    }
    await this.#kept.forget();
  }

  /** Those under way. */
  get openReviews(): number {
    return this.#open.size;
  }

  /** What one that is over said. Throws NO_SUCH_REVIEW, STORE_UNAVAILABLE. */
  async finished(id: string): Promise<Critique> {
    const critique = await this.#kept.critique(id);
    if (critique === undefined) throw new BusError('NO_SUCH_REVIEW', { id });
    return critique;
  }

  /** How far those under way are. */
  underWay(): (ArtifactName &
    Pick<CritiqueProgress, 'id' | 'done' | 'total'> & { iteration: number })[] {
    return [...this.#open.values()].map(({ id, artifact, whole, iteration, last }) => ({
      ...{ id, artifact, whole, iteration },
      ...{ done: last?.done ?? 0, total: last?.total ?? 0 },
    }));
  }

  /**
   * Reviews, or goes on, or returns what a finished one said. Throws REVIEW_INVALID, TOO_LARGE, REVIEW_CHANGED, REVIEW_BUSY,
   * CANCELLED, STORE_UNAVAILABLE.
   */
  async review(asked: CritiqueRequest, waiting: Waiting = {}): Promise<Critique> {
    const request = readRequest(asked.id === '' ? { ...asked, id: newId('review') } : asked);
    if (this.#isClosed) throw new BusError('CANCELLED');
    const open = this.#open.get(request.id);
    if (open === undefined) return this.#join(this.#opened(request), waiting);
    if (open.wishes !== digestOf(request)) throw new BusError('REVIEW_CHANGED', { id: request.id });
    return this.#join(open, waiting);
  }

  /** The deadline of the caller is over: the mode under way is the last one. `isNow`: it ends, too. */
  stop(id: string, reason: StopReason, isNow: boolean): void {
    const open = this.#open.get(id);
    if (open === undefined) return;
    open.stopped = { reason, isNow };
    open.pipeline?.stop(reason, isNow);
    if (isNow && open.pipeline === undefined) open.abort.abort(new BusError(reason));
  }

  /** Ends without a word: what is under way goes on in the next process. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    const open = [...this.#open.values()];
    for (const { pipeline, abort } of open) {
      pipeline?.leave();
      abort.abort(new BusError('CANCELLED'));
    }
    await Promise.allSettled(open.map(({ done }) => done));
    await this.#kept[Symbol.asyncDispose]();
  }

  #opened(request: CritiqueRequest): Open {
    const { id, artifact, iteration } = request;
    const open: Open = {
      ...{ id, iteration, wishes: digestOf(request) },
      ...{ artifact: artifact.path, whole: wholeNameOf(request) },
      ...{ listeners: new Set<(progress: CritiqueProgress) => void>(), last: undefined },
      ...{ waiters: 0, abort: new AbortController(), pipeline: undefined, stopped: undefined },
      done: Promise.resolve({} as Critique),
    };
    this.#open.set(id, open);
    open.done = this.#work(open, request).finally(() => this.#open.delete(id));
    return open;
  }

  async #join(open: Open, { onProgress, signal, times = [] }: Waiting): Promise<Critique> {
    let isWaiting = true;
    open.waiters += 1;
    const leave = (): void => {
      if (isWaiting) open.waiters -= 1;
      isWaiting = false;
    };
    // Who else waits for it loses nothing by that.
    const end = (reason: StopReason, isNow: boolean): void => {
      const others = open.waiters - (isWaiting ? 1 : 0);
      if (isWaiting && others === 0) this.stop(open.id, reason, isNow);
      if (isNow) leave();
    };
    const onAbort = (): void => end('CANCELLED', true);
    if (onProgress !== undefined) {
      open.listeners.add(onProgress);
      if (open.last !== undefined) onProgress({ ...open.last, report: null });
    }
    const timers = times.map(({ afterMs, isNow }) =>
      this.#parts.clock.after(afterMs, () => end('REVIEW_TIMED_OUT', isNow)),
    );
    if (signal?.aborted === true) onAbort();
    else signal?.addEventListener('abort', onAbort, { once: true });
    try {
      return await open.done;
    } finally {
      leave();
      for (const timer of timers) timer[Symbol.dispose]();
      signal?.removeEventListener('abort', onAbort);
      if (onProgress !== undefined) open.listeners.delete(onProgress);
    }
  }

  async #work(open: Open, request: CritiqueRequest): Promise<Critique> {
    const known = await this.#kept.record(open.id);
    if (known !== undefined && known.wishes !== open.wishes)
      throw new BusError('REVIEW_CHANGED', { id: open.id });
    if (known !== undefined && known.ended_ms > 0) {
      const critique = await this.#kept.critique(known.id);
      if (critique !== undefined) return critique;
    }
    return this.#turns.run(async () => {
      const reports = known?.ended_ms === 0 ? await this.#kept.reports(known) : undefined;
      return known !== undefined && reports !== undefined
        ? this.#run(open, { record: known, request, reports })
        : this.#begin(open, request, known);
    }, open.abort.signal);
  }

  /** `before`: what cannot be gone on with. */
  async #begin(
    open: Open,
    request: CritiqueRequest,
    before: ReviewRecord | undefined,
  ): Promise<Critique> {
    const { clock, select } = this.#parts;
    const counted = { ...request, ...(await this.#parts.counted?.(request)) };
    const selection = select(counted);
    const isGoverned = selection.criticality === 'C3' || selection.criticality === 'C4';
    const first = Pipeline.begun(
      selection.modes.map(({ mode }) => mode),
      isGoverned,
    );
    const record: ReviewRecord = {
      ...{ version: 1, id: open.id, wishes: open.wishes },
      ...{ artifact: request.artifact.path, digest: digestOfText(request.artifact.text) },
      ...{ iteration: counted.iteration, selection, snapshot: stored(first.snapshot) },
      ...{ begun_ms: clock.nowMs(), ended_ms: 0 },
    };
    await this.#kept.begin(record, request, before);
    return this.#run(open, { record, request, reports: [] }, first);
  }

  async #run(
    open: Open,
    its: { record: ReviewRecord; request: CritiqueRequest; reports: ModeReport[] },
    first?: ReturnType<typeof Pipeline.begun>,
  ): Promise<Critique> {
    const { record, request } = its;
    const { ground, why } = await this.#grounded(request, open.abort.signal);
    const noted: Flag[] =
      ground === undefined ? [{ code: 'GROUND_MISSING', level: 'warning', text: why }] : [];
    const tokensMax = tokensOf(request, record.selection);
    let critique: Critique | undefined;
    const pipeline = new Pipeline(
      {
        clock: this.#parts.clock,
        tokensMax,
        examine: (mode, input, spent) =>
          this.#parts.examine(mode, input, { tokensMax, spent, request }),
        keep: async (now, said, isOver) => {
          its.reports = [...its.reports, ...said.values()];
          if (!isOver) return this.#kept.keep(now, said);
          critique = await this.#end({ ...its, record: now }, noted);
        },
        onProgress: (reports, last) => this.#progress(open, record, reports, last),
      },
      {
        record,
        reports: its.reports,
        prepared: {
          artifact: { ...request.artifact, digest: record.digest },
          context: record.selection.context,
          ...{ ground, rules: request.rules, handed: request.handed ?? [] },
        },
      },
    );
    open.pipeline = pipeline;
    if (this.#isClosed) pipeline.leave();
    const done = pipeline.run(first);
    if (open.stopped !== undefined) pipeline.stop(open.stopped.reason, open.stopped.isNow);
    await done;
    // Without a mode there is nothing to keep on the way.
    critique ??= await this.#end(its, noted);
    return critique;
  }

  /** An index that does not answer costs the review its ground, not its turn. */
  async #grounded(request: CritiqueRequest, signal: AbortSignal): Promise<Grounded> {
    const { clock, ground } = this.#parts;
    const over = new AbortController();
    try {
      const given = ground(request);
      const left = pause(clock, groundMsMax, AbortSignal.any([signal, over.signal]));
      const late = left.then(() => ({
        ground: undefined,
        why: 'nothing of the code was looked up: the index did not answer in time',
      }));
      return await Promise.race([given, late]);
    } catch (error) {
      const { message, next } = asBusError(error);
      const why = [message, next].filter((each) => each !== '').join('. ');
      return { ground: undefined, why: `nothing of the code was looked up: ${why}` };
    } finally {
      over.abort();
    }
  }

  async #end(
    its: { record: ReviewRecord; request: CritiqueRequest; reports: ModeReport[] },
    noted: readonly Flag[],
  ): Promise<Critique> {
    const { clock, judge } = this.#parts;
    const nowMs = clock.nowMs();
    const record = { ...its.record, ended_ms: nowMs };
    const judged = critiqueOf({ ...its, record }, judge, noted, nowMs);
    const flagged = withFlags(judged, (await this.#parts.trend?.(judged, its.request)) ?? []);
    const critique = withStanding(flagged, await this.#parts.standing?.(flagged, its.request));
    await this.#kept.end(record, critique);
    await this.#kept.forget();
    return critique;
  }

  #progress(
    open: Open,
    { selection }: ReviewRecord,
    reports: readonly ModeReport[],
    report: ModeReport | null,
  ): void {
    const done = reports.length;
    const next = selection.modes[done]?.mode ?? '';
    open.last = { id: open.id, done, total: selection.modes.length, report, next };
    this.#parts.onProgress?.(open.last);
    for (const listener of open.listeners) listener(open.last);
  }
}
