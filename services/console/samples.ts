import { statfs } from 'node:fs/promises';
import type { Clock } from '../../src/base/clock.js';
import { asBusError } from '../../src/errors/bus-error.js';
import type { TreeState } from '../../src/pgc/plan/tree-state.js';
import type { StatusAnswer } from '../../src/wire/messages.js';
import type { Bus } from '../bus.js';
import type { Check } from '../check.js';

const everyMs = 5_000;
/** The last hour. */
const samplesMax = 720;
/** What costs more than a question to the broker. */
const dearEveryMs = 60_000;
const statesMsMax = 10_000;

/** How all is at one time. What is not known is null: the broker is not there, or has just come. */
export interface Sample {
  at_ms: number;
  /** Per second, since the sample before. */
  accepted: number | null;
  delivered: number | null;
  requests: number | null;
  /** From a durable message to its acceptance, over the last of them. */
  accept_p50_ms: number | null;
  accept_p99_ms: number | null;
  /** Of a question of the console to the broker and back. */
  answer_ms: number | null;
  messages: number | null;
  dead_letters: number | null;
  /** Age of the oldest message that is due. */
  oldest_ms: number | null;
  /** How late timers of the broker run, at worst within a minute. */
  loop_lag_ms: number | null;
  /** Of the broker. */
  rss_bytes: number | null;
  /** Where the home is. */
  disk_free_bytes: number | null;
  /** Files of all trees that have changed since they were indexed. Looked at once a minute, while a page is open. */
  files_changed: number | null;
}

const unknown = {
  ...{ accepted: null, delivered: null, requests: null, accept_p50_ms: null, accept_p99_ms: null },
  ...{ answer_ms: null, messages: null, dead_letters: null, oldest_ms: null },
  ...{ loop_lag_ms: null, rss_bytes: null },
};

/** Of the last hour a sample each 5 seconds, whether or not a page is open. */
export class Samples implements Disposable {
  readonly #bus: Bus;
  readonly #home: string;
  readonly #clock: Clock;
  readonly #checks: () => Promise<Check[]>;
  readonly #samples: Sample[] = [];
  #watch: ((sample: Sample) => void) | undefined;
  #timer: Disposable | undefined;
  #before: { status: StatusAnswer; atMs: number } | undefined;
  #states: { found: Promise<number | null>; atMs: number } | undefined;
  #doctor: { found: Promise<Check[]>; atMs: number } | undefined;
  #isOver = false;

  constructor(parts: {
    bus: Bus;
    home: string;
    clock: Clock;
    /** What `sigma doctor` finds. */
    checks: () => Promise<Check[]>;
  }) {
    const { bus, home, clock, checks } = parts;
    this.#bus = bus;
    this.#home = home;
    this.#clock = clock;
    this.#checks = checks;
    this.#next(0);
  }

  /** Oldest first. */
  get all(): readonly Sample[] {
    return this.#samples;
  }

  /** While pages are open: each new one is told. Undefined: none is. */
  watch(told: ((sample: Sample) => void) | undefined): void {
    this.#watch = told;
  }

  /** What `sigma doctor` finds, at most once a minute. Where it fails the next one asks anew. */
  doctor(): Promise<Check[]> {
    const atMs = this.#clock.monotonicMs();
    const kept = this.#doctor;
    if (kept !== undefined && atMs - kept.atMs < dearEveryMs) return kept.found;
    const now = { found: this.#checks(), atMs };
    this.#doctor = now;
    now.found.catch(() => {
      if (this.#doctor === now) this.#doctor = undefined;
    });
    return now.found;
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    this.#timer?.[Symbol.dispose]();
  }

  #next(afterMs: number): void {
    if (this.#isOver) return;
    this.#timer = this.#clock.after(afterMs, () => {
      void this.#take().finally(() => this.#next(everyMs));
    });
  }

  async #take(): Promise<void> {
    const [broker, disk_free_bytes, files_changed] = await Promise.all([
      this.#broker(),
      diskFree(this.#home),
      this.#filesChanged(),
    ]);
    const at_ms = this.#clock.nowMs();
    const sample = { at_ms, ...broker, disk_free_bytes, files_changed };
    this.#samples.push(sample);
    if (this.#samples.length > samplesMax) this.#samples.shift();
    this.#watch?.(sample);
  }

  async #broker(): Promise<Omit<Sample, 'at_ms' | 'disk_free_bytes' | 'files_changed'>> {
    const before = this.#before;
    this.#before = undefined;
    let status: StatusAnswer;
    const askedMs = this.#clock.monotonicMs();
    try {
      status = await (await this.#bus.client()).status();
    } catch {
      return unknown;
    }
    const atMs = this.#clock.monotonicMs();
    this.#before = { status, atMs };
    const isSame = before?.status.started_ms === status.started_ms;
    const rate = (count: (each: StatusAnswer) => number): number | null =>
      before === undefined || !isSame
        ? null
        : ((count(status) - count(before.status)) * 1_000) / (atMs - before.atMs);
    const { accept_p50_ms, accept_p99_ms, messages, dead_letters } = status;
    const { oldest_ms, loop_lag_ms, rss_bytes } = status;
    return {
      accepted: rate((each) => each.accepted),
      delivered: rate((each) => each.delivered),
      requests: rate((each) => each.requests),
      ...{ accept_p50_ms, accept_p99_ms, answer_ms: atMs - askedMs, messages, dead_letters },
      ...{ oldest_ms, loop_lag_ms, rss_bytes },
    };
  }

  /** Comparing a tree takes time: an older number will do, and without a page none is wanted. */
  async #filesChanged(): Promise<number | null> {
    if (this.#watch === undefined) return null;
    const atMs = this.#clock.monotonicMs();
    if (this.#states === undefined || atMs - this.#states.atMs >= dearEveryMs)
      this.#states = { found: this.#compared(), atMs };
    return this.#states.found;
  }

  async #compared(): Promise<number | null> {
    const request = { agents: [], paths: [], compares: true };
    const trees: TreeState[] = await this.#bus
      .states(request, { deadlineMs: statesMsMax })
      .catch(() => []);
    const counted = trees.filter(({ compared }) => compared === 'all');
    if (counted.length === 0) return null;
    return counted.reduce((sum, each) => sum + each.files_changed, 0);
  }
}

async function diskFree(home: string): Promise<number | null> {
  const found = await statfs(home).catch((error: unknown) => void asBusError(error));
  return found === undefined ? null : found.bavail * found.bsize;
}
