// ZeroMQ alone: DEALER, ROUTER, DEALER, one message a frame; no checksum, envelope, session or deadline.
//
//     bare.mjs broker|worker ADDRESS        bare.mjs requester ADDRESS BYTES
import { randomBytes } from 'node:crypto';
import * as zmq from 'zeromq';
import { drive, endWithParent, serveRuns } from './load.mjs';

const [role, address, bytes] = process.argv.slice(2);
const options = { sendHighWaterMark: 2_048, receiveHighWaterMark: 2_048, linger: 0 };

if (role === 'broker') await runBroker();
if (role === 'worker') await runWorker();
if (role === 'requester') await runRequester(Number(bytes));

async function runBroker() {
  const router = new zmq.Router({ ...options, sendTimeout: 0, mandatory: true });
  await router.bind(address);
  void (async () => {
    for await (const [peer, body] of router) {
      const to = peer.toString() === 'worker' ? 'requester' : 'worker';
      if (body.length > 0) void router.send([to, body]);
    }
  })();
  endWithParent();
}

async function runWorker() {
  const dealer = await connected('worker');
  void (async () => {
    for await (const [body] of dealer) void dealer.send(body);
  })();
  endWithParent();
}

async function runRequester(length) {
  const dealer = await connected('requester');
  const body = randomBytes(length);
  // One path, one worker: replies come in the order of their requests.
  const waiting = [];
  void (async () => {
    for await (const [reply] of dealer) waiting.shift()(reply);
  })();
  const once = () =>
    new Promise((resolve) => {
      waiting.push(resolve);
      void dealer.send(body);
    });
  serveRuns((load) => drive(once, load));
}

/** From its first message on the broker can reach it. */
async function connected(routingId) {
  const dealer = new zmq.Dealer({ ...options, immediate: true, routingId });
  dealer.connect(address);
  await dealer.send('');
  // Otherwise the 513th send of a turn throws.
  dealer.sendTimeout = 0;
  return dealer;
}
