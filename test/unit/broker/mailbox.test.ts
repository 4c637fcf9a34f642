import { expect, test } from 'vitest';
import { Mailbox, type Consumer, type StoredMessage } from '../../../src/broker/mail/mailbox.js';

let nextSeq = 1;

function message(from: string, fields: Partial<StoredMessage> = {}): StoredMessage {
  const seq = fields.seq ?? nextSeq++;
  return {
    ...{ seq, id: String(seq), from, mailbox: 'agent:a', type: 't', correlation: '', replyTo: '' },
    ...{ more: false, orderKey: '', bytes: 100, storedMs: 0, expiresMs: 0, dueMs: 0, attempts: 0 },
    ...{ reason: '', deadMs: 0, frame: undefined, lease: undefined },
    ...{ isSuspect: false, lane: undefined, isHeld: false },
    ...fields,
  };
}

function setUp(credit = { messages: 10, bytes: 10_000 }) {
  const mailbox = new Mailbox('agent:a');
  const consumer = (peer: string): Consumer => {
    const one = { peer, mailbox, credit, leased: new Map(), leasedBytes: 0, isFetching: false };
    mailbox.consumers.set(peer, one);
    return one;
  };
  const put = (...messages: StoredMessage[]): void => {
    for (const each of messages) {
      mailbox.messages.set(each.seq, each);
      mailbox.queue(each);
    }
  };
  const leaseAll = (one: Consumer): number[] => {
    const seqs: number[] = [];
    for (let each = mailbox.lease(one, 99); each; each = mailbox.lease(one, 99))
      seqs.push(each.seq);
    return seqs;
  };
  return { mailbox, consumer, put, leaseAll };
}

test('senders take turns, and the messages of each keep their order', () => {
  const { consumer, put, leaseAll } = setUp();
  const loud = [message('loud'), message('loud'), message('loud')];
  const quiet = message('quiet');
  put(...loud, quiet);
  expect(leaseAll(consumer('p'))).toEqual([loud[0]!.seq, quiet.seq, loud[1]!.seq, loud[2]!.seq]);
});

test('credit bounds messages and bytes, and settling gives room', () => {
  const { mailbox, consumer, put, leaseAll } = setUp({ messages: 3, bytes: 250 });
  const all = Array.from({ length: 5 }, () => message('s'));
  put(...all);
  const one = consumer('p');
  expect(leaseAll(one)).toEqual([all[0]!.seq, all[1]!.seq]);
  mailbox.remove(all[0]!);
  expect(leaseAll(one)).toEqual([all[2]!.seq]);
  expect([one.leased.size, one.leasedBytes, mailbox.leases]).toEqual([2, 200, 2]);
});

test('a message that is larger than the whole credit passes alone', () => {
  const { consumer, put, leaseAll } = setUp({ messages: 3, bytes: 50 });
  const all = [message('s'), message('s')];
  put(...all);
  expect(leaseAll(consumer('p'))).toEqual([all[0]!.seq]);
});

test('a lane belongs to one consumer as long as that holds something of it', () => {
  const { mailbox, consumer, put } = setUp({ messages: 1, bytes: 1_000 });
  const all = [message('s'), message('s')];
  put(...all);
  const [one, two] = [consumer('1'), consumer('2')];
  expect(mailbox.lease(one, 99)).toBe(all[0]);
  expect(mailbox.lease(two, 99)).toBeUndefined();
  mailbox.remove(all[0]!);
  expect(mailbox.lease(two, 99)).toBe(all[1]);
});

test('a message that comes back holds up its lane until it is woken, and takes back what came behind it', () => {
  const { mailbox, consumer, put, leaseAll } = setUp();
  const all = [message('s'), message('s'), message('s')];
  const other = message('o');
  put(...all, other);
  const one = consumer('p');
  leaseAll(one);
  mailbox.giveBack(all[1]!, true);
  expect(all.map((each) => each.lease !== undefined)).toEqual([true, false, false]);
  expect(leaseAll(one)).toEqual([]);
  mailbox.wake(all[1]!);
  expect(leaseAll(one)).toEqual([all[1]!.seq, all[2]!.seq]);
});

test('a lane is held by a message, not by a time: when that goes for good the next one is given', () => {
  const { mailbox, consumer, put, leaseAll } = setUp();
  const all = [message('s'), message('s')];
  put(...all);
  const one = consumer('p');
  leaseAll(one);
  mailbox.giveBack(all[0]!, true);
  expect(leaseAll(one)).toEqual([]);
  mailbox.remove(all[0]!);
  expect(leaseAll(one)).toEqual([all[1]!.seq]);
});

test('when a consumer is gone only the message in front of each lane is suspect', () => {
  const { mailbox, consumer, put, leaseAll } = setUp();
  const all = [message('s'), message('s'), message('o'), message('o')];
  put(...all);
  leaseAll(consumer('p'));
  mailbox.drop(mailbox.consumers.get('p')!);
  expect(all.map((each) => each.isSuspect)).toEqual([true, false, true, false]);
  expect([mailbox.leases, mailbox.consumers.size]).toEqual([0, 0]);
  expect(leaseAll(consumer('q'))).toHaveLength(4);
});

test('what an agent still works on it may keep, but not ahead of what comes before it', () => {
  const { mailbox, consumer, put, leaseAll } = setUp();
  const all = [message('s', { isSuspect: true }), message('s'), message('s')];
  put(...all);
  const one = consumer('p');
  expect(mailbox.adopt(one, all[1]!, 99)).toBe(false);
  expect(mailbox.adopt(one, all[0]!, 99)).toBe(true);
  expect(mailbox.adopt(one, all[1]!, 99)).toBe(true);
  expect(all[0]!.isSuspect).toBe(false);
  expect(leaseAll(one)).toEqual([all[2]!.seq]);
});

test('a message taken out of turn leaves its lane, and returns to its place', () => {
  const { mailbox, consumer, put, leaseAll } = setUp();
  const all = [message('s'), message('s'), message('s')];
  put(...all);
  const receiver = consumer('receiver');
  mailbox.take(receiver, all[1]!, 99);
  expect(mailbox.leases).toBe(1);
  mailbox.drop(receiver);
  expect(leaseAll(consumer('p'))).toEqual(all.map((each) => each.seq));
});

test('only leases that were not shown to be worked on are overdue', () => {
  const { mailbox, consumer, put, leaseAll } = setUp();
  const all = [message('a'), message('b'), message('c')];
  put(...all);
  const one = consumer('p');
  leaseAll(one);
  mailbox.extend(all[0]!, 200);
  expect(mailbox.overdue(one, 99).map((each) => each.seq)).toEqual([all[1]!.seq, all[2]!.seq]);
  expect(mailbox.overdue(one, 98)).toEqual([]);
});

test('a lane through which many messages pass keeps their order', () => {
  const { mailbox, consumer, put } = setUp();
  const one = consumer('p');
  const passed: number[] = [];
  const all = Array.from({ length: 5_000 }, () => message('s'));
  put(...all);
  for (let each = mailbox.lease(one, 99); each; each = mailbox.lease(one, 99)) {
    passed.push(each.seq);
    mailbox.remove(each);
  }
  expect(passed).toEqual(all.map((each) => each.seq));
  expect([mailbox.messages.size, mailbox.leases]).toEqual([0, 0]);
});
