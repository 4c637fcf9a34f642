import { setTimeout as wait } from 'node:timers/promises';
import { systemClock, type Clock } from '../src/base/clock.js';
import { Scope } from '../src/base/scope.js';
import type { Trace } from '../src/base/trace.js';
import type { Config } from '../src/config/config.js';
import { asBusError } from '../src/errors/bus-error.js';
import { connectNats, type NatsAccess, type NatsConnection } from '../src/nats/connect.js';
import { watchBroker } from '../src/nats/find.js';
import { Lease } from '../src/nats/lease.js';
import { LogStore } from '../src/nats/log-store.js';
import { subjectsOf } from '../src/nats/subjects.js';
import { traceTo, type Logger } from '../src/observe/log.js';
import { natsAccess } from '../src/remote/identity.js';
import type { Layout } from '../src/store/layout.js';
import type { Store, Upkeep } from '../src/store/port.js';
import { isNats } from '../src/transport/address.js';
import { reportReady } from './systemd.js';

/** Copies of what is kept, where the servers are a cluster. */
const clusterReplicas = 3;
/** Before the next attempt, after this one has failed. */
const againMs = 1_000;

/** What a process that leads has. */
export interface Office {
  /** Its store, once. The caller closes it. */
  open: () => Promise<Store & Upkeep>;
  /** On NATS: who it is there, and the number of its leadership, larger than that of every one before. */
  nats?: { access: NatsAccess; epoch: number };
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
  /** Whose identity the process has on NATS, where the configuration names a folder of them. */
  agent: string;
  layout: Layout;
  /** Of the store on this machine; its replica of the log lies beside it. */
  folder: string;
  /** Where the bus is on this machine. */
  openLocal: () => Promise<Store & Upkeep>;
}

/**
 * Runs `serve` with the store that this process owns, until `stopped`. Where the bus is on NATS, several processes may hold the same
 * office: one leads, the others follow its store and take over when it is gone. One that has lost the office waits for it anew.
 * Throws what `serve` throws, NATS_MISSING, NATS_REFUSED, KEYS_MISSING.
 */
export async function inOffice(
  config: Config,
  parts: OfficeParts,
  serve: (office: Office) => Promise<void>,
): Promise<void> {
  if (!isNats(config.bus)) {
    return serve({ open: parts.openLocal, ended: parts.stopped });
  }
  const access = natsAccess(config, parts.agent);
  const { name, layout, folder } = parts;
  await inTurn(access, parts, async (shared, scope) => {
    const store = scope.own(
      await LogStore.open({
        ...{ ...shared, random: Math.random, layout, folder: `${folder}.replica` },
        ...{ stream: `SIGMA_${access.bus}_${name}`, subject: subjectsOf(access.bus).log(name) },
      }),
    );
    return async ({ epoch, ended: over }) => {
      let onFenced = (): void => undefined;
      const fenced = new Promise<string>((resolve) => (onFenced = () => resolve('another leads')));
      await store.lead(() => onFenced());
      const ended = Promise.race([over, fenced]);
      const open = (): Promise<LogStore> => Promise.resolve(store);
      await serve({ open, nats: { access, epoch }, ended });
    };
  });
}

/** What all that wait for their turn have, and the one that leads. */
interface Shared {
  connection: NatsConnection;
  replicas: number;
  clock: Clock;
  trace: Trace;
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
  follow: (shared: Shared, scope: Scope) => Promise<(turn: Turn) => Promise<void>>,
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
  const trace = traceTo(log);
  await using scope = new Scope();
  const connection = await connectNats(access, { isLasting: true });
  scope.defer(() => connection.close());
  const replicas = connection.info?.cluster === undefined ? 1 : clusterReplicas;
  const shared = { connection, replicas, clock: systemClock, trace };
  const lead = await follow(shared, scope);
  log.info({ address }, 'waiting to lead');
  await reportReady();
  const isGone = watchBroker(connection, bus);
  const wanted = { ...shared, bucket: `sigma_${bus}`, key: name, holder: access.agent, address };
  const lease = await Lease.take({ ...wanted, ...(name === 'bus' && { isGone }) }, stopping);
  if (lease === undefined) return;
  scope.own(lease);
  log.info({ epoch: lease.epoch }, 'leading');
  const lost = lease.lost.then(() => 'the lease is lost');
  await lead({ epoch: lease.epoch, ended: Promise.race([stopped, lost]) });
  log.info('leads no more');
}
