import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.js';
import { Poster } from '../../../src/client/poster.js';
import { asBusError, BusError } from '../../../src/errors/bus-error.js';
import { encodeFrame, frameBytesMax, type Frame } from '../../../src/wire/frame.js';

const deadlineMs = 100;
const full = new BusError('STORE_UNAVAILABLE', { path: 'store', detail: 'no space left' });

let poster: Poster;
const sent: Frame[] = [];

beforeEach(() => {
  sent.length = 0;
  poster = new Poster({
    clock: systemClock,
    random: () => 1,
    send: (frame) => {
      if (encodeFrame(frame).length > 0) sent.push(frame);
      return true;
    },
    trouble: () => undefined,
  });
});
afterEach(() => poster[Symbol.dispose]());

function post(id: string): Promise<BusError | undefined> {
  return poster.post('agent:other', 'x', Buffer.from(id), id, { deadlineMs }).then(
    () => undefined,
    (error: unknown) => asBusError(error),
  );
}

const codesOf = async (posts: Promise<BusError | undefined>[]) =>
  (await Promise.all(posts)).map((error) => error?.code);

describe('messages that run out of time', () => {
  test('behind one that was refused are told why that one was', async () => {
    poster.onSession(16);
    const posts = ['a', 'b'].map(post);
    poster.onReject('a', full);
    poster.onReject('b', new BusError('OUT_OF_ORDER', { id: 'b', after: 'a' }));
    expect(await codesOf(posts)).toEqual(['STORE_UNAVAILABLE', 'STORE_UNAVAILABLE']);
  });

  test('and never left are told so as well', async () => {
    poster.onSession(1);
    const posts = ['a', 'b'].map(post);
    poster.onReject('a', full);
    expect(sent.map(({ envelope }) => envelope.id)).toEqual(['a']);
    expect(await codesOf(posts)).toEqual(['STORE_UNAVAILABLE', 'STORE_UNAVAILABLE']);
  });

  test('after the trouble was over are told of the time that they had', async () => {
    poster.onSession(16);
    const [accepted, late] = ['a', 'b'].map(post);
    poster.onReject('a', full);
    poster.onAccept('a', 1);
    expect(await accepted).toBeUndefined();
    expect(await late).toMatchObject({ code: 'DEADLINE_EXCEEDED' });
    expect((await late)?.message).toContain(`${deadlineMs} ms`);
  });
});

describe('a message that is too large for a frame', () => {
  const large = (): Promise<string> =>
    poster.post('agent:other', 'x', Buffer.alloc(frameBytesMax), 'large', { deadlineMs }).then(
      () => 'accepted',
      (error: unknown) => asBusError(error).code,
    );

  test('fails alone, also in front of others of its lane', async () => {
    poster.onSession(16);
    const outcome = large();
    const other = post('b');
    expect(await outcome).toBe('TOO_LARGE');
    expect(sent.map(({ envelope }) => [envelope.id, envelope.after])).toEqual([['b', '']]);
    poster.onAccept('b', 1);
    expect(await other).toBeUndefined();
  });

  test('fails with the next session when it was posted without one', async () => {
    const outcome = large();
    const other = post('b');
    poster.onSession(16);
    poster.onAccept('b', 1);
    expect([await outcome, await other]).toEqual(['TOO_LARGE', undefined]);
  });
});
