import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '../client/client.js';
import {
  criticMessages,
  criticService,
  critiqueProgress,
  type ArtifactHistory,
  type CriticRow,
  type CritiqueProgress,
  type RatifyRequest,
} from '../critic/review/messages.js';
import type { Critique, CritiqueRequest } from '../critic/shapes.js';
import { asBusError } from '../errors/bus-error.js';
import { ask, type Exchange } from './request.js';

/** A review of ten modes of a minute each, and what is before and behind it. */
const reviewMs = 15 * 60_000;
/** For so long a critic that served may be away. */
const absentMsMax = 15_000;
const retryMs = 250;
/** Rows of one request, and of a whole list. */
const pageRows = 100;
export const artifactsListedMax = 2_000;

export interface Reviewing {
  onProgress?: (progress: CritiqueProgress) => void;
  /** Ends the review. The answer is what was found so far: at once in this process, over the bus when its id is asked for again. */
  signal?: AbortSignal;
}

/** A critic: reviews artifacts, and remembers its reviews. */
export interface CriticPort {
  /** Throws REVIEW_BUSY, REVIEW_CHANGED, REVIEW_INVALID, TOO_LARGE, CANCELLED. */
  critique(request: CritiqueRequest, options?: Reviewing): Promise<Critique>;
  /** Throws NO_SUCH_ARTIFACT, AMBIGUOUS_ARTIFACT. */
  history(artifact: string): Promise<ArtifactHistory>;
  /** A review that is over, by its id. Throws NO_SUCH_REVIEW. */
  finished(id: string): Promise<Critique>;
  list(): Promise<{ rows: CriticRow[]; more: boolean }>;
  /** Throws NO_SUCH_ARTIFACT, AMBIGUOUS_ARTIFACT, RATIFY_STATE, RATIFY_OLD, RATIFY_NOT_YOURS. */
  ratify(said: RatifyRequest): Promise<ArtifactHistory>;
}

/** After a restart of the broker or the critic, a request may arrive before the critic is back. */
async function untilItServes<T>(review: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  for (let thereMs = performance.now(); ;) {
    const askedMs = performance.now();
    try {
      return await review();
    } catch (error) {
      const nowMs = performance.now();
      const { code } = asBusError(error);
      // It was there: what was asked waited for longer than it takes to be refused.
      if (code === 'NO_RESPONDER' && nowMs - askedMs > absentMsMax) thereMs = nowMs;
      // The broker may not know yet that it was killed. One that is lost later was at work: its client has tried again.
      const isAbsent = code === 'NO_RESPONDER' || code === 'RESPONDER_LOST';
      if (!isAbsent || nowMs - thereMs > absentMsMax) throw error;
      await delay(retryMs, undefined, { ...(signal === undefined ? {} : { signal }) });
    }
  }
}

/** The one on the bus. */
export class RemoteCritic implements CriticPort {
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  critique(request: CritiqueRequest, { onProgress, signal }: Reviewing = {}): Promise<Critique> {
    const untilMs = performance.now() + reviewMs;
    const review = (): Promise<Critique> =>
      ask(this.#client, `service:${criticService}`, criticMessages.critique, request, {
        deadlineMs: Math.max(1, untilMs - performance.now()),
        // It has an id: a critic that was started again goes on with it.
        isIdempotent: true,
        onPartial: (part) => onProgress?.(critiqueProgress.decode(part)),
        ...(signal === undefined ? {} : { signal }),
      });
    return untilItServes(review, signal);
  }

  history(artifact: string): Promise<ArtifactHistory> {
    return this.#ask(criticMessages.history, { artifact });
  }

  finished(id: string): Promise<Critique> {
    return this.#ask(criticMessages.show, { id });
  }

  async list(): Promise<{ rows: CriticRow[]; more: boolean }> {
    const rows: CriticRow[] = [];
    for (let after = ''; ;) {
      const limit = Math.min(pageRows, artifactsListedMax - rows.length);
      const page = await this.#ask(criticMessages.list, { after, limit });
      rows.push(...page.rows);
      after = page.rows.at(-1)?.artifact ?? '';
      if (!page.more || after === '' || rows.length >= artifactsListedMax)
        return { rows, more: page.more };
    }
  }

  ratify(said: RatifyRequest): Promise<ArtifactHistory> {
    return this.#ask(criticMessages.ratify, said);
  }

  #ask<Q, A>(message: Exchange<Q, A>, request: Q): Promise<A> {
    const isIdempotent = message.type !== criticMessages.ratify.type;
    return ask(this.#client, `service:${criticService}`, message, request, { isIdempotent });
  }
}
