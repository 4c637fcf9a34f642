import { BusError } from '../../src/errors/bus-error.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RemoteShard } from '../../src/remote/shard.js';
import { Semaphore } from '../../src/base/semaphore.js';
import { shardMessages } from '../../src/pgc/serve/messages.js';
import type { Citation, HopAnswer, HopRequest } from '../../src/pgc/shapes.js';
import { testBus, type TestBus } from '../support/bus.js';
import { memoryHarness } from '../support/networks.js';

let bus: TestBus;
let shard: RemoteShard;
let citations = 0;

beforeAll(async () => {
  bus = testBus(memoryHarness());
  await bus.start();
  const foreign = await bus.client('foreign-1');
  const { hop, ask, read } = shardMessages;
  const cited = (): Citation[] => Array.from({ length: citations }, () => ({}) as Citation);
  const nothing = { answer: '', references: [], errors: [], index_version: '', elapsed_ms: 0 };
  foreign.serve({
    [hop.type]: () => hop.answer.encode({ ...nothing, citations: cited() } satisfies HopAnswer),
    // Of a message that holds nothing its parts are absent.
    [ask.type]: () => Buffer.alloc(0),
    [read.type]: ({ body }) => {
      const { files } = read.request.decode(body);
      const told = files.map((file) => ({ file: file + 1, about: '', evidence: [] }));
      return read.answer.encode({ files: told as never, warnings: [] });
    },
  });
  shard = new RemoteShard(await bus.client('asker'), 'foreign', 'foreign-1');
});
afterAll(() => bus.close());

test('an agent that answers beyond all limits is named, and fails alone', async () => {
  citations = 64;
  expect((await shard.hop({} as HopRequest)).citations).toHaveLength(64);
  citations = 65;
  const failure = { code: 'AGENT_FAILED', message: expect.stringContaining('foreign') };
  await expect(shard.hop({} as HopRequest)).rejects.toMatchObject(failure);
  await expect(shard.ask({ question: 'x' } as never)).rejects.toMatchObject(failure);
  await expect(shard.readFiles({ files: [7] } as never)).rejects.toMatchObject(failure);
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
