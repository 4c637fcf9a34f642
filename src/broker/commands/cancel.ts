import { BusError } from '../../errors/bus-error.js';
import { Command, makeFrame } from '../../wire/frame.js';
import type { CommandRun } from '../core.js';
import { speaker } from './post.js';

/**
 * The requester no longer wants an answer, or a message. A live request ends at once; a durable message that nobody
 * holds is taken back, and ACCEPT says so. Whoever works on it is told and may stop; its reply is dropped.
 */
export const cancel: CommandRun = async (core, session, frame) => {
  const { correlation } = frame.envelope;
  if (core.mailboxes.takers.cancel(session.peer, correlation))
    return core.answer(session, frame, Command.ACCEPT);
  const from = speaker(core, session, frame);
  const request = core.requests.of(session.agent, correlation);
  const stored = core.mailboxes.letterById(from, correlation);
  // What is dead belongs to those who look after dead letters.
  const letter = stored === undefined || stored.deadMs > 0 ? undefined : stored;
  if (request === undefined && letter === undefined)
    throw new BusError('UNKNOWN_REQUEST', { id: correlation });
  const holder = request?.responder ?? letter?.lease?.consumer.peer;
  const worker = holder === undefined ? undefined : core.sessions.of(holder);
  if (request !== undefined) core.requests.end(request);
  else if (letter !== undefined && worker === undefined) {
    await core.mailboxes.purge([letter]);
    core.auditLetter('cancelled', letter);
  }
  if (worker !== undefined) {
    const seq = letter?.seq ?? 0;
    core.send(worker, makeFrame(Command.CANCEL, { correlation, from, seq }));
  }
  core.answer(session, frame, Command.ACCEPT);
};
