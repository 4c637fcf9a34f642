import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Client } from '../../src/client/client.js';
import type { DelegatedTask } from '../../src/delegation/task/shapes.js';
import { eventually } from '../support/eventually.js';
import { chainRepository } from '../support/repository.js';
import { environment, program, sigma, startSigma, type Ran } from '../support/sigma.js';
import { Stack } from '../support/stack.js';
import { citationFor, startWorker } from '../support/worker.js';

let repository: ReturnType<typeof chainRepository>;
let stack: Stack;
let worker: Client;
const held = new Map<string, () => void>();

beforeAll(async () => {
  repository = chainRepository();
  const { home, root, plan } = repository;
  stack = await Stack.open(home, ['manager'], { root, plan });
  worker = await startWorker(home, 'worker', work);
  // The manager is up before it takes tasks.
  await eventually(async () => expect((await run('task', 'list', '--json')).code).toBe(0));
});

afterAll(async () => {
  for (const release of held.values()) release();
  await worker.close();
  await stack[Symbol.asyncDispose]();
  repository.remove();
});

/** What the PGC is sure of; of the other place it says nothing to this question. */
const question = 'Who calls nic_log?';
const beside = 'How is the ring allocated?';

/** By the first word of the task. */
async function work(
  task: DelegatedTask,
  client: Client,
): ReturnType<Parameters<typeof startWorker>[2]> {
  const cited = async (about: string, grounding_confidence: 'high' | 'low') => ({
    queries_executed: [about],
    overlays_consulted: ['O1', 'O3'],
    citations: [await citationFor(client, about)],
    ...{ grounding_confidence, overlay_warnings: [] },
  });
  switch (task.task.split(' ')[0]) {
    case 'clarify':
      if (task.clarifications.length === 0)
        return { status: 'needs_clarification', clarification_request: 'Which \u001b[31mring?' };
      return { result: `It is the ${task.clarifications[0]?.answer} ring` };
    case 'block':
      return { status: 'blocked', reason: 'OUTCOME_UNKNOWN', result: 'it was interrupted' };
    case 'fail':
      return { status: 'failed', reason: 'ACTION_FAILED', result: 'no luck' };
    case 'ungrounded': {
      const errors = [{ code: 'PGC_FAILED', text: 'the PGC is away', retryable: true }];
      return {
        status: 'blocked',
        reason: 'PGC_FAILED',
        result: 'It is the ring',
        partial: true,
        errors,
      };
    }
    case 'silent': {
      const errors = [{ code: 'PGC_FAILED', text: 'the PGC is away', retryable: true }];
      return task.grounding?.strategy === 'none'
        ? { result: 'Done without evidence' }
        : { status: 'blocked', reason: 'PGC_FAILED', result: '', errors };
    }
    case 'quote': {
      const content = 'nic_log("setup");';
      const quoted = { overlay: 'O1', content, relevance: 'it says so' };
      const places = { file_path: 'drivers/nic/nic_main.c', line_start: 0, line_end: 0 };
      const citations = [{ ...quoted, ...places, symbol: '', blob: '', agent: '' }];
      return {
        result: 'It logs',
        grounding_evidence: { ...(await cited(question, 'high')), citations },
      };
    }
    case 'slow':
      await new Promise<void>((resolve) => held.set(task.id, resolve));
      return {};
    case 'doubt':
      return { result: 'Perhaps so', grounding_evidence: await cited(beside, 'low') };
    default:
      return {
        result: 'By \u001b]0;title\u0007nic_setup',
        grounding_evidence: await cited(question, 'high'),
      };
  }
}

const run = (...args: string[]): Promise<Ran> => sigma(repository.home, args);

test('a task in words is done, checked and shown', async () => {
  const ran = await run(
    ...['delegate', 'answer how the ring is allocated', '--wait', '--hint', question],
    ...['--criterion', 'It names a function', '--to', 'worker', '--id', 'in-words'],
  );
  expect([ran.code, ran.stderr]).toEqual([0, expect.stringMatching(/^in-words: completed/m)]);
  expect(ran.stdout).toMatch(/^Task in-words: completed · attempt 1 by worker/);
  expect(ran.stdout).toMatch(/Review of attempt 1: warned, confidence high$/m);
  expect(ran.stdout).toMatch(/\? unchecked {2}It names a function/);
  expect(ran.stdout).toMatch(/^ {2}\[1\] valid +\S+\.[ch]:\d+ /m);
  const again = await run('delegate', 'something else', '--id', 'in-words', '--json');
  expect([again.code, again.json.error.code]).toEqual([1, 'TASK_EXISTS']);
});

test('a task as JSON comes from a file or standard input, and options go over it', async () => {
  const document = {
    task: 'answer it',
    acceptance_criteria: [{ text: 'cites the driver', check: { citations_min: 1 } }],
    grounding: { strategy: 'pgc_cite', query_hints: [question] },
  };
  const file = path.join(repository.home, 'task.json');
  writeFileSync(file, JSON.stringify(document));
  const ran = await run('delegate', file, '--json', '--wait', '--criticality', 'C1');
  expect([ran.code, ran.json.state]).toEqual([0, 'completed']);
  expect(ran.json.task).toMatchObject({ criticality: 'C1', grounding: { strategy: 'pgc_cite' } });
  expect(ran.json.reviews[0].criteria).toMatchObject([{ verdict: 'met' }]);
  const input = JSON.stringify(document);
  const piped = await sigma(repository.home, ['delegate', '-', '--json'], { input });
  expect([piped.code, piped.json.id]).toEqual([0, expect.stringMatching(/^task-/)]);
  const shown = await run('task', 'show', piped.json.id, '--wait', '--json');
  expect([shown.code, shown.json.state]).toEqual([0, 'completed']);
});

test.each<[what: string, args: string[], code: string]>([
  ['no JSON', ['delegate', '-'], 'TASK_INVALID'],
  ['an unknown strategy', ['delegate', 'x', '--strategy', 'guess'], 'TASK_INVALID'],
  ['an analysis without a target', ['delegate', 'x', '--analyse', 'blast_radius'], 'TASK_INVALID'],
  ['a file that is not there', ['delegate', 'no/such.json'], 'USAGE'],
  ['nothing that is said', ['task', 'update', 'x'], 'USAGE'],
  ['two things at once', ['task', 'update', 'x', '--accept', '--refuse'], 'USAGE'],
  ['an unknown state', ['task', 'list', '--state', 'gone'], 'USAGE'],
  ['an unknown outcome', ['task', 'update', 'x', '--outcome', 'maybe'], 'USAGE'],
])('%s is wrong usage', async (_, args, code) => {
  const ran = await run(...args, '--json');
  expect([ran.code, ran.json.error.code]).toEqual([2, code]);
});

test('what is wrong is named as it was written: the field of a document, or a flag', async () => {
  const input = JSON.stringify({ task: 'x', grounding: { overlay_hints: ['O9'] } });
  const inJson = await sigma(repository.home, ['delegate', '-'], { input });
  expect(inJson.stderr).toMatch(/not valid: grounding\.overlay_hints\.0: it must be O1/);
  const byFlag = await run('delegate', 'x', '--overlays', 'O9');
  expect(byFlag.stderr).toMatch(/not valid: --overlays: it must be O1/);
  const unknown = await run('task', 'update', 'x', '--alt');
  expect(unknown.stderr).toMatch(/unknown option '--alt' \(Did you mean --halt\?\)/);
});

test('an unknown task, and a home without a broker, are told apart', async () => {
  for (const args of [
    ['show', 'nope'],
    ['cancel', 'nope'],
    ['review', 'nope'],
  ]) {
    const ran = await run('task', ...args, '--json');
    expect([ran.code, ran.json.error.code], args[0]).toEqual([1, 'NO_SUCH_TASK']);
  }
  const alone = await sigma(path.join(repository.home, 'empty'), ['task', 'list', '--json']);
  expect([alone.code, alone.json.error.code]).toEqual([3, 'NO_BROKER']);
});

test('a task that asks ends the wait, is answered, and goes on', async () => {
  const asked = await run('delegate', 'clarify it', '--strategy', 'none', '--wait', '--id', 'asks');
  expect(asked.code).toBe(1);
  expect(asked.stdout).toMatch(/^It asks: Which \?\[31mring\?/m);
  expect(asked.stdout).toContain('sigma task update asks --answer "TEXT"');
  const listed = await run('task', 'list', '--state', 'clarifying,deciding', '--json');
  expect(listed.json.tasks.map((each: { id: string }) => each.id)).toEqual(['asks']);
  const early = await run('task', 'update', 'asks', '--accept', '--json');
  expect([early.code, early.json.error.code]).toEqual([1, 'TASK_STATE']);
  expect((await run('task', 'update', 'asks', '--answer', 'receive')).code).toBe(0);
  const shown = await run('task', 'show', 'asks', '--wait', '--json');
  expect([shown.code, shown.json.response.result]).toEqual([0, 'It is the receive ring']);
});

const doubtful = (id: string): string[] => [
  ...['delegate', 'doubt it?', '--hint', question, '--criticality', 'C3'],
  ...['--wait', '--id', id],
];

test('a doubtful result is reviewed with its lines, and decided by a command', async () => {
  const asked = await run(...doubtful('doubt-1'), '--json');
  expect([asked.code, asked.json.state]).toEqual([1, 'deciding']);
  expect(asked.json.error.code).toBe('TASK_WAITS');
  const seen = await run('task', 'review', 'doubt-1', '--repo', repository.root);
  expect(seen.stdout).toMatch(/^Task completed with LOW grounding confidence \(0\.00\)/);
  expect(seen.stdout).toMatch(/^ {4}> +\d+ {2}\S/m);
  expect(seen.stdout).toContain('sigma task update doubt-1 --accept');
  const said = await run('task', 'update', 'doubt-1', '--refuse', '--why', 'thin');
  expect([said.code, said.stdout]).toEqual([0, 'doubt-1: refuse, now failed\n']);
  const over = await run('task', 'show', 'doubt-1', '--wait', '--json');
  expect(over.code).toBe(1);
});

test('on a terminal a review asks, no foreign text is obeyed, and an empty line accepts', async () => {
  await run(...doubtful('doubt-2'));
  const shown = await onTerminal(['task', 'review', 'doubt-2', '--repo', repository.root], '\n');
  expect(shown).toMatch(/Accept it\? \[Y\/n\]/);
  expect(shown).toMatch(/doubt-2: accept, now completed/);
  const titled = await onTerminal(['task', 'show', 'in-words'], '');
  expect(titled).toContain('?]0;title?nic_setup');
});

/** In a terminal of its own. */
function onTerminal(args: string[], input: string): Promise<string> {
  const words = [process.execPath, program, ...args].map((each) => `'${each}'`).join(' ');
  return new Promise((resolve, reject) => {
    const env = { ...environment(repository.home), TERM: 'dumb' };
    const child = execFile('script', ['-qec', words, '/dev/null'], { env }, (error, stdout) =>
      error === null ? resolve(stdout) : reject(new Error(stdout, { cause: error })),
    );
    if (input !== '')
      child.stdout?.on('data', (chunk: string) => {
        if (chunk.includes('[Y/n]')) child.stdin?.write(input);
      });
  });
}

test('a block is told, and its outcome decides', async () => {
  const blocked = await run('delegate', 'block', '--strategy', 'none', '--wait', '--id', 'block');
  expect([blocked.code, blocked.stdout]).toEqual([1, expect.stringContaining('--reassign')]);
  const done = await run('task', 'update', 'block', '--outcome', 'done', '--json');
  expect([done.code, done.json.state]).toEqual([0, 'completed']);
});

test('what blocks a task is told with what was there, and what was done is not done again', async () => {
  const asked = ['--strategy', 'pgc_verify', '--evidence', '--wait', '--id', 'ungrounded'];
  const blocked = await run('delegate', 'ungrounded work', ...asked);
  expect([blocked.code, blocked.stdout]).toEqual([
    1,
    expect.stringMatching(
      /It is the ring[^]*PGC_FAILED: the PGC is away\nIt stopped while it was running, with the result above\.[^]*--relax +\(its result counts/,
    ),
  ]);
  await run('task', 'update', 'ungrounded', '--relax');
  const { json } = await run('task', 'show', 'ungrounded', '--wait', '--json');
  expect(json).toMatchObject({
    state: 'completed',
    attempt: 1,
    reviews: [{ verdict: 'warned' }],
  });
});

test('relaxed, a task no longer asks a PGC that does not answer', async () => {
  const ran = await run('delegate', 'silent work', '--strategy', 'pgc_first', '--wait', '--json');
  expect([ran.code, ran.json.state]).toEqual([0, 'completed']);
  expect(ran.json.response.result).toBe('Done without evidence');
});

test('what a worker quotes without lines is shown with the lines in which it stands', async () => {
  const args = ['--strategy', 'pgc_cite', '--wait', '--id', 'quote'];
  const { code, stdout } = await run('delegate', 'quote it', ...args);
  expect([code, stdout]).toEqual([
    0,
    expect.stringMatching(/\[1\] valid +drivers\/nic\/nic_main\.c:12 /),
  ]);
  const quoted = { file_path: 'drivers/nic/nic_main.c', content: 'nic_log("setup");' };
  const wrong = { ...quoted, content: 'nic_log("nothing");' };
  const input = JSON.stringify([quoted, wrong]);
  const verified = await sigma(repository.home, ['verify', '-'], { input });
  expect(verified.stdout).toMatch(
    /^valid +drivers\/nic\/nic_main\.c:12 .*\nfalse +drivers\/nic\/nic_main\.c /,
  );
});

test('a task that ended is tried again with what it was told and had come to', async () => {
  await run('delegate', 'fail again', '--strategy', 'none', '--wait', '--id', 'fail-first');
  const shown = await run('task', 'show', 'fail-first');
  expect(shown.stdout).toContain('sigma task retry fail-first');
  const { json } = await run('task', 'retry', 'fail-first', '--timeout', '20m', '--json');
  expect(json.task).toMatchObject({ task: 'fail again', limits: { timeout_ms: 1_200_000 } });
  expect(json.task.feedback.join()).toMatch(/ended failed, no luck\. It had come to:\nno luck/);
  const done = await run('task', 'retry', 'in-words', '--json');
  expect([done.code, done.json.error.code]).toEqual([1, 'TASK_STATE']);
});

test('a failure is a failure', async () => {
  const args = ['delegate', 'fail', '--strategy', 'none', '--attempts', '1', '--wait', '--json'];
  const { code, json } = await run(...args);
  expect([code, json.state, json.error.code]).toEqual([1, 'failed', 'ACTION_FAILED']);
});

test('Ctrl-C leaves the task running and says how to come back; it is cancelled by name', async () => {
  const waiting = startSigma(repository.home, [
    ...['delegate', 'slow work', '--strategy', 'none', '--wait', '--id', 'slow'],
  ]);
  await eventually(() => expect(waiting.output()).toMatch(/slow: running/));
  waiting.process.kill('SIGINT');
  expect(await waiting.ended).toBe(130);
  expect(waiting.output()).toContain('sigma task show slow --wait');
  expect((await run('task', 'show', 'slow', '--json')).json.state).toBe('running');
  const gone = await run('task', 'cancel', 'slow', '--why', 'not needed', '--json');
  expect([gone.code, gone.json.state]).toEqual([0, 'cancelled']);
});

test('grounding in words beside a flag of its fields is refused by name', async () => {
  const file = path.join(repository.home, 'worded.json');
  writeFileSync(file, JSON.stringify({ task: 'a', grounding: 'by the code' }));
  const { code, json } = await run('delegate', file, '--hint', 'ring', '--json');
  expect([code, json.error.code]).toEqual([2, 'TASK_INVALID']);
  expect(json.error.text).toMatch(/grounding/);
});

test('delegated in the name of an agent, that agent gets the result as a message', async () => {
  const args = ['delegate', 'plain', '--strategy', 'none', '--as', 'ann', '--wait', '--json'];
  const { code, json } = await run(...args);
  expect([code, json.parent, json.state]).toEqual([0, 'ann', 'completed']);
  const mail = await run('receive', '--as', 'ann', '--wait', '10s', '--json');
  expect(mail.json.message).toMatchObject({ type: 'task.finished', from: 'manager' });
  expect(JSON.parse(mail.json.message.body)).toMatchObject({ from: json.id, success: true });
  // Another task of this name was delegated by somebody else.
  const twice = await run(...args, '--id', 'in-words');
  expect([twice.code, twice.json.error.code]).toEqual([1, 'TASK_EXISTS']);
});

test('a list is kept, what it delegates is done, and what is wrong with it is told', async () => {
  const update = (document: object): Promise<Ran> =>
    sigma(repository.home, ['task', 'update', '-', '--json'], { input: JSON.stringify(document) });
  const two = { id: 'a', content: 'first', status: 'in_progress' };
  const wrong = await update({ todos: [two, { ...two, id: 'b' }] });
  expect([wrong.code, wrong.json.error.code]).toEqual([2, 'TASK_UPDATE_INVALID']);
  const handed = {
    ...{ id: 'b', content: 'answer it', status: 'delegated', delegated_to: 'worker' },
    acceptance_criteria: ['It is answered'],
  };
  const grounding = [{ id: 'b', strategy: 'pgc_first', query_hints: [question] }];
  const { code, json } = await update({ todos: [two, handed], grounding });
  expect([code, json.list]).toEqual([0, 'operator']);
  const { task_id } = json.todos[1];
  const shown = await run('task', 'show', task_id, '--wait', '--json');
  expect(shown.json.task).toMatchObject({ to: 'worker', grounding: { query_hints: [question] } });
  const now = await update({ todos: [] });
  expect(now.json.todos.map((each: { status: string }) => each.status)).toEqual([
    ...['in_progress', 'completed'],
  ]);
  expect(now.json.todos[1].grounding_evidence.citations).toHaveLength(1);
});

test('the schemas are printed without a broker', async () => {
  const home = path.join(repository.home, 'empty');
  for (const args of [['delegate'], ['task', 'update']]) {
    const ran = await sigma(home, [...args, '--schema']);
    expect([ran.code, ran.json.type], args.join(' ')).toEqual([0, 'object']);
  }
});
