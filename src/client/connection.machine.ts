import { assign, setup } from 'xstate';
import type { ErrorCode } from '../errors/catalogue.js';

export type ConnectionEvent =
  | { type: 'link.up' }
  | { type: 'link.down' }
  | { type: 'broker.challenged' }
  | { type: 'broker.welcomed' }
  /** HELLO or PROOF was refused. `isFinal`: a repetition would be refused again. */
  | { type: 'broker.refused'; code: ErrorCode; isFinal: boolean }
  /** It does not know us, or a frame of ours arrived corrupt. */
  | { type: 'broker.reset' }
  /** It goes away; milliseconds after which we may reconnect. */
  | { type: 'broker.drained'; reconnectMs: number }
  /** Another process took over our name. */
  | { type: 'broker.superseded' }
  /** Silence for too long, although the link is up. */
  | { type: 'broker.silent' }
  /** It is time to send HELLO again. */
  | { type: 'greeting.due' }
  | { type: 'client.closed' };

export type ConnectionEffect =
  | { type: 'hello.send' }
  | { type: 'proof.send' }
  | { type: 'goodbye.send' }
  /** Arm `greeting.due`, with backoff by `attempt`. */
  | { type: 'greeting.arm'; attempt: number }
  /** Arm `greeting.due` at the time that the broker wished for. */
  | { type: 'return.arm'; reconnectMs: number }
  /** Registration, services and unanswered idempotent requests go out again. */
  | { type: 'state.replay' }
  /** Requests that are not idempotent have failed. */
  | { type: 'requests.interrupt' }
  /** Nothing will ever be answered. */
  | { type: 'requests.fail'; code: ErrorCode };

/**
 * One client's way to its broker. It never gives up while the link may come back; it ends only when it
 * is closed, superseded or refused for good. Timers and links speak when they like: an event that a state
 * does not name means nothing in it, and the shell drops it.
 */
const connection = setup({
  types: {
    context: {} as { attempt: number; code: ErrorCode; reconnectMs: number },
    events: {} as ConnectionEvent,
    emitted: {} as ConnectionEffect,
  },
  guards: {
    isFinal: ({ event }) => event.type === 'broker.refused' && event.isFinal,
  },
  actions: {
    countAttempt: assign({ attempt: ({ context }) => context.attempt + 1 }),
    forgetAttempts: assign({ attempt: 0 }),
    rememberCode: assign({
      code: ({ context, event }) => (event.type === 'broker.refused' ? event.code : context.code),
    }),
    rememberReturn: assign({
      reconnectMs: ({ context, event }) =>
        event.type === 'broker.drained' ? event.reconnectMs : context.reconnectMs,
    }),
    rememberSuperseded: assign({ code: 'SUPERSEDED' }),
    rememberClosed: assign({ code: 'CANCELLED' }),
  },
});

const sendHello = connection.emit({ type: 'hello.send' });
const sendProof = connection.emit({ type: 'proof.send' });
const sendGoodbye = connection.emit({ type: 'goodbye.send' });
const armGreeting = connection.emit(({ context }) => ({
  type: 'greeting.arm',
  attempt: context.attempt,
}));
const armReturn = connection.emit(({ context }) => ({
  type: 'return.arm',
  reconnectMs: context.reconnectMs,
}));
const replay = connection.emit({ type: 'state.replay' });
const interrupt = connection.emit({ type: 'requests.interrupt' });
const failAll = connection.emit(({ context }) => ({ type: 'requests.fail', code: context.code }));

export const connectionMachine = connection.createMachine({
  id: 'client.connection',
  context: { attempt: 0, code: 'NO_BROKER', reconnectMs: 0 },
  initial: 'connecting',
  on: { 'client.closed': { target: '.closed', actions: 'rememberClosed' } },
  states: {
    /** No link. */
    connecting: { on: { 'link.up': 'greeting' } },
    /** HELLO is out; repeated until the broker answers. */
    greeting: {
      entry: [sendHello, armGreeting],
      on: {
        'link.up': { target: 'greeting', reenter: true },
        'link.down': 'connecting',
        'greeting.due': { target: 'greeting', reenter: true, actions: 'countAttempt' },
        'broker.challenged': { actions: sendProof },
        'broker.welcomed': 'live',
        'broker.superseded': { target: 'closed', actions: 'rememberSuperseded' },
        'broker.refused': [
          { guard: 'isFinal', target: 'closed', actions: 'rememberCode' },
          { actions: 'rememberCode' },
        ],
      },
    },
    live: {
      entry: ['forgetAttempts', replay],
      exit: interrupt,
      on: {
        'link.up': 'greeting',
        'link.down': 'connecting',
        'broker.reset': 'greeting',
        'broker.silent': 'greeting',
        'broker.drained': { target: 'away', actions: 'rememberReturn' },
        'broker.superseded': { target: 'closed', actions: 'rememberSuperseded' },
        'broker.challenged': { actions: sendProof },
        'client.closed': { target: 'closed', actions: ['rememberClosed', sendGoodbye] },
      },
    },
    /** The broker sent GOODBYE. The state of the link does not matter until it is time to reconnect. */
    away: { entry: armReturn, on: { 'greeting.due': 'greeting' } },
    closed: { entry: failAll, type: 'final' },
  },
});
