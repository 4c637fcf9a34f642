import { systemClock } from '../base/clock.js';
import type { Trace } from '../base/trace.js';
import { Client, type Identity } from '../client/client.js';
import type { Config } from '../config/config.js';
import { isNatsIdentity, type IdentityFile } from '../config/identity.js';
import { readNameKey, readSecret } from '../config/keys.js';
import { NatsLink } from '../nats/link.js';
import type { Link } from '../transport/port.js';
import { ZeromqLink } from '../transport/zeromq.js';
import { linkKeysOf, natsAccess, remoteIdentityOf } from './identity.js';

/**
 * Over a hundred shards the manager computes for seconds at a time, on a busy machine for many. A broker that takes it
 * for lost meanwhile gives up every question. The next manager takes its name at once, so no caller waits for this.
 */
const computingRole = 'manager';
const computingPatience = 5;
const heartbeatMsMax = 30_000;

/**
 * A client of the configured broker; it connects in the background.
 * Throws SOCKET_PATH, and over tcp and NATS KEYS_MISSING, KEY_FILE_INVALID.
 */
export function openClient(config: Config, identity: Identity, trace?: Trace): Client {
  const keys = remoteIdentityOf(config, identity);
  return Client.connect({
    link: linkOf(config, keys),
    identity,
    clock: systemClock,
    random: Math.random,
    secretOf: () =>
      keys === undefined ? readSecret(config.home, identity.role) : Buffer.from(keys.secret, 'hex'),
    keyOf: () => (keys === undefined ? readNameKey(config.home, identity.agent) : undefined),
    heartbeatMs: heartbeatMsOf(config, identity.role),
    ...(trace === undefined ? {} : { trace }),
  });
}

function linkOf(config: Config, keys: IdentityFile | undefined): Link {
  if (keys === undefined) return new ZeromqLink(config.bus);
  if (!isNatsIdentity(keys)) return new ZeromqLink(config.bus, linkKeysOf(keys));
  const access = natsAccess(config, keys.agent);
  return new NatsLink({ access, clock: systemClock, random: Math.random });
}

function heartbeatMsOf({ heartbeatMs }: Config, role: string): number {
  if (role !== computingRole) return heartbeatMs;
  return Math.min(heartbeatMsMax, heartbeatMs * computingPatience);
}
