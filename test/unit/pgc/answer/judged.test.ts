import { expect, test } from 'vitest';
import { doubts, judged } from '../../../../src/pgc/answer/ask.js';
import type { Evidence } from '../../../../src/pgc/shapes.js';

const evidence = (id: number, similarity: number, symbol = ''): Evidence => {
  const its = { id, similarity, symbol, file_path: 'a.c', said: '', why: [], excerpt: [] };
  return its as unknown as Evidence;
};
const all = [evidence(1, 0.19), evidence(2, 0.1)];

test('what is rather wrong than right is told as merely near', () => {
  expect(doubts(all, { likelihood: 0.49 })).toEqual([
    { kind: 'weak', text: expect.stringContaining('this is nearest') },
  ]);
  expect(doubts(all, { likelihood: 0.5 })).toEqual([]);
  expect(doubts([], { likelihood: 0 })).toEqual([]);
});

test('of one sentence all evidence is the answer, however many lines it has', () => {
  expect(judged('Who opens the gate?', all, 0.3).clauses).toEqual([
    { text: 'Who opens the gate?', status: 'partly', evidence: [1, 2] },
  ]);
  expect(judged('Who opens the gate?', all, 0.6).clauses[0]?.status).toBe('found');
  const log = 'The gate fell. It broke.\n[12.3] gate: open';
  expect(judged(log, all).clauses).toEqual([{ text: log, status: 'partly', evidence: [1, 2] }]);
});

test('of several sentences each is answered by the evidence that has its words', () => {
  const found = [evidence(1, 0.9, 'open_gate'), evidence(2, 0.1, 'shut_valve')];
  const { clauses } = judged(
    'Who opens the gate? Where does it shut a valve? Which bank pays?',
    found,
  );
  expect(clauses).toEqual([
    { text: 'Who opens the gate?', status: 'found', evidence: [1] },
    { text: 'Where does it shut a valve?', status: 'partly', evidence: [2] },
    { text: 'Which bank pays?', status: 'not_found', evidence: [] },
  ]);
});

test('the confidence is that of the whole answer, or of a source that is surer by itself', () => {
  const sure = (found: number, best = 0.2): string =>
    judged('Who opens?', [evidence(1, best), evidence(2, 0.1)], found).confidence;
  expect([0.3, 0.5, 0.79, 0.8].map((each) => sure(each))).toEqual([
    'low',
    'medium',
    'medium',
    'high',
  ]);
  const by = (question: string, its: Partial<Evidence>): string =>
    judged(question, [{ ...evidence(1, 0.976), ...its }], 0.3).confidence;
  expect(by('Who opens?', { kind: 'call' })).toBe('high');
  expect(by('Where does "gate 1 fell" come from?', { kind: 'message' })).toBe('high');
  expect(by('open_gate', { kind: 'function', name: 'open_gate' })).toBe('high');
  expect(by('Who calls buffer?', { kind: 'function', name: 'buffer' })).toBe('high');
  expect(judged('Who opens?', [], 0.9)).toMatchObject({ confidence: 'low', likelihood: 0 });
});

test('that something bears a word of the question is no sign that it was asked for', () => {
  const named = { ...evidence(1, 0.976), kind: 'function', name: 'buffer' };
  for (const question of ['buffer', 'buffer overflow', 'Where is the buffer flushed?'])
    expect(judged(question, [named], 0.3)).toMatchObject({ confidence: 'low', likelihood: 0.3 });
  for (const question of ['buffer()', 'What is `buffer`?'])
    expect(judged(question, [named], 0.3).confidence).toBe('high');
});

test('a question has at most eight parts, and an empty one none', () => {
  expect(judged('Why so? '.repeat(20), []).clauses).toHaveLength(8);
  expect(judged('  ', []).clauses).toEqual([]);
});
