import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { executorLayout } from '../../src/store/layouts.js';
import { workPrefix } from '../../src/store/keys.js';
import { ChatServer, type ChatAsked, type ChatReply } from '../support/chat-server.js';
import { eventually } from '../support/eventually.js';
import { chainRepository } from '../support/repository.js';
import { sigma, startSigma, type Ran, type Running } from '../support/sigma.js';
import { openTestStore } from '../support/store.js';

const key = 'key-that-nobody-may-see-4711';
let stage: ReturnType<typeof chainRepository>;
let server: ChatServer;
let executor: Running;
const running: Running[] = [];
/** All that was answered to whoever delegates. */
const told: string[] = [];

/** By the first word of a task; whatever cites does so by the numbers that it was given. */
function reply({ user, system }: ChatAsked, before: number): ChatReply {
  const [, word = ''] = /^Task:\n(\w+)/.exec(user) ?? [];
  const all = [...user.matchAll(/^\[(\d+)\] O\d (\S+):(\d+)-\d+$/gm)];
  const honest = all.map(([, n, file, line]) => `It stands in ${file}:${line} [${n}].`).join(' ');
  // Nobody told it of any source.
  if (all.length === 0) return system.includes('Every sentence ends') ? 500 : 'So it is.';
  switch (word) {
    case 'Honestly':
      return honest;
    case 'Invent':
      return `It is \`nic_invented\` of nowhere.c:1 [${all.length + 90}]. It sings.`;
    case 'Mix':
      return `${honest} It is \`nic_invented\` [${all.length + 90}].`;
    case 'Patiently':
      return [429, 500][before] ?? honest;
    case 'Broken':
      return 503;
    case 'Forbidden':
      return 401;
    case 'Once':
      return before === 0 ? null : honest;
    default:
      return null;
  }
}

function start(...args: string[]): Running {
  const its = startSigma(stage.home, [...args, '--log', 'debug']);
  running.push(its);
  return its;
}

beforeAll(async () => {
  stage = chainRepository();
  server = await ChatServer.open(reply);
  const { root, home, plan } = stage;
  expect((await sigma(home, ['index', root, '--shards', plan])).code).toBe(0);
  const model = { url: server.url, model: 'small', keyEnv: 'SIGMA_MODEL_KEY' };
  writeFileSync(path.join(home, 'config.json'), JSON.stringify({ model }));
  process.env.SIGMA_MODEL_KEY = key;
  start('bus');
  start('agent', 'pgc', root);
  start('agent', 'manager');
  executor = start('agent', 'executor');
  await eventually(async () => {
    const { json } = await sigma(home, ['callers', 'nic_log', '--json']);
    expect(json.callers).toHaveLength(3);
    expect(executor.output()).toContain('"serving"');
  }, 50_000);
}, 90_000);

afterAll(async () => {
  delete process.env.SIGMA_MODEL_KEY;
  for (const each of running.reverse()) {
    each.process.kill('SIGTERM');
    await each.ended;
  }
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

test('what the model says with the sources that it was given is done, every citation verified', async () => {
  const view = await lived('Honestly');
  expect(view).toMatchObject({ state: 'completed', assigned_to: 'executor' });
  const [review] = view.reviews;
  expect(review.citations.length).toBeGreaterThan(0);
  expect(new Set(review.citations.map((each: any) => each.status))).toEqual(new Set(['valid']));
  expect(view.response.result).toMatch(/^It stands in \S+:\d+ \[1\]\./);
  expect(view.response.usage.tokens).toBe(42);
  const [asked] = server.with('Honestly');
  expect(asked).toMatchObject({ model: 'small', authorization: `Bearer ${key}` });
  expect(asked!.user).toContain('nic_setup_rx_ring');
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
  expect(server.with('Patiently')).toHaveLength(3);
  const broken = await lived('Broken');
  expect(broken).toMatchObject({ state: 'failed' });
  expect(broken.response.errors).toMatchObject([{ code: 'MODEL_UNAVAILABLE', retryable: true }]);
  expect(server.with('Broken')).toHaveLength(3);
});

test('one that refuses is not asked again', async () => {
  const view = await lived('Forbidden');
  expect(view.response).toMatchObject({ status: 'failed', reason: 'MODEL_REFUSED' });
  expect(view.response.errors[0].text).toContain('no: Bearer …');
  expect(server.with('Forbidden')).toHaveLength(1);
});

test('one that hangs ends when the time of the task is over', async () => {
  const view = await lived('Hang', { limits: { timeout_ms: 2_000, attempts_max: 1 } });
  expect(view.state).toBe('timed_out');
  const asked = server.with('Hang');
  expect(asked).toHaveLength(1);
  await eventually(() => expect(server.givenUp).toEqual(asked));
});

test('a damaged record costs an executor that task alone, and its manager has it done', async () => {
  const limits = { attempts_max: 2 };
  const delegated = [
    lived('Once', { id: 'damaged', limits }),
    lived('Once', { id: 'whole', limits }),
  ];
  await eventually(() => expect(server.with('Once')).toHaveLength(2), 20_000);
  executor.process.kill('SIGKILL');
  await executor.ended;
  const folder = path.join(stage.home, 'executor/executor/store');
  {
    await using store = await openTestStore(folder, executorLayout);
    for await (const [its, value] of store.entries({ prefix: `${workPrefix}damaged/` }))
      await store.commit([{ type: 'put', key: its, value: value.subarray(0, value.length >> 1) }]);
    await store.commit([{ type: 'put', key: `${workPrefix}other/1`, value: Buffer.from('null') }]);
  }
  executor = start('agent', 'executor');
  const [damaged, whole] = await Promise.all(delegated);
  expect([damaged.state, whole.state]).toEqual(['completed', 'completed']);
  // The one was given out anew, the other gone on with.
  expect([damaged.attempt, whole.attempt]).toEqual([2, 1]);
  const lines = executor
    .output()
    .split('\n')
    .filter((each) => each.includes('RECORD_DAMAGED'));
  expect(lines.map((each) => /work\/(\w+)/.exec(each)?.[1]).sort()).toEqual(['damaged', 'other']);
  executor.process.kill('SIGTERM');
  await executor.ended;
  await using store = await openTestStore(folder, executorLayout);
  const left: string[] = [];
  for await (const its of store.keys({ prefix: workPrefix })) left.push(its);
  expect(left).toEqual([]);
}, 90_000);

/** The last: everything that was said and kept by then. */
test('the key of the model stands in no log, no store and no answer', () => {
  expect(server.asked.every(({ authorization }) => authorization === `Bearer ${key}`)).toBe(true);
  const files = readdirSync(stage.home, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .map((each) => path.join(each.parentPath, each.name));
  expect(files.some((each) => each.includes('manager'))).toBe(true);
  expect(files.filter((each) => readFileSync(each).includes(key))).toEqual([]);
  expect(running.filter((each) => each.output().includes(key))).toEqual([]);
  expect(told.filter((each) => each.includes(key))).toEqual([]);
});
