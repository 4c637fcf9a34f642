import { isName } from '../../base/ids.js';
import { BusError } from '../../errors/bus-error.js';
import { Command, type Frame } from '../../wire/frame.js';
import type { BrokerCore } from '../core.js';
import type { Session } from '../session/sessions.js';
import { overReason } from './enrol.js';
import { giveUpUnread, mailboxFor } from './recipient.js';
import { checkStored, textCharsMax } from './texts.js';

/** A durable SEND: ACCEPT once it is stored and synced, else REJECT and nothing has happened. */
export async function post(core: BrokerCore, session: Session, frame: Frame): Promise<void> {
  const { id } = frame.envelope;
  try {
    await accept(core, session, frame);
  } catch (error) {
    remember(session, id, core.limits.windowMax);
    throw error;
  }
}

/** Remembers a refused id: a message sent behind it must not overtake it, even one stored before. */
function remember({ refused }: Session, id: string, max: number): void {
  if (id.length > textCharsMax) return;
  refused.add(id);
  const [oldest] = refused;
  if (refused.size > max && oldest !== undefined) refused.delete(oldest);
}

async function accept(core: BrokerCore, session: Session, frame: Frame): Promise<void> {
  if (core.isDraining) throw new BusError('BROKER_DRAINING');
  checkStored(frame.envelope);
  const from = speaker(core, session, frame);
  if (from !== session.agent) await makeKnown(core, session, from);
  const { windowMax: limit, busyRetryMs: retryAfterMs } = core.limits;
  if (session.posting >= limit) throw new BusError('BROKER_BUSY', { limit, retryAfterMs });
  session.posting += 1;
  const startedMs = core.clock.monotonicMs();
  try {
    const { id, after } = frame.envelope;
    if (after !== '' && (session.refused.has(after) || !core.mailboxes.isTaken(from, after)))
      throw new BusError('OUT_OF_ORDER', { id, after });
    session.refused.delete(id);
    // Checked first: an accepted message stays accepted even if its recipient is gone.
    const earlier = core.mailboxes.earlier(from, id);
    const mailbox = earlier === undefined ? mailboxFor(core, session, frame, from) : '';
    const isForHosted = isOfHosted(core, mailbox);
    const { seq, isDuplicate } = await (earlier ?? core.mailboxes.post(frame, from, mailbox));
    // The agent was dismissed during the write.
    if (isForHosted && !isOfHosted(core, mailbox)) core.mailboxes.close([mailbox], overReason);
    if (mailbox.startsWith('agent:')) giveUpUnread(core, mailbox.slice('agent:'.length));
    core.answer(session, frame, Command.ACCEPT, undefined, { seq });
    if (isDuplicate) return;
    core.acceptLatency.record(core.clock.monotonicMs() - startedMs);
    core.audit('stored', from, mailbox, frame);
  } finally {
    session.posting -= 1;
  }
}

function isOfHosted(core: BrokerCore, mailbox: string): boolean {
  return core.isHostedRole(core.registry.record(mailbox.replace(/^agent:/, ''))?.role);
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

/** Registers an agent that uses a mailbox, so that messages reach it while it is away. */
export async function makeKnown(core: BrokerCore, session: Session, agent: string): Promise<void> {
  // These are enrolled and dismissed by others.
  if (core.isHostedRole(session.role)) return;
  if (core.registry.record(agent) !== undefined) return;
  const none = { model: '', project: '', scope: [], overlays: {}, capabilities: [] };
  const record = { ...none, id: agent, alias: '', role: session.role, protocol_versions: [] };
  await core.enroll(record, false);
}
