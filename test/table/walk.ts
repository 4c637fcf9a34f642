import type { AnyStateMachine, EventFrom, InputFrom, SnapshotFrom } from 'xstate';
import { BusError } from '../../src/errors/bus-error.js';
import { start, stateName, step } from '../../src/machine/step.js';

/** More reachable states than this means that a context counts without an end. */
const statesMax = 200;

/**
 * Every (state, event) pair of a machine as lines, the refused ones included. `label` tells apart the
 * states whose behaviour differs; two snapshots with one label count as one state.
 */
export function transitionTable<M extends AnyStateMachine>(
  machine: M,
  input: InputFrom<M>,
  events: EventFrom<M>[],
  label: (snapshot: SnapshotFrom<M>) => string = (snapshot) => stateName(snapshot),
): string {
  const first = start(machine, input);
  const lines = [`start --> ${label(first.snapshot)} ${JSON.stringify(first.effects)}`];
  const seen = new Map<string, SnapshotFrom<M>>([[label(first.snapshot), first.snapshot]]);
  for (const [from, snapshot] of seen) {
    for (const event of events) {
      const line = `${from} --${JSON.stringify(event)}--> `;
      try {
        const next = step(machine, snapshot, event);
        const to = label(next.snapshot);
        lines.push(`${line}${to} ${JSON.stringify(next.effects)}`);
        if (!seen.has(to)) seen.set(to, next.snapshot);
      } catch (error) {
        if (!(error instanceof BusError)) throw error;
        lines.push(`${line}(${error.code})`);
      }
      if (seen.size > statesMax) throw new Error('too many states');
    }
  }
  return `${lines.join('\n')}\n`;
}
