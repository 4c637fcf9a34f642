import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { systemClock } from '../../src/base/clock.js';
import { noTrace, type Trace } from '../../src/base/trace.js';
import { start, StepReader } from '../../src/nats/log-entry.js';
import type { LogLimits } from '../../src/nats/log-limits.js';
import { LogStore } from '../../src/nats/log-store.js';
import { Contents } from '../../src/store/contents.js';
import type { Layout } from '../../src/store/layout.js';
import { busLayout } from '../../src/store/layouts.js';
import type { Operation, Store } from '../../src/store/port.js';

export const streamOf = (log: string): string => `SIGMA_${log}`;
export const subjectOf = (log: string): string => `sigma.${log}.log.bus`;

/** A replica of the log of that name. */
export function openLogStore(
  connection: NatsConnection,
  parts: {
    log: string;
    folder: string;
    replicas?: number;
    limits?: Partial<LogLimits>;
    trace?: Trace;
    layout?: Layout;
  },
): Promise<LogStore> {
  const { log, folder, replicas = 1, limits = {}, trace = noTrace, layout = busLayout } = parts;
  return LogStore.open({
    ...{ connection, stream: streamOf(log), subject: subjectOf(log), replicas, folder },
    ...{ layout, clock: systemClock, random: Math.random, trace, limits },
  });
}

/** Of all its entries: equal in equal stores. */
export async function digestOf(store: Store): Promise<string> {
  const contents = new Contents();
  for await (const [key, value] of store.entries({ prefix: '' })) contents.add(key, value);
  return contents.digest();
}

/** What a log that was never purged says, step by step. */
export async function stepsOf(connection: NatsConnection, log: string): Promise<Operation[][]> {
  const { streams } = await jetstreamManager(connection);
  const { last_seq: last } = (await streams.info(streamOf(log))).state;
  const consumer = await jetstream(connection).consumers.get(streamOf(log), { opt_start_seq: 1 });
  const reader = new StepReader(log, start);
  const steps: Operation[][] = [];
  for await (const { seq, data } of await consumer.consume()) {
    const taken = reader.take(seq, Buffer.from(data));
    if (taken?.kind === 'step') steps.push(taken.operations);
    if (seq === last) break;
  }
  return steps;
}
