import { asBusError, BusError } from '../../errors/bus-error.js';
import { parseAddress } from '../../wire/address.js';
import { Command, newEnvelope, type Frame } from '../../wire/frame.js';
import type { BrokerCore, CommandRun } from '../core.js';
import type { Session } from '../session/sessions.js';
import { post } from './post.js';
import { liveRecipient } from './recipient.js';
import { checkLengths } from './texts.js';

/**
 * A durable message is stored (post.ts). A live one is delivered or rejected at once:
 *
 *     correlation set: a reply to an open request; only its responder may send it
 *     reply_to set:    a request; stays open until its last reply, its deadline or the responder's end
 *     neither:         a one-way message
 */
export const send: CommandRun = (core, session, frame) => {
  if (frame.envelope.durable) return post(core, session, frame);
  checkLengths(frame.envelope);
  const { id, correlation, deadline_ms, from, reply_to } = frame.envelope;
  if (from !== '' && from !== session.agent)
    throw new BusError('UNAUTHORISED', {
      agent: session.agent,
      role: from.slice(0, 120),
      why: 'an agent sends in its own name',
    });
  if (correlation !== '') return reply(core, session, frame);
  if (core.isDraining) throw new BusError('BROKER_DRAINING');
  const responder = liveRecipient(core, session, frame);
  if (reply_to === '') return deliver(core, session, responder, frame, 0);

  if (core.requests.isFull(session)) {
    const retryAfterMs = core.limits.busyRetryMs;
    throw new BusError('BROKER_BUSY', { limit: core.limits.requestsPerSessionMax, retryAfterMs });
  }
  const budgetMs = Math.min(deadline_ms || core.limits.requestMsMax, core.limits.requestMsMax);
  deliver(core, session, responder, frame, budgetMs);
  const expiresAtMs = core.clock.monotonicMs() + budgetMs;
  core.requests.add({ id, requester: session, responder, budgetMs, expiresAtMs });
};

function reply(core: BrokerCore, session: Session, frame: Frame): void {
  const { to, correlation, more } = frame.envelope;
  const requester = core.sessions.liveOf(parseAddress(to).name);
  const request = requester && core.requests.answerable(requester, correlation, session);
  if (requester === undefined || request === undefined)
    throw new BusError('UNKNOWN_REQUEST', { id: correlation });
  if (!more) core.requests.end(request);
  try {
    deliver(core, session, requester, frame, 0);
  } catch (error) {
    // Too large, or the requester does not read: tell it why no answer comes.
    core.requests.end(request);
    core.reject(requester, request.id, asBusError(error));
    throw error;
  }
}

function deliver(
  core: BrokerCore,
  from: Session,
  to: Session,
  frame: Frame,
  budgetMs: number,
): void {
  const { id, reply_to, correlation, more, trace, type } = frame.envelope;
  const envelope = newEnvelope();
  envelope.id = id;
  // Stamped here; the sender's own claims are ignored.
  envelope.from = from.agent;
  envelope.to = to.address;
  if (reply_to !== '') envelope.reply_to = from.address;
  envelope.correlation = correlation;
  envelope.more = more;
  envelope.deadline_ms = budgetMs;
  envelope.attempt = 1;
  envelope.trace = trace;
  envelope.type = type;
  const { body, bodyCrc } = frame;
  const delivery = { command: Command.DELIVER, envelope, body, bodyCrc };
  if (!core.send(to, delivery)) throw new BusError('PEER_STALLED', { agent: to.agent });
  core.audit('delivered', from, to.agent, frame);
}
