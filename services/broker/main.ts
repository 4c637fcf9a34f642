import path from 'node:path';
import { systemClock } from '../../src/base/clock.js';
import { Scope } from '../../src/base/scope.js';
import { Broker } from '../../src/broker/broker.js';
import type { Config } from '../../src/config/config.js';
import { ensureSecrets } from '../../src/config/secrets.js';
import { BusError } from '../../src/errors/bus-error.js';
import { openLog, traceTo } from '../../src/observe/log.js';
import { LevelStore } from '../../src/store/level-store.js';
import { ZeromqListener } from '../../src/transport/zeromq.js';
import { notifySystemd, untilStopped, version } from '../process.js';

/** `sigma bus`: the broker, until it is told to stop. Throws BROKER_RUNNING, STORE_*, SOCKET_PATH. */
export async function runBroker(config: Config): Promise<void> {
  const log = openLog(config, { service: 'broker' });
  const stopped = untilStopped();
  await using scope = new Scope();
  // The lock first: it is what makes this the only broker, and binding would take over another's socket.
  const store = scope.own(await openStore(path.join(config.home, 'bus', 'store')));
  const secrets = ensureSecrets(config.home);
  const listener = scope.own(await ZeromqListener.bind(config.bus));
  const broker = scope.own(
    await Broker.open({
      store,
      listener,
      clock: systemClock,
      secretOf: (role) => secrets.get(role),
      version,
      limits: { heartbeatMs: config.heartbeatMs, drainMsMax: config.drainMs },
      trace: traceTo(log),
    }),
  );
  log.info({ address: config.bus, agents: broker.registry.size }, 'serving');
  await notifySystemd('READY=1');
  const why = await stopped;
  log.info({ why }, 'stopping');
  void notifySystemd('STOPPING=1');
}

async function openStore(folder: string): Promise<LevelStore> {
  try {
    return await LevelStore.open(folder);
  } catch (error) {
    if (error instanceof BusError && error.code === 'STORE_LOCKED') {
      throw new BusError('BROKER_RUNNING', { path: folder }, { cause: error });
    }
    throw error;
  }
}
