import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { drive, serveRuns } from './load.mjs';
import { echoService, echoType, openClient } from './sigma-client.mjs';

/** The bus refuses what is more than it may keep, so that a caller waits: more than 16 MiB of one client, for example. */
const refusals = new Set(['BROKER_BUSY', 'PEER_STALLED', 'REPLY_DROPPED']);
const refusedPauseMs = 50;

const [address, bytes] = process.argv.slice(2);
const body = randomBytes(Number(bytes));
const client = await openClient(address, 'bench-requester');
const to = `service:${echoService}`;
assert.deepEqual((await client.request(to, echoType, body)).body, body);
let refused = 0;

async function once() {
  for (;;) {
    try {
      const reply = await client.request(to, echoType, body);
      if (reply.body.length !== body.length) throw new Error('the echo differs');
      return;
    } catch (error) {
      if (!refusals.has(error.code)) throw error;
      refused += 1;
    }
    await wait(refusedPauseMs);
  }
}

serveRuns(async (load) => {
  refused = 0;
  const figures = await drive(once, load);
  return { ...figures, refused: refused / figures.count };
});
