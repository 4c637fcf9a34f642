import type { Clock } from '../../base/clock.js';
import { restored, type StoredSnapshot } from '../../machine/step.js';
import { damagedRecord } from '../../store/damaged.js';
import {
  critiqueKey,
  reportKey,
  reportPrefix,
  reviewedKey,
  reviewKey,
  reviewPrefix,
} from '../../store/keys.js';
import type { Operation, Store } from '../../store/port.js';
import { pipelineMachine } from './pipeline.machine.js';
import { digestOf } from './read-request.js';
import { secretsOutOf } from '../artifact/secrets.js';
import type { Critique, CritiqueRequest, ModeReport, Selection } from '../shapes.js';

/** One review as it lies on disk: small, so that all of them are read when a critic begins. */
export interface ReviewRecord {
  version: 1;
  id: string;
  /** Of what was asked: the same id is the same review. */
  wishes: string;
  artifact: string;
  /** Of its text. */
  digest: string;
  iteration: number;
  selection: Selection;
  /** Of the pipeline. */
  snapshot: StoredSnapshot;
  begun_ms: number;
  /** 0: it is under way. */
  ended_ms: number;
  /** It is in the history of its artifact. */
  is_told: boolean;
}

interface ReviewStoreParts {
  store: Store;
  clock: Pick<Clock, 'nowMs'>;
  onTrouble: (review: string, error: unknown) => void;
  /** Reviews that are over, and as many that a process left; the oldest make room, with all that they said. */
  finished: number;
  finishedMs: number;
}

/**
 * Reviews as they lie on disk: under way each of its reports by itself, over as one critique. What is damaged is reported, and left
 * as it is. All of it throws STORE_UNAVAILABLE.
 */
export class ReviewStore {
  readonly #parts: ReviewStoreParts;
  /** Those that are over, the oldest first. */
  readonly #ended = new Map<string, ReviewRecord>();
  #left: ReviewRecord[] = [];

  private constructor(parts: ReviewStoreParts) {
    this.#parts = parts;
  }

  static async open(parts: ReviewStoreParts): Promise<ReviewStore> {
    const reviews = new ReviewStore(parts);
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

  /** Those that are over and not reported yet. */
  get unreported(): ReviewRecord[] {
    return [...this.#ended.values()].filter(({ is_told }) => !is_told);
  }

  /**
   * What an earlier process left and this one can go on with, the oldest first; once. A text with a secret in it is not kept as
   * it was: such a review goes on when it is asked for again.
   */
  async left(): Promise<CritiqueRequest[]> {
    const requests: CritiqueRequest[] = [];
    for (const record of this.#left.splice(0).sort((a, b) => a.begun_ms - b.begun_ms)) {
      const request = await this.requestOf(record.id);
      if (request !== undefined && digestOf(request) === record.wishes) requests.push(request);
    }
    return requests;
  }

  async record(id: string): Promise<ReviewRecord | undefined> {
    const key = reviewKey(id);
    const bytes = await this.#parts.store.get(key);
    return bytes === undefined ? undefined : this.#read(key, bytes);
  }

  critique(id: string): Promise<Critique | undefined> {
    return this.#json<Critique>(critiqueKey(id));
  }

  /** As it was asked, without secrets. */
  requestOf(id: string): Promise<CritiqueRequest | undefined> {
    return this.#json<CritiqueRequest>(reviewedKey(id));
  }

  /** What its modes have said; undefined: that is damaged, and what was said before is not known any more. */
  async reports({ id, snapshot }: ReviewRecord): Promise<ModeReport[] | undefined> {
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

  /** With all that it needs to go on in another process; in place of what was known under its id. */
  async begin(
    record: ReviewRecord,
    request: CritiqueRequest,
    before: ReviewRecord | undefined,
  ): Promise<void> {
    const { id } = record;
    await this.#parts.store.commit([
      ...(before === undefined ? [] : forgotten(before)),
      put(reviewKey(id), record),
      put(reviewedKey(id), secretsOutOf(request)),
    ]);
    this.#ended.delete(id);
  }

  /** After a mode: what it said, and where the pipeline stands, together. */
  keep(record: ReviewRecord, reports: ReadonlyMap<number, ModeReport>): Promise<void> {
    const said = [...reports].map(([at, report]) => put(reportKey(record.id, at), report));
    return this.#parts.store.commit([put(reviewKey(record.id), record), ...said]);
  }

  /** Its parts make room for the whole. */
  async end(record: ReviewRecord, critique: Critique): Promise<void> {
    await this.#parts.store.commit([
      put(reviewKey(record.id), record),
      put(critiqueKey(record.id), critique),
      ...reportsGone(record.id, critique.reports.length),
    ]);
    this.#ended.set(record.id, record);
  }

  /** What was asked was needed until now. */
  async markReported(record: ReviewRecord): Promise<void> {
    const reported = { ...record, is_told: true };
    await this.#parts.store.write([
      put(reviewKey(record.id), reported),
      del(reviewedKey(record.id)),
    ]);
    this.#ended.set(record.id, reported);
  }

  /** Of those that are over: too many, or too old. */
  async forget(): Promise<void> {
    const { finished, finishedMs, clock, store } = this.#parts;
    const oldMs = clock.nowMs() - finishedMs;
    let surplus = this.#ended.size - finished;
    const gone: ReviewRecord[] = [];
    for (const record of this.#ended.values()) {
      if (surplus <= 0 && record.ended_ms >= oldMs) break;
      surplus -= 1;
      gone.push(record);
    }
    for (const { id } of gone) this.#ended.delete(id);
    if (gone.length > 0) await store.commit(gone.flatMap(forgotten));
  }

  /** Forgets what a process left long ago, or before so many others. */
  async #abandon(): Promise<void> {
    const { finished, finishedMs, clock, store } = this.#parts;
    const oldMs = clock.nowMs() - finishedMs;
    this.#left.sort((a, b) => b.begun_ms - a.begun_ms);
    const gone = this.#left.filter(({ begun_ms }, at) => at >= finished || begun_ms < oldMs);
    if (gone.length === 0) return;
    this.#left = this.#left.filter((each) => !gone.includes(each));
    await store.commit(gone.flatMap(forgotten));
  }

  #read(key: string, bytes: Buffer): ReviewRecord | undefined {
    try {
      const record = JSON.parse(bytes.toString()) as ReviewRecord;
      if ((record.version as number) !== 1 || typeof record.id !== 'string')
        throw new Error(`a review of version ${String(record.version)}`);
      return record;
    } catch (error) {
      this.#parts.onTrouble(key, damagedRecord(key, error));
      return undefined;
    }
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
}

function forgotten({ id, selection }: ReviewRecord): Operation[] {
  return [
    ...[reviewKey(id), critiqueKey(id), reviewedKey(id)].map(del),
    ...reportsGone(id, selection.modes.length),
  ];
}

function reportsGone(id: string, reports: number): Operation[] {
  return Array.from({ length: reports }, (_, at) => del(reportKey(id, at)));
}

function put(key: string, value: unknown): Operation {
  return { type: 'put', key, value: Buffer.from(JSON.stringify(value)) };
}

const del = (key: string): Operation => ({ type: 'del', key });
