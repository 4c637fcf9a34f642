import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Command } from 'commander';
import {
  agentsWithKeys,
  newAgentKeys,
  readAgentKeys,
  revokeAgentKeys,
  storeAgentKeys,
} from '../../../src/config/agent-keys.js';
import type { Config } from '../../../src/config/config.js';
import { identityPath, readIdentity, writeIdentity } from '../../../src/config/identity.js';
import {
  ensureServerKeys,
  isProvenRole,
  provenRoles,
  rotateRoleSecret,
  serverKeysFor,
} from '../../../src/config/keys.js';
import { removePrivate } from '../../../src/config/private-file.js';
import { isTcp, tcpEndpoint } from '../../../src/transport/address.js';
import { newCurveKeyPair } from '../../../src/transport/curve.js';
import { configOf, withCommon, type CommonOptions } from '../options.js';
import { table } from '../../../src/render/terminal.js';
import { print, usage } from '../output.js';

interface IdentityOptions extends CommonOptions {
  role?: string;
  out?: string;
  force?: boolean;
}

/** Keys below the home of the broker; it need not run, and a running one sees every change at once. */
export function addKeysCommands(sigma: Command): void {
  const keys = sigma.command('keys').description('manage which agents may connect over tcp');
  keys.action(() => {
    throw usage('name a command: init, add, list, rotate or revoke');
  });

  withCommon(keys.command('init'))
    .description('create the key pair of the broker')
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
    .option('--force', 'replace its present keys')
    .action((agent: string, options: IdentityOptions & { role: string; out: string }) => {
      const { role, out, force } = options;
      issue(options, { agent, role, out, replace: force === true });
    });

  withCommon(keys.command('list'))
    .description('list agents with keys; secrets are not shown')
    .action((options: CommonOptions) => {
      const { home } = configOf(options);
      const agents = agentsWithKeys(home).map((agent) => {
        const { role, curve_public, created } = readAgentKeys(home, agent);
        return { agent, role, curve_public, created };
      });
      print(options, { agents }, () => renderKeys(agents));
    });

  withCommon(keys.command('rotate').argument('[agent]', 'its id'))
    .description('replace the keys of an agent, or the secret of a role; the old ones stop working')
    .option('--role <role>', `instead of an agent: ${provenRoles.join(' or ')}`)
    .option('--out <file>', 'where to write the new identity file: a file or a folder')
    .action((agent: string | undefined, options: IdentityOptions) => {
      if (agent === undefined) return rotateRole(options);
      if (options.role !== undefined) throw usage('name an agent or --role, not both');
      if (options.out === undefined)
        throw usage('--out <file> is missing: where to write the new keys');
      const { role } = readAgentKeys(configOf(options).home, agent);
      issue(options, { agent, role, out: options.out, replace: true });
    });

  withCommon(keys.command('revoke').argument('<agent>', 'its id'))
    .description('refuse the agent from its next connection on')
    .action((agent: string, options: CommonOptions) => {
      revokeAgentKeys(configOf(options).home, agent);
      print(options, { agent, revoked: true }, () =>
        [
          `${agent} is refused from its next connection on.`,
          'A connection that stands lasts until it ends; restart the broker to end it now.',
        ].join('\n'),
      );
    });
}

/** Makes keys, writes the agent's half and stores the broker's. */
function issue(
  options: CommonOptions,
  wanted: { agent: string; role: string; out: string; replace: boolean },
): void {
  const config = configOf(options);
  const { agent, role, replace } = wanted;
  const curve = newCurveKeyPair();
  const keys = newAgentKeys({ agent, role, curvePublic: curve.publicKey, nowMs: Date.now() });
  const bus = tcpBusOf(config);
  const identity = {
    agent,
    role,
    curve_public: curve.publicKey,
    curve_secret: curve.secretKey,
    server_public: serverKeysFor(config.home, bus === '' ? config.home : bus).publicKey,
    secret: keys.secret,
    bus,
  };
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
  const { curve_public, created } = keys;
  print(options, { agent, role, curve_public, created, file, bus }, () =>
    [
      `${agent} may connect as ${role}; its keys are in ${file}.`,
      'Bring that file to its machine over a safe way, keep it 0600, and name it in SIGMA_IDENTITY.',
      bus === ''
        ? 'It names no broker: set SIGMA_BUS to its tcp:// address there, or give --bus here.'
        : `It finds the broker at ${bus}.`,
    ].join('\n'),
  );
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
function tcpBusOf(config: Config): string {
  const isDialable = (address: string): boolean =>
    isTcp(address) && !allInterfaces.has(tcpEndpoint(address).host);
  return [config.bus, ...config.listen].find(isDialable) ?? '';
}

function renderKeys(
  agents: { agent: string; role: string; curve_public: string; created: string }[],
) {
  if (agents.length === 0) return 'No agent has keys yet; `sigma keys add` makes some.';
  const rows = agents.map((each) => [each.agent, each.role, each.curve_public, each.created]);
  return table([['AGENT', 'ROLE', 'PUBLIC KEY', 'SINCE'], ...rows]);
}
