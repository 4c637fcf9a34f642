import {
  AgentCard,
  Role,
  TaskState,
  verifyAgentCardSignature,
  type Message,
  type StreamResponse,
  type Task,
} from '@a2a-js/sdk';
import {
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  type Client,
} from '@a2a-js/sdk/client';
import { readFileSync, statSync } from 'node:fs';
import { request } from 'node:http';
import path from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { systemClock } from '../../src/base/clock.js';
import { Client as BusClient } from '../../src/client/client.js';
import { plainRecord } from '../../src/client/registration.js';
import { loadConfig } from '../../src/config/config.js';
import { ZeromqLink } from '../../src/transport/zeromq.js';
import { eventually } from '../support/eventually.js';
import { chainAliases, chainRepository } from '../support/repository.js';
import { startSigma, type Running } from '../support/sigma.js';
import { Stack } from '../support/stack.js';
import { startWorker } from '../support/worker.js';

let repository: ReturnType<typeof chainRepository>;
let stack: Stack;
let server: Running;
let worker: BusClient;
let origin: string;
let token: string;
/** Of the work that its task holds back. */
const letGo = new Map<string, () => void>();

beforeAll(async () => {
  repository = chainRepository();
  const { home, root, plan } = repository;
  stack = await Stack.open(home, ['manager'], { root, plan });
  worker = await startWorker(home, 'hand', async ({ id, task, clarifications }) => {
    if (task.startsWith('hold')) await new Promise<void>((resolve) => letGo.set(id, resolve));
    const [said] = clarifications;
    if (task.startsWith('ask') && said === undefined)
      return { status: 'needs_clarification', clarification_request: 'which one?' };
    return { result: `did ${task}${said === undefined ? '' : `: ${said.answer}`}` };
  });
  server = startSigma(home, ['a2a', '--port', '0']);
  await eventually(() => expect(server.output()).toMatch(/^token in /m));
  origin = /^ready (\S+)$/m.exec(server.output())?.[1] ?? '';
  const tokenFile = /^token in (.+)$/m.exec(server.output())?.[1] ?? '';
  expect(statSync(tokenFile).mode & 0o777).toBe(0o600);
  token = readFileSync(tokenFile, 'utf8').trim();
});

afterAll(async () => {
  for (const go of letGo.values()) go();
  server.process.kill('SIGTERM');
  await server.ended;
  await worker.close();
  await stack[Symbol.asyncDispose]();
  repository.remove();
});

const withToken: typeof fetch = (url, init = {}) => {
  const headers = new Headers(init.headers);
  headers.set('authorization', `Bearer ${token}`);
  return fetch(url, { ...init, headers });
};

/** The official client of one agent. */
function clientOf(agent?: string): Promise<Client> {
  const factory = new ClientFactory({
    transports: [new JsonRpcTransportFactory({ fetchImpl: withToken })],
    cardResolver: new DefaultAgentCardResolver({ fetchImpl: withToken }),
  });
  return factory.createFromUrl(origin, agent && `/agents/${agent}/.well-known/agent-card.json`);
}

let messages = 0;
function saying(text: string, its: Partial<Message> = {}, returnImmediately = false) {
  messages += 1;
  const part = { metadata: undefined, filename: '', mediaType: '' };
  return {
    ...{ tenant: '', metadata: undefined },
    message: {
      ...{ messageId: `m${messages}`, contextId: '', taskId: '', role: Role.ROLE_USER },
      parts: [{ content: { $case: 'text' as const, value: text }, ...part }],
      ...{ metadata: undefined, extensions: [], referenceTaskIds: [] },
      ...its,
    },
    configuration: {
      ...{ acceptedOutputModes: [], taskPushNotificationConfig: undefined, returnImmediately },
    },
  };
}

const wordsOf = ({ parts }: { parts: Message['parts'] }): string =>
  parts.map(({ content }) => (content?.$case === 'text' ? content.value : '')).join('');
const dataOf = ({ parts }: { parts: Message['parts'] }): any =>
  parts.map(({ content }) => (content?.$case === 'data' ? content.value : undefined)).at(-1);
const nothing = { tenant: '', metadata: undefined };

test('agents have signed cards, which the registry lists, filters and gets', async () => {
  const { keys } = (await (await fetch(`${origin}/.well-known/jwks.json`)).json()) as any;
  const verify = verifyAgentCardSignature((kid) =>
    Promise.resolve(keys.find((each: { kid: string }) => each.kid === kid)),
  );
  const read = async (at: string): Promise<any> => (await withToken(origin + at)).json();
  const all = await read('/agents');
  expect(all).toMatchObject({ total: all.agents.length, next: null });
  const shards = await read('/agents?role=pgc');
  const names = shards.agents.map(({ name }: AgentCard) => name);
  expect(names.sort()).toEqual(chainAliases);
  expect((await read('/agents?role=pgc&offset=1')).agents).toHaveLength(chainAliases.length - 1);
  expect((await read('/agents?colour=red')).error.code).toBe('TOOL_INPUT');
  const [itself] = (await read('/agents?role=a2a')).agents;
  expect(itself).toMatchObject({ description: 'Takes no messages.' });
  const front = AgentCard.fromJSON(await (await fetch(`${origin}${cardPath}`)).json());
  const own = AgentCard.fromJSON(await read('/agents/mm'));
  for (const card of [
    front,
    own,
    ...shards.agents.map((each: unknown) => AgentCard.fromJSON(each)),
  ])
    await verify(card);
  // The SDK prints what did not verify.
  using _quiet = vi.spyOn(console, 'debug').mockReturnValue();
  await expect(verify({ ...own, description: 'another' })).rejects.toThrow('No valid signatures');
  expect(own.capabilities?.extensions[0]?.params).toMatchObject({ role: 'pgc', scope: ['mm'] });
  expect((await read('/agents/nobody')).error.code).toBe('UNKNOWN_AGENT');
});

const cardPath = '/.well-known/agent-card.json';

test('a card that has not changed is not sent again', async () => {
  const first = await withToken(`${origin}/agents/mm${cardPath}`);
  const headers = { 'if-none-match': first.headers.get('etag') ?? '' };
  expect((await withToken(`${origin}/agents/mm`, { headers })).status).toBe(304);
});

test('a message to an agent of code is a question, answered in Markdown and as data', async () => {
  const client = await clientOf('drivers');
  const asked = saying('how is the receive ring allocated?', { contextId: 'talk' });
  const answer = (await client.sendMessage(asked)) as Message;
  expect(answer).toMatchObject({ role: Role.ROLE_AGENT, contextId: 'talk', taskId: '' });
  expect(wordsOf(answer)).toContain('dma_alloc_ring');
  expect(dataOf(answer).evidence.length).toBeGreaterThan(0);
  const streamed: (string | undefined)[] = [];
  for await (const { payload } of client.sendMessageStream(asked)) streamed.push(payload?.$case);
  expect(streamed).toEqual(['message']);
  await expect(client.sendMessage(saying('  '))).rejects.toThrow(/question/);
});

test('a message to an agent with a mailbox is mail', async () => {
  await using reader = BusClient.connect({
    link: new ZeromqLink(loadConfig({ SIGMA_HOME: repository.home }).bus),
    identity: { agent: 'reader', role: 'tester', isEphemeral: false },
    clock: systemClock,
    random: Math.random,
  });
  await reader.ready({ withinMs: 5_000 });
  await reader.register(plainRecord('reader', []));
  const reply = (await (await clientOf('reader')).sendMessage(saying('look here'))) as Message;
  expect(wordsOf(reply)).toContain('Stored for reader');
  const { view, body } = await reader.take({ deadlineMs: 2_000 });
  reader.settle([view.seq]);
  expect(Buffer.from(body).toString()).toBe('look here');
});

test('a message to the manager is a task, sent again the same one; its result is an artifact', async () => {
  const client = await clientOf();
  const sent = saying('tally the words', { contextId: 'one' });
  const task = (await client.sendMessage(sent)) as Task;
  expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
  expect(wordsOf(task.artifacts[0]!)).toBe('did tally the words');
  expect(dataOf(task.artifacts[0]!)).toMatchObject({ state: 'completed', citations: [] });
  expect((await client.sendMessage(sent)) as Task).toMatchObject({ id: task.id });
  expect(await client.getTask({ tenant: '', id: task.id, historyLength: 0 })).toMatchObject({
    ...{ id: task.id, contextId: task.contextId, history: [] },
  });
  await expect(client.cancelTask({ ...nothing, id: task.id })).rejects.toThrow(/completed/);
});

test('a stream shows the task, its states and its result; another one joins it under way', async () => {
  const client = await clientOf('hand');
  const events: StreamResponse['payload'][] = [];
  const joined: StreamResponse['payload'][] = [];
  let joining: Promise<void> | undefined;
  for await (const { payload } of client.sendMessageStream(saying('hold it'))) {
    events.push(payload);
    if (payload?.$case !== 'task') continue;
    const { id } = payload.value;
    joining = (async () => {
      for await (const each of client.resubscribeTask({ tenant: '', id })) {
        joined.push(each.payload);
        await eventually(() => expect(letGo.has(id)).toBe(true));
        letGo.get(id)?.();
      }
    })();
  }
  await joining;
  const last = events.at(-1);
  expect(events.map((each) => each?.$case).slice(-2)).toEqual(['artifactUpdate', 'statusUpdate']);
  expect(last?.$case === 'statusUpdate' && last.value.status?.state).toBe(
    TaskState.TASK_STATE_COMPLETED,
  );
  expect(joined[0]?.$case).toBe('task');
  expect(joined.at(-1)).toEqual(last);
});

test('a task that asks waits for the next message; one under way is cancelled', async () => {
  const client = await clientOf();
  const asking = (await client.sendMessage(saying('ask me', { contextId: 'two' }))) as Task;
  expect(asking.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
  expect(wordsOf(asking.status!.message!)).toContain('which one?');
  const done = (await client.sendMessage(saying('the first', { taskId: asking.id }))) as Task;
  expect(wordsOf(done.artifacts[0]!)).toBe('did ask me: the first');
  expect(done.history.map(wordsOf)).toEqual(['ask me', 'which one?', 'the first']);
  const held = (await client.sendMessage(saying('hold on', { contextId: 'two' }, true))) as Task;
  const ended = await client.cancelTask({ ...nothing, id: held.id });
  expect(ended.status?.state).toBe(TaskState.TASK_STATE_CANCELED);
  const listed = await client.listTasks({
    ...{ tenant: '', contextId: 'two', status: 0, pageSize: 1, pageToken: '' },
    ...{ historyLength: 0, statusTimestampAfter: undefined },
  });
  expect(listed).toMatchObject({ totalSize: 2, pageSize: 1, tasks: [{ id: held.id }] });
});

test('without the token, or under a foreign name, nothing but the front card and the key is read', async () => {
  const ask = (at: string, headers: Record<string, string>, method = 'POST'): Promise<number> =>
    new Promise((resolve, reject) => {
      const asked = request(new URL(at, origin), { method, headers }, (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      });
      asked.on('error', reject);
      asked.end(method === 'POST' ? '{}' : undefined);
    });
  const authorization = `Bearer ${token}`;
  expect(await ask('/agents/manager', {})).toBe(401);
  expect(await ask('/agents/manager', { authorization: `Bearer ${token.slice(1)}` })).toBe(401);
  expect(await ask('/agents', {}, 'GET')).toBe(401);
  expect(await ask('/agents', { authorization }, 'GET')).toBe(200);
  expect(await ask(cardPath, {}, 'GET')).toBe(200);
  expect(await ask(cardPath, { host: 'evil.example' }, 'GET')).toBe(403);
  expect(await ask('/agents', { authorization, origin: 'https://evil.example' }, 'GET')).toBe(403);
  const client = await clientOf();
  token = token.slice(1);
  await expect(client.sendMessage(saying('a wrong token'))).rejects.toThrow(/401/);
  token = authorization.slice('Bearer '.length);
  expect(server.output()).not.toContain(token);
  const key = path.join(repository.home, 'bus', 'keys', 'a2a.jwk');
  expect(statSync(key).mode & 0o777).toBe(0o600);
});
