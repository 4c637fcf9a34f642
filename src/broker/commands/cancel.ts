import { BusError } from '../../errors/bus-error.js';
import { Command, makeFrame } from '../../wire/frame.js';
import type { CommandRun } from '../core.js';
import { speaker } from './post.js';

/**
 * The requester no longer wants an answer, or a message. A live request ends at once. A durable message without a
 * lease is withdrawn, and ACCEPT confirms it. A worker that holds it gets CANCEL and may stop; its reply is dropped.
 */
export const cancel: CommandRun = async (core, session, frame) => {
  const { correlation } = frame.envelope;
  if (core.mailboxes.receivers.cancel(session.peer, correlation))
    return core.answer(session, frame, Command.ACCEPT);
  const from = speaker(core, session, frame);
  const request = session.asked.get(correlation);
  const stored = core.mailboxes.messageById(from, correlation);
  // A dead letter can only be purged or requeued.
  const message = stored === undefined || stored.deadMs > 0 ? undefined : stored;
  if (request === undefined && message === undefined)
    throw new BusError('UNKNOWN_REQUEST', { id: correlation });
  const holder = message?.lease?.consumer.peer;
  const worker =
    request?.responder ?? (holder === undefined ? undefined : core.sessions.of(holder));
  if (request !== undefined) core.requests.end(request);
  else if (message !== undefined && worker === undefined) {
    await core.mailboxes.purge([message]);
    core.auditStored('cancelled', message);
  }
  if (worker !== undefined) {
    const seq = message?.seq ?? 0;
    core.send(worker, makeFrame(Command.CANCEL, { correlation, from, seq }));
  }
  core.answer(session, frame, Command.ACCEPT);
};
