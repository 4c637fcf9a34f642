import { expect, test } from 'vitest';
import { lifecycleMachine } from '../../src/broker/lifecycle.machine.js';
import { sessionMachine } from '../../src/broker/session/session.machine.js';
import { connectionMachine } from '../../src/client/connection.machine.js';
import { transitionTable } from './walk.js';

test('broker.lifecycle', async () => {
  const table = transitionTable(lifecycleMachine, undefined, [
    { type: 'socket.bound' },
    { type: 'drain.requested' },
    { type: 'requests.ended' },
    { type: 'drain.timed_out' },
  ]);
  await expect(table).toMatchFileSnapshot('broker.lifecycle.txt');
});

test('broker.session', async () => {
  const table = transitionTable(sessionMachine, undefined, [
    { type: 'peer.greeted', agent: 'mm', proof: false },
    { type: 'peer.greeted', agent: 'mm', proof: true },
    { type: 'peer.greeted', agent: 'other', proof: true },
    { type: 'peer.proved' },
    { type: 'peer.misproved' },
    { type: 'peer.left' },
    { type: 'frame.corrupt' },
    { type: 'session.superseded' },
    { type: 'session.expired' },
    { type: 'broker.drained' },
  ]);
  await expect(table).toMatchFileSnapshot('broker.session.txt');
});

test('client.connection', async () => {
  const table = transitionTable(
    connectionMachine,
    undefined,
    [
      { type: 'link.up' },
      { type: 'link.down' },
      { type: 'broker.challenged' },
      { type: 'broker.welcomed' },
      { type: 'broker.refused', code: 'SESSIONS_FULL', isFinal: false },
      { type: 'broker.refused', code: 'UNAUTHORISED', isFinal: true },
      { type: 'broker.reset' },
      { type: 'broker.drained', reconnectMs: 100 },
      { type: 'broker.superseded' },
      { type: 'broker.silent' },
      { type: 'greeting.due' },
      { type: 'client.closed' },
    ],
    (snapshot) =>
      `${snapshot.value}${snapshot.value === 'greeting' ? `#${Math.min(snapshot.context.attempt, 2)}` : ''}`,
  );
  await expect(table).toMatchFileSnapshot('client.connection.txt');
});
