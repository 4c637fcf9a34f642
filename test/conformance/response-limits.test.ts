import { expect, test } from 'vitest';
import { delegationMessages } from '../../src/delegation/task/messages.js';
import { readWireResponse, unreadable } from '../../src/delegation/task/response.js';
import { reviewResponse } from '../../src/delegation/manager/response-review.js';
import { responseLimits, type TaskResponse } from '../../src/delegation/task/shapes.js';
import { asBusError } from '../../src/errors/bus-error.js';
import { citationOf, evidenceOf, responseOf, taskOf, verdictOf } from '../support/delegation.js';

const { codec } = delegationMessages.response;
const usage = {
  grounding_ms: 1,
  elapsed_ms: 2,
  grounding_bytes: 3,
  context_bytes: 4,
  tokens: 5,
};
const chars = (count: number): string => 'x'.repeat(count);

/** As it comes over the bus. */
function received(response: TaskResponse): TaskResponse {
  return readWireResponse(codec.decode(codec.encode(response)));
}

test('what a worker said is what is read, with what it cost', () => {
  const response = { ...responseOf(), usage };
  expect(received(response)).toEqual(response);
  expect(received({ ...response, grounding_evidence: null, usage: null })).toEqual({
    ...response,
    grounding_evidence: null,
    usage: null,
  });
});

test('what is left out on the wire is what is left out in JSON', () => {
  const bare = { task_id: 't-1', status: 'completed', grounding_evidence: {} } as TaskResponse;
  expect(received(bare)).toEqual(
    responseOf({
      result: '',
      grounding_evidence: {},
      protocol_version: undefined,
      attempt: 0,
    }),
  );
});

const evidence = (fields: object): Partial<TaskResponse> => ({
  grounding_evidence: { ...evidenceOf(), ...fields },
});
const rows: [string, Partial<TaskResponse>, string][] = [
  ['an unknown status', { status: 'done' as never }, 'status'],
  ['no status', { status: '' as never }, 'status'],
  ['a result that is too long', { result: chars(65_537) }, 'result'],
  [
    'a similarity that is no number',
    evidence({ citations: [citationOf({ similarity: NaN })] }),
    'similarity',
  ],
  [
    'a similarity without an end',
    evidence({ citations: [citationOf({ similarity: Infinity })] }),
    'similarity',
  ],
  [
    'thousands of citations',
    evidence({ citations: Array.from({ length: 5_000 }, () => citationOf()) }),
    'citations',
  ],
  [
    'a citation of a book',
    evidence({ citations: [citationOf({ content: chars(responseLimits.contentChars + 1) })] }),
    'content',
  ],
  ['an unknown confidence', evidence({ grounding_confidence: 'sure' }), 'grounding_confidence'],
  [
    'endless queries',
    evidence({ queries_executed: Array.from({ length: responseLimits.queries + 1 }, () => 'q') }),
    'queries_executed',
  ],
  [
    'endless files',
    { files_modified: Array.from({ length: responseLimits.files + 1 }, () => 'a.c') },
    'files_modified',
  ],
  [
    'all at its limit: too much in all',
    { files_modified: Array.from({ length: 200 }, () => chars(responseLimits.pathChars)) },
    'bytes in all',
  ],
];

test.each(rows)('%s on the wire is refused with its name', (_, fields, named) => {
  const sent = { ...responseOf(), ...fields };
  let error: unknown;
  try {
    received(sent);
  } catch (thrown) {
    error = thrown;
  }
  const { code, message } = asBusError(error);
  expect(code).toBe('MALFORMED_PAYLOAD');
  expect(message).toContain(named);
  expect(unreadable(codec.decode(codec.encode(sent)), asBusError(error))).toMatchObject({
    task_id: 't-1',
    attempt: 1,
    status: 'failed',
    reason: 'MALFORMED_PAYLOAD',
    errors: [{ code: 'MALFORMED_PAYLOAD' }],
  });
});

test('what does not even say which task it is of stays unreadable', () => {
  for (const value of [null, 5, [], { task_id: chars(1_000) }, { task_id: 't', attempt: -1 }])
    expect(unreadable(value, asBusError(undefined))).toBeUndefined();
});

test('a finding quotes no more than a line of what a worker wrote', () => {
  const content = chars(responseLimits.contentChars);
  const error = citationOf({ overlay: 'error', content });
  const response = responseOf({ grounding_evidence: evidenceOf({ citations: [error] }) });
  const { findings } = reviewResponse(taskOf({ grounding: {} }), response, 'w', [
    verdictOf('false', content),
  ]);
  expect(findings.length).toBeGreaterThan(1);
  for (const { text } of findings) expect(text.length).toBeLessThan(1_000);
});
