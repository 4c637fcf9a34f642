import { afterAll, beforeAll, describe } from 'vitest';
import { blobsContract } from '../contract/blobs.js';
import { busContract } from '../contract/bus.js';
import { mailContract } from '../contract/mail.js';
import { topicsContract } from '../contract/topics.js';
import { transportContract } from '../contract/transport.js';
import { natsHarness } from '../support/nats-network.js';
import { startNats, type NatsServer } from '../support/nats-server.js';

describe('over NATS', () => {
  let server: NatsServer;
  beforeAll(async () => {
    server = await startNats();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const harness = () => natsHarness(server);
  transportContract('NATS', harness);
  busContract('NATS', harness, true);
  topicsContract('NATS', harness);
  mailContract('NATS', harness);
  blobsContract('NATS', harness);
});
