import { setup } from 'xstate';

export type LifecycleEvent =
  | { type: 'socket.bound' }
  | { type: 'drain.requested' }
  | { type: 'requests.ended' }
  | { type: 'drain.timed_out' };

type LifecycleEffect =
  | { type: 'traffic.open' }
  | { type: 'traffic.refuse' }
  | { type: 'goodbye.broadcast' };

/**
 * The broker as a whole: opening → serving → draining → closed. `draining` refuses new requests and lets
 * the open ones end; only then the broker sends GOODBYE. There is no way back: a new broker is a new
 * process.
 */
const lifecycle = setup({
  types: { events: {} as LifecycleEvent, emitted: {} as LifecycleEffect },
});

const openTraffic = lifecycle.emit({ type: 'traffic.open' });
const refuseTraffic = lifecycle.emit({ type: 'traffic.refuse' });
const broadcastGoodbye = lifecycle.emit({ type: 'goodbye.broadcast' });

export const lifecycleMachine = lifecycle.createMachine({
  id: 'broker.lifecycle',
  initial: 'opening',
  states: {
    opening: { on: { 'socket.bound': 'serving', 'drain.requested': 'closed' } },
    serving: { entry: openTraffic, on: { 'drain.requested': 'draining' } },
    draining: {
      entry: refuseTraffic,
      on: { 'requests.ended': 'closed', 'drain.timed_out': 'closed' },
    },
    closed: { entry: broadcastGoodbye, type: 'final' },
  },
});
