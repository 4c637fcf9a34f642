import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { executorLayout } from '../../src/store/layouts.js';
import { workPrefix } from '../../src/store/keys.js';
import { eventually } from '../support/eventually.js';
import { ModelServer, type ModelRequest, type ModelRule } from '../support/model-server.js';
import { chainRepository } from '../support/repository.js';
import { sigma, type Ran, type Running } from '../support/sigma.js';
import { Stack } from '../support/stack.js';
import { openTestStore } from '../support/store.js';

const key = 'key-that-nobody-may-see-4711';
let stage: ReturnType<typeof chainRepository>;
let server: ModelServer;
let executor: Running;
let stack: Stack;
/** All that was answered to whoever delegates. */
const told: string[] = [];

/** Of the sources that it was given, by their numbers. */
const each = String.raw`^\[(\d+)\] O\d (\S+):(\d+)-\d+$`;
const honest = { each, text: 'It stands in $2:$3 [$1].' };
const busy = { 'retry-after-ms': '1' };

/** By the first word of a task. */
const script: ModelRule[] = [
  // Nobody told it of any source.
  ...[
    { system: 'Every sentence ends', answer: { status: 500, headers: busy } },
    { answer: { text: 'So it is.' } },
  ].map((rule) => ({ match: String.raw`^Task:\n(?![\s\S]*^\[\d+\] O\d )`, ...rule })),
  ruleOf('Honestly', honest),
  ruleOf('Invent', { text: 'It is `nic_invented` of nowhere.c:1 [9999]. It sings.' }),
  ruleOf('Mix', { ...honest, after: 'It is `nic_invented` [9999].' }),
  { ...ruleOf('Patiently', { status: 429, headers: busy }), times: 1 },
  { ...ruleOf('Patiently', { status: 500, headers: busy }), times: 1 },
  ruleOf('Patiently', honest),
  ruleOf('Broken', { status: 503, headers: busy }),
  ruleOf('Forbidden', { status: 401 }),
  ...['damaged', 'whole'].map((id) => ({
    ...{ match: `^Once .* for ${id}\\.`, times: 1, answer: { hangs: 'before' as const } },
  })),
  ruleOf('Once', honest),
  { answer: { hangs: 'before' } },
];

function ruleOf(word: string, answer: ModelRule['answer']): ModelRule {
  return { match: `^Task:\n${word}\\b`, answer };
}

/** What was asked of the task that begins with this word, in order. */
async function askedOf(word: string): Promise<ModelRequest[]> {
  return (await server.requests()).filter(({ body }) => body.messages[1].content.includes(word));
}

beforeAll(async () => {
  stage = chainRepository();
  server = await ModelServer.open(script);
  const { home } = stage;
  mkdirSync(home, { recursive: true });
  const model = { url: server.url, model: 'small', keyEnv: 'SIGMA_MODEL_KEY' };
  writeFileSync(path.join(home, 'config.json'), JSON.stringify({ model }));
  process.env.SIGMA_MODEL_KEY = key;
  stack = await Stack.open(home, ['manager'], stage, { log: 'debug' });
  // One test kills it.
  executor = await stack.startProcess(['agent', 'executor']);
}, 90_000);

afterAll(async () => {
  delete process.env.SIGMA_MODEL_KEY;
  await stack[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  stage.remove();
});

async function run(args: string[], input?: string): Promise<Ran> {
  const ran = await sigma(stage.home, args, input === undefined ? {} : { input });
  told.push(ran.stdout, ran.stderr);
  return ran;
}

/** The task as its manager shows it when nothing happens to it any more. */
async function lived(word: string, more: { id?: string; limits?: object } = {}): Promise<any> {
  const document = {
    ...{ id: word.toLowerCase(), runner: 'model' },
    task: `${word} say how nic_setup_rx_ring allocates, for ${more.id ?? 'us'}.`,
    grounding: { strategy: 'pgc_first', overlay_hints: ['O1'], evidence_required: true },
    limits: { attempts_max: 1 },
    ...more,
  };
  const { json } = await run(['delegate', '-', '--wait', '--json'], JSON.stringify(document));
  return json;
}

/** Tasks whose records it could not read. */
function damagedOf(its: Running): (string | undefined)[] {
  const lines = its.output().split('\n');
  const told = lines.filter((each) => each.includes('RECORD_DAMAGED'));
  return told.map((each) => /work\/(\w+)/.exec(each)?.[1]).sort();
}

/** Two that were under way when the executor was killed; the rest of this file happens while the lease of one runs out. */
let underWay: Promise<any[]>;
let folder: string;

test('an executor that was killed over a damaged record comes back, and says which one it is', async () => {
  const limits = { attempts_max: 2 };
  underWay = Promise.all([
    lived('Once', { id: 'damaged', limits }),
    lived('Once', { id: 'whole', limits }),
  ]);
  await eventually(async () => expect(await askedOf('Once')).toHaveLength(2), 20_000);
  executor.process.kill('SIGKILL');
  await executor.ended;
  folder = path.join(stage.home, 'executor/executor/store');
  {
    await using store = await openTestStore(folder, executorLayout);
    for await (const [its, value] of store.entries({ prefix: `${workPrefix}damaged/` }))
      await store.commit([{ type: 'put', key: its, value: value.subarray(0, value.length >> 1) }]);
    await store.commit([{ type: 'put', key: `${workPrefix}other/1`, value: Buffer.from('null') }]);
  }
  executor = await stack.start(['agent', 'executor']);
  await eventually(() => expect(damagedOf(executor)).toEqual(['damaged', 'other']), 20_000);
}, 90_000);

test('what the model says with the sources that it was given is done, every citation verified', async () => {
  const view = await lived('Honestly');
  expect(view).toMatchObject({ state: 'completed', assigned_to: 'executor' });
  const [review] = view.reviews;
  expect(review.citations.length).toBeGreaterThan(0);
  expect(new Set(review.citations.map((each: any) => each.status))).toEqual(new Set(['valid']));
  expect(view.response.result).toMatch(/^It stands in \S+:\d+ \[1\]\./);
  expect(view.response.usage.tokens).toBe(42);
  const [asked] = await askedOf('Honestly');
  expect(asked).toMatchObject({ body: { model: 'small' }, authorization: `Bearer ${key}` });
  expect(asked!.body.messages[1].content).toContain('nic_setup_rx_ring');
});

test('an answer with nothing but invented sources is refused with the reason', async () => {
  const view = await lived('Invent');
  expect(view).toMatchObject({ state: 'failed' });
  expect(view.response).toMatchObject({ status: 'failed', reason: 'MODEL_UNGROUNDED', result: '' });
  expect(view.response.errors[0].text).toContain('2 sentences dropped');
  expect(JSON.stringify(view)).not.toContain('nic_invented');
});

test('where some are invented, the sentences that cite them are dropped and counted', async () => {
  const view = await lived('Mix');
  expect(view.state).toBe('completed');
  expect(view.response.result).not.toContain('nic_invented');
  const { overlay_warnings } = view.response.grounding_evidence;
  expect(overlay_warnings).toContain('1 sentence without a valid source dropped.');
});

test('a server that is busy or has failed is asked again, three times in all', async () => {
  expect((await lived('Patiently')).state).toBe('completed');
  expect(await askedOf('Patiently')).toHaveLength(3);
  const broken = await lived('Broken');
  expect(broken).toMatchObject({ state: 'failed' });
  expect(broken.response.errors).toMatchObject([{ code: 'MODEL_UNAVAILABLE', retryable: true }]);
  expect(await askedOf('Broken')).toHaveLength(3);
});

test('one that refuses is not asked again', async () => {
  const view = await lived('Forbidden');
  expect(view.response).toMatchObject({ status: 'failed', reason: 'MODEL_REFUSED' });
  expect(view.response.errors[0].text).toContain('no: Bearer …');
  expect(await askedOf('Forbidden')).toHaveLength(1);
});

test('one that hangs ends when the time of the task is over', async () => {
  const view = await lived('Hang', { limits: { timeout_ms: 2_000, attempts_max: 1 } });
  expect(view.state).toBe('timed_out');
  await eventually(async () => expect(await askedOf('Hang')).toMatchObject([{ isGivenUp: true }]));
});

test('a damaged record costs an executor that task alone, and its manager has it done', async () => {
  const [damaged, whole] = await underWay;
  expect([damaged.state, whole.state]).toEqual(['completed', 'completed']);
  // The one was given out anew, the other gone on with.
  expect([damaged.attempt, whole.attempt]).toEqual([2, 1]);
  expect(damagedOf(executor)).toEqual(['damaged', 'other']);
  executor.process.kill('SIGTERM');
  await executor.ended;
  await using store = await openTestStore(folder, executorLayout);
  const left: string[] = [];
  for await (const its of store.keys({ prefix: workPrefix })) left.push(its);
  expect(left).toEqual([]);
}, 90_000);

/** The last: everything that was said and kept by then. */
test('the key of the model stands in no log, no store and no answer', async () => {
  const asked = await server.requests();
  expect(asked.every(({ authorization }) => authorization === `Bearer ${key}`)).toBe(true);
  const files = readdirSync(stage.home, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .map((each) => path.join(each.parentPath, each.name));
  expect(files.some((each) => each.includes('manager'))).toBe(true);
  expect(files.filter((each) => readFileSync(each).includes(key))).toEqual([]);
  expect(stack.outputs().filter((each) => each.includes(key))).toEqual([]);
  expect(told.filter((each) => each.includes(key))).toEqual([]);
});
