// A peer that greets, asks for a lot and reads nothing more.
//
//     sigma-mute.mjs ADDRESS SERVICE BYTES
import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { Dealer } from 'zeromq';
import { Command, encodeFrame, makeFrame } from '../../../dist/src/wire/frame.js';
import { helloBody } from '../../campaign/raw-peer.mjs';
import { serveSwitch } from './load.mjs';
import { echoType, role } from './sigma-client.mjs';

/** Ten times a second as many as may be open at once. */
const pauseMs = 100;
const atOnce = 1_024;

const [address, service, bytes] = process.argv.slice(2);
const agent = 'bench-mute';
const body = randomBytes(Number(bytes));
const dealer = new Dealer({ linger: 0, immediate: true, receiveHighWaterMark: 1 });
const say = (...frame) => dealer.send(encodeFrame(makeFrame(...frame)));
dealer.connect(address);
await say(Command.HELLO, { id: 'hello' }, helloBody(agent, role, Date.now()));
await dealer.receive();
let isOn = false;
let asked = 0;

async function askOnce() {
  const envelope = {
    ...{ id: `mute-${(asked += 1)}`, to: `service:${service}`, type: echoType },
    ...{ reply_to: `agent:${agent}`, deadline_ms: 30_000 },
  };
  await say(Command.SEND, envelope, body);
}

serveSwitch({ on: () => (isOn = true), off: () => (isOn = false) });
for (;;) {
  // A sign of life, or its session would end while it is switched off.
  if (!isOn) await say(Command.PING, {});
  for (let at = 0; isOn && at < atOnce; at += 1) await askOnce();
  await wait(pauseMs);
}
