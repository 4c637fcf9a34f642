/**
 * The subjects of one bus. A token names each side, so that the server's permissions prove who speaks:
 *
 *     sigma.BUS.in.RUN.AGENT.SESSION    frames of an agent to the broker
 *     sigma.BUS.out.RUN.AGENT.SESSION   frames of the broker to an agent
 *     sigma.BUS.topic.RUN.TOPIC         publications
 *     sigma.BUS.find                    asks where the broker is; it answers with a word, see `Word`
 *     sigma.BUS.leader                  the broker says so itself, when it comes and when it goes
 *     sigma.BUS.log.NAME                the log of a store
 *     sigma.BUS.audit.AGENT             the audit log of a broker that leads
 *
 * A run is one connection of one broker that leads: what is meant for an earlier one reaches no broker.
 */
export function subjectsOf(bus: string) {
  const root = `sigma.${bus}`;
  return {
    find: `${root}.find`,
    leader: `${root}.leader`,
    allIn: (run: string) => `${root}.in.${run}.>`,
    in: (run: string, peer: string) => `${root}.in.${run}.${peer}`,
    out: (run: string, peer: string) => `${root}.out.${run}.${peer}`,
    topic: (run: string, topic: string) => `${root}.topic.${run}.${topic}`,
    log: (name: string) => `${root}.log.${name}`,
    audit: (agent: string) => `${root}.audit.${agent}`,
  };
}

/** The stream of a log. */
export function logOf(bus: string, name: string): string {
  return `SIGMA_${bus}_${name}`;
}

/** The stream of the audit logs of all brokers. */
export function auditOf(bus: string): string {
  return logOf(bus, 'audit');
}

/** The bucket of the leases. */
export function leasesOf(bus: string): string {
  return `sigma_${bus}`;
}

/** The bucket of published indexes. */
export function indexesOf(bus: string): string {
  return `sigma_${bus}_indexes`;
}

const inboxes = '_INBOX.';

/** Answers to an agent go there; no other agent may read them. */
export function inboxOf(agent: string): string {
  return `${inboxes}${agent}`;
}

/**
 * Whether an answer may be sent there. Who asks names the place, and the server does not check it: an agent could have a broker write
 * to the log, or in the name of another.
 */
export function isInbox(subject: string | undefined): boolean {
  return subject?.startsWith(inboxes) === true;
}

/** What a broker says of itself. `epoch` grows with each leader, `connection` with each connection of one. */
export interface Word {
  epoch: number;
  connection: number;
  isServing: boolean;
}

export function runOf({ epoch, connection }: Word): string {
  return `${epoch}-${connection}`;
}

/** Of two words of different brokers, or of different connections, the later one counts. */
export function isLater(one: Word, other: Word): boolean {
  return one.epoch === other.epoch ? one.connection > other.connection : one.epoch > other.epoch;
}

export function encodeWord(word: Word): string {
  return `${runOf(word)} ${word.isServing ? 'serving' : 'leaving'}`;
}

/** Undefined: it is none. */
export function decodeWord(text: string): Word | undefined {
  const [, epoch, connection, state] = /^(\d{1,15})-(\d{1,15}) (serving|leaving)$/.exec(text) ?? [];
  if (epoch === undefined) return undefined;
  return { epoch: Number(epoch), connection: Number(connection), isServing: state === 'serving' };
}
