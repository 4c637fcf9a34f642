import fc from 'fast-check';
import { expect, test } from 'vitest';
import { delegationMessages } from '../../src/delegation/task/messages.js';
import { readTask, readWireTask } from '../../src/delegation/task/schema.js';
import {
  analysisTypes,
  criticalities,
  overlayHints,
  strategies,
  taskKinds,
  taskLimits,
  type DelegatedTask,
  type TaskResponse,
} from '../../src/delegation/task/shapes.js';
import { withStrategy } from '../../src/delegation/manager/strategy.js';
import { BusError } from '../../src/errors/bus-error.js';
import { taskMessages } from '../../src/task/requests/messages.js';
import { codeOf } from '../support/codes.js';
import { citationOf, evidenceOf, responseOf, taskOf } from '../support/delegation.js';
import { runs } from '../support/runs.js';

const { codec: ofResponse } = delegationMessages.response;
const { codec: ofAssignment } = delegationMessages.assign;
const ofTask = taskMessages.delegate.request;

const sent = (task: DelegatedTask): DelegatedTask => ofTask.decode(ofTask.encode(task));
const answered = (response: TaskResponse): TaskResponse =>
  ofResponse.decode(ofResponse.encode(response));

// ---------------------------------------------------------------- what is meant arrives

const words = fc.string({ minLength: 1, maxLength: 20, unit: 'binary' });
const ids = fc.stringMatching(/^[a-z0-9][a-z0-9_-]{0,20}$/);
const absent = { freq: 3, nil: undefined };
const written = fc.record(
  {
    id: ids,
    task: words,
    acceptance_criteria: fc.array(
      fc.oneof(
        words,
        fc.record({
          text: words,
          check: fc.record(
            {
              cites_symbol: words,
              cites_file: words,
              pattern: fc.constantFrom('', '^a+$', 'b|c'),
              citations_min: fc.integer({ min: 0, max: 10 }),
            },
            { requiredKeys: [] },
          ),
        }),
      ),
      { maxLength: 4 },
    ),
    context: words,
    grounding: fc.option(
      fc.record(
        {
          strategy: fc.constantFrom(...strategies),
          analysis_hints: fc.array(
            fc.record(
              {
                type: fc.constantFrom(...analysisTypes),
                target: words,
                options: fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 3 }),
              },
              { requiredKeys: ['type', 'target'] },
            ),
            { maxLength: 3 },
          ),
          algebra_expression: words,
          overlay_hints: fc.subarray([...overlayHints]),
          query_hints: fc.array(words, { maxLength: 3 }),
          evidence_required: fc.boolean(),
        },
        { requiredKeys: [] },
      ),
      absent,
    ),
    kind: fc.constantFrom(...taskKinds),
    criticality: fc.constantFrom(...criticalities),
    action: fc.record(
      {
        argv: fc.array(words, { minLength: 1, maxLength: 3 }),
        cwd: words,
        env: fc.dictionary(fc.stringMatching(/^[A-Z][A-Z_]{0,5}$/), words, { maxKeys: 3 }),
        stdin: words,
        read_only: fc.boolean(),
        idempotency_key: words,
      },
      { requiredKeys: ['argv'] },
    ),
    limits: fc.record(
      {
        timeout_ms: fc.integer({ min: 100, max: 86_400_000 }),
        attempts_max: fc.integer({ min: 1, max: 10 }),
        tokens: fc.integer({ min: 0, max: 1_000_000 }),
      },
      { requiredKeys: [] },
    ),
    to: words,
    pgc: words,
    model: words,
    name: fc.stringMatching(/^[a-z0-9][a-z0-9_-]{0,10}$/),
  },
  { requiredKeys: ['task'] },
);

test('§2 Request: whatever task is written arrives as it was meant, and is valid there', () => {
  fc.assert(
    fc.property(written, (each) => {
      const task = readTask(each, 'made-here');
      expect(sent(task)).toEqual(task);
      expect(readWireTask(sent(task))).toEqual(task);
      expect(readWireTask(sent(withStrategy(task)))).toEqual(withStrategy(task));
    }),
  );
});

test.each([undefined, false, true])(
  '§2 Request: evidence_required %j stays what it is',
  (evidence_required) => {
    const given = taskOf({ grounding: { evidence_required } });
    expect(sent(given).grounding).toEqual(given.grounding);
    expect(sent(given).grounding?.evidence_required).toBe(evidence_required);
  },
);

test('§2 Request: no grounding is not an empty one', () => {
  expect(sent(taskOf()).grounding).toBeNull();
  expect(sent(taskOf({ grounding: {} })).grounding).not.toBeNull();
});

test('§2 Request: a task that was answered and sent back keeps the story of it', () => {
  const clarifications = [{ question: 'which?', answer: 'the second' }];
  const task = { ...taskOf(), clarifications, feedback: ['cite it'] };
  expect(readWireTask(sent(task))).toEqual(task);
});

test('§2 Response: the whole of a response arrives', () => {
  const usage = { grounding_ms: 1, elapsed_ms: 2, grounding_bytes: 3, context_bytes: 4, tokens: 5 };
  const whole: TaskResponse = {
    ...responseOf({
      reason: 'PGC_FAILED',
      errors: [{ code: 'PGC_FAILED', text: 'no index', retryable: true }],
      clarification_request: 'which?',
      attempt: 7,
      partial: true,
      files_modified: ['a.c'],
      grounding_evidence: evidenceOf({ overlay_warnings: ['O3 is not there'] }),
    }),
    usage,
  };
  expect(answered(whole)).toEqual(whole);
});

test('§2 Response: no evidence, and no similarity, stay none', () => {
  expect(answered(responseOf({ grounding_evidence: null })).grounding_evidence).toBeNull();
  const silent = citationOf();
  delete silent.similarity;
  const zero = citationOf({ similarity: 0 });
  const given = responseOf({ grounding_evidence: evidenceOf({ citations: [silent, zero] }) });
  expect(answered(given)).toEqual(given);
  const [first, second] = answered(given).grounding_evidence?.citations ?? [];
  expect(first && 'similarity' in first).toBe(false);
  expect(second?.similarity).toBe(0);
});

test('an assignment arrives with its token and with times beyond 32 bits', () => {
  const given = {
    task: taskOf(),
    attempt: 3,
    lease_ms: 20_000,
    until_ms: 1_800_000_000_123,
    manager: 'm',
    grants: [
      {
        ...{ id: 'grant-t-1', task: 't', gate: 'gate-t-1', by: 'operator' },
        ...{ given_ms: 1_800_000_000_123, used_ms: 0, used_attempt: 0, findings: [] },
        digest: { action: 'a'.repeat(64), files: { 'run.sh': 'b'.repeat(64) } },
      },
    ],
    ...{ depth: 1, parent: 'main-1' },
  };
  expect(ofAssignment.decode(ofAssignment.encode(given))).toEqual(given);
});

// ---------------------------------------------------------------- what a peer may send

const chars = (length: number): string => 'a'.repeat(length);
const hinted = (hint: object): object => ({
  grounding: {
    ...taskOf({ grounding: {} }).grounding,
    analysis_hints: [{ type: 'blast_radius', target: 'kfree', options: '', ...hint }],
  },
});
const grounded = (fields: object): object => ({
  grounding: { ...taskOf({ grounding: {} }).grounding, ...fields },
});
const said = (length: number): object => ({ question: '?', answer: chars(length) });
const times = <T>(length: number, each: T): T[] => Array.from({ length }, () => each);

test.each<[string, object, string]>([
  ['no id', { id: '' }, 'id'],
  ['an id that is a path', { id: '../x' }, 'id'],
  ['no task', { task: '' }, 'task'],
  ['an unknown strategy', grounded({ strategy: 'pgc_last' }), 'strategy'],
  ['an unknown overlay', grounded({ overlay_hints: ['O8'] }), 'overlay_hints'],
  ['an unknown analysis', hinted({ type: 'vibes' }), 'type'],
  ['an analysis of nothing', hinted({ target: '' }), 'target'],
  ['options that are no JSON', hinted({ options: '{' }), 'options'],
  ['options that are a list', hinted({ options: '[1]' }), 'options'],
  ['options that are null', hinted({ options: 'null' }), 'options'],
  ['options that are too long', hinted({ options: `{"a":"${chars(4_000)}"}` }), 'options'],
  ['options that are mostly blank', hinted({ options: `{${' '.repeat(4_000)}}` }), 'options'],
  ['an unknown kind', { kind: 'chore' }, 'kind'],
  ['an unknown criticality', { criticality: 'C9' }, 'criticality'],
  ['an unknown runner', { runner: 'shell' }, 'runner'],
  ['a command without an action', { runner: 'command' }, 'action'],
  ['too short a time', { limits: { timeout_ms: 1, attempts_max: 1 } }, 'timeout_ms'],
  ['too many attempts', { limits: { timeout_ms: 1_000, attempts_max: 11 } }, 'attempts_max'],
  ['too many criteria', { acceptance_criteria: times(33, { text: 'x', check: null }) }, 'criteria'],
  ['a dependency on itself', { depends_on: ['t-1'] }, 'depends_on'],
  ['too many answers', { clarifications: times(9, said(1)) }, 'clarifications'],
  ['too long an answer', { clarifications: [said(taskLimits.clarificationChars + 1)] }, 'answer'],
  ['too much feedback', { feedback: times(17, 'x') }, 'feedback'],
  ['too long a feedback', { feedback: [chars(taskLimits.feedbackChars + 1)] }, 'feedback'],
])('§5.4 IPC Corruption: %s is refused', (_, fields, wrong) => {
  const { code, detail } = codeOf(() => readWireTask(sent({ ...taskOf(), ...fields })));
  expect(code).toBe('TASK_INVALID');
  expect(detail).toContain(wrong);
});

test('§2 Request: what a peer leaves out is what it is when left out of JSON', () => {
  const bare = ofTask.decode(
    ofTask.encode({ id: 't-1', task: 'say how a packet leaves' } as DelegatedTask),
  );
  expect(readWireTask(bare)).toEqual(taskOf());
});

/** Only a valid task comes back, or a coded error. */
function survives(bytes: Uint8Array): void {
  const { code } = codeOf(() => {
    const task = readWireTask(ofTask.decode(bytes));
    expect(readWireTask(sent(task))).toEqual(task);
  });
  expect(['', 'TASK_INVALID', 'MALFORMED_PAYLOAD']).toContain(code);
}

test('§5.4 IPC Corruption: any bytes are a valid task or a coded error', () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), survives), { numRuns: runs(500) });
});

test('§5.4 IPC Corruption: a task of which any bytes changed is valid or a coded error', () => {
  const change = fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 }));
  fc.assert(
    fc.property(written, fc.array(change, { minLength: 1, maxLength: 4 }), (each, changes) => {
      const bytes = ofTask.encode(readTask(each, 't-1'));
      for (const [at, byte] of changes) bytes[at % bytes.length] = byte;
      survives(bytes);
    }),
    { numRuns: runs(300) },
  );
});

test('§5.4 IPC Corruption: any bytes are a response or a coded error', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      try {
        expect(typeof ofResponse.decode(bytes).task_id).toBe('string');
      } catch (error) {
        expect(error).toBeInstanceOf(BusError);
      }
    }),
    { numRuns: runs(300) },
  );
});
