import path from 'node:path';
import { systemClock } from '../../src/base/clock.js';
import { noTrace, type Trace } from '../../src/base/trace.js';
import { Broker } from '../../src/broker/broker.js';
import type { BrokerLimits } from '../../src/broker/limits.js';
import { Client } from '../../src/client/client.js';
import type { LevelStore } from '../../src/store/level-store.js';
import type { Listener } from '../../src/transport/port.js';
import type { AgentRecord } from '../../src/wire/messages.js';
import type { TransportHarness } from '../contract/transport.js';
import { openTestStore } from './store.js';
import { temporaryFolder } from './temporary.js';

export interface DialOptions {
  role?: string;
  isEphemeral?: boolean;
  secret?: Buffer;
  secretOf?: () => Buffer | undefined;
  checkMs?: number;
}

export interface TestBus {
  start(): Promise<Broker>;
  /** Drains and closes in order. */
  stop(): Promise<void>;
  /** Takes the sockets and the store away under the broker, as a crash would. */
  crash(): Promise<void>;
  client(agent: string, options?: DialOptions): Promise<Client>;
  /** Not waited for. */
  dial(agent: string, options?: DialOptions): Client;
  readonly listener: Listener;
  readonly harness: TransportHarness;
  close(): Promise<void>;
}

export const operatorSecret = Buffer.from('a secret of this test run');

/** A real broker on a real LevelDB behind the given transport. */
export function testBus(
  harness: TransportHarness,
  limits: Partial<BrokerLimits> = {},
  trace: Trace = noTrace,
): TestBus {
  const folder = temporaryFolder();
  const clients: Client[] = [];
  let running: { broker: Broker; store: LevelStore; listener: Listener } | undefined;

  /** Where every agent must prove itself, a right secret is that of the agent; a wrong one stays wrong. */
  const secretOf = (agent: string, { role, secret }: DialOptions): Buffer | undefined =>
    secret === undefined || secret === operatorSecret
      ? (harness.keys?.secretOf(agent, role) ?? secret)
      : secret;

  const bus: TestBus = {
    harness,
    get listener() {
      if (running === undefined) throw new Error('the broker is not running');
      return running.listener;
    },
    async start() {
      const store = await openTestStore(path.join(folder.path, 'store'));
      const listener = await harness.listen();
      const broker = await Broker.open({
        store,
        listener,
        clock: systemClock,
        random: Math.random,
        proofFor:
          harness.keys?.proofFor ?? (({ role }) => (role === 'operator' ? operatorSecret : 'none')),
        version: 'test',
        trace,
        limits: { heartbeatMs: 200, heartbeatMsMin: 50, drainMsMax: 1_000, ...limits },
      });
      running = { broker, store, listener };
      return broker;
    },
    async stop() {
      if (running === undefined) return;
      await running.broker.drain();
      await running.listener[Symbol.asyncDispose]();
      await running.store[Symbol.asyncDispose]();
      running = undefined;
    },
    async crash() {
      if (running === undefined) return;
      await running.listener[Symbol.asyncDispose]();
      await running.store[Symbol.asyncDispose]();
      await running.broker.drain();
      running = undefined;
    },
    dial(agent, options = {}) {
      const client = Client.connect({
        link: harness.dial(agent, options.role),
        identity: {
          agent,
          role: options.role ?? 'tester',
          isEphemeral: options.isEphemeral ?? false,
        },
        clock: systemClock,
        random: Math.random,
        secretOf: options.secretOf ?? (() => secretOf(agent, options)),
        heartbeatMs: 200,
        ...(options.checkMs !== undefined && { checkMs: options.checkMs }),
      });
      clients.push(client);
      return client;
    },
    async client(agent, options) {
      const client = bus.dial(agent, options);
      await client.ready({ withinMs: 5_000 });
      return client;
    },
    async close() {
      for (const client of clients) await client.close();
      await bus.stop();
      await harness.close();
      folder.remove();
    },
  };
  return bus;
}

export function recordOf(alias: string): Omit<AgentRecord, 'id' | 'role'> {
  return {
    alias,
    model: '',
    project: 'test',
    scope: [alias],
    overlays: {},
    capabilities: [],
    protocol_versions: ['1'],
  };
}
