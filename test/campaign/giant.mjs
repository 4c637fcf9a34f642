// Sends one ZeroMQ message of many bytes, in a process of its own because of the memory it takes.
import { setTimeout as wait } from 'node:timers/promises';
import { endWithParent } from './agent.mjs';
import { RawPeer } from './raw-peer.mjs';

const tellMsMax = 10_000;

const { address, keys, bytes } = endWithParent();
const peer = new RawPeer(address, keys);
await peer.sendBytes(Buffer.alloc(bytes));
process.send({ type: 'told', what: await Promise.race([peer.cutOff, wait(tellMsMax, 'nothing')]) });
