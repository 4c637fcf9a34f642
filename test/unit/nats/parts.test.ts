import { expect, test } from 'vitest';
import { PartReceiver, Unfinished } from '../../../src/nats/parts.js';
import { partBytesMax } from '../../../src/wire/frame.js';

const piece = (text: string): Uint8Array => Buffer.from(text);

test('parts are put together in the order of their numbers', () => {
  const receiver = new PartReceiver();
  expect(receiver.take('0', piece('one')).toString()).toBe('one');
  expect(receiver.take('1+', piece('tw'))).toBe('unfinished');
  expect(receiver.take('2', piece('o')).toString()).toBe('two');
});

test('a number that is missing, repeated or none is a gap', () => {
  for (const token of ['1', '', 'over', '00', '0++', '-0']) {
    expect(new PartReceiver().take(token, piece('x'))).toBe('gap');
  }
  const receiver = new PartReceiver();
  receiver.take('0', piece('x'));
  expect(receiver.take('0', piece('x'))).toBe('gap');
});

test('what is not whole has a limit, of one part and of all peers together', () => {
  const half = new Uint8Array(Math.ceil(partBytesMax / 2) + 1);
  const one = new PartReceiver();
  expect(one.take('0+', half)).toBe('unfinished');
  expect(one.take('1', half)).toBe('gap');

  const unfinished = new Unfinished();
  const peers = Array.from({ length: 64 }, () => new PartReceiver(unfinished));
  const taken = peers.filter((each) => each.take('0+', half) === 'unfinished');
  expect(taken.length).toBeLessThan(peers.length);
  const before = unfinished.bytes;
  expect(before).toBe(taken.length * half.length);
  // A whole part, and one that is given up, make room.
  taken[0]!.take('1', piece('x'));
  taken[1]!.drop();
  expect(unfinished.bytes).toBe(before - 2 * half.length);
});
