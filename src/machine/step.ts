import {
  initialTransition,
  transition,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  type EmittedFrom,
  type EventFrom,
  type InputFrom,
  type SnapshotFrom,
} from 'xstate';
import { BusError } from '../errors/bus-error.js';

/** The result of one event. Nothing has happened yet: the shell persists, then performs the effects. */
export interface Step<M extends AnyStateMachine> {
  snapshot: SnapshotFrom<M>;
  /** In the order in which the machine emitted them. */
  effects: EmittedFrom<M>[];
}

/** The first state of a conversation and what to do on entering it. */
export function start<M extends AnyStateMachine>(machine: M, input: InputFrom<M>): Step<M> {
  const pure = initialTransition as unknown as (machine: M, input: InputFrom<M>) => Raw;
  return checked<M>(machine, pure(machine, input));
}

/**
 * One event in, the next state and its effects out. XState ignores an unexpected event in silence;
 * here it is refused with PROTOCOL_UNEXPECTED_EVENT, also when no guard lets it pass.
 */
export function step<M extends AnyStateMachine>(
  machine: M,
  snapshot: SnapshotFrom<M>,
  event: EventFrom<M>,
): Step<M> {
  const current = snapshot as AnyMachineSnapshot;
  if (!accepts(current, event)) {
    throw new BusError('PROTOCOL_UNEXPECTED_EVENT', {
      event: (event as { type: string }).type,
      state: `${machine.id}.${stateName(current)}`,
    });
  }
  const pure = transition as unknown as (machine: M, snapshot: unknown, event: unknown) => Raw;
  return checked<M>(machine, pure(machine, current, event));
}

/** `running`, or `running.waiting` for nested states. */
export function stateName(snapshot: { value: unknown }): string {
  const walk = (value: unknown): string =>
    typeof value === 'string'
      ? value
      : Object.entries(value as Record<string, unknown>)
          .map(([name, inner]) => [name, walk(inner)].filter(Boolean).join('.'))
          .join('+');
  return walk(snapshot.value);
}

export type Snapshot<M extends AnyStateMachine> = SnapshotFrom<M>;

/** The part of a snapshot to persist, as JSON. */
export interface StoredSnapshot {
  value: unknown;
  context: unknown;
}

export function stored(snapshot: unknown): StoredSnapshot {
  const { value, context } = snapshot as StoredSnapshot;
  return { value, context };
}

/** Restores a persisted snapshot without entering its state again. Throws when the machine no longer has the state. */
export function restored<M extends AnyStateMachine>(machine: M, kept: StoredSnapshot): Snapshot<M> {
  return machine.resolveState(kept as never) as unknown as Snapshot<M>;
}

type Raw = [AnyMachineSnapshot, { type: string; params: unknown }[]];

function accepts(snapshot: AnyMachineSnapshot, event: unknown): boolean {
  return snapshot.status === 'active' && snapshot.can(event);
}

function checked<M extends AnyStateMachine>(machine: M, [snapshot, actions]: Raw): Step<M> {
  // A throw in a guard or an assignment would otherwise stay hidden in a snapshot of status `error`.
  if (snapshot.status === 'error') throw snapshot.error;
  return {
    snapshot: snapshot as SnapshotFrom<M>,
    effects: actions.map((each) => effect<M>(machine, each)),
  };
}

/** Only emitted effects keep a machine pure: timers, invoked actors and custom actions surface here by type. */
function effect<M extends AnyStateMachine>(
  machine: M,
  action: { type: string; params: unknown },
): EmittedFrom<M> {
  if (action.type !== 'xstate.emit') {
    throw new Error(`bug: machine ${machine.id} is not pure: it runs ${action.type}`);
  }
  return (action.params as { event: EmittedFrom<M> }).event;
}
