import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { traceOf } from '../../../src/base/trace-context.js';
import { looks, plain, unwanted, type Operation } from '../../../src/operations/operation.js';
import type { Bus } from '../../../services/bus.js';
import { HandedOverCalls } from '../../../services/mcp/calls.js';
import { addTools } from '../../../services/mcp/tool.js';
import { asking, taskIn, type Ask } from '../../support/mcp-tasks.js';

const url = 'http://127.0.0.1/mcp';
const trace = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const noLog = { info() {}, warn() {}, error() {}, debug() {} };
const bus = { running: (work: () => Promise<unknown>) => work() } as unknown as Bus;

let calls: HandedOverCalls;
let work: Operation<z.ZodObject>['run'];
let ask: Ask;

beforeEach(() => {
  calls = new HandedOverCalls({ atOnceMs: 5, callsMax: 2 });
  ask = asking(fetched, url, { meta: { traceparent: trace } });
});
afterEach(() => calls[Symbol.dispose]());

function fetched(request: Request): Promise<Response> {
  const tool: Operation<z.ZodObject> = {
    ...{ name: 'work', title: 'Work', description: 'Works.', doing: 'working', isLong: true },
    ...{ input: z.strictObject({}), output: z.object({}), annotations: looks },
    run: (input, call) => work(input, call),
  };
  const handler = createMcpHandler(
    ({ era }) => {
      const server = new McpServer({ name: 'test', version: '1' });
      addTools(server, { bus, log: noLog, calls, tools: [tool], isStructured: true });
      if (era === 'modern') calls.serveOn(server);
      return server;
    },
    { legacy: 'reject' },
  );
  return handler.fetch(request);
}

const begin = (by = ask): Promise<any> => by('tools/call', { name: 'work', arguments: {} });

test('what takes long is fetched later, with what it does meanwhile, and in its trace', async () => {
  let go = (): void => undefined;
  work = async (_, { tell }) => {
    tell('half of it');
    await new Promise<void>((resolve) => (go = resolve));
    return plain({}, traceOf());
  };
  const { resultType, taskId, status } = await begin();
  expect([resultType, status]).toEqual(['task', 'working']);
  const meanwhile = await ask('tasks/get', { taskId });
  expect(meanwhile).toMatchObject({ status: 'working', statusMessage: 'half of it' });
  expect(meanwhile).not.toHaveProperty('result');
  go();
  const { result, resultType: type } = await taskIn(ask, taskId, 'completed');
  expect([result.content[0].text, type]).toEqual([trace, 'complete']);
});

test('what is done at once, and clients that cannot come back, get the answer itself', async () => {
  work = () => Promise.resolve(plain({}, 'done'));
  expect((await begin()).content[0].text).toBe('done');
  work = async () => wait(50).then(() => plain({}, 'done'));
  const bare = asking(fetched, url, { capabilities: {} });
  expect((await begin(bare)).content[0].text).toBe('done');
  const { taskId } = await begin();
  const required = { 'io.modelcontextprotocol/tasks': {} };
  for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel'])
    expect(await bare(method, { taskId })).toMatchObject({
      code: -32_021,
      data: { requiredCapabilities: { extensions: required } },
    });
  expect(await ask('tasks/get', { taskId: 'unknown' })).toMatchObject({ code: -32_602 });
});

test('a person is asked while it goes on; answers to nothing are ignored', async () => {
  const decision = {
    ...{ key: 'sure', message: 'Sure?', command: 'sigma gate' },
    form: z.object({ sure: z.boolean() }),
  };
  work = async (_, call) => {
    const said = [await call.ask?.(decision, call.signal), await call.ask?.(decision, call.signal)];
    return plain({}, JSON.stringify(said.map((each) => each ?? null)));
  };
  const { taskId } = await begin();
  const keys: string[] = [];
  for (const answer of [{ action: 'accept', content: { sure: true } }, { action: 'decline' }]) {
    const { inputRequests } = await taskIn(ask, taskId, 'input_required');
    const [key = ''] = Object.keys(inputRequests);
    keys.push(key);
    expect(inputRequests[key]).toMatchObject({
      method: 'elicitation/create',
      params: { message: 'Sure?', requestedSchema: { properties: { sure: { type: 'boolean' } } } },
    });
    const inputResponses = { nothing: { action: 'accept' }, [key]: answer };
    await ask('tasks/update', { taskId, inputResponses });
  }
  expect(new Set(keys).size).toBe(2);
  const { result } = await taskIn(ask, taskId, 'completed');
  expect(result.content[0].text).toBe('[{"sure":true},null]');
});

test('what is cancelled sees that it is unwanted, and stays cancelled', async () => {
  let reason: unknown;
  work = async (_, { signal }) => {
    await wait(60_000, undefined, { signal }).catch(() => (reason = signal.reason));
    return plain({}, 'late');
  };
  const { taskId } = await begin();
  expect(await ask('tasks/cancel', { taskId })).toMatchObject({ resultType: 'complete' });
  const task = await taskIn(ask, taskId, 'cancelled');
  expect([reason, task.result]).toEqual([unwanted, undefined]);
});

test('one call too many is answered as any other', async () => {
  let isOver = false;
  work = async () => {
    while (!isOver) await wait(10);
    return plain({}, 'done');
  };
  for (let at = 0; at < 2; at += 1) expect((await begin()).resultType).toBe('task');
  const last = begin();
  isOver = true;
  expect((await last).content[0].text).toBe('done');
});
