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
   * What a new subscriber begins with. `states` (the default): what `presence.` and `task.` streams say
   * now, and of all others only what is new. `now`: only what is new. `kept`: all that the broker keeps.
   */
  from?: 'states' | 'now' | 'kept';
  /** Whatever happens to arrive: nothing is asked for, and nothing is known to be missing. */
  isLive?: boolean;
  /** Publications that are lost and that the broker no longer keeps. Never of a stream of states. */
  onMissed?: (missed: Missed) => void;
  /**
   * The broker knows the stream no longer; whether its last publications were heard cannot be told. After
   * another run of the broker began, only of streams of states: of all others `onRestart` has told it.
   */
  onForgotten?: (stream: string) => void;
  /** Another run of the broker: what the earlier one took with it unheard cannot be told. */
  onRestart?: () => void;
}

export interface FollowerParts {
  pattern: string;
  options: SubscribeOptions;
  onPublication: (topic: string, frame: Frame) => void;
  /** Throws what the broker answers, and BROKER_LOST or NO_BROKER rather than wait for another session. */
  query: (query: TopicsQuery) => Promise<TopicsAnswer>;
  isLive: () => boolean;
  checkMs: number;
  clock: Clock;
  random: () => number;
  trace: Trace;
}

interface Held {
  topic: string;
  frame: Frame;
}

/**
 * One subscriber's place in the streams it follows: nothing twice, in order within a stream, and what is
 * lost is fetched or told. Publications of a stream whose entries are being fetched are held back.
 * Source: the Clone pattern, RFC 12/CHP and the ZeroMQ guide, chapter 5.
 */
export class Follower implements Disposable {
  readonly #parts: FollowerParts;
  /** Of each stream the last position that was delivered or stepped over. */
  readonly #positions = new Map<string, number>();
  /** Streams of which something must be fetched. */
  readonly #behind = new Set<string>();
  readonly #held = new Map<string, Held[]>();
  /** Streams of states of an earlier run of the broker; what others lost with it, `onRestart` has told. */
  readonly #earlier = new Set<string>();
  #heldCount = 0;
  #heldBytes = 0;
  #epoch: string | undefined;
  #session = 0;
  #isLevel = false;
  #hasBeenLevel = false;
  /** The broker refused to say where its streams are: what arrives is passed on as it is. */
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

  /** What comes from now on is complete, or told to be not. */
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
    if (this.#isBlind) return this.#tell(topic, frame);
    this.#offer(stream, { topic, frame });
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    this.#check?.[Symbol.dispose]();
    this.#wake?.();
    this.#forgetHeld();
  }

  // --- publications

  #offer(stream: string, each: Held): void {
    const { seq } = each.frame.envelope;
    // Without a session it is not known which run of the broker speaks.
    if (!this.#isLevel || !this.#parts.isLive()) return this.#hold(stream, each);
    const seen = this.#positions.get(stream) ?? 0;
    if (seq <= seen) return;
    const isNext = isStateStream(stream) || seq === Math.max(seen, runStart(seq)) + 1;
    // Untracked: whether anything lies before it cannot be told.
    if (isNext || this.#isUntracked(stream))
      return this.#apply(stream, seq, each.topic, () => each.frame);
    this.#behind.add(stream);
    this.#hold(stream, each);
    void this.#work();
  }

  /** Delivers unless it was delivered before; what lies between is lost. */
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
    this.#tell(topic, frame);
  }

  #applyEntry({ stream, seq, topic, frame }: Publication): void {
    this.#apply(stream, seq, topic, () =>
      decodeFrame(Buffer.from(frame.buffer, frame.byteOffset, frame.byteLength)),
    );
  }

  #isUntracked(stream: string): boolean {
    return this.#positions.size >= followLimits.streamsMax && !this.#positions.has(stream);
  }

  #hold(stream: string, each: Held): void {
    const { publicationsHeldMax, bytesHeldMax } = followLimits;
    const bytes = each.frame.body.length;
    if (this.#heldCount >= publicationsHeldMax || this.#heldBytes + bytes > bytesHeldMax) {
      // Dropped here like anywhere on its way: a look at the positions finds it.
      this.#isCheckDue = true;
      return;
    }
    this.#heldCount += 1;
    this.#heldBytes += bytes;
    const held = this.#held.get(stream);
    if (held === undefined) this.#held.set(stream, [each]);
    else held.push(each);
  }

  #takeHeld(stream: string): Held[] {
    const held = this.#held.get(stream) ?? [];
    this.#held.delete(stream);
    this.#heldCount -= held.length;
    for (const { frame } of held) this.#heldBytes -= frame.body.length;
    return held;
  }

  #forgetHeld(): void {
    for (const stream of [...this.#held.keys()]) this.#takeHeld(stream);
  }

  /** What was held back goes on, unless there still is a reason to hold it. */
  #release(): void {
    for (const stream of [...this.#held.keys()])
      for (const each of this.#takeHeld(stream)) this.#offer(stream, each);
  }

  // --- what is asked of the broker, one thing at a time

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
    // The subscription itself travels apart from the question and may have come too late for some.
    this.#armCheck(Math.min(followLimits.firstCheckMs, this.#parts.checkMs));
    this.#release();
  }

  /** Fetches what lies between the last position and what is held back. */
  async #fill(stream: string): Promise<void> {
    const seen = this.#positions.get(stream) ?? 0;
    const heldUpTo = this.#held.get(stream)?.at(-1)?.frame.envelope.seq ?? 0;
    const query = {
      pattern: patternOfStream(stream),
      seen: seen === 0 ? [] : [{ stream, seq: seen }],
      positions_only: false,
    };
    for await (const page of this.#pages(query))
      for (const entry of page.entries) if (entry.stream === stream) this.#applyEntry(entry);
    this.#settle(stream, heldUpTo);
  }

  /** What the broker did not have by the time it was asked is lost; of later ones more may be had. */
  #settle(stream: string, heldUpTo: number): void {
    this.#behind.delete(stream);
    for (const each of this.#takeHeld(stream)) {
      const { seq } = each.frame.envelope;
      if (seq <= heldUpTo) this.#apply(stream, seq, each.topic, () => each.frame);
      else this.#offer(stream, each);
    }
  }

  /** Nothing follows the last publication of a stream that would show its loss, hence a look now and then. */
  async #compare(): Promise<void> {
    const before = new Map(this.#positions);
    const there = new Map<string, number>();
    const query = { pattern: this.pattern, seen: [], positions_only: true };
    // What is dropped while we ask makes it due again.
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
    for (const stream of [...this.#held.keys()])
      for (const { topic, frame } of this.#takeHeld(stream)) this.#tell(topic, frame);
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

  // --- what the subscriber hears; its failures cost only itself

  #tell(topic: string, frame: Frame): void {
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
