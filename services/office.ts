import { setTimeout as wait } from 'node:timers/promises';
import { systemClock } from '../src/base/clock.js';
import { Scope } from '../src/base/scope.js';
import type { Config } from '../src/config/config.js';
import { asBusError, BusError } from '../src/errors/bus-error.js';
import type { NatsAccess, NatsConnection } from '../src/nats/connect.js';
import { watchBroker } from '../src/nats/find.js';
import type { Lease } from '../src/nats/lease.js';
import type { LogStore } from '../src/nats/log-store.js';
import { Seat } from '../src/nats/seat.js';
import { traceTo, type Logger } from '../src/observe/log.js';
import { officeAccess } from '../src/remote/identity.js';
import type { Layout } from '../src/store/layout.js';
import type { Store, Upkeep } from '../src/store/port.js';
import { isNats } from '../src/transport/address.js';
import { reportReady } from './systemd.js';

/** Before the next attempt, after this one has failed. */
const againMs = 1_000;

/** What a process that leads has. */
export interface Office {
  /** Its store. The caller closes that of a bus on this machine; on NATS it is closed with the office. */
  open: () => Promise<Store & Upkeep>;
  /** On NATS: who it is there, and the number of its leadership, larger than that of every one before. */
  nats?: { access: NatsAccess; connection: NatsConnection; epoch: number };
  /** Resolves with the reason when it is to end. */
  ended: Promise<string>;
}

export interface TurnParts {
  /** What is led. */
  name: string;
  log: Logger;
  stopped: Promise<string>;
}

export interface OfficeParts extends TurnParts {
  /** Of the identity that the process has on NATS. */
  role: string;
  layout: Layout;
  /** Of the store on this machine; its replica of the log lies beside it. */
  folder: string;
  /** Where the bus is on this machine. */
  openLocal: () => Promise<Store & Upkeep>;
}

/**
 * Runs `serve` with the store that this process owns, until `stopped`. Where the bus is on NATS, several processes may hold the same
 * office: one leads, the others follow its store and take over when it is gone. One that has lost the office waits for it anew.
 * Throws what `serve` throws, KEYS_MISSING, KEY_FILE_INVALID, NATS_MISSING, NATS_REFUSED, STORE_NOT_EMPTY, STORE_SCHEMA, LOG_CORRUPT.
 */
export async function inOffice(
  config: Config,
  parts: OfficeParts,
  serve: (office: Office) => Promise<void>,
): Promise<void> {
  if (!isNats(config.bus)) {
    return serve({ open: parts.openLocal, ended: parts.stopped });
  }
  const access = officeAccess(config, parts.role);
  const { layout, folder } = parts;
  await inTurn(access, parts, async (seat, scope) => {
    const options = { layout, random: Math.random, folder: replicaOf(folder) };
    const store = scope.own(await seat.openStore(options));
    return async ({ epoch, ended: over }) => {
      let onFenced = (): void => undefined;
      const fenced = new Promise<string>((resolve) => (onFenced = () => resolve('another leads')));
      // Taking over may take long: a log to read, a snapshot to write.
      const led = store.lead(() => onFenced()).then(() => true);
      led.catch(() => undefined);
      if (!(await Promise.race([led, over.then(() => false)]))) return;
      // Said when the log knows it, not before.
      parts.log.info({ epoch }, 'leading');
      const ended = Promise.race([over, fenced]);
      const open = (): Promise<LogStore> => Promise.resolve(store);
      await serve({ open, nats: { access, connection: seat.connection, epoch }, ended });
    };
  });
}

/** Of the log, where the bus is on NATS: beside the store of a bus on this machine. */
export function replicaOf(folder: string): string {
  return `${folder}.replica`;
}

/** The time in which one leads. */
interface Turn {
  epoch: number;
  ended: Promise<string>;
}

/**
 * Of several processes with this access one leads at a time, until it is `stopped`. `follow`: what each does meanwhile; it gives the
 * work of the one that leads. Throws what that throws, NATS_MISSING, NATS_REFUSED.
 */
export async function inTurn(
  access: NatsAccess,
  parts: TurnParts,
  follow: (seat: Seat, scope: Scope) => Promise<(turn: Turn) => Promise<void>>,
): Promise<void> {
  const { stopped, log } = parts;
  const stopping = new AbortController();
  void stopped.then(() => stopping.abort());
  while (!stopping.signal.aborted) {
    try {
      await leadOnce(access, parts, stopping.signal, follow);
    } catch (error) {
      const { code, message, retryable } = asBusError(error);
      if (!retryable || code === 'NATS_REFUSED') throw error;
      log.warn({ code }, message);
    }
    await wait(againMs, undefined, { signal: stopping.signal }).catch(() => undefined);
  }
}

async function leadOnce(
  access: NatsAccess,
  parts: TurnParts,
  stopping: AbortSignal,
  follow: Parameters<typeof inTurn>[2],
): Promise<void> {
  const { name, log, stopped } = parts;
  const { bus, text: address } = access;
  await using scope = new Scope();
  const seat = scope.own(
    await Seat.open({ access, name, clock: systemClock, trace: traceTo(log) }),
  );
  const held: { lease?: Lease | undefined } = {};
  // Given back when all else is closed: one that still takes over would fence the next one.
  scope.defer(() => held.lease?.[Symbol.asyncDispose]());
  const lead = await follow(seat, scope);
  log.info({ address }, 'waiting to lead');
  await reportReady();
  const isGone = name === 'bus' ? watchBroker(seat.connection, bus) : undefined;
  // Refused by its servers twice, a connection that else mends itself does so no more.
  const closed = new AbortController();
  void seat.connection.closed().then(() => closed.abort());
  const lease = await seat.takeLease(AbortSignal.any([stopping, closed.signal]), isGone);
  held.lease = lease;
  if (lease === undefined && !stopping.aborted)
    throw new BusError('NATS_UNAVAILABLE', { address, detail: 'the connection was closed' });
  if (lease === undefined) return;
  log.info({ epoch: lease.epoch }, 'the lease is taken');
  const lost = lease.lost.then(() => 'the lease is lost');
  await lead({ epoch: lease.epoch, ended: Promise.race([stopped, lost]) });
  log.info({ epoch: lease.epoch }, 'leads no more');
}
