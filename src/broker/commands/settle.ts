import { BusError } from '../../errors/bus-error.js';
import { Command } from '../../wire/frame.js';
import { settleCodec, type Settle } from '../../wire/messages.js';
import type { BrokerCore, CommandRun } from '../core.js';
import type { Letter } from '../mailbox.js';
import type { Session } from '../session/sessions.js';
import { plain } from './texts.js';

/** Messages named by one frame; more are refused TOO_LARGE. */
const seqsMax = 4_096;
/** Of a reason. */
const reasonCharsMax = 500;

type Verdict = (core: BrokerCore, letter: Letter, settle: Settle) => void;

/**
 * ACK, NACK, TERM and WORKING without an id have no answer: whoever settles goes on, and one that was lost
 * is seen by the message being delivered again. With one they have an ACCEPT: whatever is delivered before
 * it was sent before they were known. Its `seq` is the first that was settled; 0: all came too late. What the session does not hold is passed over; it may ACK and TERM all of
 * its own mailbox, because the message may have come to an earlier session of its agent.
 */
function settling(verdict: Verdict, needsLease: boolean): CommandRun {
  return (core, session, frame) => {
    const settle = settleCodec.decode(frame.body);
    if (settle.seqs.length > seqsMax)
      throw new BusError('TOO_LARGE', {
        what: 'the list of messages',
        bytes: settle.seqs.length,
        limit: seqsMax,
      });
    settle.reason = plain(settle.reason.slice(0, reasonCharsMax));
    core.mailboxes.settle(
      session.peer,
      (mailbox) => !needsLease && ownsMailbox(session, mailbox),
      settle.seqs,
      (letter) => verdict(core, letter, settle),
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

export const ack = settling((core, letter) => {
  core.mailboxes.done(letter);
  core.auditLetter('settled', letter);
}, false);

export const nack = settling((core, letter, { delay_ms, reason, untouched }) => {
  if (untouched) core.mailboxes.untouched(letter, delay_ms);
  else core.mailboxes.failed(letter, reason || 'NACK', delay_ms);
}, true);

export const term = settling((core, letter, { reason }) => {
  core.mailboxes.terminated(letter, reason);
}, false);

export const working = settling((core, letter) => core.mailboxes.working(letter), true);
