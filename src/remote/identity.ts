import { existsSync } from 'node:fs';
import { proverOf } from '../base/prover.js';
import { userName } from '../base/user-name.js';
import type { Config } from '../config/config.js';
import {
  identityPath,
  isNatsIdentity,
  readIdentity,
  type CurveIdentity,
  type IdentityFile,
} from '../config/identity.js';
import { BusError } from '../errors/bus-error.js';
import { parseNatsAddress } from '../nats/address.js';
import type { NatsAccess } from '../nats/connect.js';
import { isNats, isNetwork } from '../transport/address.js';
import type { LinkKeys } from '../transport/curve.js';

/**
 * Who a client is over tcp or NATS, by its identity file, or by that of `agent` where the configuration names a
 * folder; undefined over ipc, where the folder of the socket is proof enough. Throws KEYS_MISSING, KEY_FILE_INVALID.
 */
export function remoteIdentity(config: Config, agent?: string): IdentityFile | undefined {
  const { bus } = config;
  if (!isNetwork(bus)) return undefined;
  if (config.identity === undefined)
    throw new BusError('KEYS_MISSING', { address: bus, detail: 'no identity is named' });
  const identity = readIdentity(config.identity, agent);
  if (isNatsIdentity(identity) === isNats(bus)) return identity;
  const detail = isNats(bus) ? 'it is for tcp, not for NATS' : 'it is for NATS, not for tcp';
  throw new BusError('KEY_FILE_INVALID', { path: config.identity, detail });
}

const operatorAgent = 'operator';

/** The agent that a person acts as: that of the identity file over a network, else the operator. Throws KEYS_MISSING, KEY_FILE_INVALID. */
export function agentOfPerson(config: Config): string {
  return remoteIdentity(config)?.agent ?? operatorAgent;
}

/** The person who uses this program, as they are called in judgements; over a network empty, where no name is configured. */
export function personOf(config: Config): string {
  return config.person ?? (remoteIdentity(config) === undefined ? userName() : '');
}

/** The same, and it must be that of this agent, or the one that proves it. Throws KEYS_MISSING, KEY_FILE_INVALID. */
export function remoteIdentityOf(
  config: Config,
  who: { agent: string; role: string },
): IdentityFile | undefined {
  const prover = proverOf(who);
  const hasOwn = existsSync(identityPath(config.identity ?? '', who.agent));
  const identity = remoteIdentity(config, hasOwn ? who.agent : prover.agent);
  const isOf = ({ agent, role }: typeof who): boolean =>
    identity?.agent === agent && identity.role === role;
  if (identity === undefined || isOf(who) || isOf(prover)) return identity;
  throw new BusError('KEY_FILE_INVALID', {
    path: config.identity ?? '',
    detail: `it is of ${identity.agent} as ${identity.role}, not of ${prover.agent} as ${prover.role}`,
  });
}

/** How a client reaches the servers of NATS. `agent`: see `remoteIdentity`. Throws SOCKET_PATH, KEYS_MISSING, KEY_FILE_INVALID. */
export function natsAccess(config: Config, agent?: string): NatsAccess {
  const identity = remoteIdentity(config, agent);
  if (identity === undefined || !isNatsIdentity(identity))
    throw new BusError('KEYS_MISSING', { address: config.bus, detail: 'it is not on NATS' });
  const { nats_seed: seed, ca, agent: its } = identity;
  return { ...parseNatsAddress(config.bus), text: config.bus, agent: its, seed, ca };
}

export function linkKeysOf(identity: CurveIdentity): LinkKeys {
  return {
    publicKey: identity.curve_public,
    secretKey: identity.curve_secret,
    serverKey: identity.server_public,
  };
}
