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

/** Requests per second at these windows, and the median latency at window 1; undefined: no bar. */
function against(peer, { perSecond = {}, p50Ms } = {}, windows = [64, 512]) {
  const rates = windows.map((window) => ({
    ...{ peer, window, figure: 'perSecond', bar: perSecond[window] },
  }));
  return p50Ms === undefined
    ? rates
    : [...rates, { peer, window: 1, figure: 'p50Ms', bar: p50Ms ?? undefined }];
}

const windows = [1, 64, 512];
const overheadNote = 'Each with a requester, a broker and a worker in processes of their own.';

/** `bar`: how the ratio of our median to the peer's is to be. Of a latency, less is better. */
export const comparisons = {
  requests: {
    what: 'requests and replies',
    note: `${overheadNote} Sigma Bus over ipc, without and with its audit log; ZeroMQ over ipc, one message a frame (zeromq) and what waits in batches (batched); nats-server over tcp.`,
    bodies: [1_024],
    windows,
    sides: [sigmaRequests, batchedRequests, natsRequests, bareRequests, auditedRequests],
    rows: [
      ...against('batched', { perSecond: { 64: 0.8, 512: 0.8 }, p50Ms: 1.15 }),
      ...against('nats', { perSecond: { 64: 1.3, 512: 2 }, p50Ms: 1 }),
      ...against('zeromq', { p50Ms: null }),
      ...against('audited', { p50Ms: null }),
    ],
  },
  sizes: {
    what: 'body sizes',
    note: 'Requests and replies with small and with large bodies.',
    bodies: [64, 65_536],
    windows: [64, 512],
    sides: [sigmaRequests, batchedRequests, natsRequests],
    rows: [...against('batched'), ...against('nats')],
  },
  curve: {
    what: 'tcp with CURVE',
    note: 'Requests and replies over tcp: Sigma Bus with the keys that `sigma keys` makes; ZeroMQ with CURVE, what waits in batches (batched); nats-server without encryption.',
    bodies: [1_024],
    windows,
    sides: [sigmaCurveRequests, batchedCurveRequests, natsRequests],
    rows: [...against('batched', { p50Ms: null }), ...against('nats', { p50Ms: null })],
  },
  posts: {
    what: 'durable messages accepted',
    note: 'Sigma Bus: stored and synced. level: the bare store, LevelDB with the one key a message that the broker writes, a whole window as one synced batch. jetstream: written, and synced every two minutes.',
    bodies: [1_024],
    windows,
    sides: [sigmaPosts, levelPosts, jetstreamPosts],
    rows: [
      ...against('level', { perSecond: { 64: 0.9, 512: 0.9 } }),
      ...against('jetstream', { perSecond: { 64: 1, 512: 1 } }),
    ],
  },
};
