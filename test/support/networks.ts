import path from 'node:path';
import { systemClock } from '../../src/base/clock.js';
import { newAgentKeys, readAgentKeys, storeAgentKeys } from '../../src/config/agent-keys.js';
import { KeyRing } from '../../src/config/key-ring.js';
import { newCurveKeyPair, type CurveKeyPair, type LinkKeys } from '../../src/transport/curve.js';
import { ListenerSet } from '../../src/transport/listener-set.js';
import { MemoryNetwork } from './memory-network.js';
import type { Listener } from '../../src/transport/port.js';
import { ZapGate } from '../../src/transport/zap-gate.js';
import { ZeromqLink, ZeromqListener } from '../../src/transport/zeromq.js';
import type { TransportHarness } from '../contract/transport.js';
import { takePortPair } from './ports.js';
import { temporaryFolder } from './temporary.js';

export function memoryHarness(): TransportHarness {
  const network = new MemoryNetwork();
  return {
    listen: () => Promise.resolve(network.listener()),
    dial: () => network.link(),
    close: () => Promise.resolve(),
  };
}

export function zeromqHarness(): TransportHarness {
  const folder = temporaryFolder();
  const address = `ipc://${path.join(folder.path, 'bus.sock')}`;
  return {
    listen: () => ZeromqListener.bind(address),
    dial: () => new ZeromqLink(address),
    close: () => {
      folder.remove();
      return Promise.resolve();
    },
  };
}

export interface CurveHarness extends TransportHarness {
  /** Where the keys are, as `sigma keys` keeps them. */
  readonly home: string;
  readonly address: string;
  readonly serverKey: string;
  readonly ring: KeyRing;
  /** Makes keys for an agent that has none, and lets it in. */
  keysOf(agent: string, role?: string): LinkKeys;
  dialWith(keys: LinkKeys): ZeromqLink;
  gate(): ZapGate;
}

/**
 * tcp with CURVE and a gate that reads real key files. Agents are given keys when they first dial;
 * `keys` is what a broker needs to have them prove who they are, and they to answer.
 */
export function curveHarness(): CurveHarness {
  const folder = temporaryFolder();
  const { port, release } = takePortPair();
  const address = `tcp://127.0.0.1:${port}`;
  const server = newCurveKeyPair();
  const ring = new KeyRing(folder.path, systemClock);
  const pairs = new Map<string, CurveKeyPair>();
  let gate: ZapGate | undefined;

  const keysOf = (agent: string, role = 'tester'): LinkKeys => {
    const known = pairs.get(agent);
    const curve = known ?? newCurveKeyPair();
    if (known === undefined) {
      pairs.set(agent, curve);
      const nowMs = Date.now();
      const keys = newAgentKeys({ agent, role, nowMs }, { curve_public: curve.publicKey });
      storeAgentKeys(folder.path, keys, { replace: false });
    }
    return { ...curve, serverKey: server.publicKey };
  };
  return {
    home: folder.path,
    address,
    serverKey: server.publicKey,
    ring,
    keysOf,
    gate: () => {
      if (gate === undefined) throw new Error('nobody listens yet');
      return gate;
    },
    async listen() {
      gate ??= await ZapGate.open({ isAllowed: (key) => ring.isAllowed(key) });
      return ZeromqListener.bind(address, { keys: { server, gate } });
    },
    dial: (agent = 'anyone', role) => new ZeromqLink(address, keysOf(agent, role)),
    dialWith: (keys) => new ZeromqLink(address, keys),
    keys: {
      proofFor: (claim) => ring.proofFor(claim),
      secretOf(agent, role) {
        keysOf(agent, role);
        return Buffer.from(readAgentKeys(folder.path, agent).secret, 'hex');
      },
    },
    async close() {
      await gate?.[Symbol.asyncDispose]();
      folder.remove();
      release();
    },
  };
}

/** One listener on a socket file and on a port at once; links dial them in turn. */
export function mixedHarness(): TransportHarness {
  const ipc = zeromqHarness();
  const tcp = curveHarness();
  let dialled = 0;
  return {
    async listen(): Promise<Listener> {
      return new ListenerSet(await ipc.listen(), await tcp.listen());
    },
    dial(agent, role) {
      dialled += 1;
      return dialled % 2 === 0 ? ipc.dial() : tcp.dial(agent, role);
    },
    async close() {
      await ipc.close();
      await tcp.close();
    },
  };
}
