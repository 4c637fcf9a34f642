import type { Client as McpClient } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Client } from '../../src/client/client.js';
import { eventually } from '../support/eventually.js';
import { failureOf, stdioClient } from '../support/mcp.js';
import { chainRepository } from '../support/repository.js';
import { Stack } from '../support/stack.js';
import { citationFor, startWorker } from '../support/worker.js';

const question = 'Who calls nic_log?';
let repository: ReturnType<typeof chainRepository>;
let stack: Stack;
let worker: Client;
let mcp: McpClient;
const held: (() => void)[] = [];

beforeAll(async () => {
  repository = chainRepository();
  const { home, root, plan } = repository;
  stack = await Stack.open(home, ['manager'], { root, plan });
  worker = await startWorker(home, 'worker', async ({ task }, client) => {
    if (task === 'slow') await new Promise<void>((resolve) => held.push(resolve));
    const citation = await citationFor(client, question);
    return {
      result: task === 'giant' ? 'x"'.repeat(30_000) : 'It is allocated here',
      grounding_evidence: {
        ...{ queries_executed: [question], overlays_consulted: ['O1'], overlay_warnings: [] },
        ...{ citations: Array(10).fill(citation), grounding_confidence: 'high' },
      },
    };
  });
  mcp = await stdioClient(home, { era: 'modern', cwd: root, args: ['--as', 'model'] });
  await mcp.listTools();
});

afterAll(async () => {
  for (const release of held) release();
  await mcp.close();
  await worker.close();
  await stack[Symbol.asyncDispose]();
  repository.remove();
});

const call = async (name: string, args: object): Promise<any> => {
  const result = await mcp.callTool({ name, arguments: args as Record<string, unknown> });
  if (result.isError === true) throw new Error(JSON.stringify(result.content));
  return result;
};

test('a task is delegated, waited for with progress, and answered with what was verified', async () => {
  const told: string[] = [];
  const { structuredContent: done, content } = (await mcp.callTool(
    {
      name: 'delegate_task',
      arguments: {
        task: 'Find it',
        acceptance_criteria: [{ text: 'is cited', check: { citations_min: 1 } }],
        grounding: { strategy: 'pgc_first', query_hints: [question] },
      },
    },
    { onprogress: ({ message }) => told.push(message ?? '') },
  )) as any;
  expect(done).toMatchObject({ state: 'completed', is_over: true, verdict: 'warned' });
  expect(done.criteria).toMatchObject([{ verdict: 'met' }]);
  expect(done.citations[0]).toMatchObject({ status: 'valid', similarity: expect.closeTo(0.98, 1) });
  expect(content[0].text).toMatch(/\[1\] valid \S+\.[ch]:\d+/);
  expect(told).toContainEqual(expect.stringMatching(/^task-\w+: /));
});

test('an answer of a worker is bounded, and says where the rest is', async () => {
  const { structuredContent, content } = await call('delegate_task', {
    ...{ task: 'giant', id: 'giant', grounding: { strategy: 'pgc_cite' }, max_tokens: 800 },
  });
  expect(content[0].text.length + JSON.stringify(structuredContent).length).toBeLessThan(3_201);
  expect(structuredContent).toMatchObject({ truncated: true, total: 10 });
  expect(structuredContent.rest).toContain('task_status');
});

test('whoever stops waiting, or waits too short, does not end the task', async () => {
  const slow = { task: 'slow', id: 'slow', grounding: { strategy: 'none' } };
  const early = await call('delegate_task', { ...slow, timeout_seconds: 1.5 });
  expect(early.structuredContent).toMatchObject({ id: 'slow', is_over: false });
  expect(early.content[0].text).toContain('task_status');
  const abort = new AbortController();
  const waiting = mcp
    .callTool({ name: 'delegate_task', arguments: slow }, { signal: abort.signal })
    .then(
      () => 'answered',
      () => 'cancelled',
    );
  await eventually(() => expect(held).toHaveLength(1));
  abort.abort();
  expect(await waiting).toBe('cancelled');
  const seen = await call('task_status', { id: 'slow' });
  expect(seen.structuredContent.task).toMatchObject({ state: 'running', assigned_to: 'worker' });
  held.shift()?.();
  const over = await call('task_status', { id: 'slow', wait: true });
  expect(over.structuredContent.task).toMatchObject({ state: 'completed' });
});

test('tasks of this agent are listed, and those of others only when they are asked for', async () => {
  const mine = await call('task_status', {});
  const ids = mine.structuredContent.tasks.map(({ id }: { id: string }) => id);
  expect(ids).toEqual(expect.arrayContaining(['giant', 'slow']));
  const failed = await call('task_status', { states: ['failed'], everybody: true });
  expect(failed.structuredContent.tasks).toEqual([]);
});

test('a list keeps what is not named, and completes what was delegated', async () => {
  const entry = { id: 'find', content: 'Find it', context: 'drivers', status: 'pending' };
  await call('sigma_task_update', { todos: [entry] });
  const handed = {
    ...{ id: 'find', status: 'delegated', delegated_to: 'worker' },
    acceptance_criteria: ['It is found'],
  };
  const grounding = [{ id: 'find', strategy: 'pgc_first', query_hints: [question] }];
  const { structuredContent } = await call('sigma_task_update', { todos: [handed], grounding });
  const [todo] = structuredContent.todos;
  expect(todo).toMatchObject({ status: 'delegated', content: 'Find it', context: 'drivers' });
  const over = await call('task_status', { id: todo.task_id, wait: true });
  expect(over.structuredContent.task).toMatchObject({ state: 'completed' });
  const now = await call('sigma_task_update', { todos: [] });
  expect(now.structuredContent).toMatchObject({ list: 'model', warnings: [] });
  expect(now.structuredContent.todos[0]).toMatchObject({
    status: 'completed',
    result_summary: expect.stringMatching(/It is allocated here$/),
  });
  const two = [entry, { ...entry, id: 'b' }].map((each) => ({ ...each, status: 'in_progress' }));
  const wrong = await mcp.callTool({ name: 'sigma_task_update', arguments: { todos: two } });
  expect(failureOf(wrong).code).toBe('TASK_UPDATE_INVALID');
});
