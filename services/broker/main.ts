import { systemClock } from '../../src/base/clock.js';
import { Scope } from '../../src/base/scope.js';
import { Broker } from '../../src/broker/broker.js';
import type { Config } from '../../src/config/config.js';
import { KeyRing } from '../../src/config/key-ring.js';
import { ensureRoleSecrets } from '../../src/config/keys.js';
import { BusError } from '../../src/errors/bus-error.js';
import { openLog, traceTo } from '../../src/observe/log.js';
import { isListening } from '../../src/transport/probe.js';
import { notifySystemd, untilStopped, version } from '../process.js';
import { listenOn, serverKeysOf } from './listening.js';
import { openStore } from './store.js';

/** `sigma bus`: the broker, until it is told to stop. Throws BROKER_RUNNING, STORE_*, SOCKET_PATH, KEYS_MISSING. */
export async function runBroker(config: Config): Promise<void> {
  const log = openLog(config, { service: 'broker' });
  const stopped = untilStopped();
  const trace = traceTo(log);
  const server = serverKeysOf(config);
  await using scope = new Scope();
  // A broker whose disk is full has let go of its lock, and listens on.
  if (await isListening(config.bus)) throw new BusError('BROKER_RUNNING', { path: config.bus });
  // The lock before the sockets: binding would take over those of another broker.
  const store = scope.own(await openStore(config));
  ensureRoleSecrets(config.home);
  const ring = new KeyRing(config.home, systemClock, trace);
  const listener = await listenOn(config, { server, ring, scope, trace });
  const broker = scope.own(
    await Broker.open({
      store,
      listener,
      clock: systemClock,
      random: Math.random,
      proofFor: (claim) => ring.proofFor(claim),
      version,
      limits: { heartbeatMs: config.heartbeatMs, drainMsMax: config.drainMs },
      trace,
    }),
  );
  log.info({ address: config.bus, listen: config.listen, agents: broker.registry.size }, 'serving');
  await notifySystemd('READY=1');
  const why = await stopped;
  log.info({ why }, 'stopping');
  void notifySystemd('STOPPING=1');
}
