// ZeroMQ alone at its best: what waits for a peer leaves together. A record is its length, whom it is for
// and its body; no checksum, envelope, session, deadline or promise a request. An upper bound, not a bus.
//
//     batched.mjs broker|worker ADDRESS        batched.mjs requester ADDRESS BYTES
//
// BENCH_CURVE: the CURVE key pair of the broker, as JSON; absent: without CURVE.
import { performance } from 'node:perf_hooks';
import * as zmq from 'zeromq';
import { endWithParent, figuresOf, serveRuns } from './load.mjs';

const [role, address, bytes] = process.argv.slice(2);
const serverKeys = JSON.parse(process.env.BENCH_CURVE ?? 'null');
const options = {
  ...{ sendHighWaterMark: 0, receiveHighWaterMark: 0, linger: 0 },
  ...(serverKeys && curveOptions()),
};
const headBytes = 5;
/** A larger message would keep the next process waiting for all of it. */
const batchBytesMax = 256 * 1024;

if (role === 'broker') await runBroker();
if (role === 'worker') await runWorker();
if (role === 'requester') await runRequester(headBytes + Number(bytes));

async function runBroker() {
  const router = new zmq.Router(options);
  await router.bind(address);
  const waiting = new Map();
  let isSending = false;
  const flush = async () => {
    if (isSending) return;
    isSending = true;
    while (waiting.size > 0) {
      const [[to, records]] = waiting;
      waiting.delete(to);
      for (const batch of batchesOf(records)) await router.send([to, batch]);
    }
    isSending = false;
  };
  const flushSoon = onceATurn(flush);
  void (async () => {
    for await (const [from, batch] of router) {
      for (const record of recordsIn(batch)) {
        const to = record.toString('latin1', 4, headBytes);
        const changed = Buffer.from(record);
        changed[4] = from[0];
        const records = waiting.get(to);
        if (records === undefined) waiting.set(to, [changed]);
        else records.push(changed);
      }
      flushSoon();
    }
  })();
  endWithParent();
}

async function runWorker() {
  const dealer = await connected('W');
  let waiting = [];
  const flushSoon = onceATurn(sender(dealer, () => waiting.splice(0)));
  void (async () => {
    for await (const [batch] of dealer) {
      waiting.push(...recordsIn(batch));
      flushSoon();
    }
  })();
  endWithParent();
}

async function runRequester(length) {
  const dealer = await connected('C');
  let waiting = [];
  const flush = sender(dealer, () => waiting.splice(0));
  const make = () => {
    const record = Buffer.alloc(length, 1);
    record.writeUInt32LE(length, 0);
    record[4] = 'W'.charCodeAt(0);
    return record;
  };
  const run = async ({ window, ms }) => {
    const latenciesMs = [];
    const begun = [];
    let ended = 0;
    const startedMs = performance.now();
    let isOver = false;
    const pump = () => {
      while (!isOver && begun.length - ended < window) {
        begun.push(performance.now());
        waiting.push(make());
      }
      void flush();
    };
    pump();
    while (ended < begun.length) {
      const [batch] = await dealer.receive();
      const nowMs = performance.now();
      for (const _ of recordsIn(batch)) latenciesMs.push(nowMs - begun[ended++]);
      isOver = nowMs > startedMs + ms;
      pump();
    }
    return figuresOf(Float64Array.from(latenciesMs), performance.now() - startedMs);
  };
  serveRuns(run);
}

function* recordsIn(batch) {
  for (let at = 0; at < batch.length;) {
    const length = batch.readUInt32LE(at);
    yield batch.subarray(at, at + length);
    at += length;
  }
}

function sender(dealer, take) {
  let isSending = false;
  return async () => {
    if (isSending) return;
    isSending = true;
    for (let records = take(); records.length > 0; records = take())
      for (const batch of batchesOf(records)) await dealer.send(batch);
    isSending = false;
  };
}

function* batchesOf(records) {
  for (let from = 0, to = 0; from < records.length; from = to) {
    let length = 0;
    do length += records[to++].length;
    while (to < records.length && length + records[to].length <= batchBytesMax);
    yield to - from === 1 ? records[from] : Buffer.concat(records.slice(from, to), length);
  }
}

function onceATurn(work) {
  let isDue = false;
  return () => {
    if (isDue) return;
    isDue = true;
    setImmediate(() => {
      isDue = false;
      void work();
    });
  };
}

function curveOptions() {
  if (role === 'broker') return { curveServer: true, curveSecretKey: serverKeys.secretKey };
  const { publicKey, secretKey } = zmq.curveKeyPair();
  return {
    ...{ curvePublicKey: publicKey, curveSecretKey: secretKey },
    curveServerKey: serverKeys.publicKey,
  };
}

/** Known to the broker by its routing id. */
async function connected(routingId) {
  const dealer = new zmq.Dealer({ ...options, immediate: true, routingId });
  const isUp = new Promise((resolve) => dealer.events.on('handshake', resolve));
  dealer.connect(address);
  await isUp;
  return dealer;
}
