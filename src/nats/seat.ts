import type { Clock } from '../base/clock.js';
import type { Trace } from '../base/trace.js';
import type { Layout } from '../store/layout.js';
import { connectNats, type NatsAccess, type NatsConnection } from './connect.js';
import { Lease } from './lease.js';
import { LogStore } from './log-store.js';
import { leasesOf, logOf, subjectsOf } from './subjects.js';

/** Copies of what is kept, where the servers are a cluster. */
const clusterReplicas = 3;

export interface SeatParts {
  access: NatsAccess;
  /** What is led. */
  name: string;
  clock: Clock;
  trace: Trace;
}

/** Where one of several processes leads: a connection, the log of what is kept, and the lease. */
export class Seat implements AsyncDisposable {
  readonly connection: NatsConnection;
  readonly #parts: SeatParts;

  private constructor(parts: SeatParts, connection: NatsConnection) {
    this.#parts = parts;
    this.connection = connection;
  }

  /** Throws NATS_MISSING, NATS_REFUSED, NATS_UNAVAILABLE. */
  static async open(parts: SeatParts): Promise<Seat> {
    return new Seat(parts, await connectNats(parts.access, { isLasting: true }));
  }

  /** Throws as `LogStore.open`. */
  openStore(options: { layout: Layout; random: () => number; folder: string }): Promise<LogStore> {
    const { access, name } = this.#parts;
    const { bus } = access;
    return LogStore.open({
      ...{ ...this.#shared(), ...options },
      ...{ stream: logOf(bus, name), subject: subjectsOf(bus).log(name) },
    });
  }

  /** See `Lease.take`. */
  takeLease(
    signal: AbortSignal,
    isGone?: (holder: string) => Promise<boolean>,
  ): Promise<Lease | undefined> {
    const { access, name: key } = this.#parts;
    const { agent: holder, text: address, bus } = access;
    const wanted = { ...this.#shared(), bucket: leasesOf(bus), key, holder, address };
    return Lease.take({ ...wanted, ...(isGone && { isGone }) }, signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.connection.close();
  }

  #shared() {
    const { clock, trace } = this.#parts;
    return { connection: this.connection, replicas: copiesOf(this.connection), clock, trace };
  }
}

export function copiesOf({ info }: NatsConnection): number {
  return info?.cluster === undefined ? 1 : clusterReplicas;
}
