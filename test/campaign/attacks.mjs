// Everything that somebody without the right to it may try. Each attack resolves with what it was told.
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { newCurveKeyPair } from '../../dist/src/transport/curve.js';
import { ZeromqLink } from '../../dist/src/transport/zeromq.js';
import {
  creditCodec,
  messageQueryCodec,
  messagesAdminCodec,
  messagesQueryCodec,
  offerCodec,
} from '../../dist/src/wire/messages.js';
import { runSigma } from '../bench/kernel/process.mjs';
import { until } from './agent.mjs';
import { worker } from './processes.mjs';
import { Command, headClaiming, RawPeer } from './raw-peer.mjs';

const gibibyte = 1024 ** 3;
const refusedMsMax = 10_000;
const greetings = 2_000;
const connections = 300;
const x = Buffer.from('x');

/**
 * `at`: tcp and ipc addresses of the broker, its home, identity files `mallory` and `alice`, `secretSeq`: a message
 * between two others. `code` is what status().refused counts, undefined where nothing comes to be refused there.
 */
export const attacks = [
  {
    name: 'a stranger with the public key of the broker',
    code: 'CURVE_REFUSED',
    async run({ tcp, mallory }) {
      const { publicKey, secretKey } = newCurveKeyPair();
      const keys = { publicKey, secretKey, serverKey: mallory.server_public };
      return refusalOf(new ZeromqLink(tcp, keys));
    },
  },
  {
    name: 'a plain client on the CURVE port',
    code: 'CURVE_REQUIRED',
    async run({ tcp }) {
      const peer = new RawPeer(tcp);
      return closing(peer, Promise.race([peer.refused, wait(refusedMsMax, 'nothing')]));
    },
  },
  {
    // Not told from one who only looked whether somebody listens, and so not counted.
    name: 'a web browser on the CURVE port',
    run: ({ tcp }) => spokenTo(tcp, 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'.padEnd(256)),
  },
  {
    name: 'noise in the place of a CURVE greeting',
    code: 'HANDSHAKE_FAILED',
    run: ({ tcp }) => spokenTo(tcp, Buffer.concat([zmtpGreeting('CURVE'), Buffer.alloc(64, 4)])),
  },
  {
    name: 'a known key, claiming the identity of another',
    code: 'UNAUTHORISED',
    run: ({ tcp, mallory }) => entering(tcp, mallory, { ...mallory, agent: 'alice' }),
  },
  {
    name: 'a known key, claiming the role of an operator',
    code: 'UNAUTHORISED',
    run: ({ tcp, mallory }) => entering(tcp, mallory, { ...mallory, role: 'operator' }),
  },
  {
    name: 'an operator on the local socket, without its secret',
    code: 'UNAUTHORISED',
    run: ({ ipc }) =>
      entering(ipc, undefined, { agent: 'boss', role: 'operator', secret: '00'.repeat(32) }),
  },
  {
    name: 'a second greeting on one connection, as somebody else',
    code: 'UNAUTHORISED',
    async run({ tcp, mallory }) {
      const peer = new RawPeer(tcp, mallory);
      await peer.enter(mallory);
      await peer.hello('alice', 'tester');
      return closing(peer, peer.answer());
    },
  },
  {
    name: 'a replayed proof',
    code: 'UNAUTHORISED',
    async run({ tcp, mallory }) {
      const first = new RawPeer(tcp, mallory);
      const incarnation = Date.now();
      await first.hello(mallory.agent, mallory.role, incarnation);
      await first.answer();
      const proof = first.proofOf(mallory.secret, mallory.agent);
      await first.prove(proof);
      await first.answer();
      first.close();
      const second = new RawPeer(tcp, mallory);
      await second.hello(mallory.agent, mallory.role, incarnation);
      await second.answer();
      await second.prove(proof);
      return closing(second, second.answer());
    },
  },
  {
    name: 'an agent name that leads out of a folder',
    code: 'INVALID_NAME',
    run: ({ tcp, mallory }) => entering(tcp, mallory, { ...mallory, agent: '../../keys/server' }),
  },
  {
    name: 'the same on the command line',
    async run({ home }) {
      const args = [
        'keys',
        'add',
        '../../x',
        '--role',
        'tester',
        '--out',
        '/nonexistent',
        '--json',
      ];
      return (await runSigma(args, { home })).json.error.code;
    },
  },
  asked('a durable message in the name of another', 'UNAUTHORISED', Command.SEND, {
    ...{ to: 'agent:alice', from: 'bob', type: 'x', durable: true },
  }),
  asked('an offer of what the product itself offers', 'UNAUTHORISED', Command.OFFER, {}, () =>
    offerCodec.encode({ services: ['lattice'] }),
  ),
  asked("a look into another's mailbox", 'UNAUTHORISED', Command.QUERY, { type: 'inbox' }, () =>
    messagesQueryCodec.encode({ mailbox: 'agent:bob', after: 0, limit: 0 }),
  ),
  asked(
    "a look at another's message",
    'NO_SUCH_MESSAGE',
    Command.QUERY,
    { type: 'message' },
    (at) => messageQueryCodec.encode({ seq: at.secretSeq, from: '', id: '' }),
  ),
  asked("taking messages out of another's mailbox", 'UNAUTHORISED', Command.CREDIT, {}, () =>
    creditCodec.encode({ mailbox: 'agent:bob', messages: 9, bytes: 9_999 }),
  ),
  asked("purging another's mailbox", 'UNAUTHORISED', Command.ADMIN, { type: 'inbox.purge' }, () =>
    messagesAdminCodec.encode({ mailbox: '*', seqs: [] }),
  ),
  asked('a backup', 'UNAUTHORISED', Command.ADMIN, { type: 'backup' }, () => Buffer.alloc(0)),
  asked('a presence that is not true', 'UNAUTHORISED', Command.PUBLISH, {
    ...{ to: 'topic:presence.bob.left', type: 'presence' },
  }),
  asked('news in the name of another', 'UNAUTHORISED', Command.PUBLISH, {
    ...{ to: 'topic:agent.bob.news', type: 'x' },
  }),
  {
    name: 'a command before any greeting',
    code: undefined,
    async run({ tcp, mallory }) {
      const peer = new RawPeer(tcp, mallory);
      return closing(peer, peer.ask(Command.SEND, { to: 'agent:alice', type: 'x' }, x));
    },
  },
  {
    name: 'a head that claims 1 GiB',
    code: 'frames_corrupt',
    async run({ tcp, mallory }) {
      const peer = new RawPeer(tcp, mallory);
      await peer.enter(mallory);
      await peer.sendBytes(headClaiming(Command.SEND, 64, gibibyte));
      return closing(peer, peer.answer());
    },
  },
  {
    name: 'a ZeroMQ message of 1 GiB over CURVE',
    run: ({ tcp, mallory }) => giant(tcp, mallory),
  },
  {
    name: 'a ZeroMQ message of 1 GiB on the local socket',
    run: ({ ipc }) => giant(ipc),
  },
  {
    name: `${greetings} greetings of one connection`,
    code: 'RATE_LIMITED',
    async run({ tcp, mallory }) {
      const peer = new RawPeer(tcp, mallory);
      // Refused each time, so that it stays a stranger.
      for (let at = 0; at < greetings; at += 1) await peer.hello('No Name', 'tester');
      let told = 'nothing';
      for (let at = 0; told !== 'RATE_LIMITED' && at < greetings; at += 1)
        told = await peer.answer();
      return closing(peer, told);
    },
  },
  {
    name: `${connections} connections that greet as another and never prove it`,
    code: undefined,
    async run({ tcp, mallory }) {
      const peers = Array.from({ length: connections }, () => new RawPeer(tcp, mallory));
      await Promise.all(peers.map((peer) => peer.hello('alice', 'tester')));
      const answers = await Promise.all(peers.map((peer) => peer.answer()));
      for (const peer of peers) peer.close();
      return [...new Set(answers)].join();
    },
  },
];

/** One frame of an agent that is let in and has no right to it. */
function asked(name, code, command, envelope, body = () => x) {
  return {
    name,
    code,
    async run(at) {
      const peer = new RawPeer(at.tcp, at.mallory);
      const entered = await peer.enter(at.mallory);
      if (entered !== 'WELCOME') return closing(peer, entered);
      return closing(peer, peer.ask(command, envelope, body(at)));
    },
  };
}

async function entering(address, keys, claimed) {
  const peer = new RawPeer(address, keys);
  return closing(peer, peer.enter(claimed));
}

async function closing(peer, told) {
  try {
    return await told;
  } finally {
    peer.close();
  }
}

async function refusalOf(link) {
  const ignore = () => undefined;
  link.open({ onUp: ignore, onDown: ignore, onPart: ignore, onPublication: ignore });
  try {
    return await until(() => link.refusal?.code, refusedMsMax);
  } finally {
    await link[Symbol.asyncDispose]();
  }
}

/** ZMTP 3.0, RFC 23: signature, version and mechanism. */
function zmtpGreeting(mechanism) {
  const greeting = Buffer.alloc(64);
  greeting.set([0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0x7f, 3]);
  greeting.write(mechanism, 12);
  return greeting;
}

/** Bytes of our own making; resolves with `cut off` when the broker ends the connection. */
function spokenTo(address, bytes) {
  const { hostname, port } = new URL(address);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    socket.on('data', () => undefined);
    socket.on('error', () => undefined);
    socket.on('close', () => resolve('cut off'));
    socket.setTimeout(refusedMsMax, () => {
      resolve('nothing');
      socket.destroy();
    });
  });
}

async function giant(address, keys) {
  const settings = { address, keys, bytes: gibibyte };
  let child;
  const told = await new Promise((resolve) => {
    child = worker('giant', 'giant.mjs', settings, resolve);
    child.start();
  });
  await child.kill();
  if (told.type === 'died') return `its process ended: ${told.how}`;
  return told.what;
}
