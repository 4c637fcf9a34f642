import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { noTrace } from '../../../src/base/trace.js';
import { defaultLimits } from '../../../src/broker/limits.js';
import { Mailboxes } from '../../../src/broker/mail/mailboxes.js';
import { BusError } from '../../../src/errors/bus-error.js';
import { messagePrefix } from '../../../src/store/keys.js';
import type { LevelStore } from '../../../src/store/level-store.js';
import type { Store } from '../../../src/store/port.js';
import { Command, decodeFrame, makeFrame } from '../../../src/wire/frame.js';
import { openTestStore } from '../../support/store.js';
import { temporaryFolder } from '../../support/temporary.js';
import { VirtualClock } from '../../support/virtual-clock.js';

const limits = { ...defaultLimits, retryBackoff: { baseMs: 10, capMs: 10 } };
const box = 'agent:worker';

let folder: ReturnType<typeof temporaryFolder>;
let level: LevelStore;
let clock: VirtualClock;
let mailboxes: Mailboxes;
/** `peer id`, of all deliveries. */
let delivered: string[];
let taken: string[];
let reopened: () => void;
/** What reading messages fails with, if it does. */
let unreadable: Error | undefined;
/** What storing fails with, if it does. */
let unwritable: Error | undefined;

beforeEach(async () => {
  folder = temporaryFolder();
  level = await openTestStore(path.join(folder.path, 'store'));
  clock = new VirtualClock();
  delivered = [];
  taken = [];
  unreadable = undefined;
  unwritable = undefined;
  mailboxes = await open();
});
afterEach(async () => {
  await level[Symbol.asyncDispose]();
  folder.remove();
});

/** The real store, which can be made unreadable half way through its messages. */
function watched(): Store {
  return new Proxy(level, {
    get(_, name) {
      if (name === 'onReopened') {
        return (listener: () => void) => {
          reopened = listener;
          return { [Symbol.dispose]: () => undefined };
        };
      }
      if (name === 'entries') {
        return async function* (range: { prefix: string }) {
          for await (const entry of level.entries(range)) {
            yield entry;
            if (range.prefix === messagePrefix && unreadable !== undefined) throw unreadable;
          }
        };
      }
      const failure = unwritable;
      if (name === 'commit' && failure !== undefined) return () => Promise.reject(failure);
      const value: unknown = Reflect.get(level, name);
      return typeof value === 'function' ? (value.bind(level) as unknown) : value;
    },
  });
}

function open(): Promise<Mailboxes> {
  return Mailboxes.open({
    store: watched(),
    clock,
    random: () => 0.5,
    limits,
    trace: noTrace,
    deliver: (peer, frame) => delivered.push(`${peer} ${decodeFrame(frame).envelope.id}`) > 0,
    onDead: () => undefined,
    onReceived: ({ id }, message) => taken.push(`${id} ${message.id}`),
  });
}

function post(id: string, fields: { ttl_ms?: number; mailbox?: string } = {}) {
  const { mailbox = box, ttl_ms = 0 } = fields;
  const frame = makeFrame(Command.SEND, { id, type: 'x', durable: true, ttl_ms }, Buffer.from(id));
  return new Promise<number>((resolve, reject) => {
    mailboxes.post(frame, 'sender', mailbox, (error, seq) => {
      if (error === undefined) resolve(seq);
      else reject(error);
    });
  });
}

const message = (seq: number) => mailboxes.messageBySeq(seq)!;
const take = (id: string, waitMs = 0, peer = 'receiver') =>
  mailboxes.take({
    ...{ peer, id, mailbox: box, untilMs: clock.monotonicMs() + waitMs },
    want: { mailbox: box, from: '', correlation: '', lifo: false },
  });
const codeOf = (work: () => unknown): string => {
  try {
    work();
    return 'no error';
  } catch (error) {
    return (error as BusError).code;
  }
};

async function pass(ms: number): Promise<void> {
  for (let at = 0; at < ms; at += 100) {
    await clock.advance(Math.min(100, ms - at));
    mailboxes.tick(false);
  }
}

test('a message that was put off is not taken before its time, and its lane goes on after it', async () => {
  const first = await post('first');
  await post('second');
  mailboxes.credit('worker', box, 1, 1_000);
  mailboxes.failed(message(first), 'NACK', 10_000);
  mailboxes.withdraw('worker', box);
  // The second is free: whoever takes by hand takes out of turn.
  take('t1');
  expect(taken).toEqual(['t1 second']);
  expect(codeOf(() => take('t2'))).toBe('INBOX_EMPTY');
  take('t3', 60_000);
  await pass(10_500);
  expect(taken).toEqual(['t1 second', 't3 first']);
});

test('whoever waits gets the next message although the oldest has expired', async () => {
  await post('stale', { ttl_ms: 1_000 });
  await post('fresh');
  await clock.advance(2_000);
  take('t1');
  expect(taken).toEqual(['t1 fresh']);
  expect(mailboxes.size).toMatchObject({ messages: 1, dead: 1 });
});

test('a message that expired in the hands of a holder who vanished is given up', async () => {
  const seq = await post('x', { ttl_ms: 1_000 });
  mailboxes.credit('worker', box, 1, 1_000);
  await pass(2_000);
  expect(message(seq).deadMs).toBe(0);
  mailboxes.sessionEnded('worker', false);
  await pass(limits.leaseMs + 1_000);
  expect([message(seq).deadMs > 0, message(seq).reason]).toEqual([true, 'EXPIRED']);
});

test('what is named twice is purged once', async () => {
  const seq = await post('x');
  await mailboxes.purge([message(seq), message(seq)]);
  expect(mailboxes.size).toMatchObject({ messages: 0, bytes: 0 });
  await post('y');
  expect(mailboxes.size.messages).toBe(1);
});

test('a session that takes the place of another keeps what it holds, others get the rest', async () => {
  const service = 'service:build';
  mailboxes.credit('a1', service, 1, 1_000_000);
  const held = await post('held', { mailbox: service });
  mailboxes.credit('a1', service, 2, 1_000_000);
  await post('idle', { mailbox: service });
  mailboxes.credit('b', service, 10, 1_000_000);
  expect(delivered).toEqual(['a1 held', 'a1 idle']);
  mailboxes.sessionEnded('a1', true);
  expect(delivered).toHaveLength(2);
  mailboxes.adopt('a2', [held], () => true);
  expect(message(held).lease?.consumer.peer).toBe('a2');
  mailboxes.done(message(held));
  await pass(100);
  expect(delivered.slice(2)).toEqual(['b idle']);
});

test('whoever waits gets what another did not hold on to over a new greeting', async () => {
  const seq = await post('x');
  take('t1', 0, 'a');
  take('t2', 60_000, 'b');
  expect(taken).toEqual(['t1 x']);
  mailboxes.takeBack('a', new Set());
  mailboxes.adopt('a', [], () => true);
  mailboxes.resume('a');
  expect(taken).toEqual(['t1 x', 't2 x']);
  expect(message(seq).lease?.consumer.peer).toBe('b');
});

test('a consumer that takes nothing and holds nothing is forgotten, its mailbox too', async () => {
  for (let at = 0; at < 10; at += 1) {
    mailboxes.credit('worker', `service:s${at}`, 5, 1_000);
    mailboxes.withdraw('worker', `service:s${at}`);
  }
  mailboxes.credit('worker', 'service:held', 1, 1_000);
  const seq = await post('x', { mailbox: 'service:held' });
  mailboxes.withdraw('worker', 'service:held');
  expect(message(seq).lease?.consumer.peer).toBe('worker');
  mailboxes.done(message(seq));
  expect(mailboxes.mailboxCount).toBe(0);
});

test('a store that can only be read half way is read again, and hides nothing', async () => {
  await post('one');
  await post('two');
  const fresh = await open();
  await post('three');
  mailboxes = fresh;
  unreadable = new BusError('STORE_UNAVAILABLE', { path: 'store', detail: 'EIO' });
  reopened();
  const until = async (isDone: () => boolean): Promise<void> => {
    while (!isDone()) {
      await clock.advance(100);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  };
  await until(() => mailboxes.isLoading);
  const four = makeFrame(Command.SEND, { id: 'four' });
  expect(codeOf(() => mailboxes.post(four, 's', box, () => undefined))).toBe('STORE_UNAVAILABLE');
  unreadable = undefined;
  await until(() => !mailboxes.isLoading);
  mailboxes.credit('worker', box, 10, 1_000_000);
  await new Promise((resolve) => setTimeout(resolve, 20));
  mailboxes.resume('worker');
  expect(delivered.map((each) => each.split(' ')[1]).sort()).toEqual(['one', 'three', 'two']);
});

test('a message that is sent again while it is on its way to disk ends as the first, and is stored once', async () => {
  const first = post('one');
  const again = new Promise<[number, boolean]>((resolve) => {
    mailboxes.repeat('sender', 'one', (_error, seq, isDuplicate) => resolve([seq, isDuplicate]));
  });
  expect(mailboxes.sentTo('sender', 'one')).toBeUndefined();
  expect(await again).toEqual([await first, true]);
  expect([mailboxes.counts.accepted, mailboxes.sentTo('sender', 'one')]).toEqual([1, box]);
});

test('when the disk refuses a batch, all of it hear so, nothing of it is there, and each may come again', async () => {
  unwritable = new BusError('STORE_UNAVAILABLE', { path: 'store', detail: 'EIO' });
  const ends = await Promise.all(
    ['one', 'two'].map((id) => post(id).catch((error: unknown) => (error as BusError).code)),
  );
  expect(ends).toEqual(['STORE_UNAVAILABLE', 'STORE_UNAVAILABLE']);
  expect([mailboxes.size.messages, mailboxes.isTaken('sender', 'one')]).toEqual([0, false]);
  unwritable = undefined;
  await post('one');
  expect(mailboxes.size.messages).toBe(1);
});
