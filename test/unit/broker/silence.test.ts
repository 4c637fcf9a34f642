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
  const slept = peers.map((peer) => ({ ...peer }));
  const at = (nowMs: number, previousMs: number): string[] =>
    expiredPeers(slept, { nowMs, previousMs, intervalMs: 100 }).map(({ id }) => id);
  expect(at(10_000, 7_000)).toEqual([]);
  // Nor does the next one for what was slept: only for what comes after it.
  expect(at(10_100, 10_000)).toEqual([]);
  expect(at(11_101, 11_001)).toEqual(['fresh', 'silent']);
});
