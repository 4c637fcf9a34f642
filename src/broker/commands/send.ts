import { asBusError, BusError } from '../../errors/bus-error.js';
import { parseAddress } from '../../wire/address.js';
import { Command, readdress, type Frame } from '../../wire/frame.js';
import type { BrokerCore, CommandRun } from '../core.js';
import type { Session } from '../sessions.js';

/**
 * A live message: handed on now or refused now, never stored.
 *
 *     correlation set: a reply to an open request; only its responder may send it
 *     reply_to set:    a request; stays open until its last reply, its deadline or the responder's end
 *     neither:         a message of one way
 */
export const send: CommandRun = (core, session, frame) => {
  if (frame.envelope.correlation !== '') return reply(core, session, frame);
  if (core.isDraining) throw new BusError('BROKER_DRAINING');
  const responder = resolve(core, frame.envelope.to);
  if (frame.envelope.reply_to === '') return deliver(core, session, responder, frame, 0);

  if (core.requests.isFull(session.peer)) {
    throw new BusError('BROKER_BUSY', { limit: core.limits.requestsPerSessionMax });
  }
  const { id, deadline_ms } = frame.envelope;
  const budgetMs = Math.min(deadline_ms || core.limits.requestMsMax, core.limits.requestMsMax);
  deliver(core, session, responder, frame, budgetMs);
  core.requests.add({
    id,
    requester: session.peer,
    requesterAgent: session.agent,
    responder: responder.peer,
    responderAgent: responder.agent,
    budgetMs,
    expiresAtMs: core.clock.monotonicMs() + budgetMs,
  });
};

function reply(core: BrokerCore, session: Session, frame: Frame): void {
  const { to, correlation, more } = frame.envelope;
  const address = parseAddress(to);
  const request = core.requests.answerable(address.name, correlation, session.peer);
  if (request === undefined) throw new BusError('UNKNOWN_REQUEST', { id: correlation });
  const requester = core.sessions.of(request.requester);
  if (!more) core.requests.end(request);
  if (requester === undefined) throw new BusError('UNKNOWN_REQUEST', { id: correlation });
  try {
    deliver(core, session, requester, frame, 0);
  } catch (error) {
    // Too large, or the requester does not read: it must hear why no answer comes.
    core.requests.end(request);
    core.reject(requester, request.id, asBusError(error));
    throw error;
  }
}

/** Who gets it. Throws UNKNOWN_AGENT, AGENT_OFFLINE, AMBIGUOUS_ALIAS, NO_RESPONDER, INVALID_NAME. */
function resolve(core: BrokerCore, to: string): Session {
  const address = parseAddress(to);
  switch (address.kind) {
    case 'agent':
      return resolveAgent(core, address.name);
    case 'service': {
      const responder = core.sessions.responderFor(address.name, (each) =>
        core.requests.load(each.peer),
      );
      if (responder === undefined) throw new BusError('NO_RESPONDER', { service: address.name });
      return responder;
    }
    case 'topic':
      throw new BusError('UNAUTHORISED', { agent: 'a client', role: 'publisher of topics' });
  }
}

function resolveAgent(core: BrokerCore, name: string): Session {
  const byId = core.sessions.liveOf(name);
  if (byId !== undefined) return byId;
  const ids = core.registry.withAlias(name);
  const online = ids.flatMap((id) => core.sessions.liveOf(id) ?? []);
  if (online.length > 1) {
    throw new BusError('AMBIGUOUS_ALIAS', {
      alias: name,
      agents: online
        .map((each) => each.agent)
        .sort()
        .join(', '),
    });
  }
  if (online[0] !== undefined) return online[0];
  const isKnown = ids.length > 0 || core.registry.record(name) !== undefined;
  throw isKnown
    ? new BusError('AGENT_OFFLINE', { agent: name })
    : new BusError('UNKNOWN_AGENT', { agent: name });
}

function deliver(
  core: BrokerCore,
  from: Session,
  to: Session,
  frame: Frame,
  budgetMs: number,
): void {
  const { id, reply_to, correlation, more, trace, type } = frame.envelope;
  const delivery = readdress(frame, Command.DELIVER, {
    id,
    // Stamped here: what the sender wrote about itself does not count.
    from: from.agent,
    to: `agent:${to.agent}`,
    reply_to: reply_to === '' ? '' : `agent:${from.agent}`,
    correlation,
    more,
    deadline_ms: budgetMs,
    attempt: 1,
    trace,
    type,
  });
  if (!core.send(to, delivery)) throw new BusError('PEER_STALLED', { agent: to.agent });
}
