import type { Clock } from '../base/clock.js';
import { pause } from '../base/pause.js';
import type { Trace } from '../base/trace.js';
import { asBusError, BusError } from '../errors/bus-error.js';
import type { Layout } from '../store/layout.js';
import { unavailable } from '../store/level-folder.js';
import type { LevelStore } from '../store/level-store.js';
import type { Operation } from '../store/port.js';
import { decodeEntry, decodeLead, StepReader, type Position, type Taken } from './log-entry.js';
import type { LogLimits } from './log-limits.js';
import { nameOf, type Snapshot, type Snapshots } from './log-snapshot.js';
import type { LogStream } from './log-stream.js';
import type { Replica } from './replica.js';

/** Entries may be on their way into the replica up to so many bytes. */
const applyingBytesMax = 8 * 1024 * 1024;
/** A server that has just come to lead a stream may not know its end for a while. */
const endCheckMs = 500;

export interface FollowerParts {
  log: LogStream;
  snapshots: Snapshots;
  replica: Replica;
  folder: string;
  layout: Layout;
  limits: LogLimits;
  clock: Clock;
  trace: Trace;
  onRestored: () => void;
}

/** Of a process that wrote, and catches up to write on: it may not when another one led meanwhile. */
export interface Led {
  writer: Buffer;
  fence: (detail: string) => BusError;
}

interface CatchUp {
  /** Absent: until the signal is given. */
  to?: number;
  signal: AbortSignal;
  led?: Led;
}

/** Brings the entries of the log into a replica, which it begins anew where it must. */
export class LogFollower implements AsyncDisposable {
  readonly #parts: FollowerParts;
  #reader: StepReader;

  constructor(parts: FollowerParts, position: Position) {
    this.#parts = parts;
    this.#reader = new StepReader(parts.log.name, position);
  }

  get level(): LevelStore {
    return this.#parts.replica.level;
  }

  /** Of the last entry that was taken. */
  get position(): Position {
    return this.#reader.position;
  }

  /** Applies a step that this process wrote. */
  async apply(operations: readonly Operation[], position: Position): Promise<void> {
    await this.#parts.replica.apply(operations, position);
    this.#reader = new StepReader(this.#parts.log.name, position);
  }

  /** Throws STORE_UNAVAILABLE, LOG_CORRUPT, STORE_SCHEMA, and what `led` makes. */
  async catchUp(options: CatchUp): Promise<void> {
    const { to, led } = options;
    const { log, replica } = this.#parts;
    await this.#settle(options);
    const failing = new AbortController();
    const signal = AbortSignal.any([options.signal, failing.signal]);
    const from = this.position.sequence + 1;
    let applying = Promise.resolve();
    let bytes = 0;
    for await (const message of log.messages({ from, signal, ...(to !== undefined && { to }) })) {
      const { sequence } = message;
      if (sequence !== this.position.sequence + 1)
        throw unavailable(log.name, `it begins at ${sequence} now`);
      const operations = this.#operationsOf(this.#reader.take(sequence, message.bytes), led);
      if (operations === undefined) continue;
      applying = replica.apply(operations, this.position);
      // Noted at once: once the replica has opened itself again, it would take what follows.
      applying.catch((error: unknown) => failing.abort(error));
      bytes += message.bytes.length;
      if (bytes < applyingBytesMax) continue;
      await applying;
      bytes = 0;
    }
    await applying;
    failing.signal.throwIfAborted();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#parts.replica[Symbol.asyncDispose]();
  }

  /** Undefined: nothing to apply yet. */
  #operationsOf(taken: Taken | undefined, led: Led | undefined): readonly Operation[] | undefined {
    if (taken?.kind !== 'lead') return taken?.kind === 'step' ? taken.operations : undefined;
    const { writer, layout: got } = decodeLead(taken.body);
    const wanted = nameOf(this.#parts.layout);
    if (got !== wanted)
      throw new BusError('STORE_SCHEMA', { path: this.#parts.log.name, got, wanted });
    if (led?.writer.equals(writer) === false) throw led.fence('another process leads');
    return [];
  }

  /** Begins at what the replica has, and makes sure that the log goes on from there. */
  async #settle({ signal, led }: CatchUp): Promise<void> {
    await this.#begin();
    const { first, last } = await this.#bounds(signal);
    const { log } = this.#parts;
    const { sequence } = this.position;
    // A server that missed the end may be asked just now. On a log that lacks what others acknowledged nothing may be built.
    if (sequence > last && log.replicas > 1)
      throw unavailable(
        log.name,
        `it ends at ${last}, and this replica has ${sequence} entries of it`,
      );
    const isOfLog = await this.#isOfLog(first, last);
    if (isOfLog && this.position.sequence + 1 >= first) return;
    const why = isOfLog ? 'the log begins behind this replica' : 'the replica is not of this log';
    if (led !== undefined) throw led.fence(why);
    await this.#restore(why, first, isOfLog, signal);
  }

  async #begin(): Promise<void> {
    this.#reader = new StepReader(this.#parts.log.name, await this.#parts.replica.position());
  }

  async #bounds(signal: AbortSignal): Promise<{ first: number; last: number }> {
    const { log, clock, limits } = this.#parts;
    const untilMs = clock.monotonicMs() + limits.awayMsMax;
    while (true) {
      const bounds = await log.bounds();
      if (this.position.sequence <= bounds.last || clock.monotonicMs() >= untilMs) return bounds;
      await pause(clock, endCheckMs, signal);
      if (signal.aborted) throw unavailable(log.name, 'it is closed');
    }
  }

  async #isOfLog(first: number, last: number): Promise<boolean> {
    const { sequence, crc } = this.position;
    if (sequence > last) return false;
    if (sequence < first) return true;
    const { log } = this.#parts;
    const message = await log.read({ seq: sequence });
    return message === undefined || decodeEntry(message.bytes, log.name, sequence).crc === crc;
  }

  /** Begins anew. A replica that is not of this log may hold what is nowhere else, and is kept aside. */
  async #restore(why: string, first: number, isOfLog: boolean, signal: AbortSignal): Promise<void> {
    const { log, snapshots, folder, clock, trace, onRestored } = this.#parts;
    const usable = (await snapshots.whole()).filter(
      ({ manifest }) => manifest.sequence + 1 >= first,
    );
    if (first > 1 && usable.length === 0)
      throw unavailable(log.name, `it begins at ${first}, and there is no snapshot up to there`);
    const stamp = new Date(clock.nowMs()).toISOString().replaceAll(/[:.]/g, '-');
    const keepAs = isOfLog ? undefined : `${folder}.not-of-log-${stamp}`;
    await this.#fill(usable, keepAs, signal);
    await this.#begin();
    const { sequence } = this.position;
    const fields = { why, sequence, ...(keepAs !== undefined && { keepAs }) };
    trace(isOfLog ? 'info' : 'error', 'the replica was restored', fields);
    onRestored();
  }

  /** From the newest of these that can be read; empty when there is none. */
  async #fill(
    [snapshot, ...older]: readonly Snapshot[],
    keepAs: string | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const { replica, snapshots, trace } = this.#parts;
    try {
      await replica.replace(async (level) => {
        if (snapshot !== undefined) await snapshots.restore(snapshot, level, signal);
      }, keepAs);
    } catch (error) {
      const { code, message: detail } = asBusError(error);
      if (code !== 'LOG_CORRUPT' || older.length === 0) throw error;
      trace('error', 'a snapshot cannot be read', { code, detail });
      await this.#fill(older, keepAs, signal);
    }
  }
}
