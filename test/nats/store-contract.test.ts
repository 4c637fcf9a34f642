import { randomUUID } from 'node:crypto';
import type { NatsConnection } from '@nats-io/transport-node';
import { afterAll, beforeAll, beforeEach, describe } from 'vitest';
import { storeContract } from '../contract/store.js';
import { openLogStore } from '../support/log-store.js';
import { startNats, type NatsServer } from '../support/nats-server.js';

describe('a store in a log', () => {
  let server: NatsServer;
  let connection: NatsConnection;
  let log: string;
  beforeAll(async () => {
    server = await startNats();
    connection = await server.connect();
  });
  afterAll(() => server[Symbol.asyncDispose]());
  beforeEach(() => (log = randomUUID()));

  storeContract('a log in JetStream', async (folder) => {
    const store = await openLogStore(connection, { log, folder });
    await store.lead(() => undefined);
    return store;
  });
});
