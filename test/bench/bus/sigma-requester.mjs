import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { drive, serveRuns } from './load.mjs';
import { echoService, echoType, openClient } from './sigma-client.mjs';

const [address, bytes] = process.argv.slice(2);
const body = randomBytes(Number(bytes));
const client = await openClient(address, 'bench-requester');
const to = `service:${echoService}`;
assert.deepEqual((await client.request(to, echoType, body)).body, body);

const once = async () => {
  const reply = await client.request(to, echoType, body);
  if (reply.body.length !== body.length) throw new Error('the echo differs');
};
serveRuns((load) => drive(once, load));
