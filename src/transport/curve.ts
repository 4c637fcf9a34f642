import * as zmq from 'zeromq';
import { BusError } from '../errors/bus-error.js';
import { isTcp, tcpEndpoint } from './address.js';
import { ZapGate } from './zap-gate.js';

/** Curve25519 keys as ZeroMQ writes them: 32 bytes in Z85, 40 characters. RFC 26 (CurveZMQ), RFC 32 (Z85). */
export interface CurveKeyPair {
  publicKey: string;
  secretKey: string;
}

/** Keys of a tcp listener and its gate: with CURVE alone any client with the public key could connect. */
export interface ListenerKeys {
  server: CurveKeyPair;
  /** Open before and for as long as the listener. */
  gate: ZapGate;
}

/** Keys of a client, and the public key of its broker. */
export interface LinkKeys extends CurveKeyPair {
  serverKey: string;
}

export function newCurveKeyPair(): CurveKeyPair {
  return zmq.curveKeyPair();
}

/** Socket options. Throws KEYS_MISSING, SOCKET_PATH. */
export function listenerOptions(address: string, keys: ListenerKeys | undefined): object {
  if (!isTcp(address)) return {};
  const { host } = tcpEndpoint(address);
  if (keys === undefined)
    throw new BusError('KEYS_MISSING', { address, detail: 'tcp is not served without CURVE' });
  return {
    ipv6: isIpv6(host),
    curveServer: true,
    curveSecretKey: keys.server.secretKey,
    // Enforced: without the gate every connection is refused.
    zapDomain: ZapGate.domain,
    zapEnforceDomain: true,
  };
}

/** Socket options. Throws KEYS_MISSING, SOCKET_PATH. */
export function linkOptions(address: string, keys: LinkKeys | undefined): object {
  if (!isTcp(address)) return {};
  const { host } = tcpEndpoint(address);
  if (keys === undefined)
    throw new BusError('KEYS_MISSING', { address, detail: 'tcp is not used without an identity' });
  return {
    ipv6: isIpv6(host),
    curveServerKey: keys.serverKey,
    curvePublicKey: keys.publicKey,
    curveSecretKey: keys.secretKey,
  };
}

function isIpv6(host: string): boolean {
  return host.startsWith('[');
}
