import { BusError } from '../../errors/bus-error.js';
import { Command } from '../../wire/frame.js';
import { settleCodec, type Settle } from '../../wire/messages.js';
import type { BrokerCore, CommandRun } from '../core.js';
import type { StoredMessage } from '../mail/mailbox.js';
import type { Session } from '../session/sessions.js';
import { plain } from './texts.js';

/** Messages named by one frame; more are refused TOO_LARGE. */
const seqsMax = 4_096;
/** Characters of a reason. */
const reasonCharsMax = 500;

type Verdict = (core: BrokerCore, message: StoredMessage, settle: Settle) => void;

/**
 * ACK, NACK, TERM and WORKING without an id have no answer: the consumer goes on, and a lost one shows
 * when the message is delivered again. With an id they get an ACCEPT: a message delivered before
 * it was sent before they were known. Its `seq` is the first that was settled; 0: all came too late. Messages that the
 * session does not hold are skipped; it may ACK and TERM all of its own mailbox, because an earlier session of its
 * agent may have got the message.
 */
function settling(verdict: Verdict, needsLease: boolean): CommandRun {
  return (core, session, frame) => {
    const settle = settleCodec.decode(frame.body);
    if (settle.seqs.length > seqsMax)
      throw new BusError('TOO_LARGE', {
        what: 'a list',
        unit: 'messages',
        bytes: settle.seqs.length,
        limit: seqsMax,
      });
    settle.reason = plain(settle.reason.slice(0, reasonCharsMax));
    core.mailboxes.settle(
      session.peer,
      (mailbox) => !needsLease && ownsMailbox(session, mailbox),
      settle.seqs,
      (message) => verdict(core, message, settle),
      (seq) => {
        if (frame.envelope.id !== '')
          core.answer(session, frame, Command.ACCEPT, undefined, { seq });
      },
    );
  };
}

export function ownsMailbox(session: Session, mailbox: string): boolean {
  const isOwn = mailbox === `agent:${session.agent}` || mailbox === `reply:${session.agent}`;
  return isOwn || session.rights.mayAdminister('inbox.take');
}

export const ack = settling((core, message) => {
  core.mailboxes.done(message);
  core.auditStored('settled', message);
}, false);

export const nack = settling((core, message, { delay_ms, reason, untouched }) => {
  if (untouched) core.mailboxes.untouched(message, delay_ms);
  else core.mailboxes.failed(message, reason || 'NACK', delay_ms);
}, true);

export const term = settling((core, message, { reason }) => {
  core.mailboxes.terminated(message, reason);
}, false);

export const working = settling((core, message) => core.mailboxes.working(message), true);
