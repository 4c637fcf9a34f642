import { assign, setup } from 'xstate';
import type { GoodbyeReason } from '../../wire/messages.js';

export type SessionEvent =
  /** A valid HELLO. `proof`: its role must prove itself. */
  | { type: 'peer.greeted'; agent: string; proof: boolean }
  | { type: 'peer.proved' }
  | { type: 'peer.misproved' }
  /** GOODBYE from the peer. */
  | { type: 'peer.left' }
  /** A frame of this peer was corrupt; it must send HELLO again and resend. */
  | { type: 'frame.corrupt' }
  /** A newer incarnation of the same agent sent HELLO. */
  | { type: 'session.superseded' }
  /** Too long silent, or its connection is known to be gone. */
  | { type: 'session.expired' }
  | { type: 'broker.drained' };

export type SessionEffect =
  | { type: 'challenge.send' }
  | { type: 'welcome.send' }
  | { type: 'refusal.send' }
  | { type: 'reset.send' }
  | { type: 'goodbye.send'; reason: GoodbyeReason }
  /** The agent can be addressed from now on. */
  | { type: 'session.announce' }
  /** It no longer can; `reason` goes into the presence event. */
  | { type: 'session.withdraw'; reason: GoodbyeReason }
  /** Forget this peer. */
  | { type: 'session.forget' };

/**
 * One connection of one agent, from its first HELLO to its end. Frames of a live session never come
 * here: a transition costs about 14 µs, a table look-up nothing.
 */
const session = setup({
  types: {
    context: {} as { agent: string },
    events: {} as SessionEvent,
    emitted: {} as SessionEffect,
  },
  guards: {
    mustProve: ({ event }) => event.type === 'peer.greeted' && event.proof,
    isSameAgent: ({ context, event }) =>
      event.type === 'peer.greeted' && event.agent === context.agent,
  },
  actions: {
    rememberAgent: assign({
      agent: ({ context, event }) => (event.type === 'peer.greeted' ? event.agent : context.agent),
    }),
  },
});

const sendChallenge = session.emit({ type: 'challenge.send' });
const sendWelcome = session.emit({ type: 'welcome.send' });
const sendRefusal = session.emit({ type: 'refusal.send' });
const sendReset = session.emit({ type: 'reset.send' });
const announce = session.emit({ type: 'session.announce' });
const forget = session.emit({ type: 'session.forget' });
const goodbye = (reason: GoodbyeReason) => session.emit({ type: 'goodbye.send', reason });
const withdraw = (reason: GoodbyeReason) => session.emit({ type: 'session.withdraw', reason });

export const sessionMachine = session.createMachine({
  id: 'broker.session',
  context: { agent: '' },
  initial: 'greeting',
  states: {
    greeting: {
      on: {
        'peer.greeted': [
          { guard: 'mustProve', target: 'proving', actions: 'rememberAgent' },
          { target: 'live', actions: 'rememberAgent' },
        ],
        'peer.left': 'closed',
        'session.expired': 'closed',
        'frame.corrupt': { actions: sendReset },
        'broker.drained': { target: 'closed', actions: goodbye('draining') },
      },
    },
    proving: {
      entry: sendChallenge,
      on: {
        'peer.proved': 'live',
        'peer.misproved': { target: 'closed', actions: sendRefusal },
        // Its first HELLO or our CHALLENGE was lost, or is slow: challenge again, with the same nonce.
        'peer.greeted': { guard: 'isSameAgent', target: 'proving', reenter: true },
        'peer.left': 'closed',
        'session.expired': 'closed',
        'frame.corrupt': { actions: sendReset },
        'broker.drained': { target: 'closed', actions: goodbye('draining') },
      },
    },
    live: {
      entry: [sendWelcome, announce],
      on: {
        // HELLO again after a RESET, or because our WELCOME was lost.
        'peer.greeted': { guard: 'isSameAgent', actions: sendWelcome },
        'peer.left': { target: 'closed', actions: withdraw('left') },
        'session.superseded': {
          target: 'closed',
          actions: [goodbye('superseded'), withdraw('superseded')],
        },
        'session.expired': { target: 'closed', actions: withdraw('expired') },
        'frame.corrupt': { actions: sendReset },
        'broker.drained': {
          target: 'closed',
          actions: [goodbye('draining'), withdraw('draining')],
        },
      },
    },
    closed: { entry: forget, type: 'final' },
  },
});
