import { backoffMs } from '../base/backoff.js';
import type { Clock } from '../base/clock.js';
import { pause } from '../base/pause.js';
import type { Trace } from '../base/trace.js';
import { asBusError } from '../errors/bus-error.js';
import type { LevelStore } from '../store/level-store.js';
import type { LogLimits } from './log-limits.js';
import type { Snapshots } from './log-snapshot.js';
import type { Bounds, LogStream } from './log-stream.js';

/** Between two attempts to write a snapshot. */
const retryBackoff = { baseMs: 1_000, capMs: 60_000 };
/** What the server keeps with a message, about. */
const messageOverheadBytes = 256;
/** A process that takes over a log that is fuller than this makes room first: its own entry could be refused. */
const fullShare = 0.9;
/** The newest snapshot, and one in case that it cannot be read. The log goes back to the older one. */
const snapshotsKept = 2;

export interface ShortenerParts {
  log: LogStream;
  snapshots: Snapshots;
  level: () => LevelStore;
  limits: LogLimits;
  clock: Clock;
  random: () => number;
  trace: Trace;
  signal: AbortSignal;
}

/** Keeps the log from growing for ever: writes a snapshot now and then, and purges what it replaces. */
export class LogShortener {
  readonly #parts: ShortenerParts;
  /** Bytes of log since the last snapshot, and of that one. */
  #grown = 0;
  #snapshotBytes = 0;
  #running: Promise<void> | undefined;

  constructor(parts: ShortenerParts) {
    this.#parts = parts;
  }

  /** How much log there is, for a process that begins to lead. Throws STORE_UNAVAILABLE. */
  async measure({ last, bytes, messages }: Bounds): Promise<void> {
    const [snapshot] = await this.#parts.snapshots.whole();
    const since = Math.min(messages, last - (snapshot?.manifest.sequence ?? 0));
    this.#grown = messages === 0 ? 0 : (bytes * since) / messages;
    this.#snapshotBytes = snapshot?.manifest.bytes ?? 0;
  }

  /** Throws STORE_UNAVAILABLE. */
  async makeRoom({ bytes, bytesMax }: Bounds): Promise<void> {
    if (bytes > bytesMax * fullShare) await this.#shorten(1);
  }

  grew(entryBytes: number): void {
    this.#grown += entryBytes + messageOverheadBytes;
  }

  startIfDue(): void {
    const { snapshotAfterBytes, logBytesMax } = this.#parts.limits;
    const usual = Math.max(snapshotAfterBytes, this.#snapshotBytes);
    if (this.#running !== undefined || this.#grown < Math.min(usual, logBytesMax / 4)) return;
    this.#grown = 0;
    this.#running = this.#run().finally(() => (this.#running = undefined));
  }

  async idle(): Promise<void> {
    await this.#running;
  }

  /** Until there is a snapshot: a log that is full takes nothing more, also not from a process that comes to lead. */
  async #run(): Promise<void> {
    const { trace, clock, random, signal } = this.#parts;
    for (let attempt = 0; !signal.aborted; attempt += 1) {
      try {
        return await this.#shorten(snapshotsKept);
      } catch (error) {
        const { code, message: detail } = asBusError(error);
        if (!this.#parts.signal.aborted)
          trace('error', 'no snapshot was written', { code, detail });
      }
      await pause(clock, backoffMs(retryBackoff, attempt, random()), signal);
    }
  }

  /** What this replica holds is right, also when another process leads. */
  async #shorten(copies: number): Promise<void> {
    const { log, snapshots, level, trace, clock } = this.#parts;
    const begunMs = clock.monotonicMs();
    await snapshots.write(level());
    const kept = (await snapshots.whole()).slice(0, copies);
    const sequence = kept[copies - 1]?.manifest.sequence;
    if (sequence !== undefined) await log.purge({ upTo: sequence });
    await snapshots.keep(kept);
    this.#snapshotBytes = kept[0]?.manifest.bytes ?? 0;
    const elapsedMs = Math.round(clock.monotonicMs() - begunMs);
    trace('info', 'a snapshot was written', { bytes: this.#snapshotBytes, elapsedMs });
  }
}
