// Which sides are compared, under which windows, and how the bus is to do beside each.
import {
  auditedRequests,
  bareRequests,
  batchedCurveRequests,
  batchedRequests,
  jetstreamPosts,
  levelPosts,
  natsRequests,
  sigmaCurveRequests,
  sigmaPosts,
  sigmaRequests,
} from './sides.mjs';
import { natsSigmaAgents, natsSigmaPosts, natsSigmaRequests, sigmaAgents } from './network.mjs';

/** `bar`: how the ratio of our median to the peer's is to be. Of a latency, less is better. */
const rate = (peer, window, bar) => ({ peer, window, figure: 'perSecond', bar });
const latency = (peer, bar) => ({ peer, window: 1, figure: 'p50Ms', bar });

const windows = [1, 64, 512];

export const comparisons = {
  requests: {
    what: 'requests and replies',
    note: `Each side a requester, a broker and a worker in processes of their own: Sigma Bus over ipc, without and with its audit log; ZeroMQ over ipc, one message a frame (zeromq) and what waits in batches (batched); nats-server over tcp.`,
    bodies: [1_024],
    windows,
    sides: [sigmaRequests, batchedRequests, natsRequests, bareRequests, auditedRequests],
    rows: [
      ...[rate('batched', 64, 0.8), rate('batched', 512, 0.8), latency('batched', 1.15)],
      ...[rate('nats', 64, 1.3), rate('nats', 512, 2), latency('nats', 1)],
      ...[rate('zeromq', 64), rate('zeromq', 512), latency('zeromq')],
      ...[rate('audited', 64), rate('audited', 512), latency('audited')],
    ],
  },
  sizes: {
    what: 'body sizes',
    note: 'Requests and replies with small and with large bodies.',
    bodies: [64, 65_536],
    windows: [64, 512],
    sides: [sigmaRequests, batchedRequests, natsRequests],
    rows: ['batched', 'nats'].flatMap((peer) => [rate(peer, 64), rate(peer, 512)]),
  },
  curve: {
    what: 'tcp with CURVE',
    note: 'Requests and replies over tcp: Sigma Bus with the keys that `sigma keys` makes; ZeroMQ with CURVE, what waits in batches (batched); nats-server without encryption.',
    bodies: [1_024],
    windows,
    sides: [sigmaCurveRequests, batchedCurveRequests, natsRequests],
    rows: ['batched', 'nats'].flatMap((peer) => [rate(peer, 64), rate(peer, 512), latency(peer)]),
  },
  posts: {
    what: 'durable messages accepted',
    note: 'Sigma Bus: stored and synced. level: the bare store, LevelDB with the one key a message that the broker writes, a whole window as one synced batch. jetstream: written, and synced every two minutes.',
    bodies: [1_024],
    windows,
    sides: [sigmaPosts, levelPosts, jetstreamPosts],
    rows: [
      ...[rate('level', 64, 0.9), rate('level', 512, 0.9)],
      ...[rate('jetstream', 64, 1), rate('jetstream', 512, 1)],
    ],
  },
  network: {
    what: 'on NATS, requests and replies',
    note: 'Sigma Bus over ipc, and on one nats-server (on-nats): each request and each reply passes the server twice. nats: without Sigma Bus.',
    bodies: [1_024],
    windows,
    sides: [sigmaRequests, natsSigmaRequests, natsRequests],
    rows: ['on-nats', 'nats'].flatMap((peer) => [rate(peer, 64), rate(peer, 512), latency(peer)]),
  },
  networkPosts: {
    what: 'on NATS, durable messages accepted',
    note: 'Sigma Bus on this machine: synced. On one nats-server (on-nats), and jetstream: written, and synced every two minutes.',
    bodies: [1_024],
    windows,
    sides: [sigmaPosts, natsSigmaPosts, jetstreamPosts],
    rows: ['on-nats', 'jetstream'].flatMap((peer) => [rate(peer, 64), rate(peer, 512)]),
  },
  networkAgents: {
    what: 'on NATS, a list of 1 000 agents',
    note: 'All pages of it.',
    bodies: [0],
    windows: [1],
    sides: [sigmaAgents, natsSigmaAgents],
    rows: [rate('on-nats', 1), latency('on-nats')],
  },
};
