import path from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { systemClock } from '../../src/base/clock.js';
import { Scope } from '../../src/base/scope.js';
import { Broker } from '../../src/broker/broker.js';
import { Permissions } from '../../src/broker/session/permissions.js';
import type { Config } from '../../src/config/config.js';
import { KeyRing } from '../../src/config/key-ring.js';
import { ensureRoleSecrets } from '../../src/config/keys.js';
import type { Trace } from '../../src/base/trace.js';
import { BusError } from '../../src/errors/bus-error.js';
import { AuditStream } from '../../src/nats/audit-stream.js';
import { AuditLog } from '../../src/observe/audit.js';
import { HealthServer, verdictOn, type Verdict } from '../../src/observe/health-server.js';
import { openLog, traceTo, type Logger } from '../../src/observe/log.js';
import { LoopLag } from '../../src/observe/loop-lag.js';
import { busLayout } from '../../src/store/layouts.js';
import { assertNotMoved } from '../../src/store/move.js';
import { isNats } from '../../src/transport/address.js';
import type { CurveKeyPair } from '../../src/transport/curve.js';
import { isListening } from '../../src/transport/probe.js';
import type { StatusAnswer } from '../../src/wire/messages.js';
import { untilStopped } from '../process.js';
import { reportReady } from '../systemd.js';
import { version } from '../version.js';
import { listenOn, serverKeysOf } from './listening.js';
import { openStore, storeFolder } from '../bus-store.js';
import { inOffice, type Office } from '../office.js';

/**
 * A quiet spell makes V8 shrink the room it gives a small heap, and the buffers of a burst of messages
 * count as heap: without this, a full collection every few milliseconds takes a third of the throughput.
 */
const heapGrowth = '--heap-growing-percent=300';

/**
 * `sigma bus`: runs the broker until a signal stops it; on NATS, whenever it leads. Throws BROKER_RUNNING, STORE_*, SOCKET_PATH,
 * KEYS_MISSING, KEY_FILE_INVALID, NATS_*, STORE_MOVED.
 */
export async function runBroker(config: Config): Promise<void> {
  setFlagsFromString(heapGrowth);
  const log = openLog(config, { service: 'broker' });
  const stopped = untilStopped();
  const server = serverKeysOf(config);
  // A broker whose disk is full has let go of its lock, and listens on.
  if (!isNats(config.bus) && (await isListening(config.bus)))
    throw new BusError('BROKER_RUNNING', { path: config.bus });
  const parts = {
    ...{
      name: 'bus',
      role: 'broker',
      layout: busLayout,
      folder: storeFolder(config),
      log,
      stopped,
    },
    openLocal: () => openStore(config),
  };
  await inOffice(config, parts, (office) => serve(config, office, { server, log }));
}

async function serve(
  config: Config,
  { open, nats, ended }: Office,
  { server, log }: { server: CurveKeyPair | undefined; log: Logger },
): Promise<void> {
  const trace = traceTo(log);
  await using scope = new Scope();
  // The lock before the sockets: binding would take over those of another broker.
  const store = scope.own(await open());
  await assertNotMoved(store, isNats(config.bus) ? config.bus : storeFolder(config));
  ensureRoleSecrets(config.home);
  const ring = new KeyRing(config.home, systemClock, trace);
  const listener = await listenOn(config, { server, nats, ring, scope, trace });
  const lag = scope.own(new LoopLag());
  const audit = openAudit(config, nats, { scope, trace });
  // Closed after the broker: while it drains, monitors hear that it does.
  const health: { server?: HealthServer | undefined } = {};
  scope.defer(() => health.server?.[Symbol.asyncDispose]());
  const broker = scope.own(
    await Broker.open({
      store,
      listener,
      clock: systemClock,
      random: Math.random,
      proofFor: (claim) => ring.proofFor(claim),
      keyOfName: (agent) => ring.keyOfName(agent),
      permissions: new Permissions(config.permissions),
      ...(audit !== undefined && { audit }),
      loopLagMs: () => lag.worstMs(),
      version,
      limits: { heartbeatMs: config.heartbeatMs, drainMsMax: config.drainMs },
      trace,
    }),
  );
  health.server = await openHealth(config, broker, audit, trace);
  log.info({ address: config.bus, listen: config.listen, agents: broker.registry.size }, 'serving');
  await reportReady();
  const why = await ended;
  log.info({ why }, 'stopping');
}

/** On NATS with a copy on its servers. */
function openAudit(
  config: Config,
  nats: Office['nats'],
  { scope, trace }: { scope: Scope; trace: Trace },
): AuditLog | undefined {
  const { home, audit: form, auditBytesMax: bytesMax, auditFilesMax: filesMax } = config;
  if (form === 'off') return undefined;
  const copy = nats && scope.own(new AuditStream({ ...nats, clock: systemClock, trace }));
  const folder = path.join(home, 'bus', 'audit');
  const parts = { folder, form, bytesMax, filesMax, trace, copyTo: copy?.append };
  return scope.own(new AuditLog(parts));
}

/** Throws HTTP_ADDRESS. */
async function openHealth(
  config: Config,
  broker: Broker,
  audit: AuditLog | undefined,
  trace: Trace,
): Promise<HealthServer | undefined> {
  if (config.http === 'off') return undefined;
  const { Metrics } = await import('../../src/observe/metrics.js');
  const status = (): StatusAnswer => broker.status();
  const { total: acceptLatency } = broker.acceptLatency;
  const metrics = new Metrics({
    status,
    numbers: () => ({ acceptLatency, audit: audit ?? { recorded: 0, lost: 0 } }),
    withProcess: true,
  });
  const verdict = (): Verdict => verdictOn(status());
  return HealthServer.open({ address: config.http, verdict, metrics, trace });
}
