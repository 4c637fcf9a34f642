import { systemClock } from '../../src/base/clock.js';
import {
  agentsWithKeys,
  newAgentKeys,
  readAgentKeys,
  storeAgentKeys,
} from '../../src/config/agent-keys.js';
import { KeyRing } from '../../src/config/key-ring.js';
import { newNkey } from '../../src/config/nkey.js';
import type { NatsAccess } from '../../src/nats/connect.js';
import { NatsLink } from '../../src/nats/link.js';
import { NatsListener } from '../../src/nats/listener.js';
import type { TransportHarness } from '../contract/transport.js';
import type { NatsServer } from './nats-server.js';
import { temporaryFolder } from './temporary.js';

let buses = 0;

/** A bus of its own on this server. Each broker that listens leads in a later epoch. */
export function natsHarness(server: NatsServer): TransportHarness {
  buses += 1;
  const bus = `bus-${buses}`;
  const folder = temporaryFolder();
  const ring = new KeyRing(folder.path, systemClock);
  let epoch = 0;
  const access = (agent: string): NatsAccess => ({
    servers: [server.address],
    isTls: false,
    bus,
    text: `${server.url}/${bus}`,
    agent,
  });
  const letIn = (agent: string, role = 'tester'): void => {
    if (agentsWithKeys(folder.path).includes(agent)) return;
    const half = { nats_public: newNkey().publicKey, nats_bus: bus };
    const keys = newAgentKeys({ agent, role, nowMs: Date.now() }, half);
    storeAgentKeys(folder.path, keys, { replace: false });
  };
  return {
    listen() {
      epoch += 1;
      const parts = { access: access('broker'), epoch, clock: systemClock, random: Math.random };
      return NatsListener.open(parts);
    },
    dial(agent = 'some-agent', role) {
      letIn(agent, role);
      return new NatsLink({ access: access(agent), clock: systemClock, random: Math.random });
    },
    keys: {
      proofFor: (claim) => ring.proofFor(claim),
      secretOf(agent, role) {
        letIn(agent, role);
        return Buffer.from(readAgentKeys(folder.path, agent).secret, 'hex');
      },
    },
    close() {
      folder.remove();
      return Promise.resolve();
    },
  };
}
