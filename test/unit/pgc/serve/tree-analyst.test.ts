import { afterEach, expect, test } from 'vitest';
import {
  jobsMax,
  TreeAnalyst,
  type TreeAnalystParts,
} from '../../../../src/pgc/serve/tree-analyst.js';
import { indexFolder } from '../../../../src/pgc/build/index-folder.js';
import { treeMessages } from '../../../../src/pgc/serve/messages.js';
import { compiled } from '../../../support/compiled.js';
import { eventually } from '../../../support/eventually.js';
import { TemporaryTree } from '../../../support/git-tree.js';

/**
 * A thread that answers what it is asked with its own number, never ends when it is asked `1`, and takes all the memory
 * there is when it is asked `2`.
 */
const source = `
  import { parentPort, threadId } from 'node:worker_threads';
  parentPort.on('message', ({ id, body }) => {
    while (body[0] === 1);
    for (const kept = []; body[0] === 2;) kept.push({ a: kept.length, b: [1, 2, 3] });
    parentPort.postMessage({ id, body: Buffer.from(String(threadId)) });
  });
`;
const thread = new URL(`data:text/javascript,${encodeURIComponent(source)}`);
const [answers, hangs, swells] = [0, 1, 2].map((each) => Buffer.from([each]));

let desk: TreeAnalyst;
let open = 0;
let stamp = '';
function newDesk(more: Partial<TreeAnalystParts> = {}): TreeAnalyst {
  open = 0;
  const reserve = (): Disposable => {
    open += 1;
    return { [Symbol.dispose]: () => void (open -= 1) };
  };
  const memory = { memoryBytes: 64 * 1024 * 1024, reserve };
  const parts = { folder: '', home: '', stamp: () => stamp, memory, module: thread, graceMs: 50 };
  return (desk = new TreeAnalyst({ ...parts, ...more }));
}
afterEach(() => desk.close());

const ask = (body: Buffer, signal = new AbortController().signal): Promise<Buffer> =>
  desk.answer('patterns', body, signal);
/** What is next has its turn. */
const begun = (): Promise<void> => new Promise(setImmediate);

test('an analysis that does not end when nobody waits any more is ended with its thread, and the next has another', async () => {
  newDesk();
  const first = String(await ask(answers!));
  expect([String(await ask(answers!)), open]).toEqual([first, 1]);
  const abort = new AbortController();
  const running = ask(hangs!, abort.signal);
  const waiting = ask(answers!);
  await begun();
  abort.abort();
  await expect(running).rejects.toMatchObject({ code: 'CANCELLED' });
  expect(String(await waiting)).not.toBe(first);
  expect(open).toBe(1);
  await desk.close();
  expect(open).toBe(0);
});

test('what nobody waits for any more is not begun', async () => {
  newDesk();
  const [one, other] = [new AbortController(), new AbortController()];
  const running = ask(hangs!, one.signal);
  const waiting = ask(hangs!, other.signal);
  await begun();
  other.abort();
  one.abort();
  const codes = await Promise.allSettled([running, waiting]);
  expect(codes.map((each) => each.status === 'rejected' && each.reason.code)).toEqual([
    'CANCELLED',
    'CANCELLED',
  ]);
  expect(open).toBe(0);
});

test('one analysis too many is refused, and those before it are answered', async () => {
  newDesk();
  const all = Array.from({ length: jobsMax }, () => ask(answers!));
  await expect(ask(answers!)).rejects.toMatchObject({ code: 'BROKER_BUSY' });
  expect(new Set((await Promise.all(all)).map(String)).size).toBe(1);
});

test('a thread that takes more than the memory ends, and this process does not', async () => {
  newDesk();
  await expect(ask(swells!)).rejects.toMatchObject({ code: 'AGENT_FAILED' });
  expect(open).toBe(0);
  expect(String(await ask(answers!))).toMatch(/^\d+$/);
});

test('a newer index has a thread of its own, and one that nobody asks ends', async () => {
  newDesk({ idleMs: 1 });
  const first = String(await ask(answers!));
  stamp = 'newer';
  expect(String(await ask(answers!))).not.toBe(first);
  await eventually(() => expect(open).toBe(0));
});

test('a desk that is closed begins no thread for what still waits', async () => {
  newDesk();
  const all = Promise.allSettled([ask(hangs!), ask(answers!), ask(answers!)]);
  await begun();
  await desk.close();
  const codes = (await all).map((each) => each.status === 'rejected' && each.reason.code);
  expect(codes).toEqual(['AGENT_FAILED', 'CANCELLED', 'CANCELLED']);
  expect(open).toBe(0);
});

test('a thread that cannot be made takes no memory', async () => {
  newDesk({ module: new URL('https://nowhere.invalid/thread.js') });
  await expect(ask(answers!)).rejects.toBeDefined();
  expect(open).toBe(0);
});

test('an analysis that waited for its turn until its time was over says what it left out', async () => {
  await using tree = await TemporaryTree.create({ 'a.c': 'int a(void) { return 0; }\n' });
  await using home = await TemporaryTree.create();
  await indexFolder({ root: tree.root, home: home.root, jobs: 0 });
  const module = compiled('src/pgc/serve/tree-worker.ts');
  newDesk({ module, folder: tree.root, home: home.root });
  const { request, answer } = treeMessages.patterns;
  const body = request.encode({ filter: 'dependencies', limit: 0, target: '' });
  const found = async (deadlineMs: number) => {
    const { signal } = new AbortController();
    return answer.decode(await desk.answer('patterns', body, signal, deadlineMs));
  };
  expect(await found(0)).toMatchObject({ truncated: false, warnings: [] });
  // No thread is opened so fast.
  await desk.close();
  newDesk({ module, folder: tree.root, home: home.root });
  expect(await found(1)).toMatchObject({
    truncated: true,
    warnings: expect.arrayContaining([expect.stringContaining('0 of 1 shards')]),
  });
  const symbol = 'a';
  const late = { truncated: true, warnings: [expect.stringContaining('The time was up')] };
  const none = new AbortController().signal;
  const { blastRadius, securityBlastRadius } = treeMessages;
  const asked = blastRadius.request.encode({ symbol, max_depth: 3, direction: 'both' });
  const blast = await desk.answer('blastRadius', asked, none, 1);
  expect(blastRadius.answer.decode(blast)).toMatchObject(late);
  const of = securityBlastRadius.request.encode({ symbol });
  const security = await desk.answer('securityBlastRadius', of, none, 1);
  expect(securityBlastRadius.answer.decode(security)).toMatchObject(late);
});

test('an index that could not be opened is opened by the next question', async () => {
  await using tree = await TemporaryTree.create({ 'a.c': 'int a(void) { return 0; }\n' });
  await using home = await TemporaryTree.create();
  const module = compiled('src/pgc/serve/tree-worker.ts');
  newDesk({ module, folder: tree.root, home: home.root });
  const { request, answer } = treeMessages.blastRadius;
  const body = request.encode({ symbol: 'a', max_depth: 0, direction: 'both' });
  const asked = () => desk.answer('blastRadius', body, new AbortController().signal);
  await expect(asked()).rejects.toMatchObject({ code: 'INDEX_MISSING' });
  await indexFolder({ root: tree.root, home: home.root, jobs: 0 });
  expect(answer.decode(await asked()).file_path).toBe('a.c');
});
