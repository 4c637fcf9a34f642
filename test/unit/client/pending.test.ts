import { expect, test } from 'vitest';
import { BusError } from '../../../src/errors/bus-error.js';
import { PendingRequests } from '../../../src/client/pending.js';
import type { Reply } from '../../../src/client/request.js';
import { Command, makeFrame } from '../../../src/wire/frame.js';
import { VirtualClock } from '../../support/virtual-clock.js';

const reply: Reply = { from: 'worker', type: 'echo.reply', body: Buffer.alloc(0), seq: 0 };

function requests() {
  const clock = new VirtualClock();
  const pending = new PendingRequests({
    clock,
    unavailable: () => undefined,
    whole: (its) => its,
    again: () => undefined,
    onCancelled: () => undefined,
  });
  const ended: string[] = [];
  const ask = (id: string, deadlineMs: number): void => {
    const frame = makeFrame(Command.SEND, { id });
    pending.add(frame, { deadlineMs, isIdempotent: true }).then(
      () => ended.push(`${id} answered`),
      (error: unknown) =>
        ended.push(`${id} ${(error as BusError).code} at ${clock.monotonicMs() - startMs}`),
    );
  };
  const startMs = clock.monotonicMs();
  return { clock, pending, ended, ask };
}

test('each request ends at its own deadline, in whatever order they were asked', async () => {
  const { clock, ended, ask } = requests();
  ask('long', 300);
  ask('short', 100);
  ask('middle', 200);
  await clock.advance(1_000);
  expect(ended).toEqual([
    'short DEADLINE_EXCEEDED at 100',
    'middle DEADLINE_EXCEEDED at 200',
    'long DEADLINE_EXCEEDED at 300',
  ]);
});

test('an answer ends a request once, and its deadline ends no other', async () => {
  const { clock, pending, ended, ask } = requests();
  ask('first', 100);
  ask('second', 250);
  pending.settle('first', reply);
  pending.settle('first', reply);
  await clock.advance(1_000);
  expect(ended).toEqual(['first answered', 'second DEADLINE_EXCEEDED at 250']);
});

test('a request asked after all others have ended has its whole time', async () => {
  const { clock, pending, ended, ask } = requests();
  ask('first', 100);
  pending.settle('first', reply);
  await clock.advance(90);
  ask('second', 100);
  await clock.advance(1_000);
  expect(ended).toEqual(['first answered', 'second DEADLINE_EXCEEDED at 190']);
});
