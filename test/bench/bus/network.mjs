// The same bus on NATS: one server on this machine, without copies, and the broker that leads there.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { newAgentKeys, storeAgentKeys } from '../../../dist/src/config/agent-keys.js';
import { newNkey } from '../../../dist/src/config/nkey.js';
import { writeIdentity } from '../../../dist/src/config/identity.js';
import { writeNatsUsers } from '../../../dist/services/cli/bus/nats-keys.js';
import { endAll, forkScript, startServer } from './processes.mjs';
import { role } from './sigma-client.mjs';
import { freePort, side, sigmaBroker, sigmaSide } from './sides.mjs';

const agentsListed = 1_000;
/** More than a run fills. */
const mailboxes = Array.from({ length: 250 }, (_, at) => `bench-mailbox-${at + 1}`);
const listed = Array.from({ length: agentsListed }, (_, at) => `bench-agent-${at}`);

/** Requests and replies. */
export async function natsSigmaRequests(folder, { bytes }) {
  const { broker, address, env, server } = await brokerOnNats(folder);
  return closing(server, await sigmaSide('on-nats', { broker, address, bytes, env }));
}

/** Durable messages: accepted means that JetStream has written it, as for the peer. */
export async function natsSigmaPosts(folder, { bytes }) {
  const { broker, address, env, server } = await brokerOnNats(folder, mailboxes);
  const requester = await forkScript('sigma-poster.mjs', [address, String(bytes)], { env });
  return closing(server, side('on-nats', { requester, broker }));
}

export async function sigmaAgents(folder, { bytes }) {
  const { broker, address } = await sigmaBroker(path.join(folder, 'sigma'));
  return lister('sigma', { broker, address, bytes, env: {} });
}

export async function natsSigmaAgents(folder, { bytes }) {
  const { broker, address, env, server } = await brokerOnNats(folder, listed);
  return closing(server, await lister('on-nats', { broker, address, bytes, env }));
}

async function lister(name, { broker, address, bytes, env }) {
  const args = [address, String(bytes), String(agentsListed)];
  const requester = await forkScript('sigma-lister.mjs', args, { env });
  return side(name, { requester, broker });
}

async function brokerOnNats(folder, agents = []) {
  const home = path.join(folder, 'on-nats');
  const identities = path.join(home, 'identities');
  mkdirSync(identities, { recursive: true });
  const address = `nats://127.0.0.1:${await freePort()}`;
  letIn(home, identities, address, [['broker', 'broker']]);
  const clients = ['bench-requester', 'bench-worker', 'bench-poster', ...agents];
  letIn(
    home,
    identities,
    address,
    clients.map((each) => [each, role]),
  );
  const users = path.join(home, 'agents.conf');
  writeNatsUsers(home, { file: users, hostsPull: false });
  const conf = path.join(home, 'nats.conf');
  writeFileSync(
    conf,
    [
      `listen: "${address.slice('nats://'.length)}"`,
      'max_payload: 8MB',
      `jetstream { store_dir: ${JSON.stringify(path.join(home, 'jetstream'))} }`,
      'include "./agents.conf"',
      'authorization { users: $sigma_agents }',
    ].join('\n'),
  );
  const { child: server } = await startServer('nats-server', ['-c', conf], /()Server is ready/);
  const env = { SIGMA_IDENTITY: identities };
  const { broker } = await sigmaBroker(home, { bus: address, env });
  return { broker, address, env: { ...env, SIGMA_HOME: home }, server };
}

function letIn(home, identities, bus, agents) {
  for (const [agent, its] of agents) {
    const { publicKey, seed } = newNkey();
    const half = { nats_public: publicKey, nats_bus: 'main' };
    const keys = newAgentKeys({ agent, role: its, nowMs: Date.now() }, half);
    storeAgentKeys(home, keys, { replace: false });
    const identity = { agent, role: its, nats_seed: seed, secret: keys.secret, bus };
    writeIdentity(path.join(identities, `${agent}.json`), identity, { replace: false });
  }
}

function closing(server, its) {
  return {
    ...its,
    async close() {
      await its.close();
      await endAll([server]);
    },
  };
}
