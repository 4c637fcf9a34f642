import { existsSync } from 'node:fs';
import path from 'node:path';
import { systemClock } from '../src/base/clock.js';
import type { Config } from '../src/config/config.js';
import { asBusError, BusError } from '../src/errors/bus-error.js';
import {
  connectNats,
  refusalOf,
  type NatsAccess,
  type NatsConnection,
} from '../src/nats/connect.js';
import {
  examineJetStream,
  examineServer,
  logBytesMax,
  type JetStreamFacts,
  type ServerFacts,
} from '../src/nats/examine.js';
import { findBroker } from '../src/nats/find.js';
import { readLease } from '../src/nats/lease.js';
import { positionOf } from '../src/nats/replica.js';
import { copiesOf } from '../src/nats/seat.js';
import { leasesOf } from '../src/nats/subjects.js';
import { natsAccess, remoteIdentity } from '../src/remote/identity.js';
import { appliedKey } from '../src/store/keys.js';
import { busLayout } from '../src/store/layouts.js';
import { LevelStore } from '../src/store/level-store.js';
import { markOf, movedError } from '../src/store/move.js';
import { storeFolder } from './bus-store.js';
import { replicaOf } from './office.js';
import { broken, ok, unchecked, type Check } from './check.js';

const mib = 1024 * 1024;
/** Frames are cut into messages; smaller ones than this cost too much. */
const payloadMin = mib;
const payloadAdvised = 8 * mib;
/** The log of a broker and its snapshots, the same of a manager, the leases, the audit logs, and published indexes. */
const streamsMin = 7;
const certificateDaysMin = 30;
const dayMs = 24 * 3_600_000;
/** The one that may ask JetStream about the log of a broker; others would be refused, which the operator of the servers sees. */
const askingRole = 'broker';

/** Of a bus on NATS, by what the identity in use may ask. */
export async function natsChecks(config: Config): Promise<Check[]> {
  let access: NatsAccess;
  let role: string | undefined;
  try {
    access = natsAccess(config, 'broker');
    role = remoteIdentity(config, 'broker')?.role;
  } catch (error) {
    return [broken('identity', error)];
  }
  const servers = await Promise.all(access.servers.map((each) => serverCheck(each, access)));
  const checks = servers.map(({ check }) => check);
  const facts = servers.flatMap((each) => each.facts ?? []);
  if (facts.length > 0) checks.push(payloadCheck(facts));
  checks.push(...(await identityChecks(servers, access)));
  let connection: NatsConnection;
  try {
    connection = await connectNats(access);
  } catch (error) {
    if (asBusError(error).code === 'NATS_MISSING') checks.push(broken('client of NATS', error));
    const rest = ['jetstream', 'streams', 'leader', 'lease'];
    return [...checks, ...rest.map((each) => unchecked(each, 'there is no connection'))];
  }
  try {
    checks.push(ok('client of NATS', 'is installed'));
    checks.push(...(await sharedChecks(config, { connection, access, role, servers })));
    return checks;
  } finally {
    await connection.close();
  }
}

// --- servers

interface Server {
  address: string;
  check: Check;
  facts?: ServerFacts;
}

async function serverCheck(address: string, access: NatsAccess): Promise<Server> {
  const name = `server ${address}`;
  try {
    const facts = await examineServer(address, access);
    const { version, certificateEndsMs } = facts;
    if (certificateEndsMs === undefined)
      return { address, facts, check: ok(name, `${version} answers, without TLS`) };
    const ends = new Date(certificateEndsMs).toISOString().slice(0, 10);
    const detail = `${version} answers, its certificate is good until ${ends}`;
    const isSoon = certificateEndsMs - systemClock.nowMs() < certificateDaysMin * dayMs;
    const next = 'Replace the certificate of this server and have it read its configuration again.';
    return { address, facts, check: ok(name, detail, isSoon ? next : '') };
  } catch (error) {
    return { address, check: broken(name, error) };
  }
}

function payloadCheck(servers: readonly ServerFacts[]): Check {
  const name = 'message size';
  const least = Math.min(...servers.map((each) => each.payloadMax));
  const detail = `${(least / mib).toFixed(1)} MiB at most`;
  const next = 'Set `max_payload: 8MB` in the configuration of each server.';
  if (least < payloadMin) return { name, state: 'broken', detail, next };
  return ok(name, detail, least < payloadAdvised ? next : '');
}

/** Each server has a list of its own of whom it lets in. */
async function identityChecks(servers: readonly Server[], access: NatsAccess): Promise<Check[]> {
  const asked = servers.filter((each) => each.facts !== undefined);
  const refusals = await Promise.all(
    asked.map(async ({ address }) => {
      const its = { ...access, servers: [address], text: address };
      return connectNats(its).then(
        (connection) => connection.close().then(() => undefined),
        (error: unknown) => asBusError(error),
      );
    }),
  );
  const found = refusals.filter((each) => each !== undefined);
  // Told once, by itself.
  if (found.some((each) => each.code === 'NATS_MISSING')) return [];
  const name = 'identity';
  if (found.length > 0) return found.map((each) => broken(name, each));
  if (asked.length === 0) return [unchecked(name, 'no server answers')];
  return [ok(name, `${access.agent} is let in by all that answer`)];
}

// --- what the servers share

interface Shared {
  connection: NatsConnection;
  access: NatsAccess;
  role: string | undefined;
  servers: readonly Server[];
}

async function sharedChecks(config: Config, shared: Shared): Promise<Check[]> {
  const { connection, access, role, servers } = shared;
  const leader = await leaderCheck(shared);
  const without = servers.filter(({ facts }) => facts?.hasJetStream === false);
  if (without.length > 0) {
    const detail = `it is off at ${without.map((each) => each.address).join(', ')}`;
    const next = 'Set `jetstream { store_dir: … }` in the configuration of each server.';
    const rest = ['streams', 'lease'].map((each) => unchecked(each, 'JetStream is off'));
    return [{ name: 'jetstream', state: 'broken', detail, next }, leader, ...rest];
  }
  if (role !== askingRole) {
    const why = `${access.agent} may not ask: only an identity of the role ${askingRole} may`;
    const rest = ['streams', 'lease'].map((each) => unchecked(each, why));
    return [ok('jetstream', 'is on; its limits are not checked'), leader, ...rest];
  }
  try {
    const facts = await examineJetStream(connection, access.bus);
    const last = facts.streams[0]?.found?.last ?? 0;
    return [
      limitsCheck(facts),
      streamsCheck(facts, copiesOf(connection)),
      leader,
      await leaseCheck(shared, facts),
      ...(await replicaChecks(replicaOf(storeFolder(config)), last)),
    ];
  } catch (error) {
    const rest = ['streams', 'lease'].map((each) => unchecked(each, 'JetStream does not answer'));
    return [silentCheck(access.text, error), leader, ...rest];
  }
}

/** The servers are there: a cluster without a majority, or one that elects. */
function silentCheck(address: string, error: unknown): Check {
  const name = 'jetstream';
  const refusal = refusalOf(address, error);
  if (refusal.code === 'NATS_REFUSED') return broken(name, refusal);
  const detail = `it does not answer: ${String(refusal.data.detail)}`;
  const next = 'More than half of the servers must run. Ask again in 10 s: they may just elect.';
  return { name, state: 'broken', detail, next };
}

function limitsCheck({ bytesMax, streamsMax }: JetStreamFacts): Check {
  const name = 'jetstream';
  if (bytesMax >= logBytesMax && streamsMax >= streamsMin)
    return ok(name, 'is on, with room for the log');
  const detail = `the account may have ${streamsMax} streams and ${bytesMax} bytes`;
  const next = `Let it have ${streamsMin} streams or more, and some times the ${logBytesMax} bytes of the log.`;
  return { name, state: 'broken', detail, next };
}

function streamsCheck({ streams }: JetStreamFacts, copies: number): Check {
  const name = 'streams';
  const troubles: string[] = [];
  for (const each of streams) {
    const { found } = each;
    if (found === undefined) troubles.push(`${each.name} is not there`);
    else if (found.copies < copies)
      troubles.push(`${each.name} has ${found.copies} copies, not ${copies}`);
    else if (found.behind.length > 0)
      troubles.push(`the copy of ${each.name} at ${found.behind.join(', ')} is not current`);
  }
  if (troubles.length === 0)
    return ok(name, `all are there, ${copies === 1 ? 'one copy' : `${copies} copies`} of each`);
  const isNew = streams.every(({ found }) => found === undefined);
  const next = isNew
    ? 'Start `sigma bus`: the first one that leads makes them.'
    : 'Start all servers; what is not there is made by the next broker that leads, and copies by `nats stream edit NAME --replicas 3`.';
  const state = isNew ? 'absent' : 'broken';
  return { name, state, detail: isNew ? 'there are none yet' : troubles.join('; '), next };
}

async function leaderCheck({ connection, access }: Shared): Promise<Check> {
  const name = 'leader';
  const word = await findBroker(connection, access.bus);
  if (typeof word === 'object' && word.isServing)
    return ok(name, `leadership ${word.epoch} serves`);
  return broken(name, new BusError('NO_BROKER', { address: access.text }));
}

async function leaseCheck({ connection, access }: Shared, facts: JetStreamFacts): Promise<Check> {
  const name = 'lease';
  const next = 'Start `sigma bus` on some machines, and read their logs.';
  const none = { name, state: 'absent' as const, detail: 'no process holds it', next };
  if (facts.streams.at(-1)?.found === undefined) return none;
  const held = await readLease(connection, leasesOf(access.bus), 'bus');
  if (held === undefined) return none;
  const { holder, since, renewedMs, isFree } = held;
  const seconds = Math.max(0, Math.round((systemClock.nowMs() - renewedMs) / 1_000));
  const detail = `of ${holder}, which leads since ${since}; renewed ${seconds} s ago`;
  return isFree ? { ...none, detail: `left behind: ${detail}` } : ok(name, detail);
}

/** Where this machine follows the log. */
async function replicaChecks(folder: string, last: number): Promise<Check[]> {
  const name = 'replica';
  if (!existsSync(path.join(folder, 'CURRENT'))) return [];
  try {
    const options = { layout: busLayout, clock: systemClock, random: Math.random };
    await using store = await LevelStore.open(folder, options);
    const mark = await store.get(appliedKey);
    const moved = await markOf(store);
    if (moved !== undefined) return [broken(name, movedError(folder, moved))];
    const behind = last - (mark === undefined ? 0 : positionOf(mark).sequence);
    if (behind >= 0) return [ok(name, `${behind} of ${last} entries behind; no broker runs here`)];
    const next = 'Start `sigma bus`: it moves this replica aside, and begins anew.';
    const detail = `it has ${-behind} entries that the log does not have`;
    return [{ name, state: 'broken', detail, next }];
  } catch (error) {
    if (asBusError(error).code !== 'STORE_LOCKED') return [broken(name, error)];
    return [unchecked(name, 'a broker of this machine has it in use')];
  }
}
