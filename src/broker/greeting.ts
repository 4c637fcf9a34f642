import { isName, newId } from '../base/ids.js';
import { BusError } from '../errors/bus-error.js';
import { start } from '../machine/step.js';
import type { PeerId } from '../transport/port.js';
import { protocolVersion } from '../wire/frame.js';
import { helloCodec, type Hello } from '../wire/messages.js';
import { incarnationAheadMsMax, silentIntervalsMax, type BrokerLimits } from './limits.js';
import { sessionMachine } from './session.machine.js';
import type { Session } from './sessions.js';

/** What a peer says of itself, found possible. Throws MALFORMED_PAYLOAD, INVALID_NAME, VERSION, UNAUTHORISED. */
export function checkedHello(body: Buffer, known: Session | undefined, nowMs: number): Hello {
  const hello = helloCodec.decode(body);
  const names = [
    ['agent id', hello.agent],
    ['role', hello.role],
  ] as const;
  for (const [what, name] of names) {
    if (!isName(name)) throw new BusError('INVALID_NAME', { name: name.slice(0, 120), what });
  }
  const { protocol_min, protocol_max, agent, role } = hello;
  if (protocol_min > protocolVersion || protocol_max < protocolVersion) {
    throw new BusError('VERSION', {
      got: `${protocol_min} to ${protocol_max}`,
      supported: protocolVersion,
    });
  }
  // Taken at its word, an incarnation of the far future would keep the name for ever.
  if (hello.incarnation > nowMs + incarnationAheadMsMax) {
    throw new BusError('MALFORMED_PAYLOAD', { detail: 'the incarnation lies in the future' });
  }
  // An identity is bound to its connection: one connection never speaks for two.
  if (known !== undefined && (known.agent !== agent || known.role !== role)) {
    throw new BusError('UNAUTHORISED', { agent, role });
  }
  return hello;
}

export function newSession(
  peer: PeerId,
  hello: Hello,
  limits: BrokerLimits,
  nowMs: number,
): Session {
  const wished = hello.heartbeat_ms || limits.heartbeatMs;
  const heartbeatMs = Math.min(Math.max(wished, limits.heartbeatMsMin), limits.heartbeatMsMax);
  return {
    peer,
    id: newId('session'),
    snapshot: start(sessionMachine, undefined).snapshot,
    agent: hello.agent,
    role: hello.role,
    incarnation: hello.incarnation,
    isEphemeral: hello.ephemeral,
    heartbeatMs,
    lastHeardMs: nowMs,
    silenceMaxMs: heartbeatMs * silentIntervalsMax,
    nonce: Buffer.alloc(0),
    services: new Set(),
  };
}
