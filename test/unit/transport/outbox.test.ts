import { expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.js';
import { Outboxes } from '../../../src/broker/outboxes.js';
import { Outbox } from '../../../src/transport/outbox.js';
import { Command, decodeFrames, encodeFrame, makeFrame } from '../../../src/wire/frame.js';
import type { SendOutcome } from '../../../src/transport/port.js';

function outbox(answer: (part: Buffer) => SendOutcome | Promise<SendOutcome>, bytesMax = 100) {
  const sent: string[] = [];
  let gone = 0;
  const box = new Outbox({
    send: async (part) => {
      const outcome = await answer(part);
      if (outcome === 'sent') sent.push(part.toString());
      return outcome;
    },
    onGone: () => (gone += 1),
    bytesMax,
    clock: systemClock,
  });
  return { box, sent, gone: () => gone };
}

/** Promises that settle one behind the other; no turn of the event loop ends meanwhile. */
async function microtasks(): Promise<void> {
  for (let count = 0; count < 32; count += 1) await Promise.resolve();
}

test('what is offered in one piece of work leaves as one part, in order', async () => {
  const { box, sent } = outbox(() => 'sent');
  for (const text of ['a', 'b', 'c']) expect(box.offer(Buffer.from(text))).toBe(true);
  await box.flushed();
  expect(sent).toEqual(['abc']);
});

test('a peer that does not read gets everything later, in order; what exceeds the limit is refused', async () => {
  let stalls = 3;
  const { box, sent } = outbox(() => (stalls-- > 0 ? 'stalled' : 'sent'), 4);
  expect(['ab', 'cd', 'ef'].map((text) => box.offer(Buffer.from(text)))).toEqual([
    true,
    true,
    false,
  ]);
  await box.flushed();
  expect(sent.join('')).toBe('abcd');
  expect(box.offer(Buffer.from('gh'))).toBe(true);
  await box.flushed();
  expect(sent.join('')).toBe('abcdgh');
});

test('a frame may use a reserve beyond the limit, and no more', async () => {
  let stalls = 1;
  const { box, sent } = outbox(() => (stalls-- > 0 ? 'stalled' : 'sent'), 4);
  expect(box.offer(Buffer.from('abcd'))).toBe(true);
  expect(box.offer(Buffer.from('e'))).toBe(false);
  expect(box.offer(Buffer.from('fg'), 2)).toBe(true);
  expect(box.offer(Buffer.from('h'), 2)).toBe(false);
  await box.flushed();
  expect(sent.join('')).toBe('abcdfg');
});

test('what could not leave keeps its parts, so that none holds more frames than may be read', async () => {
  let stalls = 3;
  const parts: Buffer[] = [];
  const { box } = outbox((part) => {
    if (stalls-- > 0) return 'stalled';
    parts.push(part);
    return 'sent';
  }, 1_000_000);
  const frame = (at: number) =>
    encodeFrame(makeFrame(Command.ACCEPT, { correlation: String(at) }, Buffer.alloc(0)));
  for (let at = 0; at < 600; at += 1) box.offer(frame(at));
  await microtasks();
  for (let at = 600; at < 1_000; at += 1) box.offer(frame(at));
  await box.flushed();
  const read = parts.flatMap((part) => [...decodeFrames(part)]);
  expect(read.map((each) => (each.ok ? each.frame.envelope.correlation : each.corruption))).toEqual(
    Array.from({ length: 1_000 }, (_, at) => String(at)),
  );
});

test('what a peer that does not read is told meanwhile becomes one part, not one for each attempt', async () => {
  let stalls = 4;
  const { box, sent } = outbox(() => {
    if (stalls <= 0) return 'sent';
    stalls -= 1;
    box.offer(Buffer.from(String(stalls)));
    return 'stalled';
  });
  box.offer(Buffer.from('first'));
  await box.flushed();
  expect(sent).toEqual(['first', '3210']);
});

test('what a turn offers leaves together when its promises are done, and waits for no other turn', async () => {
  const { box, sent } = outbox(() => 'sent');
  const endsOfTurns: string[] = [];
  setImmediate(() => endsOfTurns.push(sent.join()));
  for (const text of ['a', 'b', 'c']) {
    box.offer(Buffer.from(text));
    await microtasks();
  }
  expect(sent).toEqual([]);
  await new Promise(setImmediate);
  expect(endsOfTurns).toEqual(['abc']);
});

test('what was cleared is not sent, what comes after it is', async () => {
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  const { box, sent } = outbox(async (): Promise<SendOutcome> => {
    await held;
    return 'sent';
  }, 1_000_000);
  box.offer(Buffer.alloc(70_000, 'a'));
  box.offer(Buffer.alloc(70_000, 'b'));
  await new Promise(setImmediate);
  box.clear();
  box.offer(Buffer.from('new'));
  release();
  await box.flushed();
  expect(sent.map((part) => part[0])).toEqual(['a', 'n']);
});

test('nobody there: told once, and nothing is kept', async () => {
  const { box, gone } = outbox(() => 'gone');
  box.offer(Buffer.from('x'));
  await box.flushed();
  expect(gone()).toBe(1);
});

test('strangers are answered, cost nothing that lasts, and are not answered without end', async () => {
  const sent: string[] = [];
  const boxes = new Outboxes({
    send: (peer) => {
      sent.push(peer);
      return Promise.resolve('sent');
    },
    onGone: () => undefined,
    bytesMax: 100,
    strangersMax: 2,
    strangerBytesMax: 10,
    clock: systemClock,
  });
  expect(['a', 'b', 'c'].map((peer) => boxes.offer(peer, Buffer.from('reset')))).toEqual([
    true,
    true,
    false,
  ]);
  await boxes.flushed(1_000);
  await new Promise(setImmediate);
  expect(['d', 'e'].map((peer) => boxes.offer(peer, Buffer.from('reset')))).toEqual([true, true]);
  // A peer that has greeted is answered all the same, with little room until it is known who it is.
  boxes.keep('kept');
  expect([8, 8].map((bytes) => boxes.offer('kept', Buffer.alloc(bytes)))).toEqual([true, false]);
  boxes.widen('kept');
  expect(boxes.offer('kept', Buffer.alloc(90))).toBe(true);
  boxes.forget('kept');
  await boxes.flushed(1_000);
  expect(sent).toEqual(['a', 'b', 'd', 'e', 'kept']);
});
