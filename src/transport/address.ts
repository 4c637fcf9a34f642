import { BusError } from '../errors/bus-error.js';

/**
 * Addresses of the bus: `ipc:///absolute/path` or `tcp://host:port`. Topics have a socket of their own:
 * the same path with a suffix, or the next port. Those of a bus on NATS are read in src/nats/address.ts.
 */

export const topicsSuffix = '.topics';
const tcpPattern = /^tcp:\/\/(\*|\[[0-9a-fA-F:.]+(?:%\w+)?\]|[A-Za-z0-9._-]+):(\d{1,5})$/;
/** The topics socket takes the next one. */
const busPortMax = 65_534;

interface TcpEndpoint {
  /** As written: a name, an IPv4 address, an IPv6 address in brackets, or `*` for all interfaces. */
  host: string;
  port: number;
}

export function isTcp(address: string): boolean {
  return address.startsWith('tcp://');
}

export function isNats(address: string): boolean {
  return address.startsWith('nats://') || address.startsWith('tls://');
}

/** Where each agent needs keys of its own. */
export function isNetwork(address: string): boolean {
  return isTcp(address) || isNats(address);
}

/** Throws SOCKET_PATH. */
export function tcpEndpoint(address: string): TcpEndpoint {
  const [, host = '', digits = ''] = tcpPattern.exec(address) ?? [];
  const port = Number(digits);
  if (host === '' || port < 1 || port > busPortMax) {
    throw new BusError('SOCKET_PATH', {
      address,
      detail: `it is not tcp://HOST:PORT with a port from 1 to ${busPortMax}`,
    });
  }
  return { host, port };
}

/** Where a broker that listens at `busAddress` publishes. Throws SOCKET_PATH for a malformed tcp address. */
export function topicsAddressOf(busAddress: string): string {
  if (!isTcp(busAddress)) return `${busAddress}${topicsSuffix}`;
  const { host, port } = tcpEndpoint(busAddress);
  return `tcp://${host}:${port + 1}`;
}

/**
 * Where a client that dialled `dialled` subscribes. A broker that listens on all interfaces does not know
 * the name that clients use, and one with several sockets announces a single address. So the kind and the
 * host stay as dialled, and only the port is taken from the announcement.
 */
export function topicsAddressFrom(dialled: string, told: string): string {
  if (!isTcp(dialled)) return isTcp(told) ? topicsAddressOf(dialled) : told;
  const port = Number(tcpPattern.exec(told)?.[2]);
  if (!(port >= 1 && port <= busPortMax + 1)) return topicsAddressOf(dialled);
  return `tcp://${tcpEndpoint(dialled).host}:${port}`;
}
