import { describe, expect, test } from 'vitest';
import { asBusError } from '../../../src/errors/bus-error.js';
import { renderTodos } from '../../../src/render/task.js';
import {
  mergeUpdate,
  withTaskOutcome,
  taskOf,
  todoStatusOf,
  warningsOf,
  type Todo,
} from '../../../src/task/todo/sigma-task-update.js';
import { readTodoUpdate, todoLimits } from '../../../src/task/todo/todo-update.js';

const read = (document: object): ReturnType<typeof readTodoUpdate> =>
  readTodoUpdate(Buffer.from(JSON.stringify(document)));
const owner = { list: 'ann', parent: 'ann' };
const apply = (before: Todo[], document: object): Todo[] =>
  mergeUpdate(owner, before, read(document));

/** The failure as `CODE text`, or what it gives. */
function outcomeOf(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    const { code, message } = asBusError(error);
    return `${code} ${message}`;
  }
}

const fix = { id: 'fix', content: 'Mend the leak', status: 'pending' };
const handed = {
  ...{ id: 'fix', status: 'delegated', delegated_to: 'bob' },
  acceptance_criteria: ['The leak is gone'],
};

describe('rules', () => {
  const started = apply([], { todos: [fix, { id: 'b', content: 'B', status: 'in_progress' }] });
  const delegated = apply(started, { todos: [handed] });
  test.each<[what: string, before: Todo[], document: object, why: RegExp]>([
    ['not a document', [], { todos: 7 }, /^TASK_UPDATE_INVALID .*todos/],
    [
      'a field it does not know',
      [],
      { todos: [{ ...fix, stat: 1 }] },
      /todos\.0: it takes no stat/,
    ],
    ['an id with a slash', [], { todos: [{ ...fix, id: 'a/b' }] }, /todos\.0\.id/],
    ['a new entry without a content', [], { todos: [{ id: 'x', status: 'pending' }] }, /content/],
    ['one entry twice', [], { todos: [fix, fix] }, /fix is named twice/],
    [
      'two in progress',
      started,
      { todos: [{ id: 'fix', status: 'in_progress' }] },
      /fix and b are both in_progress/,
    ],
    [
      'delegated without criteria',
      started,
      { todos: [{ id: 'fix', status: 'delegated', delegated_to: 'bob' }] },
      /needs acceptance_criteria/,
    ],
    [
      'delegated to nobody',
      started,
      { todos: [{ id: 'fix', status: 'delegated', acceptance_criteria: ['x'] }] },
      /needs delegated_to/,
    ],
    [
      'completed without a summary',
      started,
      { todos: [{ id: 'fix', status: 'completed' }] },
      /result_summary of 15 characters/,
    ],
    [
      'completed with a short one',
      started,
      { todos: [{ id: 'fix', status: 'completed', result_summary: '14 characters.' }] },
      /result_summary of 15 characters/,
    ],
    [
      'taken back while a worker has it',
      delegated,
      { todos: [{ id: 'fix', status: 'pending' }] },
      /fix is delegated as task todo-fix-/,
    ],
    [
      'changed while a worker has it',
      delegated,
      { todos: [{ id: 'fix', status: 'delegated', context: 'other' }] },
      /stays as it was/,
    ],
    ['grounding of nobody', started, { todos: [], grounding: [{ id: 'x' }] }, /no entry x/],
    ['evidence of nobody', started, { todos: [], grounding_evidence: [{ id: 'x' }] }, /no entry x/],
    [
      'grounding that cannot be a task',
      started,
      {
        todos: [handed],
        grounding: [{ id: 'fix', analysis_hints: [{ type: 'blast_radius' }] }],
      },
      /^TASK_INVALID .*needs a target/,
    ],
  ])('refuses %s', (_, before, document, why) => {
    const kept = structuredClone(before);
    expect(outcomeOf(() => apply(before, document))).toMatch(why);
    expect(before).toEqual(kept);
  });

  test('a summary of exactly 15 characters will do', () => {
    const summary = '15 characters..';
    const [todo] = apply([], { todos: [{ ...fix, status: 'completed', result_summary: summary }] });
    expect(todo).toMatchObject({ status: 'completed', result_summary: summary });
  });

  test('what is no JSON, and what is too large, has a code', () => {
    expect(outcomeOf(() => readTodoUpdate(Buffer.from('{')))).toMatch(/^TASK_UPDATE_INVALID/);
    const large = Buffer.alloc(todoLimits.documentBytes + 1, ' ');
    expect(outcomeOf(() => readTodoUpdate(large))).toMatch(/^TOO_LARGE/);
  });
});

describe('merging', () => {
  test('never erases what is not named', () => {
    const whole = {
      ...{ ...fix, activeForm: 'Mending', context: 'mm', acceptance_criteria: ['a'] },
      ...{ delegated_to: 'bob', delegate_session_id: 's', result_summary: 'none yet' },
    };
    const grounding = { id: 'fix', strategy: 'pgc_first', overlay_hints: ['O3'] };
    const before = apply([], { todos: [whole], grounding: [grounding] });
    const [after] = apply(before, { todos: [{ id: 'fix', status: 'in_progress' }] });
    expect(after).toEqual({ ...before[0], status: 'in_progress' });
    expect(after).toMatchObject({ ...whole, status: 'in_progress' });
    expect(after?.grounding).toMatchObject({ strategy: 'pgc_first', overlay_hints: ['O3'] });
  });

  test('keeps the order, and puts what is new behind', () => {
    const before = apply([], { todos: [fix, { ...fix, id: 'b' }] });
    const after = apply(before, {
      todos: [
        { ...fix, id: 'c' },
        { id: 'b', status: 'pending' },
      ],
    });
    expect(after.map(({ id }) => id)).toEqual(['fix', 'b', 'c']);
  });

  test('a full list forgets what was completed, and refuses where nothing is', () => {
    const rows = Array.from({ length: todoLimits.todos }, (_, at) => ({ ...fix, id: `t${at}` }));
    const full = apply([], { todos: rows });
    expect(outcomeOf(() => apply(full, { todos: [fix] }))).toMatch(/^LIST_FULL .*200 entries/);
    const done = { id: 't7', status: 'completed', result_summary: 'this one is done' };
    const after = apply(full, { todos: [done, fix] });
    expect([after.length, after.some(({ id }) => id === 't7')]).toEqual([todoLimits.todos, false]);
  });
});

describe('what is delegated', () => {
  const grounding = [{ id: 'fix', strategy: 'pgc_verify', evidence_required: 'true' }];
  const [todo] = apply([], { todos: [{ ...fix, ...handed }], grounding });

  test('becomes a task with its grounding', () => {
    expect(todo).toMatchObject({ parent: 'ann', delegations: 1, is_handed_over: false });
    expect(taskOf(todo!)).toMatchObject({
      ...{ id: todo!.task_id, task: 'Mend the leak', to: 'bob' },
      acceptance_criteria: [{ text: 'The leak is gone', check: null }],
      grounding: { strategy: 'pgc_verify', evidence_required: true },
    });
  });

  test('may say its grounding and its work itself, once', () => {
    const its = { strategy: 'pgc_first', query_hints: ['leak'], algebra_expression: 'O1 & O4' };
    const work = { kind: 'bug_fix', criticality: 'C3', limits: { attempts_max: 1 } };
    const entry = { ...fix, ...handed, grounding: its, work };
    const [said] = apply([], { todos: [entry] });
    expect(taskOf(said!)).toMatchObject({ grounding: its, ...work });
    const twice = outcomeOf(() => apply([], { todos: [entry], grounding }));
    expect(twice).toMatch(/^TASK_UPDATE_INVALID .*grounding: fix is named twice/);
  });

  test('is the same task until it is over, and another one afterwards', () => {
    const again = apply([todo!], { todos: [handed] });
    expect(again).toEqual([todo]);
    const failed = withTaskOutcome(todo!, {
      ...{ id: todo!.task_id, state: 'failed', response: null, reviews: [] },
      error: { code: 'NO_WORKER', text: 'nobody is there', retryable: true },
    });
    expect(failed).toMatchObject({ status: 'pending' });
    expect(failed.result_summary).toMatch(/failed: NO_WORKER nobody is there$/);
    const [anew] = apply([failed], { todos: [handed] });
    expect(anew).toMatchObject({ status: 'delegated', delegations: 2 });
    expect(anew!.task_id).not.toBe(todo!.task_id);
  });

  test('is completed with the result and the evidence of its task', () => {
    const evidence = {
      ...{ queries_executed: ['leak'], overlays_consulted: ['O1'], overlay_warnings: [] },
      ...{ citations: [{ ...citation, similarity: 0.62 }], grounding_confidence: 'low' as const },
    };
    const done = withTaskOutcome(todo!, {
      ...{ id: todo!.task_id, state: 'completed', error: null, reviews: [] },
      response: { result: 'Mended', grounding_evidence: evidence } as any,
    });
    // The manager may know better how sure it is.
    const reviewed = withTaskOutcome(todo!, {
      ...{ id: todo!.task_id, state: 'completed', error: null },
      reviews: [{ confidence: 'high' }] as any,
      response: { result: 'Mended', grounding_evidence: evidence } as any,
    });
    expect(warningsOf([reviewed])).toEqual([]);
    expect(done).toMatchObject({ status: 'completed', grounding_evidence: evidence });
    expect(done.result_summary).toMatch(/completed: Mended$/);
    expect(warningsOf([done])).toEqual([
      'fix: completed with LOW grounding confidence (0.62); review its citations',
    ]);
    // What was checked belongs to this text and to this question.
    const fixed = { id: 'fix', status: 'completed' };
    for (const its of [
      { result_summary: 'All tests pass, nothing leaks' },
      { content: 'Prove that nothing leaks' },
      { grounding_evidence: { ...evidence, citations: [] } },
    ])
      expect(outcomeOf(() => apply([done], { todos: [{ ...fixed, ...its }] }))).toMatch(
        /^TASK_UPDATE_INVALID .*fix holds the result of task todo-fix-\w+, which was checked/,
      );
    expect(
      outcomeOf(() =>
        apply([done], {
          todos: [],
          grounding_evidence: [{ id: 'fix', ...evidence, citations: [] }],
        }),
      ),
    ).toMatch(/which was checked/);
    expect(apply([done], { todos: [fixed] })).toEqual([done]);
    const [reopened] = apply([done], { todos: [{ id: 'fix', status: 'pending' }] });
    expect(reopened).toMatchObject({ result_of: '', result_summary: '', grounding_evidence: null });
    const own = { ...fixed, result_summary: 'All tests pass, nothing leaks' };
    const shown = renderTodos({
      list: 'ann',
      todos: apply([reopened!], { todos: [own] }).map(bare),
      warnings: [],
    });
    expect(shown).toContain('(not checked; ann says: All tests pass, nothing leaks)');
    expect(renderTodos({ list: 'ann', todos: [bare(done)], warnings: [] })).toContain(
      `(result of task ${done.task_id}: `,
    );
  });
});

const bare = (todo: Todo) => ({ ...todo, task: null });

const citation = {
  ...{ overlay: 'O1', content: 'x', relevance: '', file_path: 'a.c', line_start: 1, line_end: 1 },
  ...{ symbol: '', blob: '', agent: '' },
};

test.each([
  ['no grounding', undefined, undefined, 0],
  ['the strategy none', { strategy: 'none' }, undefined, 0],
  ['evidence that was not required', { evidence_required: false }, undefined, 0],
  ['the same as text', { evidence_required: 'false' }, undefined, 0],
  ['evidence that is missing', { strategy: 'pgc_cite' }, undefined, 1],
  ['no citation', {}, { citations: [] }, 1],
  ['a claim of low confidence', {}, { citations: [{ overlay: 'O1' }] }, 1],
  ['similarities of .7', {}, { citations: [{ overlay: 'O1', similarity: 0.7 }] }, 0],
  ['similarities below', {}, { citations: [{ overlay: 'O1', similarity: 0.69 }] }, 1],
])('with %s a completed entry is warned about as it should be', (_, grounding, evidence, count) => {
  const todo = { ...fix, status: 'completed', result_summary: 'this is what was done' };
  const list = apply([], {
    todos: [todo],
    ...(grounding && { grounding: [{ id: 'fix', ...grounding }] }),
    ...(evidence && { grounding_evidence: [{ id: 'fix', ...evidence }] }),
  });
  expect(warningsOf(list)).toHaveLength(count);
});

test.each([
  ...['pending', 'attending', 'assigned', 'running', 'reviewing', 'clarifying'].map(
    (state) => [state, 'delegated'] as const,
  ),
  ...['revising', 'deciding', 'blocked'].map((state) => [state, 'delegated'] as const),
  ['completed', 'completed'],
  ...['failed', 'halted', 'cancelled', 'timed_out'].map((state) => [state, 'pending'] as const),
] as const)('a task that is %s is %s in a list', (state, status) => {
  expect(todoStatusOf(state)).toBe(status);
});
