import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Client as McpClient } from '@modelcontextprotocol/client';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { stdioClient } from '../support/mcp.js';
import { ModelServer, type ModelRule } from '../support/model-server.js';
import { chainRepository } from '../support/repository.js';
import { sigma, sigmaProcess, type Ran } from '../support/sigma.js';
import { Stack } from '../support/stack.js';

const question = 'How does nic_setup_rx_ring allocate its ring?';
const intent = {
  intent: 'mechanism',
  entities: ['nic_setup_rx_ring'],
  scope: 'drivers/nic',
  refined_query: 'ring alloc_nowhere',
};
const readRule: ModelRule = {
  system: '^Somebody asks about a code base',
  answer: { text: JSON.stringify(intent) },
};
const tellRule: ModelRule = {
  system: '^Answer the question about a code base',
  answer: {
    ...{ each: String.raw`^\[(\d+)\] O\d (\S+):(\d+)-\d+$`, text: 'It stands in $2:$3 [$1].' },
    after: 'It is `nic_invented` [9999].',
  },
};
const hangs: ModelRule = { answer: { hangs: 'before' } };

let stage: ReturnType<typeof chainRepository>;
let server: ModelServer;
let mcp: McpClient;
let stack: Stack;

beforeAll(async () => {
  stage = chainRepository();
  server = await ModelServer.open();
  const { home } = stage;
  mkdirSync(home, { recursive: true });
  const model = { url: server.url, model: 'small' };
  writeFileSync(path.join(home, 'config.json'), JSON.stringify({ model }));
  stack = await Stack.open(home, ['manager', 'executor'], stage);
  mcp = await stdioClient(home);
}, 90_000);

beforeEach(() => server.play([readRule, tellRule]));
afterEach(() => vi.unstubAllEnvs());

afterAll(async () => {
  await mcp.close();
  await stack[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  stage.remove();
});

const run = (...args: string[]): Promise<Ran> => sigma(stage.home, args);
const local = (): string[] => ['--repo', stage.root];
const verdicts = async (json: object): Promise<string[]> => {
  const input = JSON.stringify(json);
  const { json: verified } = await sigma(stage.home, ['verify', '-', ...local(), '--json'], {
    input,
  });
  return verified.results.map(({ status }: { status: string }) => status);
};

const symbolsIn = ({ evidence }: { evidence: { symbol: string }[] }): string[] =>
  evidence.map(({ symbol }) => symbol);

const ways: [way: string, args: () => string[]][] = [
  ['ask over the bus', () => ['ask', question]],
  ['ask of an index', () => ['ask', question, ...local()]],
  ['ask of one shard of an index', () => ['ask', question, '--agent', 'drivers', ...local()]],
  ['query of one agent', () => ['query', 'drivers', question]],
  ['lattice query over the bus', () => ['lattice', 'query', question]],
  ['lattice query of an index', () => ['lattice', 'query', question, ...local()]],
];

describe.each(ways)('%s', (_, args) => {
  test('is told by the model, once, with what it invents dropped and counted', async () => {
    const { json, code } = await run(...args(), '--json');
    expect(code).toBe(0);
    expect(json.prose).toMatch(/^It stands in \S+:\d+ \[1\]\./);
    expect(json.prose).not.toContain('nic_invented');
    expect(json.query_intent).toEqual(intent);
    expect(json.metadata).toMatchObject({
      engine: 'extractive+model:small',
      model: {
        ...{ name: 'small', dropped: 1, tokens: 84 },
        texts: ['read-question.v1', 'answer-question.v1', 'cite-sources.v1', 'fence.v1'],
      },
    });
    // Whoever is asked on the way tells nothing: one reading, one answer.
    expect(await server.requests()).toHaveLength(2);
    const told = await verdicts(json);
    expect(told.length).toBeGreaterThan(0);
    expect(new Set(told)).toEqual(new Set(['valid']));
  });

  test('says in its text what was dropped', async () => {
    const { stdout } = await run(...args());
    expect(stdout).toContain('It stands in');
    expect(stdout).toContain('84 tokens · 1 sentence without evidence dropped');
  });

  test('is extractive where that is asked for, and the model never hears of it', async () => {
    const { json, code } = await run(...args(), '--engine', 'extractive', '--json');
    expect(code).toBe(0);
    expect([json.prose, json.metadata.model]).toEqual(['', null]);
    expect(symbolsIn(json)).toContain('nic_setup_rx_ring');
    expect(JSON.stringify(json)).not.toMatch(/"dropped"|"texts"|model:small/);
    expect(await server.requests()).toEqual([]);
  });

  test('is answered within its deadline when the model hangs', async () => {
    await server.play([hangs]);
    const { json, code } = await run(...args(), '--deadline', '4s', '--json');
    expect([code, JSON.stringify(json)]).toEqual([0, expect.stringContaining('MODEL_NO_TIME')]);
    expect(json.prose).toBe('');
    expect(symbolsIn(json)).toContain('nic_setup_rx_ring');
    expect(await verdicts(json)).not.toEqual([]);
  });
});

describe('tools of MCP', () => {
  const tools: [string, object][] = [
    ['ask', { question }],
    ['query_agent', { agent: 'drivers', question }],
    ['query_lattice', { question }],
  ];
  const call = async (name: string, args: object): Promise<any> =>
    mcp.callTool({ name, arguments: args as Record<string, unknown> });

  test.each(tools)('%s tells what the model says, or does not ask it', async (name, args) => {
    const { structuredContent: told, content } = await call(name, args);
    expect(told.prose).toMatch(/^It stands in \S+:\d+ \[1\]\./);
    expect(told.metadata).toMatchObject({
      engine: 'extractive+model:small',
      model: { dropped: 1, tokens: 84 },
    });
    expect(content[0].text).toContain('1 sentence without evidence dropped');
    await server.play([hangs]);
    const { structuredContent: bare } = await call(name, { ...args, engine: 'extractive' });
    expect(symbolsIn(bare)).toContain('nic_setup_rx_ring');
    expect([bare.prose, bare.metadata.model]).toEqual(['', null]);
    expect(await server.requests()).toEqual([]);
  });
});

test('a task that wants evidence pays for no prose', async () => {
  const task = {
    ...{ task: question, runner: 'answer' },
    grounding: { strategy: 'pgc_first', overlay_hints: ['O1'], evidence_required: true },
  };
  const input = JSON.stringify(task);
  const { json } = await sigma(stage.home, ['delegate', '-', '--wait', '--json'], { input });
  expect(json.state).toBe('completed');
  expect(await server.requests()).toEqual([]);
});

test('where no model is configured answers say nothing of one, and its client is not even loaded', async () => {
  // What loads the package, which is a file of its own in the bundle, fails.
  const folder = path.dirname(stage.root);
  const hooks = `export const resolve = (name, context, next) => {
    if (/^\\.\\/openai-/.test(name)) throw new Error('openai was loaded');
    return next(name, context);
  };`;
  writeFileSync(path.join(folder, 'hooks.mjs'), hooks);
  const register = `import { register } from 'node:module'; register('./hooks.mjs', import.meta.url);`;
  writeFileSync(path.join(folder, 'register.mjs'), register);
  vi.stubEnv('NODE_OPTIONS', `--import ${path.join(folder, 'register.mjs')}`);
  const ask = ['ask', question, ...local(), '--json'];
  const asked = await sigmaProcess(stage.home, ask);
  expect(asked.json.overlay_warnings.join()).toContain('openai was loaded');
  expect(symbolsIn(asked.json)).toContain('nic_setup_rx_ring');
  const bare = chainRepository();
  try {
    await sigma(bare.home, ['index', bare.root, '--shards', bare.plan]);
    for (const args of [ask, ['lattice', 'query', question, ...local(), '--json']]) {
      const { json, code } = await sigmaProcess(
        bare.home,
        args.map((each) => (each === stage.root ? bare.root : each)),
      );
      expect(code).toBe(0);
      expect(JSON.stringify(json)).not.toMatch(/"dropped"|"texts"|openai|MODEL_/);
    }
  } finally {
    bare.remove();
  }
}, 60_000);

test('sigma doctor says which model is there, and whether it answers', async () => {
  await server.play([{ system: '^Answer with the word ok', answer: { text: 'ok' } }]);
  const check = async (): Promise<object> => {
    const { json } = await run('doctor', '--json');
    return json.checks.find(({ name }: { name: string }) => name === 'language model');
  };
  expect(await check()).toMatchObject({ state: 'ok', detail: `small at ${server.url} answers` });
  await server.play([{ answer: { status: 401 } }]);
  expect(await check()).toMatchObject({ state: 'broken' });
});
