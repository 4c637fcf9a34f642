import { gatewayRole, hostName } from '../base/prover.js';
import { auditOf, indexesOf, inboxOf, subjectsOf } from './subjects.js';

/**
 * What a NATS server lets each agent do, so that none acts as another: the server alone knows whose key a connection has.
 * An agent publishes its own frames, and asks for the broker; it subscribes to frames for itself, to the broker's words, and to
 * answers to itself. A broker may do the other half of each.
 *
 * JetStream is for brokers, for roles with a log of their own, for those of which one process works at a time, for operators, and for hosts of
 * shards, to read indexes, where an operator wants it so. It writes what it is asked for to any subject that the question names, unchecked: who may
 * use it is trusted like a broker. No other role has any of it.
 */

/** Who runs the bus: a candidate to lead it. */
const brokerRole = 'broker';
/** Roles with a log of their own, which is called as they are; so is their lease. */
const rolesWithLog: readonly string[] = ['manager'];
const rolesWithLease: readonly string[] = [...rolesWithLog, gatewayRole];
/** It reads the audit log, publishes indexes and pulls them. */
const operatorRole = 'operator';
/** Of programs that are none of the bus: they see agents, ask them and are agents, by the Synadia Agent Protocol. */
const visitorRole = 'visitor';

export interface NatsUser {
  agent: string;
  role: string;
  /** Its public nkey. */
  key: string;
  bus: string;
}

interface Permissions {
  publish: string[];
  subscribe: string[];
}

/**
 * The variable `sigma_agents` for the configuration of a server. Not the whole block `authorization`: that of an empty file
 * would let all in, while a variable that is missing is an error. For the same reason there must be one user at least. `hostsPull`: hosts of
 * shards take indexes from the servers, and are trusted for it.
 */
export function usersText(
  users: readonly NatsUser[],
  { hostsPull = false }: { hostsPull?: boolean } = {},
): string {
  const buses = new Set(users.map(({ bus }) => bus));
  const lines = users.map((user) => {
    const { publish, subscribe } = permissionsOf(user, buses);
    if (hostsPull && user.role === hostName) publish.push(...pullRights(user.bus));
    return [
      `  # ${user.agent}, ${user.role} of ${user.bus}`,
      `  { nkey: ${user.key}, permissions: {`,
      `    publish: ${JSON.stringify(publish)}`,
      `    subscribe: ${JSON.stringify(subscribe)}`,
      '  } }',
    ].join('\n');
  });
  return ['sigma_agents = [', ...lines, ']', ''].join('\n');
}

const none: Permissions = { publish: [], subscribe: [] };

function permissionsOf({ agent, role, bus }: NatsUser, buses: ReadonlySet<string>): Permissions {
  const subjects = subjectsOf(bus);
  const { find, leader } = subjects;
  const topics = subjects.topic('*', '>');
  const inbox = `${inboxOf(agent)}.>`;
  if (role === brokerRole)
    return {
      publish: [
        ...[subjects.out('*', '>'), find, leader, topics, inboxOf('>')],
        ...[...logRights(bus, 'bus'), `$KV.sigma_${bus}.>`],
        ...streamRights(leasesOf(bus)),
        ...[subjects.audit(agent), ...calls(['STREAM.CREATE'], auditOf(bus)), ...auditRights(bus)],
        ...calls(['STREAM.INFO'], indexStream(bus)),
        ...[...streamsOf(bus, 'bus'), leasesOf(bus)].flatMap((each) =>
          calls(['STREAM.UPDATE'], each),
        ),
      ],
      subscribe: [subjects.allIn('*'), find, leader, inbox],
    };
  if (role === visitorRole) return visitorRights(agent, inbox, !buses.has(agent));
  const gateway = role === gatewayRole ? gatewayRights(bus) : none;
  return {
    publish: [
      ...[subjects.in('*', `${agent}.>`), find],
      ...(rolesWithLog.includes(role) ? logRights(bus, role) : []),
      ...(rolesWithLease.includes(role) ? leaseRights(bus, role) : []),
      ...(role === operatorRole ? [...indexRights(bus), ...auditRights(bus)] : []),
      ...gateway.publish,
    ],
    subscribe: [subjects.out('*', `${agent}.>`), leader, topics, inbox, ...gateway.subscribe],
  };
}

// --- micro services of NATS, and the Synadia Agent Protocol

const discovery = '$SRV.>';
const heartbeats = 'agents.hb.*.*.*';
const asking = [discovery, 'agents.prompt.>', 'agents.status.>'];

/** What has agents of this program and owner: it answers for them, and says that they are there. */
function serving(program: string, owner: string): Permissions {
  const its = (verb: string): string => `agents.${verb}.${program}.${owner}.*`;
  return {
    publish: [its('hb'), inboxOf('>')],
    subscribe: [discovery, its('prompt'), its('status')],
  };
}

/** Its sessions for agents of others have subjects of its own: who they are is proven in each HELLO. */
function gatewayRights(bus: string): Permissions {
  const { publish, subscribe } = serving('sigma', bus);
  return { publish: [...asking, ...publish], subscribe: [heartbeats, ...subscribe] };
}

/**
 * The owner of its agents has its name, so that none gets what is for one of another. The owner of ours is their bus: who is called
 * like one has no agents.
 */
function visitorRights(name: string, inbox: string, mayServe: boolean): Permissions {
  const { publish, subscribe } = mayServe ? serving('*', name) : none;
  return { publish: [...asking, ...publish], subscribe: [heartbeats, inbox, ...subscribe] };
}

// --- JetStream

const calls = (names: readonly string[], rest: string): string[] =>
  names.map((name) => `$JS.API.${name}.${rest}`);

/** To make a stream and read it; not to change what it takes in, and not to delete it. */
function streamRights(stream: string): string[] {
  return [
    '$JS.API.INFO',
    ...calls(['STREAM.CREATE', 'STREAM.INFO', 'STREAM.PURGE', 'STREAM.MSG.GET'], stream),
    ...calls(['DIRECT.GET', 'CONSUMER.CREATE'], stream),
    ...calls(['DIRECT.GET', 'CONSUMER.CREATE'], `${stream}.>`),
    ...calls(['CONSUMER.MSG.NEXT'], `${stream}.*`),
    ...readerRights(stream),
  ];
}

function readerRights(stream: string): string[] {
  return [
    ...calls(['CONSUMER.INFO', 'CONSUMER.DELETE'], `${stream}.*`),
    `$JS.ACK.${stream}.>`,
    `$JS.FC.${stream}.>`,
  ];
}

/** Of a log, and of the snapshots beside it. */
function streamsOf(bus: string, name: string): string[] {
  const stream = `SIGMA_${bus}_${name}`;
  return [stream, `${stream}_snapshots`];
}

function logRights(bus: string, name: string): string[] {
  const subject = subjectsOf(bus).log(name);
  return [subject, `${subject}.>`, ...streamsOf(bus, name).flatMap(streamRights)];
}

function leasesOf(bus: string): string {
  return `KV_sigma_${bus}`;
}

/** Of the leases, which brokers keep, the one. */
function leaseRights(bus: string, role: string): string[] {
  const stream = leasesOf(bus);
  const key = `$KV.sigma_${bus}.${role}`;
  return [
    key,
    ...calls(['STREAM.INFO', 'STREAM.MSG.GET'], stream),
    ...calls(['DIRECT.GET'], `${stream}.${key}`),
    ...calls(['CONSUMER.CREATE'], `${stream}.*.${key}`),
    ...readerRights(stream),
  ];
}

/** To read the audit log. */
function auditRights(bus: string): string[] {
  return calls(['STREAM.INFO', 'STREAM.MSG.GET'], auditOf(bus));
}

const indexStream = (bus: string): string => `OBJ_${indexesOf(bus)}`;

/** To read published indexes. Its answers are wrapped, so that no text of an asker's choice comes anywhere by them. */
function pullRights(bus: string): string[] {
  return calls(['STREAM.INFO', 'STREAM.MSG.GET'], indexStream(bus));
}

/** To publish indexes. What is in the bucket may be replaced, and all of it purged. */
function indexRights(bus: string): string[] {
  const its = calls(['STREAM.CREATE', 'STREAM.PURGE'], indexStream(bus));
  return [`$O.${indexesOf(bus)}.>`, ...its, ...pullRights(bus)];
}
