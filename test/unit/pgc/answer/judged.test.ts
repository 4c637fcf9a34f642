import { expect, test } from 'vitest';
import { doubts, judged } from '../../../../src/pgc/answer/ask.js';
import type { Evidence } from '../../../../src/pgc/shapes.js';

const evidence = (id: number, similarity: number, symbol = ''): Evidence => {
  const its = { id, similarity, symbol, file_path: 'a.c', said: '', why: [], excerpt: [] };
  return its as unknown as Evidence;
};

test('what is rather wrong than right is told as merely near', () => {
  expect(doubts([evidence(1, 0.1), evidence(2, 0.19)])).toEqual([
    { kind: 'weak', text: expect.stringContaining('this is nearest') },
  ]);
  expect(doubts([evidence(1, 0.1), evidence(2, 0.2)])).toEqual([]);
  expect(doubts([])).toEqual([]);
});

test('of one sentence all evidence is the answer, however many lines it has', () => {
  const all = [evidence(1, 0.19), evidence(2, 0.1)];
  expect(judged('Who opens the gate?', all).clauses).toEqual([
    { text: 'Who opens the gate?', status: 'partly', evidence: [1, 2] },
  ]);
  const log = 'The gate fell. It broke.\n[12.3] gate: open';
  expect(judged(log, all).clauses).toEqual([{ text: log, status: 'partly', evidence: [1, 2] }]);
});

test('of several sentences each is answered by the evidence that has its words', () => {
  const all = [evidence(1, 0.9, 'open_gate'), evidence(2, 0.1, 'shut_valve')];
  const { clauses, confidence } = judged(
    'Who opens the gate? Where does it shut a valve? Which bank pays?',
    all,
  );
  expect(clauses).toEqual([
    { text: 'Who opens the gate?', status: 'found', evidence: [1] },
    { text: 'Where does it shut a valve?', status: 'partly', evidence: [2] },
    { text: 'Which bank pays?', status: 'not_found', evidence: [] },
  ]);
  expect(confidence).toBe('low');
  expect(judged('Who opens?', [evidence(1, 0.9)]).confidence).toBe('high');
});

test('a question has at most eight parts, and an empty one none', () => {
  expect(judged('Why so? '.repeat(20), []).clauses).toHaveLength(8);
  expect(judged('  ', []).clauses).toEqual([]);
});
