import { backoffMs } from '../base/backoff.js';
import type { Clock } from '../base/clock.js';
import type { Trace } from '../base/trace.js';
import { asBusError, BusError } from '../errors/bus-error.js';
import {
  isStateStream,
  patternOfStream,
  runStart,
  topicMatches,
  touchesStates,
} from '../wire/address.js';
import { decodeFrame, type Frame } from '../wire/frame.js';
import type { Publication, TopicsAnswer, TopicsQuery } from '../wire/messages.js';
import { followLimits, syncBackoff } from './limits.js';

export interface Missed {
  stream: string;
  /** Positions of the first and the last that are lost for good. */
  from: number;
  to: number;
}

export interface SubscribeOptions {
  /**
   * The start of a new subscriber. `states` (the default): what `presence.` and `task.` streams say
   * now, and of all others only what is new. `now`: only what is new. `kept`: all that the broker keeps.
   */
  from?: 'states' | 'now' | 'kept';
  /** Arriving publications only; gaps are not tracked. */
  isLive?: boolean;
  /** Publications that are lost and that the broker no longer keeps. Never of a stream of states. */
  onMissed?: (missed: Missed) => void;
  /**
   * The broker has forgotten the stream; its last publications may be missing. After
   * another run of the broker began, only of streams of states: of all others `onRestart` has told it.
   */
  onForgotten?: (stream: string) => void;
  /** The broker restarted: publications of its earlier run may be lost. */
  onRestart?: () => void;
}

export interface FollowerParts {
  pattern: string;
  options: SubscribeOptions;
  onPublication: (topic: string, frame: Frame) => void;
  /** Throws the broker's rejection, and BROKER_LOST or NO_BROKER instead of waiting for another session. */
  query: (query: TopicsQuery) => Promise<TopicsAnswer>;
  isLive: () => boolean;
  checkMs: number;
  clock: Clock;
  random: () => number;
  trace: Trace;
}

interface Deferred {
  topic: string;
  frame: Frame;
}

/**
 * One subscriber's place in the streams it follows: nothing twice, in order within a stream, and what is
 * lost is fetched or reported. Publications of a stream whose entries are being fetched are held back.
 * Source: the Clone pattern, RFC 12/CHP and the ZeroMQ guide, chapter 5.
 */
export class Follower implements Disposable {
  readonly #parts: FollowerParts;
  /** Of each stream the last position that was delivered or stepped over. */
  readonly #positions = new Map<string, number>();
  /** Streams of which something must be fetched. */
  readonly #behind = new Set<string>();
  readonly #deferred = new Map<string, Deferred[]>();
  /** Streams of states of an earlier run of the broker; what others lost with it, `onRestart` has told. */
  readonly #earlier = new Set<string>();
  #deferredCount = 0;
  #deferredBytes = 0;
  #epoch: string | undefined;
  #session = 0;
  #isLevel = false;
  #hasBeenLevel = false;
  /** The broker refused the positions of its streams: publications are passed on unchecked. */
  #isBlind = false;
  #isCheckDue = false;
  #isWorking = false;
  #isOver = false;
  #check: Disposable | undefined;
  #wake: (() => void) | undefined;

  constructor(parts: FollowerParts) {
    this.#parts = parts;
    this.#isBlind = parts.options.isLive === true;
  }

  get pattern(): string {
    return this.#parts.pattern;
  }

  /** From now on every gap is reported. */
  get isLevel(): boolean {
    return this.#isLevel;
  }

  /** A session began. Another `epoch` is another run of the broker, whose positions begin anew. */
  onSession(epoch: string): void {
    if (this.#parts.options.isLive === true) return;
    this.#session += 1;
    this.#isBlind = false;
    if (this.#epoch !== undefined && epoch !== this.#epoch) this.#beginAnew();
    else if (this.#isLevel) this.#isCheckDue = true;
    this.#epoch = epoch;
    this.#release();
    void this.#work();
  }

  onPublication(stream: string, topic: string, frame: Frame): void {
    if (this.#isBlind) return this.#deliver(topic, frame);
    this.#offer(stream, { topic, frame });
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    this.#check?.[Symbol.dispose]();
    this.#wake?.();
    this.#forgetHeld();
  }

  // --- publications

  #offer(stream: string, each: Deferred): void {
    const { seq } = each.frame.envelope;
    // Without a session the run of the broker is unknown.
    if (!this.#isLevel || !this.#parts.isLive()) return this.#hold(stream, each);
    const seen = this.#positions.get(stream) ?? 0;
    if (seq <= seen) return;
    const isNext = isStateStream(stream) || seq === Math.max(seen, runStart(seq)) + 1;
    // Untracked: earlier publications are unknown.
    if (isNext || this.#isUntracked(stream))
      return this.#apply(stream, seq, each.topic, () => each.frame);
    this.#behind.add(stream);
    this.#hold(stream, each);
    void this.#work();
  }

  /** Delivers unless delivered before; a gap before it is lost. */
  #apply(stream: string, seq: number, topic: string, read: () => Frame): void {
    const seen = this.#positions.get(stream) ?? 0;
    if (seq <= seen) return;
    const isTracked = !this.#isUntracked(stream);
    if (isTracked) this.#positions.set(stream, seq);
    if (isTracked && this.#hasBeenLevel && !isStateStream(stream)) {
      const start = runStart(seq);
      if (seen > 0 && start > seen) this.#forgotten(stream);
      const from = Math.max(seen, start) + 1;
      if (seq > from) this.#missed({ stream, from, to: seq - 1 });
    }
    let frame: Frame;
    try {
      frame = read();
    } catch {
      return this.#missed({ stream, from: seq, to: seq });
    }
    this.#deliver(topic, frame);
  }

  #applyEntry({ stream, seq, topic, frame }: Publication): void {
    this.#apply(stream, seq, topic, () =>
      decodeFrame(Buffer.from(frame.buffer, frame.byteOffset, frame.byteLength)),
    );
  }

  #isUntracked(stream: string): boolean {
    return this.#positions.size >= followLimits.streamsMax && !this.#positions.has(stream);
  }

  #hold(stream: string, each: Deferred): void {
    const { publicationsHeldMax, bytesHeldMax } = followLimits;
    const bytes = each.frame.body.length;
    if (this.#deferredCount >= publicationsHeldMax || this.#deferredBytes + bytes > bytesHeldMax) {
      // Dropped here; the next check of positions finds it.
      this.#isCheckDue = true;
      return;
    }
    this.#deferredCount += 1;
    this.#deferredBytes += bytes;
    const deferred = this.#deferred.get(stream);
    if (deferred === undefined) this.#deferred.set(stream, [each]);
    else deferred.push(each);
  }

  #takeDeferred(stream: string): Deferred[] {
    const deferred = this.#deferred.get(stream) ?? [];
    this.#deferred.delete(stream);
    this.#deferredCount -= deferred.length;
    for (const { frame } of deferred) this.#deferredBytes -= frame.body.length;
    return deferred;
  }

  #forgetHeld(): void {
    for (const stream of [...this.#deferred.keys()]) this.#takeDeferred(stream);
  }

  /** Delivers deferred publications, unless there still is a reason to wait. */
  #release(): void {
    for (const stream of [...this.#deferred.keys()])
      for (const each of this.#takeDeferred(stream)) this.#offer(stream, each);
  }

  // --- queries to the broker, one at a time

  async #work(): Promise<void> {
    if (this.#isWorking) return;
    this.#isWorking = true;
    for (let attempt = 0; !this.#isOver && this.#parts.isLive();) {
      const job = this.#nextJob();
      if (job === undefined) break;
      const session = this.#session;
      try {
        await job.run();
        attempt = 0;
      } catch (error) {
        if (session !== this.#session) continue;
        const { code, retryable } = asBusError(error);
        this.#parts.trace('warn', 'a subscriber is not level', { pattern: this.pattern, code });
        if (!retryable) job.giveUp();
        else await this.#pause(attempt);
        attempt += 1;
      }
    }
    this.#isWorking = false;
  }

  #nextJob(): { run: () => Promise<void>; giveUp: () => void } | undefined {
    if (this.#isBlind) return undefined;
    if (!this.#isLevel) return { run: () => this.#level(), giveUp: () => this.#goBlind() };
    const [stream] = this.#behind;
    if (stream !== undefined)
      return { run: () => this.#fill(stream), giveUp: () => this.#settle(stream, Infinity) };
    if (this.#isCheckDue) return { run: () => this.#compare(), giveUp: () => this.#postpone() };
    return undefined;
  }

  /** Takes the positions of all streams, and the entries that this subscriber wants of them. */
  async #level(): Promise<void> {
    // After a restart all that the broker keeps is younger than this subscription.
    const from = this.#hasBeenLevel ? 'kept' : (this.#parts.options.from ?? 'states');
    const wantsEntries = from === 'kept' || (from === 'states' && touchesStates(this.pattern));
    const query = { pattern: this.pattern, seen: [], positions_only: !wantsEntries };
    for await (const page of this.#pages(query)) {
      for (const entry of page.entries)
        if (from === 'kept' || isStateStream(entry.stream)) this.#applyEntry(entry);
      for (const { stream, seq } of page.streams) this.#stepTo(stream, seq);
    }
    this.#isLevel = true;
    this.#hasBeenLevel = true;
    for (const stream of this.#earlier) if (!this.#positions.has(stream)) this.#forgotten(stream);
    this.#earlier.clear();
    // The subscription travels on another socket than the query and may have come too late for some.
    this.#armCheck(Math.min(followLimits.firstCheckMs, this.#parts.checkMs));
    this.#release();
  }

  /** Fetches what lies between the last position and the deferred ones. */
  async #fill(stream: string): Promise<void> {
    const seen = this.#positions.get(stream) ?? 0;
    const deferredUpTo = this.#deferred.get(stream)?.at(-1)?.frame.envelope.seq ?? 0;
    const query = {
      pattern: patternOfStream(stream),
      seen: seen === 0 ? [] : [{ stream, seq: seen }],
      positions_only: false,
    };
    for await (const page of this.#pages(query))
      for (const entry of page.entries) if (entry.stream === stream) this.#applyEntry(entry);
    this.#settle(stream, deferredUpTo);
  }

  /** Publications that the broker had dropped by then are lost; later ones may still be fetched. */
  #settle(stream: string, deferredUpTo: number): void {
    this.#behind.delete(stream);
    for (const each of this.#takeDeferred(stream)) {
      const { seq } = each.frame.envelope;
      if (seq <= deferredUpTo) this.#apply(stream, seq, each.topic, () => each.frame);
      else this.#offer(stream, each);
    }
  }

  /** The loss of a stream's last publication shows only when positions are checked, so that is done regularly. */
  async #compare(): Promise<void> {
    const before = new Map(this.#positions);
    const there = new Map<string, number>();
    const query = { pattern: this.pattern, seen: [], positions_only: true };
    // A drop during the query makes it due again.
    this.#isCheckDue = false;
    try {
      for await (const page of this.#pages(query))
        for (const { stream, seq } of page.streams) there.set(stream, seq);
    } catch (error) {
      this.#isCheckDue = true;
      throw error;
    }
    this.#armCheck();
    for (const [stream, seq] of there)
      if (seq > (this.#positions.get(stream) ?? 0) && !this.#isUntracked(stream))
        this.#behind.add(stream);
    for (const [stream, seq] of before) {
      if (there.has(stream) || this.#positions.get(stream) !== seq) continue;
      this.#positions.delete(stream);
      this.#forgotten(stream);
    }
  }

  async *#pages(query: Omit<TopicsQuery, 'after'>): AsyncGenerator<TopicsAnswer> {
    const session = this.#session;
    let after = '';
    do {
      const page = await this.#parts.query({ ...query, after });
      if (session !== this.#session || this.#isOver) throw new BusError('BROKER_LOST');
      yield page;
      after = page.next;
    } while (after !== '');
  }

  // --- state

  #beginAnew(): void {
    if (this.#hasBeenLevel) {
      for (const stream of this.#positions.keys())
        if (isStateStream(stream)) this.#earlier.add(stream);
      this.#guard(() => this.#parts.options.onRestart?.());
    }
    this.#positions.clear();
    this.#behind.clear();
    this.#forgetHeld();
    this.#isLevel = false;
  }

  #goBlind(): void {
    this.#isBlind = true;
    for (const stream of [...this.#deferred.keys()])
      for (const { topic, frame } of this.#takeDeferred(stream)) this.#deliver(topic, frame);
  }

  #stepTo(stream: string, seq: number): void {
    if (!this.#isUntracked(stream) && seq > (this.#positions.get(stream) ?? 0))
      this.#positions.set(stream, seq);
  }

  #armCheck(delayMs = this.#parts.checkMs * (0.75 + this.#parts.random() / 2)): void {
    this.#check?.[Symbol.dispose]();
    this.#check = this.#parts.clock.after(delayMs, () => {
      this.#isCheckDue = true;
      void this.#work();
    });
  }

  #postpone(): void {
    this.#isCheckDue = false;
    this.#armCheck();
  }

  #pause(attempt: number): Promise<void> {
    const { clock, random } = this.#parts;
    const waitMs = syncBackoff.baseMs + backoffMs(syncBackoff, attempt, random());
    return new Promise((resolve) => {
      const timer = clock.after(waitMs, resolve);
      this.#wake = () => {
        timer[Symbol.dispose]();
        resolve();
      };
    });
  }

  // --- delivery; a failure of the subscriber costs only itself

  #deliver(topic: string, frame: Frame): void {
    if (topicMatches(this.pattern, topic))
      this.#guard(() => this.#parts.onPublication(topic, frame));
  }

  #missed(missed: Missed): void {
    this.#parts.trace('warn', 'publications were missed', { ...missed });
    this.#guard(() => this.#parts.options.onMissed?.(missed));
  }

  #forgotten(stream: string): void {
    this.#guard(() => this.#parts.options.onForgotten?.(stream));
  }

  #guard(call: () => void): void {
    if (this.#isOver) return;
    try {
      call();
    } catch (error) {
      const detail = asBusError(error).message;
      this.#parts.trace('error', 'a subscriber failed', { pattern: this.pattern, detail });
    }
  }
}
