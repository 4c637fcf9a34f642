import { isName } from '../base/ids.js';
import { BusError } from '../errors/bus-error.js';
import { isNats } from '../transport/address.js';

/** A cluster has three or five; a client needs to know only some of them. */
const serversMax = 16;
const portMax = 65_535;
const busDefault = 'main';

const addressPattern = /^(nats|tls):\/\/([^/]+)(?:\/(.*))?$/;
const serverPattern = /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+):(\d{1,5})$/;
/** An IPv4 address, or any in brackets. */
const ipPattern = /^(?:[\d.]+|\[.*\])$/;
const loopbackPattern = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

export interface NatsAddress {
  /** `host:port` of each server; a client takes the first that answers. */
  servers: readonly string[];
  isTls: boolean;
  /** Name of the bus: several may share the servers. */
  bus: string;
}

/**
 * `tls://HOST:PORT[,HOST:PORT…][/BUS]`, or `nats://…` on loopback, where nothing is encrypted.
 * Throws SOCKET_PATH.
 */
export function parseNatsAddress(address: string): NatsAddress {
  const refuse = (detail: string): BusError => new BusError('SOCKET_PATH', { address, detail });
  const [, scheme = '', list = '', bus = busDefault] = addressPattern.exec(address) ?? [];
  if (!isNats(address) || scheme === '')
    throw refuse('it is neither tls://HOST:PORT[,HOST:PORT][/BUS] nor nats://…');
  if (!isName(bus)) throw refuse('the name of the bus, after the servers, is no name');
  const servers = list.split(',');
  if (servers.length > serversMax) throw refuse(`it names more than ${serversMax} servers`);
  const isTls = scheme === 'tls';
  for (const server of servers) {
    const [, host = '', digits = ''] = serverPattern.exec(server) ?? [];
    const port = Number(digits);
    if (host === '' || port < 1 || port > portMax)
      throw refuse(`a server is HOST:PORT with a port from 1 to ${portMax}`);
    if (isTls && ipPattern.test(host))
      throw refuse('over tls:// a server is named: its certificate is checked for the name');
    if (!isTls && !loopbackPattern.test(host))
      throw refuse('nats:// is not encrypted, so it is for loopback only: use tls://');
  }
  return { servers, isTls, bus };
}
