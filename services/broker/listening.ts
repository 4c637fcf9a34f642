import { systemClock } from '../../src/base/clock.js';
import type { Scope } from '../../src/base/scope.js';
import type { Trace } from '../../src/base/trace.js';
import type { Config } from '../../src/config/config.js';
import type { KeyRing } from '../../src/config/key-ring.js';
import { serverKeysFor } from '../../src/config/keys.js';
import { BusError } from '../../src/errors/bus-error.js';
import { NatsListener } from '../../src/nats/listener.js';
import { isNats, isTcp } from '../../src/transport/address.js';
import type { CurveKeyPair, ListenerKeys } from '../../src/transport/curve.js';
import { ListenerSet } from '../../src/transport/listener-set.js';
import type { Listener } from '../../src/transport/port.js';
import { ZapGate } from '../../src/transport/zap-gate.js';
import { ZeromqListener } from '../../src/transport/zeromq.js';
import type { Office } from '../office.js';

/** The broker's own key pair, where it listens on tcp. Throws KEYS_MISSING, KEY_FILE_INVALID. */
export function serverKeysOf(config: Config): CurveKeyPair | undefined {
  const address = [config.bus, ...config.listen].find(isTcp);
  return address === undefined ? undefined : serverKeysFor(config.home, address);
}

/**
 * Binds `bus` and every address in `listen`; `scope` owns the sockets.
 * Throws SOCKET_PATH, BROKER_RUNNING, KEYS_MISSING, NATS_*.
 */
export async function listenOn(
  config: Config,
  parts: {
    server: CurveKeyPair | undefined;
    nats: Office['nats'];
    ring: KeyRing;
    scope: Scope;
    trace: Trace;
  },
): Promise<Listener> {
  const { server, nats, ring, scope, trace } = parts;
  let keys: ListenerKeys | undefined;
  if (server !== undefined) {
    // Before the listeners: the first connection is to be judged already.
    const gate = await ZapGate.open({ isAllowed: (key) => ring.isAllowed(key), trace });
    keys = { server, gate: scope.own(gate) };
  }
  const listeners: Listener[] = [];
  const random = Math.random;
  if (nats !== undefined)
    listeners.push(
      scope.own(await NatsListener.open({ ...nats, clock: systemClock, random, trace })),
    );
  for (const address of [config.bus, ...config.listen].filter((each) => !isNats(each)))
    listeners.push(scope.own(await ZeromqListener.bind(address, { keys, trace })));
  const [first, ...others] = listeners;
  if (first === undefined) throw new BusError('CONFIG_INVALID', { detail: 'no bus is named' });
  return others.length === 0 ? first : new ListenerSet(first, ...others);
}
