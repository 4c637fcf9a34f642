import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Command } from 'commander';
import {
  agentsWithKeys,
  newAgentKeys,
  readAgentKeys,
  revokeAgentKeys,
  storeAgentKeys,
  type AgentKeys,
} from '../../../src/config/agent-keys.js';
import type { Config } from '../../../src/config/config.js';
import {
  identityPath,
  readIdentity,
  writeIdentity,
  type IdentityFile,
} from '../../../src/config/identity.js';
import {
  ensureServerKeys,
  isProvenRole,
  provenRoles,
  rotateRoleSecret,
  serverKeysFor,
} from '../../../src/config/keys.js';
import { removePrivate } from '../../../src/config/private-file.js';
import { newNkey } from '../../../src/config/nkey.js';
import { parseNatsAddress } from '../../../src/nats/address.js';
import { isNats, isTcp, tcpEndpoint } from '../../../src/transport/address.js';
import { newCurveKeyPair } from '../../../src/transport/curve.js';
import { configOf, withCommon, type CommonOptions } from '../options.js';
import { table } from '../../../src/render/terminal.js';
import { print, usage } from '../output.js';
import { readAuthorities, writeNatsUsers } from './nats-keys.js';

const authorities =
  'for tls://: the certificate of the authority that the servers have theirs from (default: those that Node knows)';
const tellServers = '`sigma keys nats --out FILE`, then `nats-server --signal reload` on each.';

interface IdentityOptions extends CommonOptions {
  role?: string;
  out?: string;
  ca?: string;
  force?: boolean;
}

/** Keys below the home of the broker; it need not run, and a running one sees every change at once. */
export function addKeysCommands(sigma: Command): void {
  const keys = sigma
    .command('keys')
    .description('manage which agents may connect over tcp, and over NATS');
  keys.action(() => {
    throw usage('name a command: init, add, list, rotate, revoke or nats');
  });

  withCommon(keys.command('init'))
    .description('create the key pair of the broker, for tcp')
    .action((options: CommonOptions) => {
      const { home } = configOf(options);
      const { publicKey, isNew } = ensureServerKeys(home, newCurveKeyPair, Date.now());
      print(options, { public: publicKey, created: isNew }, () =>
        isNew ? `made: ${publicKey}` : `there already: ${publicKey}`,
      );
    });

  withCommon(keys.command('add').argument('<agent>', 'its id'))
    .description('create keys for an agent; --bus is the address that it connects to')
    .requiredOption('--role <role>', 'its role; it may have no other')
    .requiredOption(
      '--out <file>',
      'where to write its identity file: a file or a folder; keep it secret',
    )
    .option('--ca <file>', authorities)
    .option('--force', 'replace its present keys')
    .action((agent: string, options: IdentityOptions & { role: string; out: string }) => {
      const { role, out, ca, force } = options;
      issue(options, { agent, role, out, ca, replace: force === true });
    });

  withCommon(keys.command('list'))
    .description('list agents with keys; secrets are not shown')
    .action((options: CommonOptions) => {
      const { home } = configOf(options);
      const agents = agentsWithKeys(home).map((each) => shown(readAgentKeys(home, each)));
      print(options, { agents }, () => renderKeys(agents));
    });

  withCommon(keys.command('rotate').argument('[agent]', 'its id'))
    .description('replace the keys of an agent, or the secret of a role; the old ones stop working')
    .option('--role <role>', `instead of an agent: ${provenRoles.join(' or ')}`)
    .option('--out <file>', 'where to write the new identity file: a file or a folder')
    .option('--ca <file>', authorities)
    .action((agent: string | undefined, options: IdentityOptions) => {
      if (agent === undefined) return rotateRole(options);
      if (options.role !== undefined) throw usage('name an agent or --role, not both');
      if (options.out === undefined)
        throw usage('--out <file> is missing: where to write the new keys');
      const config = configOf(options);
      const { role, ...its } = readAgentKeys(config.home, agent);
      if ('nats_public' in its) assertBus(networkBusOf(config), its.nats_bus);
      issue(options, { agent, role, out: options.out, ca: options.ca, replace: true });
    });

  withCommon(keys.command('revoke').argument('<agent>', 'its id'))
    .description('refuse the agent from its next connection on')
    .action((agent: string, options: CommonOptions) => {
      const { home } = configOf(options);
      const wasOnNats = isOnNats(home, agent);
      revokeAgentKeys(home, agent);
      print(options, { agent, revoked: true }, () =>
        wasOnNats
          ? `${agent} is refused, and its connection ends, once the servers know it: ${tellServers}`
          : [
              `${agent} is refused from its next connection on.`,
              'A connection that stands lasts until it ends; restart the broker to end it now.',
            ].join('\n'),
      );
    });

  withCommon(keys.command('nats'))
    .description('write which agents may do what, for the configuration of nats-server')
    .requiredOption('--out <file>', 'the file that the configuration includes')
    .option(
      '--hosts-pull',
      'let hosts of shards take published indexes from the servers; it makes them as trusted as brokers',
    )
    .action((options: CommonOptions & { out: string; hostsPull?: boolean }) => {
      const file = path.resolve(options.out);
      const { hostsPull = false } = options;
      const users = writeNatsUsers(configOf(options).home, { file, hostsPull });
      print(options, { file, agents: users }, () =>
        [
          `${file} has ${users.length} ${users.length === 1 ? 'agent' : 'agents'}.`,
          'Bring it to each server, which takes it in without a restart: `nats-server --signal reload`.',
          'A connection whose key is not in it any more ends then.',
        ].join('\n'),
      );
    });
}

interface Wanted {
  agent: string;
  role: string;
  out: string;
  ca: string | undefined;
  replace: boolean;
}

/** Makes keys, writes the agent's half and stores the broker's. */
function issue(options: CommonOptions, wanted: Wanted): void {
  const config = configOf(options);
  const { agent, role, replace } = wanted;
  const bus = networkBusOf(config);
  const { half, hidden } = isNats(bus) ? natsPair(bus, wanted.ca) : curvePair(config, bus, wanted);
  const keys = newAgentKeys({ agent, role, nowMs: Date.now() }, half);
  const identity: IdentityFile = { agent, role, ...hidden, secret: keys.secret, bus };
  const file = path.resolve(identityPath(wanted.out, agent));
  const taken = usage(`${file} exists, and is not an identity of ${agent} that may be replaced`);
  if (replace && existsSync(file) && !isIdentityOf(file, agent)) throw taken;
  const before = replace && existsSync(file) ? readIdentity(file) : undefined;
  // First: keys without their other half admit no agent, and lock out one that had others.
  if (!writeIdentity(file, identity, { replace })) throw taken;
  try {
    storeAgentKeys(config.home, keys, { replace });
  } catch (error) {
    // The broker still knows the earlier ones, if any.
    if (before === undefined) removePrivate(file);
    else writeIdentity(file, before, { replace: true });
    throw error;
  }
  print(options, { ...shown(keys), file, bus }, () =>
    [
      `${agent} may connect as ${role}; its keys are in ${file}.`,
      'Bring that file to its machine over a safe way, keep it 0600, and name it in SIGMA_IDENTITY.',
      bus === ''
        ? 'It names no broker: set SIGMA_BUS to its tcp:// address there, or give --bus here.'
        : `It finds the broker at ${bus}.`,
      ...(isNats(bus) ? onNats(wanted.ca) : []),
    ].join('\n'),
  );
}

function onNats(ca: string | undefined): string[] {
  return [
    `Over tls:// it trusts servers with a certificate of ${ca ?? 'an authority that Node knows'}.`,
    `It is let in once the servers know it: ${tellServers}`,
  ];
}

/** `half`: what the home of the broker keeps; `hidden`: what the identity file has besides. */
function curvePair(config: Config, bus: string, { ca }: Wanted) {
  if (ca !== undefined) throw usage('--ca is for a tls:// address');
  const { publicKey, secretKey } = newCurveKeyPair();
  const server_public = serverKeysFor(config.home, bus === '' ? config.home : bus).publicKey;
  return {
    half: { curve_public: publicKey },
    hidden: { curve_public: publicKey, curve_secret: secretKey, server_public },
  };
}

function natsPair(address: string, ca: string | undefined) {
  const { bus, isTls } = parseNatsAddress(address);
  if (ca !== undefined && !isTls) throw usage('--ca is for a tls:// address');
  const { publicKey, seed } = newNkey();
  return {
    half: { nats_public: publicKey, nats_bus: bus },
    hidden: { nats_seed: seed, ...(ca === undefined ? {} : { ca: readAuthorities(ca) }) },
  };
}

function rotateRole(options: IdentityOptions): void {
  const { role } = options;
  if (role === undefined) throw usage('name an agent, or a role with --role');
  if (!isProvenRole(role)) throw usage(`--role is ${provenRoles.join(' or ')}, not ${role}`);
  rotateRoleSecret(configOf(options).home, role);
  print(options, { role, rotated: true }, () =>
    [
      `The secret of ${role} is new; processes on this machine read it at their next greeting.`,
      'A session that stands lasts until it ends.',
    ].join('\n'),
  );
}

/** The new keys are for the same bus. */
function assertBus(address: string, bus: string): void {
  if (!isNats(address) || parseNatsAddress(address).bus !== bus)
    throw usage(`its keys are for the bus ${bus} on NATS: give --bus tls://HOST:PORT/${bus}`);
}

/** Another file may be the only key of another agent. */
function isIdentityOf(file: string, agent: string): boolean {
  try {
    return readIdentity(file).agent === agent;
  } catch {
    return false;
  }
}

const allInterfaces = new Set(['*', '0.0.0.0', '[::]']);

/** The address that clients on other machines dial, or '' where it is not known. Throws SOCKET_PATH. */
function networkBusOf(config: Config): string {
  const isDialable = (address: string): boolean =>
    isNats(address) || (isTcp(address) && !allInterfaces.has(tcpEndpoint(address).host));
  return [config.bus, ...config.listen].find(isDialable) ?? '';
}

/** False for a damaged file, which can be revoked, too. */
function isOnNats(home: string, agent: string): boolean {
  try {
    return 'nats_public' in readAgentKeys(home, agent);
  } catch {
    return false;
  }
}

/** What may be seen. */
function shown({ agent, role, created, ...its }: AgentKeys) {
  const key =
    'nats_public' in its
      ? { nats_public: its.nats_public, nats_bus: its.nats_bus }
      : { curve_public: its.curve_public };
  return { agent, role, ...key, created };
}

function renderKeys(agents: readonly ReturnType<typeof shown>[]): string {
  if (agents.length === 0) return 'No agent has keys yet; `sigma keys add` makes some.';
  const rows = agents.map(({ agent, role, created, ...its }) => [
    ...[agent, role],
    its.curve_public ?? its.nats_public,
    created,
  ]);
  return table([['AGENT', 'ROLE', 'PUBLIC KEY', 'SINCE'], ...rows]);
}
