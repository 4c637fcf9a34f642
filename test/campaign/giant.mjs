// Sends one ZeroMQ message of many bytes, in a process of its own because of the memory it takes.
import { setTimeout as wait } from 'node:timers/promises';
import { endWithParent } from './agent.mjs';
import { RawPeer } from './raw-peer.mjs';

/** Nothing is on the wire before the whole is encrypted, for which a slow machine takes more than ten seconds. */
const tellMsMax = 60_000;

const { address, keys, bytes } = endWithParent();
const peer = new RawPeer(address, keys);
await peer.sendBytes(Buffer.alloc(bytes));
process.send({ type: 'told', what: await Promise.race([peer.cutOff, wait(tellMsMax, 'nothing')]) });
