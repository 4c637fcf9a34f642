import { asBusError } from '../../errors/bus-error.js';
import { Log } from '../../machine/log.js';
import type { DurableParts } from '../../machine/outbox.js';
import { Records, type Change } from '../../machine/records.js';
import { restored, type StoredSnapshot } from '../../machine/step.js';
import { damagedRecord } from '../../store/damaged.js';
import {
  closingPrefix,
  critiqueKey,
  reportKey,
  reportPrefix,
  reviewedKey,
  reviewKey,
  reviewPrefix,
} from '../../store/keys.js';
import { del, put } from '../../store/operations.js';
import type { Operation } from '../../store/port.js';
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
  /** In a record of an earlier release; false: its end is not reported yet. */
  is_told?: boolean;
}

/** The end of a review is reported. */
interface Closing {
  type: 'critique.report';
}

export interface EndedParts extends DurableParts {
  /** Called for every review that is over, at least once, also by the next process. */
  onEnded: (critique: Critique, request: CritiqueRequest) => Promise<void>;
}

interface ReviewStoreParts extends EndedParts {
  /** Reviews that are over, and as many that a process left; the oldest make room, with all that they said. */
  finished: number;
  finishedMs: number;
}

/**
 * Reviews as they lie on disk: under way each of its reports by itself, over as one critique. What is damaged is reported, and left
 * as it is. All of it throws STORE_UNAVAILABLE.
 */
export class ReviewStore implements AsyncDisposable {
  readonly #parts: ReviewStoreParts;
  readonly #records: Records<ReviewRecord, Closing>;
  /** Those that are over. */
  readonly #ended = new Map<string, ReviewRecord>();
  /** Those that an earlier process left. */
  readonly #left = new Map<string, ReviewRecord>();

  private constructor(parts: ReviewStoreParts) {
    this.#parts = parts;
    this.#records = new Records({
      ...parts,
      prefix: reviewPrefix,
      idOf: ({ id }) => id,
      decode,
      adopt: ({ record }) => {
        this.#ended.delete(record.id);
        if (record.ended_ms > 0) this.#ended.set(record.id, record);
      },
      outbox: { prefix: closingPrefix, perform: (record) => this.#report(record) },
    });
  }

  static async open(parts: ReviewStoreParts): Promise<ReviewStore> {
    const reviews = new ReviewStore(parts);
    for (const record of (await reviews.#records.read()).records)
      (record.ended_ms === 0 ? reviews.#left : reviews.#ended).set(record.id, record);
    await reviews.#forget(reviews.#left, 'begun_ms');
    reviews.#records.resume();
    return reviews;
  }

  /** Reports the ends that earlier processes did not. */
  async resume(): Promise<void> {
    const ended = [...this.#ended.values()];
    for (const record of ended) if (record.is_told === false) await this.#write(asEnded(record));
    await Promise.all(ended.map(({ id }) => this.#records.outbox.tried(id)));
  }

  /**
   * What an earlier process left and this one can go on with, the oldest first; once. A text with a secret in it is not kept as
   * it was: such a review goes on when it is asked for again.
   */
  async left(): Promise<CritiqueRequest[]> {
    const requests: CritiqueRequest[] = [];
    const left = [...this.#left.values()].sort((a, b) => a.begun_ms - b.begun_ms);
    this.#left.clear();
    for (const record of left) {
      const request = await this.requestOf(record.id);
      if (request !== undefined && digestOf(request) === record.wishes) requests.push(request);
    }
    return requests;
  }

  record(id: string): Promise<ReviewRecord | undefined> {
    return this.#records.turn(id, () => this.#records.load(id));
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
    try {
      const { entries } = await Log.open<ModeReport>({ store: this.#parts.store, prefix });
      const { at } = restored(pipelineMachine, snapshot).context;
      if (entries.length === at) return [...entries];
      throw damagedRecord(prefix, `${entries.length} reports of ${at}`);
    } catch (error) {
      if (asBusError(error).code === 'STORE_UNAVAILABLE') throw error;
      this.#parts.onTrouble(id, error);
      return undefined;
    }
  }

  /** With all that it needs to go on in another process; in place of what was known under its id. */
  async begin(
    record: ReviewRecord,
    request: CritiqueRequest,
    before: ReviewRecord | undefined,
  ): Promise<void> {
    const gone = before === undefined ? [] : partsGone(before);
    await this.#write({
      record,
      more: [...gone, put(reviewedKey(record.id), secretsOutOf(request))],
    });
  }

  /** After a mode: what it said, and where the pipeline stands, together. */
  async keep(record: ReviewRecord, reports: ReadonlyMap<number, ModeReport>): Promise<void> {
    const more = [...reports].map(([at, report]) => put(reportKey(record.id, at), report));
    await this.#write({ record, more });
  }

  /** Its parts make room for the whole. Its end was reported once when this resolves, unless that failed. */
  async end(record: ReviewRecord, critique: Critique): Promise<void> {
    const { id } = record;
    const more = [put(critiqueKey(id), critique), ...reportsGone(id, critique.reports.length)];
    await this.#write({ ...asEnded(record), more });
    await this.#records.outbox.tried(id);
  }

  /** Of those that are over: too many, or too old. */
  forget(): Promise<void> {
    return this.#forget(this.#ended, 'ended_ms');
  }

  async #forget(records: Map<string, ReviewRecord>, time: 'begun_ms' | 'ended_ms'): Promise<void> {
    const { finished, finishedMs, clock, store } = this.#parts;
    const oldMs = clock.nowMs() - finishedMs;
    const latestFirst = [...records.values()].reverse().sort((a, b) => b[time] - a[time]);
    const gone = latestFirst.filter((each, at) => at >= finished || each[time] < oldMs);
    for (const { id } of gone) records.delete(id);
    if (gone.length > 0) await store.commit(gone.flatMap(forgotten));
  }

  #write(change: Change<ReviewRecord, Closing>): Promise<ReviewRecord> {
    return this.#records.turn(change.record.id, () => this.#records.write(change));
  }

  async #report({ id, ended_ms }: ReviewRecord): Promise<void> {
    const critique = await this.critique(id);
    const request = await this.requestOf(id);
    // Reported before, or begun anew since.
    if (ended_ms === 0 || critique === undefined || request === undefined) return;
    await this.#parts.onEnded(critique, request);
    await this.#parts.store.write([del(reviewedKey(id))]);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#records[Symbol.asyncDispose]();
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

/** Its end is reported with this change. */
function asEnded({ is_told: _, ...record }: ReviewRecord): Change<ReviewRecord, Closing> {
  return { record, effects: [{ type: 'critique.report' }] };
}

function decode(bytes: Buffer): ReviewRecord {
  const record = JSON.parse(bytes.toString()) as ReviewRecord;
  if ((record.version as number) !== 1 || typeof record.id !== 'string')
    throw new Error(`a review of version ${String(record.version)}`);
  return record;
}

function forgotten(record: ReviewRecord): Operation[] {
  return [del(reviewKey(record.id)), ...partsGone(record)];
}

function partsGone({ id, selection }: ReviewRecord): Operation[] {
  const reports = reportsGone(id, selection.modes.length);
  return [del(critiqueKey(id)), del(reviewedKey(id)), ...reports];
}

function reportsGone(id: string, reports: number): Operation[] {
  return Array.from({ length: reports }, (_, at) => del(reportKey(id, at)));
}
