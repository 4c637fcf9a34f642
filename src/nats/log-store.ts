import { randomBytes } from 'node:crypto';
import type { NatsConnection } from '@nats-io/transport-node';
import { backoffMs } from '../base/backoff.js';
import type { Clock } from '../base/clock.js';
import { pause } from '../base/pause.js';
import type { Trace } from '../base/trace.js';
import { asBusError, BusError } from '../errors/bus-error.js';
import { bytesOf, GroupCommit, refused, type Batch } from '../store/group-commit.js';
import type { Layout } from '../store/layout.js';
import { unavailable } from '../store/level-folder.js';
import type { LevelStore } from '../store/level-store.js';
import type { BackupReport, Operation, Range, Store, StoreState, Upkeep } from '../store/port.js';
import { crcOf, encodeEntry, encodeLead, encodeStep, start, writerBytes } from './log-entry.js';
import { LogFollower, type Led } from './log-follower.js';
import { logLimits, type LogLimits } from './log-limits.js';
import { LogShortener } from './log-shortener.js';
import { nameOf, Snapshots } from './log-snapshot.js';
import { LogStream } from './log-stream.js';
import { Replica } from './replica.js';

/** Between two attempts to follow, or to lead again. */
const retryBackoff = { baseMs: 100, capMs: 5_000 };
/** A process that takes over tries so often to write exactly behind what it knows. */
const politeAttempts = 3;
export interface LogStoreOptions {
  connection: NatsConnection;
  /** Name of the stream of the log; that of its snapshots is derived from it. */
  stream: string;
  subject: string;
  /** Servers that keep a copy. */
  replicas: number;
  folder: string;
  layout: Layout;
  clock: Clock;
  random: () => number;
  trace: Trace;
  limits?: Partial<LogLimits>;
}

type Life =
  | { role: 'following' }
  | { role: 'leading'; commits: GroupCommit }
  /** Led, and tries to lead again. */
  | { role: 'failed'; why: BusError }
  /** For good. */
  | { role: 'fenced'; why: BusError }
  | { role: 'closed' };

/** Told when another process leads; the store is of no use from then on. */
export type OnFenced = (why: BusError) => void;

/**
 * A store whose truth is a log in a JetStream stream. Every process that has it open follows the log into a replica of its own;
 * one of them leads: it writes each group of operations behind the last entry that it knows, so that an earlier leader, which does
 * not know the newest, cannot write any more.
 */
export class LogStore implements Store, Upkeep {
  readonly #options: LogStoreOptions;
  readonly #limits: LogLimits;
  readonly #log: LogStream;
  readonly #follower: LogFollower;
  readonly #writer = randomBytes(writerBytes);
  readonly #listeners = new Set<() => void>();
  readonly #shortener: LogShortener;
  readonly #ending: AbortController;
  #life: Life = { role: 'following' };
  #following: { stop: () => Promise<void> } | undefined;
  #onFenced: OnFenced = () => undefined;
  #leadingAgain: Promise<void> | undefined;
  #watching: Disposable | undefined;
  #closing: Promise<void> | undefined;

  private constructor(
    options: LogStoreOptions,
    parts: {
      limits: LogLimits;
      log: LogStream;
      follower: LogFollower;
      shortener: LogShortener;
      ending: AbortController;
    },
  ) {
    this.#options = options;
    this.#limits = parts.limits;
    this.#log = parts.log;
    this.#follower = parts.follower;
    this.#shortener = parts.shortener;
    this.#ending = parts.ending;
  }

  /**
   * Follows from now on. Throws STORE_LOCKED, STORE_SCHEMA, STORE_NOT_EMPTY (a store in that folder that is no replica) or
   * STORE_UNAVAILABLE.
   */
  static async open(options: LogStoreOptions): Promise<LogStore> {
    const { connection, stream, subject, replicas, folder, layout, clock, random, trace } = options;
    const limits = { ...logLimits, ...options.limits };
    const ending = new AbortController();
    const shared = { connection, replicas, limits, clock, random, signal: ending.signal };
    const replica = await Replica.open(folder, { layout, clock, random });
    try {
      const bytesMax = limits.logBytesMax;
      const log = await LogStream.open({ ...shared, name: stream, subject, bytesMax });
      const copies = `${subject}.snapshot`;
      const copiesStream = await LogStream.open({
        ...{ ...shared, name: `${stream}_snapshots`, subject: `${copies}.>` },
        bytesMax: -1,
      });
      const snapshots = new Snapshots(copiesStream, copies, layout);
      const onRestored = (): void => store.#tell();
      const followed = { ...options, limits, log, snapshots, replica, onRestored };
      const follower = new LogFollower(followed, await replica.position());
      const shortened = { ...shared, log, snapshots, trace };
      const shortener = new LogShortener({ ...shortened, level: () => follower.level });
      const store = new LogStore(options, { limits, log, follower, shortener, ending });
      store.#follow();
      return store;
    } catch (error) {
      await replica[Symbol.asyncDispose]();
      throw error;
    }
  }

  get state(): StoreState {
    return this.#is('following') || this.#is('leading') ? this.#level.state : 'failed';
  }

  /** How far this replica is, and the log. Throws STORE_UNAVAILABLE. */
  async progress(): Promise<{ applied: number; last: number }> {
    const { last } = await this.#log.bounds();
    return { applied: this.#follower.position.sequence, last };
  }

  /**
   * Catches up and keeps all earlier leaders from writing; from then on this process writes. Throws STORE_UNAVAILABLE, LOG_CORRUPT,
   * STORE_SCHEMA: then it follows on.
   */
  async lead(onFenced: OnFenced): Promise<void> {
    const following = this.#following;
    if (!this.#is('following') || following === undefined) throw this.#refusal();
    this.#following = undefined;
    this.#onFenced = onFenced;
    await following.stop();
    try {
      await this.#takeOver();
    } catch (error) {
      if (this.#is('following')) this.#follow();
      throw error;
    }
  }

  onReopened(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }

  async get(key: string): Promise<Buffer | undefined> {
    return this.#readable().get(key);
  }

  async getMany(keys: string[]): Promise<(Buffer | undefined)[]> {
    return this.#readable().getMany(keys);
  }

  entries(range: Range): AsyncIterable<[string, Buffer]> {
    return { [Symbol.asyncIterator]: () => iterate(this.#readable().entries(range)) };
  }

  keys(range: Range): AsyncIterable<string> {
    return { [Symbol.asyncIterator]: () => iterate(this.#readable().keys(range)) };
  }

  hasRoom(bytes: number): boolean {
    return this.#life.role !== 'leading' || this.#life.commits.hasRoom(bytes);
  }

  commit(operations: Operation[]): Promise<void> {
    return this.#add(operations);
  }

  /** As `commit`: what is not in the log would be missing in the other replicas. */
  write(operations: Operation[]): Promise<void> {
    return this.#add(operations);
  }

  async backup(folder: string): Promise<BackupReport> {
    return this.#readable().backup(folder);
  }

  /** Of this replica. */
  async compact(): Promise<void> {
    await this.#readable().compact();
  }

  /** What was handed over before is written, unless the store has failed. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  get #level(): LevelStore {
    return this.#follower.level;
  }

  #is(role: Life['role']): boolean {
    return this.#life.role === role;
  }

  #readable(): LevelStore {
    if (this.#is('following') || this.#is('leading')) return this.#level;
    throw this.#refusal();
  }

  #refusal(): BusError {
    const life = this.#life;
    if (life.role === 'failed' || life.role === 'fenced') return life.why;
    return this.#unavailable(
      life.role === 'closed' ? 'it is closed' : `this process is ${life.role}`,
    );
  }

  #unavailable(detail: string): BusError {
    return unavailable(this.#log.name, detail);
  }

  // --- follow

  #follow(): void {
    const stopping = new AbortController();
    const signal = AbortSignal.any([stopping.signal, this.#ending.signal]);
    const running = this.#followUntil(signal);
    this.#following = {
      stop: async () => {
        stopping.abort();
        await running;
      },
    };
  }

  async #followUntil(signal: AbortSignal): Promise<void> {
    const { clock, random, trace } = this.#options;
    let told = '';
    for (let attempt = 0; !signal.aborted; attempt += 1) {
      const { sequence } = this.#follower.position;
      try {
        await this.#follower.catchUp({ signal });
      } catch (error) {
        const { code, message: detail } = asBusError(error);
        const level = code === 'STORE_UNAVAILABLE' ? 'warn' : 'error';
        trace(code === told ? 'debug' : level, 'the log cannot be followed', { code, detail });
        told = code;
      }
      if (this.#follower.position.sequence > sequence) attempt = 0;
      await pause(clock, backoffMs(retryBackoff, attempt, random()), signal);
    }
  }

  // --- lead

  /** Appends the entry that fences earlier writers. Throws as `lead`. */
  async #takeOver(led?: Led): Promise<void> {
    const { signal } = this.#ending;
    const body = encodeLead({ writer: this.#writer, layout: nameOf(this.#options.layout) });
    for (let attempt = 1; !signal.aborted; attempt += 1) {
      const bounds = await this.#log.bounds();
      await this.#follower.catchUp({ to: bounds.last, signal, ...(led && { led }) });
      if (this.#ending.signal.aborted) break;
      await this.#shortener.makeRoom(bounds);
      if (led === undefined && attempt > politeAttempts) {
        // One that writes without pause always comes in between. This has no place that can be taken.
        const to = await this.#log.publish(encodeEntry('lead', start.crc, body));
        await this.#follower.catchUp({ to, signal });
      } else {
        const { sequence, crc } = this.#follower.position;
        const entry = encodeEntry('lead', crc, body);
        if (!(await this.#log.append(entry, sequence))) continue;
        await this.#follower.apply([], { sequence: sequence + 1, crc: crcOf(entry) });
      }
      await this.#shortener.measure(bounds);
      return this.#serve();
    }
    throw this.#refusal();
  }

  #serve(): void {
    if (this.#life.role === 'closed') throw this.#refusal();
    const isAgain = this.#is('failed');
    const commits = new GroupCommit({
      newBatch: () => this.#newBatch(),
      path: this.#log.name,
      clock: this.#options.clock,
      onFailed: (why) => this.#fail(why),
    });
    this.#life = { role: 'leading', commits };
    this.#watching?.[Symbol.dispose]();
    // The replica can fail without a write, in a compaction.
    this.#watching = this.#level.onReopened(() => this.#fail(this.#unavailable('it was reopened')));
    // In this step: in the next one a commit could come first.
    if (isAgain) this.#tell();
  }

  #add(operations: Operation[]): Promise<void> {
    if (this.#life.role !== 'leading') return refused(this.#refusal());
    const bytes = bytesOf(operations);
    const limit = this.#limits.stepBytesMax;
    if (bytes > limit) return refused(new BusError('TOO_LARGE', { what: 'a step', bytes, limit }));
    return this.#life.commits.add(operations, true);
  }

  #newBatch(): Batch {
    const operations: Operation[] = [];
    return {
      put: (key, value) => operations.push({ type: 'put', key, value }),
      del: (key) => operations.push({ type: 'del', key }),
      write: () => this.#write(operations),
    };
  }

  async #write(operations: readonly Operation[]): Promise<void> {
    let position = this.#follower.position;
    for (const entry of encodeStep(operations, position.crc, this.#log.entryBytesMax)) {
      // `leadAgain` finds out who.
      if (!(await this.#log.append(entry, position.sequence)))
        throw this.#unavailable('another process wrote');
      position = { sequence: position.sequence + 1, crc: crcOf(entry) };
      this.#shortener.grew(entry.length);
    }
    await this.#follower.apply(operations, position);
    this.#shortener.startIfDue();
  }

  #fence(detail: string): BusError {
    const life = this.#life;
    if (life.role === 'fenced' || life.role === 'closed') return this.#refusal();
    const why = this.#unavailable(detail);
    this.#life = { role: 'fenced', why };
    this.#options.trace('error', 'this process leads no more', { detail });
    queueMicrotask(() => this.#onFenced(why));
    return why;
  }

  #fail(why: BusError): void {
    if (this.#life.role !== 'leading') return;
    this.#life = { role: 'failed', why };
    this.#leadingAgain = this.#leadAgain();
  }

  async #leadAgain(): Promise<void> {
    const { clock, random, trace } = this.#options;
    const { signal } = this.#ending;
    const fence = (detail: string): BusError => this.#fence(detail);
    for (let attempt = 0; this.#is('failed') && !signal.aborted; attempt += 1) {
      try {
        return await this.#takeOver({ writer: this.#writer, fence });
      } catch (error) {
        const why = asBusError(error);
        if (!this.#is('failed')) return;
        trace('warn', 'the log cannot be written', { code: why.code, detail: why.message });
        this.#life = { role: 'failed', why };
      }
      await pause(clock, backoffMs(retryBackoff, attempt, random()), signal);
    }
  }

  #tell(): void {
    for (const listener of [...this.#listeners]) listener();
  }

  async #close(): Promise<void> {
    const life = this.#life;
    // A write that is refused while it closes is not written again.
    this.#life = { role: 'closed' };
    if (life.role === 'leading') await life.commits.idle();
    this.#ending.abort();
    await this.#following?.stop();
    await this.#leadingAgain;
    const level = this.#follower[Symbol.asyncDispose]();
    await this.#shortener.idle();
    await level;
  }
}

function iterate<T>(walk: AsyncIterable<T>): AsyncIterator<T> {
  return walk[Symbol.asyncIterator]();
}
