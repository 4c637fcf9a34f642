import { randomBytes } from 'node:crypto';
import { jetstream, jetstreamManager, StorageType } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { drive, serveRuns } from './load.mjs';

const [server, bytes] = process.argv.slice(2);
const body = randomBytes(Number(bytes));
const connection = await connect({ servers: server });
const manager = await jetstreamManager(connection);
await manager.streams.add({
  name: 'bench',
  subjects: ['bench.post'],
  storage: StorageType.File,
});
const stream = jetstream(connection);
serveRuns((load) => drive(() => stream.publish('bench.post', body), load));
