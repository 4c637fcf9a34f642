import { expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.js';
import { noTrace } from '../../../src/base/trace.js';
import { clientLimits } from '../../../src/client/limits.js';
import { Responder, type Handler } from '../../../src/client/responder.js';
import { Command, makeFrame, type Frame } from '../../../src/wire/frame.js';
import { decodeFailure } from '../../../src/wire/messages.js';

function world(
  handlers: Record<string, Handler>,
  takes: (frame: Frame, reserve: number) => boolean = () => true,
) {
  const sent: Frame[] = [];
  const responder = new Responder({
    agent: 'worker-1',
    clock: systemClock,
    trace: noTrace,
    nextId: () => 'r',
    send: (frame, reserve) => takes(frame, reserve) && sent.push(frame) > 0,
    share: (body) => Promise.resolve(body.subarray(0, 1)),
  });
  responder.add(handlers);
  const ask = (id: string, type: string): void =>
    responder.onRequest(
      makeFrame(Command.DELIVER, { id, type, from: 'asker', reply_to: 'agent:asker' }),
    );
  const replies = (): string[] =>
    sent.map(({ envelope, body }) => {
      const said = envelope.type === 'error' ? decodeFailure(body).code : body.toString();
      return `${envelope.correlation} ${envelope.type} ${said}`;
    });
  return { responder, ask, replies };
}

const never = (): Promise<Buffer> => new Promise(() => undefined);

test('what a handler returns or throws at once is sent at once, in order, each once', () => {
  const { ask, replies } = world({
    now: (request) => {
      request.progress(Buffer.from('half'));
      return Buffer.from('whole');
    },
    broken: () => {
      throw new Error('no');
    },
  });
  ask('1', 'now');
  ask('2', 'broken');
  ask('3', 'unheard');
  expect(replies()).toEqual([
    '1 now.part half',
    '1 now.reply whole',
    '2 error INTERNAL',
    '3 error UNKNOWN_TYPE',
  ]);
});

test('what is answered at once does not count; while too much is under way that is refused too', () => {
  const { ask, replies } = world({ now: () => Buffer.from('x'), never });
  const { servingMax } = clientLimits;
  for (let at = 0; at <= servingMax; at += 1) ask(`now-${at}`, 'now');
  for (let at = 0; at < servingMax; at += 1) ask(`never-${at}`, 'never');
  ask('one more', 'now');
  expect(replies()).toHaveLength(servingMax + 2);
  expect(replies().at(-1)).toBe('one more error BROKER_BUSY');
});

test('an answer for which the link has no room is told in place of it; an error may use the reserve', () => {
  const said: boolean[] = [];
  const { ask, replies } = world(
    {
      full: (request) => {
        said.push(request.progress(Buffer.from('half')));
        return Buffer.from('whole');
      },
    },
    (_, reserve) => reserve > 0,
  );
  ask('1', 'full');
  ask('2', 'unheard');
  expect(said).toEqual([false]);
  expect(replies()).toEqual(['1 error REPLY_DROPPED', '2 error UNKNOWN_TYPE']);
});

test('where not even an error can leave, nothing is sent', () => {
  const { ask, replies } = world({ now: () => Buffer.from('x') }, () => false);
  ask('1', 'now');
  expect(replies()).toEqual([]);
});

test('a reply that is too large is shared, also where the handler returns it at once', async () => {
  const { ask, replies } = world({
    large: () => Buffer.alloc(clientLimits.replyBytesMax + 1, 'x'),
  });
  ask('1', 'large');
  await new Promise(setImmediate);
  expect(replies()).toEqual(['1 blob x']);
});

test('a request that came again can be cancelled after the first of the two has ended', async () => {
  const ends: (() => void)[] = [];
  const signals: AbortSignal[] = [];
  const { ask, responder } = world({
    slow: ({ signal }) => {
      signals.push(signal);
      return new Promise((resolve) => ends.push(() => resolve(Buffer.from('x'))));
    },
  });
  ask('1', 'slow');
  ask('1', 'slow');
  ends[0]!();
  await new Promise(setImmediate);
  responder.onCancel('asker', '1');
  expect(signals.map(({ aborted }) => aborted)).toEqual([false, true]);
});
