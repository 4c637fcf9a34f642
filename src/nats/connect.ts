import type { NatsConnection } from '@nats-io/transport-node';
import { BusError } from '../errors/bus-error.js';
import type { NatsAddress } from './address.js';
import { inboxOf } from './subjects.js';

export type { NatsConnection };

/** Who connects, and where. */
export interface NatsAccess extends NatsAddress {
  /** As configured, for messages. */
  text: string;
  /** Its inboxes have its name, see `inboxOf`. */
  agent: string;
  /** Of its nkey; without one the server must know it otherwise. */
  seed?: string | undefined;
  /** The certificate of the authority, as PEM. */
  ca?: string | undefined;
}

const dialMsMax = 5_000;
/** The server is asked whether it is still there. */
const pingMs = 5_000;
const pingsMax = 2;

/**
 * One connection; it does not come back by itself unless `isLasting`. Throws NATS_MISSING, NATS_REFUSED,
 * NATS_UNAVAILABLE.
 */
export async function connectNats(
  access: NatsAccess,
  { isLasting = false }: { isLasting?: boolean } = {},
): Promise<NatsConnection> {
  const { connect, nkeyAuthenticator } = await needed(import('@nats-io/transport-node'));
  const { servers, isTls, ca, seed, agent, text } = access;
  try {
    const connection = await connect({
      servers: [...servers],
      name: agent,
      inboxPrefix: inboxOf(agent),
      reconnect: isLasting,
      maxReconnectAttempts: -1,
      timeout: dialMsMax,
      pingInterval: pingMs,
      maxPingOut: pingsMax,
      ...(isTls ? { tls: ca === undefined ? {} : { ca } } : {}),
      ...(seed === undefined
        ? {}
        : { authenticator: nkeyAuthenticator(new TextEncoder().encode(seed)) }),
    });
    if (!isLasting) void closeWhenStale(connection);
    return connection;
  } catch (error) {
    throw refusalOf(text, error);
  }
}

/** The library would first wait until a server that is gone has taken what is still to be written. */
async function closeWhenStale(connection: NatsConnection): Promise<void> {
  for await (const { type } of connection.status())
    if (type === 'staleConnection') return connection.close();
}

/**
 * Resolves when the server has all that was sent. Rejects when the connection is lost before: the library's own promise would
 * stay open.
 */
export function flushed(connection: NatsConnection): Promise<void> {
  const lost = connection.closed().then((why) => {
    throw why instanceof Error
      ? why
      : new BusError('NATS_UNAVAILABLE', { address: '', detail: 'it was closed' });
  });
  lost.catch(() => undefined);
  return Promise.race([connection.flush(), lost]);
}

/** One of the packages of NATS, which are optional. Throws NATS_MISSING. */
export async function needed<T>(importing: Promise<T>): Promise<T> {
  try {
    return await importing;
  } catch (error) {
    throw new BusError('NATS_MISSING', {}, { cause: error });
  }
}

const refusals = [
  'AuthorizationError',
  'UserAuthenticationExpiredError',
  'PermissionViolationError',
];

/** What went wrong between us and the server, with the code that says so. */
export function refusalOf(address: string, error: unknown): BusError {
  if (error instanceof BusError) return error;
  const detail = error instanceof Error ? error.message : String(error);
  // That of a request is the cause of what it throws.
  const isRefused = [error, (error as Error | undefined)?.cause].some(
    (each) => each instanceof Error && refusals.includes(each.name),
  );
  return new BusError(
    isRefused ? 'NATS_REFUSED' : 'NATS_UNAVAILABLE',
    { address, detail },
    { cause: error },
  );
}
