import { BusError } from '../../src/errors/bus-error.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { askAgent } from '../../src/remote/questions.js';
import { RemoteShard } from '../../src/remote/shard.js';
import { Semaphore } from '../../src/base/semaphore.js';
import { shardMessages } from '../../src/pgc/serve/messages.js';
import type {
  Answer,
  Definition,
  Evidence,
  FlowEdge,
  HopAnswer,
  HopRequest,
  SeekAnswer,
  WordCounts,
} from '../../src/pgc/shapes.js';
import { testBus, type TestBus } from '../support/bus.js';
import { memoryHarness } from '../support/networks.js';

let bus: TestBus;
let shard: RemoteShard;
let hopped: Partial<HopAnswer> = {};
let answered: Partial<Answer> = {};
let defined: Definition[] = [];
let sought: Partial<SeekAnswer> = {};
let counted: Partial<WordCounts> = {};

beforeAll(async () => {
  bus = testBus(memoryHarness());
  await bus.start();
  const others = await bus.client('others-1');
  const { hop, ask, read, definitions, weigh, seek } = shardMessages;
  const nothing = { references: [], errors: [], index_version: '', elapsed_ms: 0, likelihood: 0 };
  others.serve({
    [hop.type]: () => hop.answer.encode({ ...nothing, evidence: [], flow: [], ...hopped }),
    [definitions.type]: () => definitions.answer.encode({ definitions: defined }),
    [weigh.type]: () => weigh.answer.encode(counted as WordCounts),
    [seek.type]: () => seek.answer.encode(sought as SeekAnswer),
    [ask.type]: () => ask.answer.encode(answered as Answer),
    [read.type]: ({ body }) => {
      const { files } = read.request.decode(body);
      const told = files.map((file) => ({ file: file + 1, evidence: [] }));
      return read.answer.encode({ files: told as never });
    },
  });
  shard = new RemoteShard(await bus.client('asker'), 'others', 'others-1');
});
afterAll(() => bus.close());

const failure = { code: 'AGENT_FAILED', message: expect.stringContaining('others') };
const evidenceOf = (count: number): Evidence[] =>
  Array.from({ length: count }, (_, at) => ({ id: at + 1 }) as Evidence);

test('an agent that answers beyond all limits is named, and fails alone', async () => {
  hopped = { evidence: evidenceOf(64), flow: [{ evidence: 64 }] as FlowEdge[] };
  expect((await shard.hop({} as HopRequest)).evidence).toHaveLength(64);
  for (hopped of [
    { evidence: evidenceOf(65) },
    { evidence: [...evidenceOf(2), ...evidenceOf(2)] },
    { evidence: evidenceOf(1), flow: [{ evidence: 2 }] as FlowEdge[] },
    { flow: Array.from({ length: 129 }, () => ({ evidence: 0 }) as FlowEdge) },
    { likelihood: Number.NaN },
    { likelihood: 2 },
  ])
    await expect(shard.hop({} as HopRequest)).rejects.toMatchObject(failure);
  await expect(shard.readFiles({ files: [7] } as never)).rejects.toMatchObject(failure);
});

test('rows with longer texts than any name has are refused, too', async () => {
  const named = (chars: number): Definition[] => [{ symbol: 'x'.repeat(chars) } as Definition];
  defined = named(16_384);
  expect(await shard.definitions(['x'])).toHaveLength(1);
  defined = named(16_385);
  await expect(shard.definitions(['x'])).rejects.toMatchObject(failure);
});

test('what a shard says before it answers is refused beyond its limits', async () => {
  const asked = { question: 'x', overlays: [], top_k: 1 };
  counted = { documents: 3, having: [1, 0.5], lengths: [2] };
  expect(await shard.weigh(asked)).toMatchObject(counted);
  for (counted of [
    { having: [-1] },
    { having: [Number.NaN] },
    { lengths: [Infinity] },
    { having: Array<number>(3_000).fill(0) },
  ])
    await expect(shard.weigh(asked)).rejects.toMatchObject(failure);
  sought = { similarities: [1, 0.5], is_known: true };
  expect(await shard.seek(asked)).toMatchObject(sought);
  for (sought of [
    { similarities: [1.5] },
    { similarities: [Number.NaN] },
    { similarities: Array<number>(100).fill(0) },
  ])
    await expect(shard.seek(asked)).rejects.toMatchObject(failure);
});

test('an answer without its parts, or beyond its limits, is refused; one of no model is not', async () => {
  const line = { line: 1, text: '', decides: false };
  const whole = { metadata: { model: null }, query_intent: {} } as Answer;
  const excerptOf = (excerpt: object[]): Partial<Answer> => ({
    ...whole,
    evidence: [{ id: 1, excerpt } as Evidence],
  });
  answered = { ...whole, evidence: evidenceOf(20) };
  const { metadata, evidence } = await shard.ask({ question: 'x' } as never);
  expect([metadata.model, evidence.length]).toEqual([null, 20]);
  answered = excerptOf(Array(12).fill(line));
  expect((await shard.ask({ question: 'x' } as never)).evidence).toHaveLength(1);
  const client = await bus.client('asks-one');
  for (answered of [
    // Of a message that holds nothing its parts are absent.
    {},
    { metadata: whole.metadata },
    { ...whole, evidence: evidenceOf(21) },
    excerptOf(Array(13).fill(line)),
    excerptOf([{ ...line, text: 'x'.repeat(201) }]),
    { ...whole, evidence: [{ id: 1, content: 'x'.repeat(501) } as Evidence] },
    { ...whole, evidence: [{ id: 1, said: 'x'.repeat(16_385) } as Evidence] },
    { ...whole, evidence: [{ id: 1, why: Array(2_049).fill('') as string[] } as Evidence] },
    { ...whole, prose: 'x'.repeat(100_001) },
    { ...whole, overlay_warnings: Array(2_049).fill('') },
    { ...whole, errors: Array(42).fill({ text: 'x'.repeat(100_000) }) },
    { ...whole, clauses: [{ text: '', status: 'found', evidence: [1] }] },
    { ...whole, clauses: Array(9).fill({ text: '', status: 'found', evidence: [] }) },
    { ...whole, next: Array(4).fill({ operation: 'callers', arguments: {}, why: '' }) },
  ] as Partial<Answer>[]) {
    const asks = { question: 'x' } as never;
    await expect(shard.ask(asks), JSON.stringify(answered)).rejects.toMatchObject(failure);
    await expect(askAgent(client, 'others-1', asks, 5_000)).rejects.toMatchObject(failure);
  }
});

test('shards that share their turns are not all asked at once, and all are answered', async () => {
  let open = 0;
  let most = 0;
  const busy = await bus.client('busy-1');
  busy.serve({
    [shardMessages.callers.type]: async () => {
      most = Math.max(most, (open += 1));
      await new Promise((resolve) => setTimeout(resolve, 1));
      open -= 1;
      return shardMessages.callers.answer.encode({ sites: [] });
    },
  });
  const turns = new Semaphore({
    atOnce: 8,
    waitingMax: 2_000,
    refusal: (limit) => new BusError('BROKER_BUSY', { limit }),
  });
  const client = await bus.client('asks-all');
  const shards = Array.from(
    { length: 200 },
    () => new RemoteShard(client, 'busy', 'busy-1', turns),
  );
  const all = await Promise.all(shards.map((each) => each.callers(['x'])));
  expect(all).toHaveLength(200);
  expect(most).toBe(8);
});

const every: [keyof typeof shardMessages, (signal: AbortSignal) => Promise<unknown>][] = [
  ['ask', (signal) => asked.ask({ question: 'x' } as never, signal)],
  ['hop', (signal) => asked.hop({} as HopRequest, signal)],
  ['definitions', (signal) => asked.definitions(['x'], signal)],
  ['callers', (signal) => asked.callers(['x'], signal)],
  ['expand', (signal) => asked.expand(['x'], signal)],
  ['locate', (signal) => asked.rankFiles({} as never, signal)],
  ['read', (signal) => asked.readFiles({ files: [] } as never, signal)],
];
let asked: RemoteShard;

test.each(every)('a shard is told that nobody waits for its %s any more', async (name, ask) => {
  const patient = await bus.client(`patient-${name}`);
  const nobodyWaits = new AbortController();
  const told = new Promise<void>((resolve) => {
    patient.serve({
      [shardMessages[name].type]: async ({ signal }) => {
        const over = new Promise<void>((done) => signal.addEventListener('abort', () => done()));
        nobodyWaits.abort();
        await over;
        resolve();
        return Buffer.alloc(0);
      },
    });
  });
  asked = new RemoteShard(await bus.client(`asker-${name}`), 'patient', `patient-${name}`);
  await expect(ask(nobodyWaits.signal)).rejects.toMatchObject({ code: 'CANCELLED' });
  await told;
});
