import { randomBytes } from 'node:crypto';
import type { KV } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Clock } from '../base/clock.js';
import { pause } from '../base/pause.js';
import { noTrace, type Trace } from '../base/trace.js';
import { needed, refusalOf } from './connect.js';

/**
 * A lease that was not renewed for so long is free. A cluster that lost a server elects anew for up to nine seconds,
 * in which nothing can be renewed: that must not cost the leader its office.
 */
const leaseMs = 15_000;
/** The holder gives up earlier than others may take over: no two clocks run alike. */
const marginMs = 2_000;
/** Between two renewals of the holder, and two looks of those who wait. */
const beatMs = 1_000;
const answerMsMax = 2_000;
/** Looks in a row in which the holder was gone. */
const goneLooks = 2;

export interface LeaseParts {
  connection: NatsConnection;
  /** Of the bucket; it is made where there is none. */
  bucket: string;
  replicas: number;
  /** What is led. */
  key: string;
  /** Who wants to lead, for those who look. */
  holder: string;
  address: string;
  clock: Clock;
  trace?: Trace | undefined;
  /** Whether this holder is known to be gone, so that its time need not run out. It may err: writes are fenced. */
  isGone?: (holder: string) => Promise<boolean>;
}

/**
 * Who leads, by one key of a JetStream bucket that is written with the revision that was read. The lease spares two
 * leaders their quarrel; what an old one would still write is refused by the log (`LogStore.lead`), not by the lease.
 */
export class Lease implements AsyncDisposable {
  /** Larger than that of every leader before. */
  readonly epoch: number;
  /** Resolves when it is held no more: given back, taken by another, or not renewed in time. */
  readonly lost: Promise<void>;
  readonly #parts: LeaseParts;
  readonly #kv: KV;
  readonly #end = new AbortController();
  /** What the key says while this process leads. */
  readonly #value: string;
  readonly #holding: Promise<void>;
  #revision: number;

  private constructor(
    parts: LeaseParts,
    { kv, value, revision, atMs }: { kv: KV; value: string; revision: number; atMs: number },
  ) {
    this.#parts = parts;
    this.#value = value;
    this.#kv = kv;
    this.epoch = revision;
    this.#revision = revision;
    this.lost = new Promise((resolve) =>
      this.#end.signal.addEventListener('abort', () => resolve(), { once: true }),
    );
    this.#holding = this.#hold(atMs);
  }

  /** Waits until this process leads. Undefined: the signal came first. Throws NATS_MISSING. */
  static async take(parts: LeaseParts, signal: AbortSignal): Promise<Lease | undefined> {
    const { clock, trace = noTrace, key, address } = parts;
    // A second process of the same name must not pass for this one.
    const own = randomBytes(8).toString('hex');
    const value = `${parts.holder} ${own} ${new Date(clock.nowMs()).toISOString()}`;
    let kv: KV | undefined;
    let seen: { revision: number; sinceMs: number } | undefined;
    let goneCount = 0;
    while (!signal.aborted) {
      const nowMs = clock.monotonicMs();
      try {
        kv ??= await bucketOf(parts);
        const entry = await kv.get(key);
        const revision = entry?.revision ?? 0;
        if (seen?.revision !== revision) seen = { revision, sinceMs: nowMs };
        const isFree =
          entry === null ||
          entry.length === 0 ||
          // Taken by this process, and the answer was lost.
          entry.string() === value ||
          nowMs - seen.sinceMs > leaseMs;
        goneCount = !isFree && (await parts.isGone?.(entry.string())) === true ? goneCount + 1 : 0;
        if (isFree || goneCount >= goneLooks) {
          const taken =
            revision === 0 ? await kv.create(key, value) : await kv.update(key, value, revision);
          return new Lease(parts, { kv, value, revision: taken, atMs: nowMs });
        }
      } catch (error) {
        // Another was faster, or JetStream does not answer just now.
        const refusal = refusalOf(address, error);
        const { code, message } = refusal;
        if (code === 'NATS_MISSING') throw refusal;
        trace('debug', 'the lease was not taken', { lease: key, code, message });
      }
      await pause(clock, beatMs, signal);
    }
    return undefined;
  }

  /** Gives it back, so that another leads at once. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#end.signal.aborted) return this.#holding;
    this.#end.abort();
    await this.#holding;
    const free = (): Promise<unknown> => this.#kv.update(this.#parts.key, '', this.#revision);
    await free()
      .catch(async () => (await this.#found()) === 'ours' && free())
      .catch(() => undefined);
  }

  async #hold(atMs: number): Promise<void> {
    const { clock, key, address, trace = noTrace } = this.#parts;
    const { signal } = this.#end;
    let expiry = this.#expiry(atMs);
    for (;;) {
      await pause(clock, beatMs, signal);
      if (signal.aborted) break;
      const nowMs = clock.monotonicMs();
      try {
        this.#revision = await this.#kv.update(key, this.#value, this.#revision, answerMsMax);
        expiry[Symbol.dispose]();
        expiry = this.#expiry(nowMs);
      } catch (error) {
        const found = await this.#found();
        trace('warn', 'the lease was not renewed', {
          lease: key,
          ...refusalOf(address, error).toFailure(),
        });
        if (found === 'taken') this.#end.abort();
      }
    }
    expiry[Symbol.dispose]();
  }

  /** Ends it in time, also while an answer is waited for. */
  #expiry(renewedMs: number): Disposable {
    const { clock } = this.#parts;
    const leftMs = renewedMs + leaseMs - marginMs - clock.monotonicMs();
    return clock.after(leftMs, () => this.#end.abort());
  }

  /** Who has written last. A renewal of ours may be there although its answer was lost. Undefined: no answer. */
  async #found(): Promise<'ours' | 'taken' | undefined> {
    try {
      const entry = await this.#kv.get(this.#parts.key);
      if (entry?.string() !== this.#value) return 'taken';
      this.#revision = entry.revision;
      return 'ours';
    } catch {
      return undefined;
    }
  }
}

export interface LeaseHeld {
  holder: string;
  /** When it was taken. */
  since: string;
  /** By the clock of the server. Unix milliseconds. */
  renewedMs: number;
  /** Others may take it. */
  isFree: boolean;
}

/** Who holds a lease of a bucket that is there; undefined: no process does. */
export async function readLease(
  connection: NatsConnection,
  bucket: string,
  key: string,
): Promise<LeaseHeld | undefined> {
  const { Kvm } = await needed(import('@nats-io/kv'));
  const entry = await (await new Kvm(connection).open(bucket)).get(key);
  if (entry === null || entry.length === 0) return undefined;
  const [holder = '', , since = ''] = entry.string().split(' ');
  const renewedMs = entry.created.getTime();
  return { holder, since, renewedMs, isFree: Date.now() - renewedMs > leaseMs };
}

async function bucketOf({ connection, bucket, replicas }: LeaseParts): Promise<KV> {
  const { Kvm } = await needed(import('@nats-io/kv'));
  const { jetstream } = await needed(import('@nats-io/jetstream'));
  const client = jetstream(connection, { timeout: answerMsMax });
  const kvm = new Kvm(client);
  try {
    const kv = await kvm.open(bucket);
    await kv.status();
    return kv;
  } catch {
    // Only a broker may make it.
    return kvm.create(bucket, { replicas, history: 1 });
  }
}
