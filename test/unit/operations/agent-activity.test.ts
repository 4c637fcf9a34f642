import { expect, test } from 'vitest';
import type { AuditLine } from '../../../src/observe/audit-line.js';
import { countedBy, entriesOf } from '../../../src/operations/agent-activity.js';

const minute = (at: number): string => new Date(at * 60_000 + 5_000).toISOString();

function line(at: number, what: AuditLine['what'], its: Partial<AuditLine>): AuditLine {
  return { at: minute(at), what, ...its };
}

test('what an agent sent, got, and what was refused, by minute', () => {
  const lines = [
    line(1, 'delivered', { from: 'ann', to: 'bob' }),
    line(1, 'delivered', { from: 'bob', to: 'ann' }),
    line(1, 'stored', { from: 'ann', to: 'agent:bob' }),
    line(1, 'stored', { from: 'bob', to: 'agent:ann' }),
    line(3, 'settled', { from: 'bob', to: 'agent:ann' }),
    line(3, 'refused', { from: 'ann', to: 'agent:x', code: 'UNKNOWN_AGENT' }),
    line(3, 'dead', { from: 'bob', to: 'agent:ann', code: 'EXPIRED' }),
    line(3, 'dead', { from: 'bob', to: 'agent:ann', code: 'EXPIRED' }),
    line(3, 'lost', { count: 4 }),
  ];
  const { minutes, codes } = countedBy('ann', lines);
  expect(minutes).toEqual([
    { at_ms: 60_000, sent: 2, received: 1, refused: 0 },
    { at_ms: 180_000, sent: 0, received: 1, refused: 3 },
  ]);
  expect(codes).toEqual({ UNKNOWN_AGENT: 1, EXPIRED: 2 });
});

test('equal requests are one row with their count; each durable message is a row', () => {
  const looked = { from: 'console', to: 'manager', type: 'task.numbers' };
  const found = [
    line(1, 'delivered', { from: 'ann', to: 'manager', type: 'task.show' }),
    line(2, 'delivered', looked),
    line(3, 'stored', { from: 'ann', to: 'agent:manager', type: 'note', id: 'a' }),
    line(3, 'stored', { from: 'ann', to: 'agent:manager', type: 'note', id: 'b' }),
    line(4, 'delivered', looked),
    line(4, 'refused', { ...looked, code: 'BROKER_BUSY' }),
    line(5, 'delivered', looked),
  ];
  expect(entriesOf(found).map(({ at, what, id, times }) => [at, what, id ?? '', times])).toEqual([
    [minute(5), 'delivered', '', 3],
    [minute(4), 'refused', '', 1],
    [minute(3), 'stored', 'b', 1],
    [minute(3), 'stored', 'a', 1],
    [minute(1), 'delivered', '', 1],
  ]);
});
