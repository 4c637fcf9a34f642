import { systemClock } from '../../src/base/clock.js';
import { gatewayAgent, gatewayRole, foreignRole } from '../../src/base/prover.js';
import { Scope } from '../../src/base/scope.js';
import type { Trace } from '../../src/base/trace.js';
import type { Client } from '../../src/client/client.js';
import { plainRecord, untilAccepted } from '../../src/client/registration.js';
import type { Config } from '../../src/config/config.js';
import type { NatsAccess, NatsConnection } from '../../src/nats/connect.js';
import { bridgeForeignAgents } from '../../src/nats/micro/bridge.js';
import { ForeignAgents } from '../../src/nats/micro/foreign-agents.js';
import { AgentsGateway } from '../../src/nats/micro/gateway.js';
import { inboxOf } from '../../src/nats/subjects.js';
import { openLog, traceTo, type Logger } from '../../src/observe/log.js';
import { askingOver } from '../../src/operations/asking.js';
import { officeAccess, remoteIdentityOf } from '../../src/remote/identity.js';
import { openClient } from '../../src/remote/open-client.js';
import { noMail } from '../../src/wire/messages.js';
import { AskedAgents } from '../asked-agents.js';
import { inTurn } from '../office.js';
import { endOf, untilStopped } from '../process.js';
import { version } from '../version.js';

const who = { agent: gatewayAgent, role: gatewayRole };
/** A foreign agent waits for the broker; it is tried again later. */
const readyMsMax = 5_000;

/**
 * `sigma gateway`: our agents for the programs on the same NATS servers, and theirs on our bus, until a signal stops it; of several
 * one works at a time. Throws KEYS_MISSING, KEY_FILE_INVALID, NATS_*.
 */
export async function runGateway(config: Config): Promise<void> {
  const log = openLog(config, { service: 'gateway' });
  remoteIdentityOf(config, who);
  const stopped = untilStopped();
  const access = officeAccess(config, gatewayRole);
  await inTurn(access, { name: gatewayRole, log, stopped }, ({ connection }) =>
    Promise.resolve(({ ended }) => serve(config, { access, connection, ended }, log)),
  );
}

async function serve(
  config: Config,
  its: { access: NatsAccess; connection: NatsConnection; ended: Promise<string> },
  log: Logger,
): Promise<void> {
  const { access, connection, ended } = its;
  const { bus } = access;
  const trace = traceTo(log);
  const shared = { connection, bus, clock: systemClock, trace };
  const client = openClient(config, { ...who, isEphemeral: false }, trace);
  await using scope = new Scope();
  scope.defer(() => client.close());
  const introduced = untilAccepted(client, trace, () =>
    client.register(plainRecord(gatewayAgent, [gatewayRole, noMail])),
  );
  // What waits for a broker ends with the client.
  introduced.catch(() => undefined);
  if ((await Promise.race([introduced, ended])) !== undefined) return;
  const port = scope.own(await AskedAgents.open(askingOver(() => Promise.resolve(client))));
  scope.own(await AgentsGateway.open({ ...shared, version, port }));
  const foreign = scope.own(new ForeignAgents({ ...shared, inboxes: inboxOf(access.agent) }));
  scope.own(
    bridgeForeignAgents({
      ...{ foreign, clock: systemClock, trace },
      open: (agent) => openForeign(config, agent, trace),
    }),
  );
  log.info({ bus }, 'serving');
  await endOf(ended, [client], log);
}

async function openForeign(config: Config, agent: string, trace: Trace): Promise<Client> {
  const client = openClient(config, { agent, role: foreignRole, isEphemeral: false }, trace);
  try {
    await client.ready({ withinMs: readyMsMax });
    return client;
  } catch (error) {
    await client.close();
    throw error;
  }
}
