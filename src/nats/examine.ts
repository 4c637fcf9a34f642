import { once } from 'node:events';
import { connect as dial, type Socket } from 'node:net';
import { connect as secure } from 'node:tls';
import type { NatsConnection } from '@nats-io/transport-node';
import type { NatsAccess } from './connect.js';
import { needed, refusalOf } from './connect.js';
import { logLimits } from './log-limits.js';
import { whereAbsent } from './streams.js';
import { auditOf, indexesOf, leasesOf, logOf } from './subjects.js';

/** What a person wants to know of servers that do not do what they should. */

const answerMsMax = 5_000;
/** The first line of a server; some hundred bytes, and the names of the servers of its cluster. */
const firstLineMax = 32 * 1_024;

export interface ServerFacts {
  version: string;
  /** Of one message. */
  payloadMax: number;
  hasJetStream: boolean;
  /** Where TLS is asked for. */
  certificateEndsMs?: number;
}

/** Of one server, before it knows who asks. Throws NATS_UNAVAILABLE. */
export async function examineServer(
  server: string,
  { isTls, ca }: Pick<NatsAccess, 'isTls' | 'ca'>,
): Promise<ServerFacts> {
  const colon = server.lastIndexOf(':');
  const host = server.slice(0, colon).replace(/^\[|\]$/g, '');
  const socket = dial({ host, port: Number(server.slice(colon + 1)) });
  const timer = setTimeout(
    () => socket.destroy(new Error(`no answer within ${answerMsMax} ms`)),
    answerMsMax,
  );
  try {
    const info = await firstLine(socket);
    const facts: ServerFacts = {
      version: String(info.version),
      payloadMax: Number(info.max_payload),
      hasJetStream: info.jetstream === true,
    };
    if (!isTls) return facts;
    if (info.tls_required !== true && info.tls_available !== true) throw new Error('it has no TLS');
    const tls = secure({ socket, servername: host, ...(ca !== undefined && { ca }) });
    await once(tls, 'secureConnect');
    facts.certificateEndsMs = Date.parse(tls.getPeerCertificate().valid_to);
    // Not broken off: a server would note a failed handshake.
    tls.end();
    await once(tls, 'close');
    return facts;
  } catch (error) {
    throw refusalOf(server, error);
  } finally {
    clearTimeout(timer);
    socket.destroy();
  }
}

async function firstLine(socket: Socket): Promise<Record<string, unknown>> {
  let text = '';
  while (!text.includes('\r\n')) {
    const [part] = (await Promise.race([
      once(socket, 'data'),
      once(socket, 'close').then(() => {
        throw new Error('it closed the connection');
      }),
    ])) as [Buffer];
    text += part.toString('latin1');
    if (text.length > firstLineMax) break;
  }
  const [, json] = /^INFO (\{.*\}) *\r\n/.exec(text) ?? [];
  if (json === undefined) throw new Error('it is no NATS server');
  // TLS begins with the next byte.
  socket.pause();
  return JSON.parse(json) as Record<string, unknown>;
}

export interface StreamFacts {
  name: string;
  /** Absent: there is no such stream. */
  found?: {
    copies: number;
    /** Servers whose copy is not up to date, or that are away. */
    behind: string[];
    last: number;
  };
}

export interface JetStreamFacts {
  /** Of the account; Infinity: no limit of its own. */
  bytesMax: number;
  streamsMax: number;
  /** Of the log of a broker, its snapshots, and the leases, in this order. */
  streams: StreamFacts[];
}

/** Room that the log of a broker asks for. */
export const logBytesMax = logLimits.logBytesMax;

/** Who asks must be allowed to use JetStream. Throws NATS_MISSING, and what the client throws. */
export async function examineJetStream(
  connection: NatsConnection,
  bus: string,
): Promise<JetStreamFacts> {
  const { jetstreamManager } = await needed(import('@nats-io/jetstream'));
  const options = { timeout: answerMsMax, checkAPI: false };
  const manager = await jetstreamManager(connection, options);
  const { limits } = await manager.getAccountInfo();
  const log = logOf(bus, 'bus');
  const streams: StreamFacts[] = [];
  const made = [log, `${log}_snapshots`, `KV_${leasesOf(bus)}`];
  // Those are made when they are first needed.
  const later = [auditOf(bus), `OBJ_${indexesOf(bus)}`];
  for (const name of [...made, ...later]) {
    const info = await manager.streams.info(name).catch(whereAbsent);
    if (info === undefined && later.includes(name)) continue;
    if (info === undefined) streams.push({ name });
    else {
      const { config, cluster, state } = info;
      const behind = (cluster?.replicas ?? [])
        .filter(({ current, offline }) => !current || offline)
        .map((each) => each.name);
      streams.push({ name, found: { copies: config.num_replicas, behind, last: state.last_seq } });
    }
  }
  const limit = (value: number): number => (value < 0 ? Infinity : value);
  const { max_storage, max_streams } = limits;
  return { bytesMax: limit(max_storage), streamsMax: limit(max_streams), streams };
}
