import { expect, test } from 'vitest';
import type { ChildEnd } from '../../../src/executor/guarded-child.js';
import { outcomeOf } from '../../../src/executor/runners/agent-answer.js';
import { citationOf } from '../../support/delegation.js';

const ended = (stdout: string, fields: Partial<ChildEnd> = {}): ChildEnd => ({
  ...{ error: '', code: 0, signal: null, isStopped: false, isWatched: false, isUnwalled: false },
  ...{ stdout, stderr: '', stdoutCut: 0, stderrCut: 0, changed: '' },
  ...fields,
});
const invented = { overlay: 'O1', file_path: 'a.c', content: 'int never_there;' };
const response = (fields: object = {}): string =>
  JSON.stringify({
    ...{ task_id: 't', status: 'completed', result: 'done' },
    grounding_evidence: { citations: [invented] },
    ...fields,
  });
const read = (stdout: string, fields: Partial<ChildEnd> = {}) =>
  outcomeOf('agent', ended(stdout, fields), [
    citationOf({ line_start: 1 }),
    citationOf({ line_start: 2 }),
  ]);

test.each([
  ['alone', response()],
  ['in a block of Markdown', `\`\`\`json\n${response()}\n\`\`\`\n`],
  ['behind words', `Here is my answer:\n\n${response()}\n`],
  ['behind words, in a block', `It is done.\n\n\`\`\`\n${response()}\n\`\`\``],
])('a response is read %s: what it cites is its evidence', (_, stdout) => {
  const { kind, result, cited } = read(stdout);
  expect([kind, result]).toEqual(['finished', 'done']);
  expect(cited).toMatchObject([invented]);
});

test.each([
  ['alone', response().slice(0, 60)],
  ['in a block of Markdown', `\`\`\`json\n${response().slice(0, 60)}`],
  ['behind words', `Here it is:\n${response().slice(0, 60)}`],
])('a response that is cut off is no prose, %s', (_, stdout) => {
  expect(read(stdout)).toMatchObject({
    kind: 'failed',
    reason: 'MALFORMED_PAYLOAD',
    result: stdout.trim(),
  });
});

test('a response with a wrong field fails with the field, and with what was printed', () => {
  const stdout = response({ status: 'done' });
  const { kind, result, errors } = read(stdout);
  expect([kind, result]).toEqual(['failed', stdout]);
  expect(errors[0]?.text).toMatch(/answer of agent: status: it must be completed/);
});

test('words rest on the sources whose numbers they name, and on no other', () => {
  expect(read('It opens [2]. It shuts [9].').cited).toMatchObject([{ line_start: 2 }]);
  const mute = read('I did the work as you asked.');
  expect(mute).toMatchObject({ kind: 'finished', cited: [], isOwnWords: true });
});

test('JSON of another kind is the result itself', () => {
  expect(read('{"files": 3}')).toMatchObject({ kind: 'finished', result: '{"files": 3}' });
});

test.each([
  ['failed', { result: 'It does not compile.', reason: 'COMPILE' }, 'COMPILE', /It does not comp/],
  ['failed', { result: 'It does not compile.' }, 'WORKER_GAVE_UP', /It does not comp/],
  ['blocked', { result: '' }, 'WORKER_GAVE_UP', /it gives no reason/],
])(
  'who ends %s without a known code is quoted, and no reason is made up',
  (status, said, code, text) => {
    const { kind, reason, errors } = read(response({ status, ...said, grounding_evidence: null }));
    expect([kind, reason, errors[0]?.code]).toEqual([status, code, code]);
    expect(errors[0]?.text).toMatch(text);
  },
);

test('a program that fails shows which of its words were errors', () => {
  const { kind, result } = read('half', { code: 3, stderr: 'boom' });
  expect([kind, result]).toEqual(['failed', 'half\n--- stderr\nboom']);
});
