import { BusError } from '../../errors/bus-error.js';
import { parseAddress } from '../../wire/address.js';
import { Command } from '../../wire/frame.js';
import { creditCodec } from '../../wire/messages.js';
import type { BrokerCore, CommandRun } from '../core.js';
import type { Session } from '../session/sessions.js';
import { actingFor, makeKnown } from './post.js';

/** Sets how many unsettled messages of a mailbox this session takes. */
export const credit: CommandRun = async (core, session, frame) => {
  const { mailbox, messages, bytes } = creditCodec.decode(frame.body);
  const name = await mailboxToTake(core, session, mailbox);
  core.answer(session, frame, Command.ACCEPT);
  // The session may have ended while the agent was registered.
  if (core.sessions.of(session.peer) === session)
    core.mailboxes.credit(session.peer, name, messages, bytes);
};

/** Throws UNAUTHORISED for a mailbox that is neither its own nor of a service that it offers. */
export async function mailboxToTake(
  core: BrokerCore,
  session: Session,
  mailbox: string,
): Promise<string> {
  if (mailbox === '') return mailboxToTake(core, session, `agent:${session.agent}`);
  const { kind, name } = parseAddress(mailbox);
  if (kind === 'topic') throw new BusError('INVALID_NAME', { name: mailbox, what: 'mailbox' });
  if (kind === 'service') {
    if (session.services.has(name) || session.rights.mayAdminister('inbox.take')) return mailbox;
    throw new BusError('UNAUTHORISED', {
      agent: session.agent,
      role: `receiver of ${mailbox}`,
      why: 'it is not its own mailbox, nor one of a service that it offers',
    });
  }
  if (name === session.agent) {
    if (!session.isEphemeral) await makeKnown(core, session, name);
    return mailbox;
  }
  await makeKnown(core, session, actingFor(core, session, name));
  return mailbox;
}
