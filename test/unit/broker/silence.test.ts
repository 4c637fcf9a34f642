import { expect, test } from 'vitest';
import { expiredPeers } from '../../../src/broker/session/silence.js';

const peers = [
  { id: 'fresh', lastHeardMs: 9_500, silenceMaxMs: 1_000 },
  { id: 'silent', lastHeardMs: 8_000, silenceMaxMs: 1_000 },
];
const expired = (tick: { nowMs: number; previousMs: number; intervalMs: number }): string[] =>
  expiredPeers(peers, tick).map((peer) => peer.id);

test('who was silent for too long has expired', () => {
  expect(expired({ nowMs: 10_000, previousMs: 9_900, intervalMs: 100 })).toEqual(['silent']);
});

test('a tick that comes late accuses nobody: we slept, they may not have', () => {
  expect(expired({ nowMs: 10_000, previousMs: 7_000, intervalMs: 100 })).toEqual([]);
});
