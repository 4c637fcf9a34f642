import { expect, test } from 'vitest';
import { assign, setup } from 'xstate';
import { start, stateName, step } from '../../../src/machine/step.js';

const lamp = setup({
  types: {
    context: {} as { presses: number; pressesMax: number },
    input: {} as { pressesMax: number },
    events: {} as { type: 'button.pressed' } | { type: 'bulb.failed' } | { type: 'meter.read' },
    emitted: {} as { type: 'light.set'; on: boolean; presses: number },
  },
  guards: { works: ({ context }) => context.presses < context.pressesMax },
  actions: {
    count: assign({ presses: ({ context }) => context.presses + 1 }),
    explode: assign(() => {
      throw new Error('short circuit');
    }),
  },
});
const shine = lamp.emit(({ context }) => ({
  type: 'light.set',
  on: true,
  presses: context.presses,
}));
const machine = lamp.createMachine({
  id: 'lamp',
  context: ({ input }) => ({ ...input, presses: 0 }),
  initial: 'dark',
  states: {
    dark: { on: { 'button.pressed': { guard: 'works', target: 'bright', actions: 'count' } } },
    bright: {
      entry: shine,
      on: {
        'button.pressed': { target: 'dark', actions: 'count' },
        'bulb.failed': 'broken',
        'meter.read': { actions: 'explode' },
      },
    },
    broken: { type: 'final' },
  },
});

test('an event gives the next state and its effects, and the old snapshot stays as it was', () => {
  const first = start(machine, { pressesMax: 3 });
  const second = step(machine, first.snapshot, { type: 'button.pressed' });
  expect(first.snapshot.value).toBe('dark');
  expect(first.effects).toEqual([]);
  expect(second.snapshot.value).toBe('bright');
  expect(second.effects).toEqual([{ type: 'light.set', on: true, presses: 1 }]);
});

test('an event the state does not know is refused by code and names the state', () => {
  const { snapshot } = start(machine, { pressesMax: 3 });
  expect(() => step(machine, snapshot, { type: 'bulb.failed' })).toThrow(
    expect.objectContaining({
      code: 'PROTOCOL_UNEXPECTED_EVENT',
      data: { event: 'bulb.failed', state: 'lamp.dark' },
    }),
  );
});

test('an event that no guard lets pass is refused, and so is every event after the end', () => {
  const unplugged = start(machine, { pressesMax: 0 }).snapshot;
  expect(() => step(machine, unplugged, { type: 'button.pressed' })).toThrow(/not possible/);
  const lit = step(machine, start(machine, { pressesMax: 1 }).snapshot, { type: 'button.pressed' });
  const broken = step(machine, lit.snapshot, { type: 'bulb.failed' }).snapshot;
  expect(() => step(machine, broken, { type: 'button.pressed' })).toThrow(/not possible/);
});

test('a snapshot that went through JSON goes on where it was', () => {
  const lit = step(machine, start(machine, { pressesMax: 3 }).snapshot, { type: 'button.pressed' });
  const text = JSON.stringify({ value: lit.snapshot.value, context: lit.snapshot.context });
  const restored = machine.resolveState(JSON.parse(text));
  expect(stateName(step(machine, restored, { type: 'button.pressed' }).snapshot)).toBe('dark');
});

test('a failure inside an assignment is thrown, not kept in the snapshot', () => {
  const lit = step(machine, start(machine, { pressesMax: 3 }).snapshot, { type: 'button.pressed' });
  expect(() => step(machine, lit.snapshot, { type: 'meter.read' })).toThrow('short circuit');
});

test('a machine with a timer is not pure and is refused', () => {
  const timed = setup({}).createMachine({
    id: 'timed',
    initial: 'waiting',
    states: { waiting: { after: { 1000: 'over' } }, over: {} },
  });
  expect(() => start(timed, undefined)).toThrow(/timed is not pure: it runs xstate.raise/);
});

test('the name of a nested state is its path', () => {
  expect(stateName({ value: { running: { waiting: 'retry' } } })).toBe('running.waiting.retry');
});
