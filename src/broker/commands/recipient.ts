import { BusError } from '../../errors/bus-error.js';
import { parseAddress } from '../../wire/address.js';
import type { Frame } from '../../wire/frame.js';
import { noMail } from '../../wire/messages.js';
import type { BrokerCore } from '../core.js';
import type { Session } from '../session/sessions.js';

/** The session that gets a live message. Throws UNKNOWN_AGENT, AGENT_OFFLINE, AMBIGUOUS_ALIAS, NO_RESPONDER, INVALID_NAME, UNAUTHORISED. */
export function liveRecipient(core: BrokerCore, session: Session, frame: Frame): Session {
  const { to, type } = frame.envelope;
  const { kind, name } = parseAddress(to);
  switch (kind) {
    case 'agent': {
      const recipient = agentCalled(core, name);
      permit(session, { kind, name: recipient.agent, role: recipient.role }, type);
      return recipient;
    }
    case 'service': {
      permit(session, { kind, name }, type);
      const responder = core.sessions.responderFor(name);
      if (responder === undefined) throw new BusError('NO_RESPONDER', { service: name });
      return responder;
    }
    case 'reply':
    case 'topic':
      throw new BusError('INVALID_NAME', { name: to.slice(0, 120), what: 'live recipient' });
  }
}

/**
 * Where a durable message waits: `agent:<id>`, `service:<name>` or `reply:<id>`. Its agent need not be
 * there. Throws UNKNOWN_AGENT, NO_MAILBOX, AMBIGUOUS_ALIAS, NO_RESPONDER, UNKNOWN_REQUEST, INVALID_NAME, UNAUTHORISED.
 */
export function mailboxFor(core: BrokerCore, session: Session, frame: Frame, from: string): string {
  const { to, type, correlation } = frame.envelope;
  const { kind, name } = parseAddress(to);
  switch (kind) {
    case 'agent': {
      const id = registeredAgent(core, name);
      const role = core.sessions.liveOf(id)?.role ?? core.registry.record(id)?.role;
      permit(session, { kind, name: id, ...(role !== undefined && { role }) }, type);
      if (readsNoMail(core, id)) throw new BusError('NO_MAILBOX', { agent: name });
      // Nearly always the same text, and that has its hash already.
      return id === name ? to : `agent:${id}`;
    }
    case 'service':
      permit(session, { kind, name }, type);
      if (!core.sessions.isOffered(name) && !core.mailboxes.isKnown(to))
        throw new BusError('NO_RESPONDER', { service: name });
      return to;
    case 'reply': {
      const asked = core.mailboxes.sentTo(name, correlation);
      if (asked === undefined) throw new BusError('UNKNOWN_REQUEST', { id: correlation });
      if (!mayAnswer(session, from, asked))
        throw new BusError('UNAUTHORISED', {
          agent: from,
          role: `responder to ${correlation}`,
          why: 'another agent was asked',
        });
      return to;
    }
    case 'topic':
      throw new BusError('INVALID_NAME', { name: to.slice(0, 120), what: 'mailbox' });
  }
}

/** It says so when it registers. */
function readsNoMail(core: BrokerCore, agent: string): boolean {
  return core.registry.record(agent)?.capabilities.includes(noMail) === true;
}

/** What was taken for it before it said so is not kept in silence: it becomes dead letters. */
export function giveUpUnread(core: BrokerCore, agent: string): void {
  if (readsNoMail(core, agent)) core.mailboxes.close([`agent:${agent}`], 'NO_MAILBOX');
}

/** Only the agent that was asked, or one that may offer the asked service. */
function mayAnswer({ rights }: Session, from: string, asked: string): boolean {
  // A reply may be replied to.
  if ([`agent:${from}`, `reply:${from}`].includes(asked)) return true;
  if (rights.mayAdminister('inbox.take')) return true;
  const { kind, name } = parseAddress(asked);
  return kind === 'service' && rights.mayOffer(name);
}

function permit(session: Session, to: Parameters<Session['rights']['maySend']>[0], type: string) {
  const { rights, agent } = session;
  if (rights.maySend(to, type)) return;
  const sender = `sender of ${type} to ${to.kind} ${to.name}`;
  throw new BusError('UNAUTHORISED', {
    agent,
    role: sender,
    why: `the role ${session.role} may not send this type there`,
  });
}

function agentCalled(core: BrokerCore, name: string): Session {
  const byId = core.sessions.liveOf(name);
  if (byId !== undefined) return byId;
  // An id names its agent even while that is away.
  if (core.registry.record(name) !== undefined)
    throw new BusError('AGENT_OFFLINE', { agent: name });
  const ids = core.registry.withAlias(name);
  const online = ids.flatMap((id) => core.sessions.liveOf(id) ?? []);
  if (online.length > 1)
    throw ambiguous(
      name,
      online.map((each) => each.agent),
    );
  if (online[0] !== undefined) return online[0];
  throw ids.length > 0
    ? new BusError('AGENT_OFFLINE', { agent: name })
    : new BusError('UNKNOWN_AGENT', { agent: name });
}

function registeredAgent(core: BrokerCore, name: string): string {
  const live = core.sessions.liveOf(name);
  if (live?.isEphemeral === true) throw new BusError('NO_MAILBOX', { agent: name });
  if (live !== undefined || core.registry.record(name) !== undefined) return name;
  if (core.mailboxes.isUsed(`agent:${name}`)) return name;
  const ids = core.registry.withAlias(name);
  const online = ids.filter((id) => core.sessions.liveOf(id) !== undefined);
  const [only, ...others] = online.length > 0 ? online : ids;
  if (only === undefined) throw new BusError('UNKNOWN_AGENT', { agent: name });
  if (others.length > 0) throw ambiguous(name, [only, ...others]);
  if (core.sessions.liveOf(only)?.isEphemeral === true)
    throw new BusError('NO_MAILBOX', { agent: only });
  return only;
}

function ambiguous(alias: string, agents: string[]): BusError {
  return new BusError('AMBIGUOUS_ALIAS', { alias, agents: agents.sort().join(', ') });
}
