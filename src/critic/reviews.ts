import type { Clock } from '../base/clock.js';
import { newId } from '../base/ids.js';
import { Semaphore } from '../base/semaphore.js';
import { asBusError, BusError } from '../errors/bus-error.js';
import { restored, stored } from '../machine/step.js';
import { damagedRecord } from '../store/damaged.js';
import { critiqueKey, reportPrefix, reviewedKey, reviewKey, reviewPrefix } from '../store/keys.js';
import type { Store } from '../store/port.js';
import { wholeNameOf, type ArtifactName } from './artifact-name.js';
import { critiqueOf, type Judge } from './critique-of.js';
import type { Ground } from './ground.js';
import type { CritiqueProgress } from './messages.js';
import type { ModeInput } from './mode.js';
import { pipelineMachine } from './pipeline.machine.js';
import { Pipeline } from './pipeline.js';
import { digestOf, digestOfText, readRequest } from './read-request.js';
import type { ExaminedBy } from './report.js';
import {
  begunOperations,
  endedOperations,
  forgottenOperations,
  keptOperations,
  put,
  readRecord,
  type ReviewRecord,
} from './review-record.js';
import { tokensOf } from './review-tokens.js';
import type { Critique, CritiqueRequest, Flag, ModeReport, Selection } from './shapes.js';
import type { ModeName } from './strategies.js';

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

export interface ReviewsParts {
  store: Store;
  clock: Clock;
  /** Pure: which modes, and why. */
  select: (request: CritiqueRequest) => Selection;
  judge: Judge;
  /** The code that an artifact is about. */
  ground: (request: CritiqueRequest) => Promise<Grounded>;
  /** Applies one mode, by rules or with a model. `spent`, of so many: tokens of this review. */
  examine: (
    mode: ModeName,
    input: ModeInput,
    budget: { tokensMax: number; spent: number; request: CritiqueRequest },
  ) => Promise<ExaminedBy>;
  /** Told of every review that is over, at least once, also by the next process. */
  onEnded: (critique: Critique, request: CritiqueRequest) => Promise<void>;
  onTrouble: (review: string, error: unknown) => void;
  /** What is on disk now, and which mode begins. */
  onProgress?: (progress: CritiqueProgress) => void;
  limits?: Partial<Record<keyof typeof reviewLimits, number>>;
}

export interface Waiting {
  onProgress?: (progress: CritiqueProgress) => void;
  /** Nobody waits any more: the mode under way is cut, the rest is left out. */
  signal?: AbortSignal;
}

/** A review under way. */
interface Open extends ArtifactName {
  id: string;
  wishes: string;
  done: Promise<Critique>;
  listeners: Set<(progress: CritiqueProgress) => void>;
  last: CritiqueProgress | undefined;
  /** Who waits for it. */
  waiters: number;
  abort: AbortController;
  pipeline: Pipeline | undefined;
  stopped: { reason: string; isNow: boolean } | undefined;
  iteration: number;
}

/**
 * Reviews of one critic, durable: one id is one review, whoever asks, and however often its process ends. What a mode said is on
 * disk before the next one begins.
 */
export class Reviews implements AsyncDisposable {
  readonly #parts: ReviewsParts;
  readonly #limits: Record<keyof typeof reviewLimits, number>;
  readonly #turns: Semaphore;
  readonly #open = new Map<string, Open>();
  /** Those that are over, the oldest first. */
  readonly #ended = new Map<string, ReviewRecord>();
  #left: ReviewRecord[] = [];
  #isClosed = false;

  private constructor(parts: ReviewsParts) {
    this.#parts = parts;
    this.#limits = { ...reviewLimits, ...parts.limits };
    this.#turns = new Semaphore({
      atOnce: this.#limits.atOnce,
      waitingMax: this.#limits.waiting,
      refusal: () =>
        new BusError('REVIEW_BUSY', { limit: this.#limits.atOnce + this.#limits.waiting }),
    });
  }

  /** Throws STORE_UNAVAILABLE. A review that is damaged is told, and left as it is. */
  static async open(parts: ReviewsParts): Promise<Reviews> {
    const reviews = new Reviews(parts);
    const ended: ReviewRecord[] = [];
    for await (const [key, bytes] of parts.store.entries({ prefix: reviewPrefix })) {
      const record = reviews.#read(key, bytes);
      if (record === undefined) continue;
      if (record.ended_ms === 0) reviews.#left.push(record);
      else ended.push(record);
    }
    for (const record of ended.sort((a, b) => a.ended_ms - b.ended_ms))
      reviews.#ended.set(record.id, record);
    await reviews.#abandon();
    return reviews;
  }

  /** Goes on with what an earlier process left, and tells what it did not. Once, after `open`. */
  async resume(): Promise<void> {
    for (const record of this.#ended.values()) if (!record.is_told) await this.#tell(record);
    const left = this.#left;
    this.#left = [];
    for (const record of left.sort((a, b) => a.begun_ms - b.begun_ms)) {
      const request = await this.#requestOf(record);
      // What cannot be read is asked again, or never.
      if (request === undefined || this.#open.has(record.id)) continue;
      this.#opened(request).done.catch((error: unknown) => this.#parts.onTrouble(record.id, error));
    }
    await this.#forget();
  }

  /** Those under way. */
  get openReviews(): number {
    return this.#open.size;
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
   * Reviews, or goes on, or tells what a finished one said. Throws REVIEW_INVALID, TOO_LARGE, REVIEW_CHANGED, REVIEW_BUSY,
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

  /** The time of whoever asked is over: the mode under way is the last one. `isNow`: it ends, too. */
  stop(id: string, reason: string, isNow: boolean): void {
    const open = this.#open.get(id);
    if (open === undefined) return;
    open.stopped = { reason, isNow };
    open.pipeline?.stop(reason, isNow);
    if (isNow && open.pipeline === undefined) open.abort.abort(new BusError('CANCELLED'));
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

  async #join(open: Open, { onProgress, signal }: Waiting): Promise<Critique> {
    open.waiters += 1;
    if (onProgress !== undefined) {
      open.listeners.add(onProgress);
      if (open.last !== undefined) onProgress({ ...open.last, report: null });
    }
    const onAbort = (): void => {
      // Others still wait for it.
      if (open.waiters <= 1) this.stop(open.id, 'CANCELLED', true);
    };
    if (signal?.aborted === true) onAbort();
    else signal?.addEventListener('abort', onAbort, { once: true });
    try {
      return await open.done;
    } finally {
      open.waiters -= 1;
      signal?.removeEventListener('abort', onAbort);
      if (onProgress !== undefined) open.listeners.delete(onProgress);
    }
  }

  async #work(open: Open, request: CritiqueRequest): Promise<Critique> {
    const known = await this.#known(open);
    if (known !== undefined && known.ended_ms > 0) {
      const critique = await this.#critiqueOf(known.id);
      if (critique !== undefined) return critique;
    }
    const isLeft = known !== undefined && known.ended_ms === 0;
    return this.#turns.run(
      () => (isLeft ? this.#goOn(open, known, request) : this.#begin(open, request)),
      open.abort.signal,
    );
  }

  async #begin(open: Open, request: CritiqueRequest): Promise<Critique> {
    const { store, clock, select } = this.#parts;
    const selection = select(request);
    const isGoverned = selection.criticality === 'C3' || selection.criticality === 'C4';
    const first = Pipeline.begun(
      selection.modes.map(({ mode }) => mode),
      isGoverned,
    );
    const record: ReviewRecord = {
      ...{ version: 1, id: open.id, wishes: open.wishes },
      ...{ artifact: request.artifact.path, digest: digestOfText(request.artifact.text) },
      ...{ iteration: request.iteration, selection, snapshot: stored(first.snapshot) },
      ...{ begun_ms: clock.nowMs(), ended_ms: 0, is_told: false },
    };
    await store.commit(begunOperations(record, request));
    return this.#run(open, { record, request, reports: [] }, first);
  }

  async #goOn(open: Open, record: ReviewRecord, request: CritiqueRequest): Promise<Critique> {
    const reports = await this.#reportsOf(record);
    if (reports !== undefined) return this.#run(open, { record, request, reports });
    await this.#parts.store.commit(forgottenOperations(record));
    return this.#begin(open, request);
  }

  /** What its modes have said; undefined: that is damaged, and what was said before is not known any more. */
  async #reportsOf({ id, snapshot }: ReviewRecord): Promise<ModeReport[] | undefined> {
    const prefix = reportPrefix(id);
    const said: Buffer[] = [];
    for await (const [, bytes] of this.#parts.store.entries({ prefix })) said.push(bytes);
    try {
      const { at } = restored(pipelineMachine, snapshot).context;
      if (said.length !== at) throw new Error(`${said.length} reports of ${at}`);
      return said.map((bytes) => JSON.parse(bytes.toString()) as ModeReport);
    } catch (error) {
      this.#parts.onTrouble(id, damagedRecord(prefix, error));
      return undefined;
    }
  }

  async #run(
    open: Open,
    its: { record: ReviewRecord; request: CritiqueRequest; reports: ModeReport[] },
    first?: ReturnType<typeof Pipeline.begun>,
  ): Promise<Critique> {
    const { record, request } = its;
    const { ground, why } = await this.#grounded(request);
    const noted: Flag[] =
      ground === undefined ? [{ code: 'GROUND_MISSING', level: 'note', text: why }] : [];
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
          if (!isOver) return this.#parts.store.commit(keptOperations(now, said));
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
          iteration: record.iteration,
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

  async #grounded(request: CritiqueRequest): Promise<Grounded> {
    try {
      return await this.#parts.ground(request);
    } catch (error) {
      return { ground: undefined, why: asBusError(error).message };
    }
  }

  async #end(
    its: { record: ReviewRecord; request: CritiqueRequest; reports: ModeReport[] },
    noted: readonly Flag[],
  ): Promise<Critique> {
    const { store, clock, judge } = this.#parts;
    const nowMs = clock.nowMs();
    const record = { ...its.record, ended_ms: nowMs };
    const critique = critiqueOf({ ...its, record }, judge, noted, nowMs);
    await store.commit(endedOperations(record, critique));
    this.#ended.set(record.id, record);
    await this.#told(record, critique, its.request);
    await this.#forget();
    return critique;
  }

  async #tell(record: ReviewRecord): Promise<void> {
    const critique = await this.#critiqueOf(record.id);
    const request = await this.#requestOf(record);
    if (critique !== undefined && request !== undefined)
      await this.#told(record, critique, request);
  }

  /** What was asked is needed until it is told. */
  async #told(record: ReviewRecord, critique: Critique, request: CritiqueRequest): Promise<void> {
    try {
      await this.#parts.onEnded(critique, request);
      const told = { ...record, is_told: true };
      const gone = { type: 'del', key: reviewedKey(record.id) } as const;
      await this.#parts.store.write([put(reviewKey(record.id), told), gone]);
      this.#ended.set(record.id, told);
    } catch (error) {
      this.#parts.onTrouble(record.id, error);
    }
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

  /** Throws REVIEW_CHANGED. */
  async #known({ id, wishes }: Open): Promise<ReviewRecord | undefined> {
    const key = reviewKey(id);
    const bytes = await this.#parts.store.get(key);
    const record = bytes === undefined ? undefined : this.#read(key, bytes);
    if (record !== undefined && record.wishes !== wishes)
      throw new BusError('REVIEW_CHANGED', { id });
    return record;
  }

  #read(key: string, bytes: Buffer): ReviewRecord | undefined {
    try {
      return readRecord(bytes);
    } catch (error) {
      this.#parts.onTrouble(key, damagedRecord(key, error));
      return undefined;
    }
  }

  #critiqueOf(id: string): Promise<Critique | undefined> {
    return this.#json<Critique>(critiqueKey(id));
  }

  #requestOf({ id }: ReviewRecord): Promise<CritiqueRequest | undefined> {
    return this.#json<CritiqueRequest>(reviewedKey(id));
  }

  async #json<T>(key: string): Promise<T | undefined> {
    const bytes = await this.#parts.store.get(key);
    if (bytes === undefined) return undefined;
    try {
      return JSON.parse(bytes.toString()) as T;
    } catch (error) {
      this.#parts.onTrouble(key, damagedRecord(key, error));
      return undefined;
    }
  }

  /** Nobody has asked again for what a process left long ago, or before so many others. */
  async #abandon(): Promise<void> {
    const { finished, finishedMs } = this.#limits;
    const oldMs = this.#parts.clock.nowMs() - finishedMs;
    this.#left.sort((a, b) => b.begun_ms - a.begun_ms);
    const gone = this.#left.filter(({ begun_ms }, at) => at >= finished || begun_ms < oldMs);
    if (gone.length === 0) return;
    this.#left = this.#left.filter((each) => !gone.includes(each));
    await this.#parts.store.commit(gone.flatMap(forgottenOperations));
  }

  /** Too many, or too old. */
  async #forget(): Promise<void> {
    const { finished, finishedMs } = this.#limits;
    const oldMs = this.#parts.clock.nowMs() - finishedMs;
    let surplus = this.#ended.size - finished;
    const gone: ReviewRecord[] = [];
    for (const record of this.#ended.values()) {
      if (surplus <= 0 && record.ended_ms >= oldMs) break;
      surplus -= 1;
      gone.push(record);
    }
    for (const { id } of gone) this.#ended.delete(id);
    if (gone.length > 0) await this.#parts.store.commit(gone.flatMap(forgottenOperations));
  }
}
