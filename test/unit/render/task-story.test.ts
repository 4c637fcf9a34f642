import { describe, expect, test } from 'vitest';
import type { SessionView } from '../../../src/attention/session/shapes.js';
import type { Gate } from '../../../src/attention/shapes.js';
import { BusError } from '../../../src/errors/bus-error.js';
import type { Attends } from '../../../src/remote/attends.js';
import type { Tasks } from '../../../src/remote/tasks.js';
import { renderStory, storyOf } from '../../../src/render/task-story.js';
import type { TaskView } from '../../../src/task/requests/messages.js';
import { taskOf } from '../../support/delegation.js';

/** A manager that knows these tasks and sessions. */
function managerOf(views: TaskView[], sessions: SessionView[] = []) {
  const known = <T>(found: T | undefined, code: 'NO_SUCH_TASK' | 'NO_SUCH_SESSION'): Promise<T> =>
    found === undefined ? Promise.reject(new BusError(code)) : Promise.resolve(found);
  const tasks = {
    show: (id: string) =>
      known(
        views.find((each) => each.id === id),
        'NO_SUCH_TASK',
      ),
    list: ({ parent }: { parent: string }) =>
      Promise.resolve({ tasks: views.filter((each) => each.parent === parent), more: false }),
  } as unknown as Tasks;
  const attends = {
    show: (context: string) =>
      known(
        sessions.find((each) => each.context === context),
        'NO_SUCH_SESSION',
      ),
  } as unknown as Attends;
  return { tasks, attends };
}

function viewOf(id: string, at: number, more: Record<string, unknown> = {}): TaskView {
  const { task = {}, notes = [], ...rest } = more as { task?: object; notes?: string[] };
  return {
    ...{ id, state: 'completed', parent: 'operator', owner: '', assigned_to: 'workshop' },
    ...{ task: taskOf({ id, ...task }), response: null, reviews: [], error: null, gates: [] },
    ...{ findings: [], iterations: [], created_ms: at, updated_ms: at, finished_ms: at + 50 },
    notes: ['begun', ...notes].map((text, number) => {
      const [state = '', said = ''] = text.split(' | ');
      return { at_ms: at + number, state, text: said };
    }),
    ...rest,
  } as unknown as TaskView;
}

async function lines(views: TaskView[], sessions: SessionView[] = []): Promise<string[]> {
  const told = renderStory(await storyOf(managerOf(views, sessions), views[0]!.id));
  return told
    .split('\n')
    .filter((line) => /^\d\d:\d\d:\d\d/.test(line))
    .map((line) => line.replace(/^\S+ +\S+ s +/, '').replace(/ {2,}/, ': '));
}

const ended = 'completed | review.done';

test('who asked, who worked, what came of it; what goes without saying is left out', async () => {
  const notes = [
    'attending | task.ready',
    'assigned | attention.passed',
    'running | worker.accepted: workshop',
    'reviewing | worker.completed',
    ended,
  ];
  const response = { files_modified: ['a.js'], steps: [], grounding_evidence: null };
  expect(await lines([viewOf('one', 0, { task: { task: 'Do it.' }, notes, response })])).toEqual([
    'one: asked by operator: Do it.',
    'one: workshop works on it',
    'one: done, changed a.js; operator gets the result',
  ]);
});

test('what a crash did to it is told, and what a person said then', async () => {
  const notes = [
    'running | worker.accepted: workshop',
    'running | bus.returned',
    'running | worker.returned: workshop',
    'blocked | worker.blocked: OUTCOME_UNKNOWN',
    'pending | block.resolved: reassign by Ann: it was half done',
    'critiquing | critic.returned: critic',
    'critiquing | manager.returned',
  ];
  expect((await lines([viewOf('one', 0, { notes })])).slice(1)).toEqual([
    'one: workshop works on it',
    'one: the bus was lost, and is back',
    'one: workshop was lost, and is back',
    'one: workshop could not go on: it was interrupted, and how far it came is not known; a person is asked (OUTCOME_UNKNOWN)',
    'one: Ann had it done again: it was half done',
    'one: the critic was lost, and is back: its review goes on',
    'one: the manager was started again, and goes on',
  ]);
});

describe('a gate', () => {
  const gate = (more: Partial<Gate>): Gate =>
    ({
      ...{ id: 'gate-one-1', asked_ms: 1, judged_ms: 0, judged_by: '', judgement: '' },
      ...{ direction: '', state: 'open', expires_ms: 9 },
      classification: {
        description: 'rm -rf old',
        findings: [
          { severity: 'Gate', action_description: 'removes files: rm -rf old', evidence: '' },
          { severity: 'Advisory', action_description: 'is loud', evidence: '' },
        ],
      },
      ...more,
    }) as unknown as Gate;

  test.each([
    ['judged', { judged_ms: 2, judgement: 'halt', judged_by: 'Ann' }, 'Ann refused it'],
    [
      'modified',
      { judged_ms: 2, judgement: 'modify', judged_by: 'Ann', direction: 'ls' },
      'Ann had something else done: ls',
    ],
    ['not judged', { state: 'expired' }, 'no person judged it in time'],
  ] as const)('says what is risky and who decided: %s', async (_, more, said) => {
    const gates = [gate(more)];
    expect((await lines([viewOf('one', 0, { gates })])).slice(1)).toEqual([
      'one: stops: it removes files: rm -rf old; a person is asked (gate-one-1)',
      `one: ${said}`,
    ]);
  });
});

test('reviews are told with their figures, and the worst findings', async () => {
  const review = {
    ...{ verdict: 'warned', findings: [{ text: 'it is little' }] },
    ...{ citations: [{ status: 'valid' }, { status: 'false' }], criteria: [{ verdict: 'met' }] },
  };
  const critique = {
    ...{ at_ms: 3, iteration: 2, score: 0.8, threshold: 0.92, verdict: 'REVISE' },
    ...{ why: '0.8 against 0.92; a claim is false', flags: ['PHASE'], judged: 'revise' },
    findings: [{ id: 'S-1', severity: 'major', text: 'It is 10.', remedy: 'Say 10.' }],
  };
  const notes = [
    'running | worker.accepted: workshop',
    'critiquing | review.done',
    'deciding | critique.done: CRITIQUE_REFUSED',
    'revising | decision.made: revise by Ann: it is 10',
  ];
  const view = viewOf('one', 0, { notes, reviews: [review], iterations: [critique] });
  expect((await lines([view])).slice(2)).toEqual([
    'one: the manager checked the result: 1 of 2 citations hold, 1 of 1 criteria met; it is little',
    'one: the critic gave 0.80, and 0.92 is needed (iteration 2): a claim is false',
    'one: - major: It is 10. Say 10. (S-1)',
    'one: a person is asked what is to be done about it',
    'one: Ann had it revised: it is 10',
  ]);
});

test('what was attended together, and what it waited for, is one story, told by names', async () => {
  const session = {
    ...{ context: 'release', owner: 'operator', args: 'Bring it out', created_ms: 5 },
    ...{ finished_ms: 90, is_over: true, state: 'converged', upstream: { brought: [] } },
    answers: [{ at_ms: 6, kind: 'plan', choice: 'delegate', by: 'Ann', text: '' }],
    trace: [
      { entry: 'change', task: 'attend-change-1', outcome: 'completed' },
      { entry: 'publish', task: 'attend-publish-1', outcome: 'halted' },
    ],
  } as unknown as SessionView;
  const its = { session: 'attend-release' };
  const views = [
    viewOf('attend-change-1', 10, { task: { ...its, task: 'Change it.', depends_on: ['day-1'] } }),
    viewOf('attend-publish-1', 11, { task: { ...its, task: 'Publish it.' } }),
    viewOf('day-1', 1, {
      ...{ owner: 'operator', task: { name: 'day', runner: 'prompt', task: '/run\nSay it.' } },
      response: {
        files_modified: [],
        grounding_evidence: null,
        steps: [
          { at_ms: 2, what: 'run', text: '1 of them' },
          { at_ms: 2, what: 'content', text: 'Say it.' },
          { at_ms: 3, what: 'model', text: 'called a tool, 9 tokens' },
          { at_ms: 4, what: 'receive', text: 'from helper-1' },
          { at_ms: 4, what: 'end', text: 'finished' },
        ],
      },
    }),
    viewOf('helper-1', 2, {
      ...{ parent: 'day-1', owner: 'day-1', task: { name: 'helper', task: 'Help.' } },
    }),
    // Of another session.
    viewOf('other', 3),
  ];
  expect(await lines(views, [session])).toEqual([
    'day: queued by operator: Say it.',
    'day: started what is queued: 1 of them',
    'helper: queued by day: Help.',
    'day: took a message from helper',
    'release: operator wants: Bring it out',
    'release: asked about a plan in which several actions cannot be taken back, Ann said: delegate',
    'change: asked by operator: Change it.',
    'publish: asked by operator: Publish it.',
    'release: over: 1 of 2 tasks are done; publish is halted',
  ]);
});

test('a task that was deleted, and a later session of the same name, are no part of it', async () => {
  const later = { context: 'release', trace: [{ task: 'another' }] } as unknown as SessionView;
  const task = { session: 'attend-release', depends_on: ['gone'], task: 'Do it.' };
  expect(await lines([viewOf('one', 0, { task })], [later])).toEqual([
    'one: asked by operator: Do it.',
  ]);
});
