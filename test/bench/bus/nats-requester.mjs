import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { connect } from '@nats-io/transport-node';
import { drive, serveRuns } from './load.mjs';

const [server, bytes] = process.argv.slice(2);
const body = randomBytes(Number(bytes));
const connection = await connect({ servers: server });
// The deadline that a request of the bus has when none is named.
const options = { timeout: 30_000 };
const first = await connection.request('bench.echo', body, options);
assert.deepEqual(Buffer.from(first.data), body);

const once = async () => {
  const reply = await connection.request('bench.echo', body, options);
  if (reply.data.length !== body.length) throw new Error('the echo differs');
};
serveRuns((load) => drive(once, load));
