import { expect, test } from 'vitest';
import { defaultLimits } from '../../../src/broker/limits.js';
import { systemClock } from '../../../src/base/clock.js';
import { Outbox } from '../../../src/transport/outbox.js';
import { newSession } from '../../../src/broker/session/handshake.js';
import { Permissions } from '../../../src/broker/session/permissions.js';

test.each([
  ['Ann', false, 'Ann'],
  ['Ann', true, 'Ann (cli-7)'],
  ['', true, ''],
  ['A'.repeat(500), false, 'A'.repeat(96)],
])(
  'a person that a session names %j, over the network: %j, is told as %j',
  (person, isRemote, told) => {
    const hello = {
      ...{ agent: 'cli-7', role: 'client', incarnation: 1, protocol_min: 1, protocol_max: 1 },
      ...{ heartbeat_ms: 0, ephemeral: true, held: [], person, key: Buffer.alloc(0) },
    };
    const rights = new Permissions().of('client');
    const outbox = new Outbox({
      send: () => Promise.resolve('gone'),
      onGone: () => undefined,
      bytesMax: 0,
      clock: systemClock,
    });
    const parts = { limits: defaultLimits, rights, outbox, isRemote, nowMs: 0, sessions: 0 };
    expect(newSession('peer', hello, parts).person).toBe(told);
  },
);
