import { expect, test } from 'vitest';
import { progressLine } from '../../../src/prompt/agent/agent-steps.js';
import type { Entry } from '../../../src/prompt/agent/transcript.js';

/** All that is known of an agent that is stopped from outside. */

const called = (name: string, told: string, code = ''): Entry => ({
  ...{ kind: 'result', at_ms: 1, callId: 'c', name, told, text: '', code, isInvalid: false },
  message: null,
});

test('what was done stands behind what is being done, without turns of the model', () => {
  const answer: Entry = { kind: 'answer', at_ms: 1, text: '', calls: [], tokens: 5, isLast: false };
  const entries = [called('push', 'name=a'), answer, called('read', 'path=x', 'READ_MISSING')];
  expect(progressLine('asking the model, turn 2', entries)).toBe(
    'asking the model, turn 2; done before: push name=a, read path=x READ_MISSING',
  );
  expect(progressLine('read path=a', [])).toBe('read path=a');
});

test('of much the latest is kept', () => {
  const many = Array.from({ length: 200 }, (_, at) => called('push', `name=task-${at}`));
  const line = progressLine('asking the model, turn 9', many);
  expect(line.length).toBeLessThan(400);
  expect(line).toMatch(/done before: ….*push name=task-199$/);
});
