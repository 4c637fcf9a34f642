import { ChurnMap } from '../../base/churn-map.js';
import { isName, newId } from '../../base/ids.js';
import { BusError } from '../../errors/bus-error.js';
import { start } from '../../machine/step.js';
import type { Outbox } from '../../transport/outbox.js';
import type { PeerId } from '../../transport/port.js';
import { protocolVersion } from '../../wire/frame.js';
import { helloCodec, type Hello } from '../../wire/messages.js';
import { incarnationAheadMsMax, provingMsMax, type BrokerLimits } from '../limits.js';
import { bindingOf, nameKeyBytes } from './names.js';
import type { Rights } from './permissions.js';
import { RateLimit } from './rate-limit.js';
import { sessionMachine } from './session.machine.js';
import type { Session } from './sessions.js';

/** Decodes and checks a HELLO. Throws MALFORMED_PAYLOAD, INVALID_NAME, VERSION, UNAUTHORISED. */
export function checkedHello(
  body: Buffer,
  known: Session | undefined,
  limits: BrokerLimits,
  nowMs: number,
): Hello {
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
  const { min, max } = nameKeyBytes;
  if (hello.key.length !== 0 && (hello.key.length < min || hello.key.length > max))
    throw new BusError('MALFORMED_PAYLOAD', { detail: `the key has not ${min} to ${max} bytes` });
  // An incarnation far in the future would keep the name for ever.
  if (hello.incarnation > nowMs + incarnationAheadMsMax) {
    throw new BusError('MALFORMED_PAYLOAD', { detail: 'the incarnation lies in the future' });
  }
  if (hello.held.length > limits.creditMessagesMax) {
    const limit = limits.creditMessagesMax;
    const bytes = hello.held.length;
    throw new BusError('TOO_LARGE', { what: 'the list of held messages', bytes, limit });
  }
  // An identity is bound to its connection: one connection never speaks for two.
  if (known !== undefined && (known.agent !== agent || known.role !== role)) {
    throw new BusError('UNAUTHORISED', {
      ...{ agent, role, why: `this connection speaks for ${known.agent} as ${known.role}` },
    });
  }
  return hello;
}

const personCharsMax = 96;

/** Who comes over the network could call itself as it likes: the agent, whose name can be proven, stands beside that. */
function personOf({ person, agent }: Hello, isRemote: boolean): string {
  const said = person.slice(0, personCharsMax).trim();
  return said !== '' && isRemote ? `${said} (${agent})` : said;
}

export function newSession(
  peer: PeerId,
  hello: Hello,
  parts: {
    limits: BrokerLimits;
    rights: Rights;
    outbox: Outbox;
    isRemote: boolean;
    nowMs: number;
    /** Sessions there are already. */
    sessions: number;
  },
): Session {
  const { limits, rights, outbox, isRemote, nowMs, sessions } = parts;
  const bearableMs = Math.round((sessions / limits.heartbeatsPerSecondMax) * 1_000);
  const wished = Math.max(hello.heartbeat_ms || limits.heartbeatMs, bearableMs);
  const heartbeatMs = Math.min(Math.max(wished, limits.heartbeatMsMin), limits.heartbeatMsMax);
  return {
    peer,
    id: newId('session'),
    snapshot: start(sessionMachine, undefined).snapshot,
    agent: hello.agent,
    address: `agent:${hello.agent}`,
    role: hello.role,
    person: personOf(hello, isRemote),
    incarnation: hello.incarnation,
    isEphemeral: hello.ephemeral,
    heartbeatMs,
    lastHeardMs: nowMs,
    silenceMaxMs: provingMsMax,
    nonce: Buffer.alloc(0),
    services: new Set(),
    binding: bindingOf(hello.key, isRemote),
    isRemote,
    rights,
    rate: new RateLimit(rights, nowMs),
    outbox,
    asked: new ChurnMap(),
    toAnswer: 0,
    largeLoggedMs: -Infinity,
    held: hello.held,
    posting: 0,
    refused: new Set(),
  };
}
