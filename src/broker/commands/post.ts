import { isName } from '../../base/ids.js';
import { BusError } from '../../errors/bus-error.js';
import { Command, type Frame } from '../../wire/frame.js';
import type { BrokerCore } from '../core.js';
import type { OnPosted } from '../mail/postings.js';
import type { Session } from '../session/sessions.js';
import { overReason } from './enrol.js';
import { giveUpUnread, mailboxFor } from './recipient.js';
import { checkStored, textCharsMax } from './texts.js';

/** A durable SEND: ACCEPT once it is stored and synced, else REJECT and nothing has happened. */
export function post(core: BrokerCore, session: Session, frame: Frame): void | Promise<void> {
  const failed = (error: unknown): never => {
    remember(session, frame.envelope.id, core.limits.refusedMax);
    throw error;
  };
  try {
    if (core.isDraining) throw new BusError('BROKER_DRAINING');
    checkStored(frame.envelope);
    const from = speaker(core, session, frame);
    const coming = from === session.agent ? undefined : makeKnown(core, session, from);
    if (coming === undefined) return accept(core, session, frame, from);
    return coming.then(() => accept(core, session, frame, from)).catch(failed);
  } catch (error) {
    return failed(error);
  }
}

/** Remembers a refused id: a message sent behind it must not overtake it, even one stored before. */
function remember({ refused }: Session, id: string, max: number): void {
  if (id.length > textCharsMax) return;
  // The newest: those that are sent again stay, those that were given up go.
  refused.delete(id);
  refused.add(id);
  const [oldest] = refused;
  if (refused.size > max && oldest !== undefined) refused.delete(oldest);
}

function accept(core: BrokerCore, session: Session, frame: Frame, from: string): void {
  const { windowMax: limit, busyRetryMs: retryAfterMs } = core.limits;
  if (session.posting >= limit) throw new BusError('BROKER_BUSY', { limit, retryAfterMs });
  const { id, after } = frame.envelope;
  if (after !== '' && (session.refused.has(after) || !core.mailboxes.isTaken(from, after)))
    throw new BusError('OUT_OF_ORDER', { id, after });
  session.refused.delete(id);
  const startedMs = core.clock.monotonicMs();
  let mailbox = '';
  /** Whose mailbox it is, if it is one of an agent. */
  let agent = '';
  let isForHosted = false;
  const onPosted: OnPosted = (error, seq, isDuplicate) => {
    session.posting -= 1;
    if (error !== undefined) return refuse(core, session, frame, error);
    // The agent was dismissed during the write.
    if (isForHosted && !isOfHosted(core, agent)) core.mailboxes.close([mailbox], overReason);
    if (agent !== '') giveUpUnread(core, agent);
    core.answer(session, frame, Command.ACCEPT, undefined, { seq });
    if (isDuplicate) return;
    core.acceptLatency.record(core.clock.monotonicMs() - startedMs);
    core.audit('stored', { agent: from, person: session.person }, mailbox, frame);
  };
  session.posting += 1;
  try {
    // Checked first: an accepted message stays accepted even if its recipient is gone.
    if (core.mailboxes.repeat(from, id, onPosted)) return;
    mailbox = mailboxFor(core, session, frame, from);
    if (mailbox.startsWith('agent:')) agent = mailbox.slice('agent:'.length);
    isForHosted = isOfHosted(core, agent);
    core.mailboxes.post(frame, from, mailbox, onPosted);
  } catch (error) {
    session.posting -= 1;
    throw error;
  }
}

/** The disk refused it. */
function refuse(core: BrokerCore, session: Session, frame: Frame, error: BusError): void {
  remember(session, frame.envelope.id, core.limits.refusedMax);
  core.audit('refused', session, frame.envelope.to, frame, error.code);
  core.reject(session, frame.envelope.id, error);
}

function isOfHosted(core: BrokerCore, agent: string): boolean {
  return core.isHostedRole(core.registry.record(agent)?.role);
}

/**
 * The sender of this message. A session speaks for itself. An administrator may also speak for an agent of the
 * operators, because several command lines share its mailbox; with `agent.speak` for a hosted agent, whose process may have
 * ended before its last message is sent. Throws UNAUTHORISED.
 */
export function speaker(core: BrokerCore, session: Session, frame: Frame): string {
  const { from } = frame.envelope;
  if (from === '' || from === session.agent) return session.agent;
  return actingFor(core, session, from);
}

export function actingFor(core: BrokerCore, session: Session, agent: string): string {
  const owner = core.sessions.liveOf(agent)?.role ?? core.registry.record(agent)?.role;
  const isOperators = owner === undefined || owner === session.role;
  const may = core.isHostedRole(owner)
    ? session.rights.mayAdminister('agent.speak')
    : isOperators && session.rights.mayAdminister('inbox.take');
  if (!may || !isName(agent))
    throw new BusError('UNAUTHORISED', {
      agent: session.agent,
      role: agent.slice(0, 120),
      why: 'an agent sends, and takes, in its own name',
    });
  return agent;
}

/** Registers an agent that uses a mailbox, so that messages reach it while it is away. Undefined: it is known already. */
export function makeKnown(
  core: BrokerCore,
  session: Session,
  agent: string,
): Promise<void> | undefined {
  // These are enrolled and dismissed by others.
  if (core.isHostedRole(session.role)) return undefined;
  if (core.registry.record(agent) !== undefined) return undefined;
  const none = { model: '', project: '', scope: [], overlays: {}, capabilities: [] };
  const record = { ...none, id: agent, alias: '', role: session.role, protocol_versions: [] };
  return core.enroll(record, false);
}
