import { expect, test } from 'vitest';
import { Live, type LiveEvents } from '../../../services/console/live.js';
import { taskMessages } from '../../../src/task/requests/messages.js';
import { VirtualClock } from '../../support/virtual-clock.js';

const nothing = { [Symbol.dispose]: () => undefined };

/** A broker and a manager as far as a look needs them, played by the test. */
function looked(): { clock: VirtualClock; told: string[]; its: any; live: Live } {
  const clock = new VirtualClock();
  const its = { mail: 1, tasks: () => Promise.resolve(1) };
  const client = {
    onPresence: () => nothing,
    status: () => Promise.resolve({ accepted: its.mail }),
    request: async () => ({
      body: taskMessages.numbers.answer.encode({ changes: await its.tasks(), states: [] } as any),
    }),
  };
  const bus = { onState: () => nothing, client: () => Promise.resolve(client), trouble: undefined };
  const samples = { watch: () => undefined };
  const live = new Live({ bus, samples, clock } as any);
  const told: string[] = [];
  live.add((event, data) => {
    if (event === 'changed') told.push((data as LiveEvents['changed']).what.join(' '));
  });
  return { clock, told, its, live };
}

test('what could not be read is told when it can be again, although it is as it was', async () => {
  const { clock, told, its, live } = looked();
  await clock.advance(2_000);
  expect(told).toEqual([]);
  its.tasks = () => Promise.reject(new Error('no manager'));
  await clock.advance(1_000);
  its.tasks = () => Promise.resolve(1);
  await clock.advance(3_000);
  expect(told).toEqual(['tasks gates prompts']);
  live[Symbol.dispose]();
});

test('a manager that does not answer keeps no page from its mail', async () => {
  const { clock, told, its, live } = looked();
  await clock.advance(2_000);
  its.tasks = () => new Promise(() => undefined);
  await clock.advance(2_000);
  its.mail = 2;
  await clock.advance(1_000);
  expect(told).toEqual(['mail']);
  live[Symbol.dispose]();
});
