import { isName } from '../../base/ids.js';
import { BusError } from '../../errors/bus-error.js';
import { takeCodec } from '../../wire/messages.js';
import type { CommandRun } from '../core.js';
import { mailboxToTake } from './credit.js';
import { checkLengths, invalid, textCharsMax } from './texts.js';

/** One durable message, for a client that does not receive all the time. Throws UNKNOWN_AGENT, AGENT_OFFLINE. */
export const take: CommandRun = async (core, session, frame) => {
  const want = takeCodec.decode(frame.body);
  const { id, deadline_ms } = frame.envelope;
  checkLengths(frame.envelope);
  if (want.correlation.length > textCharsMax) throw invalid(want.correlation, 'message id');
  if (want.from !== '' && !isName(want.from)) throw invalid(want.from, 'agent id');
  const mailbox = await mailboxToTake(core, session, want.mailbox);
  if (core.sessions.of(session.peer) !== session) return;
  const waitMs = Math.min(deadline_ms, core.limits.requestMsMax);
  const untilMs = core.clock.monotonicMs() + waitMs;
  const receiver = { peer: session.peer, id, mailbox, want, untilMs };
  try {
    core.mailboxes.take({ ...receiver, untilMs: 0 });
  } catch (error) {
    if (!(error instanceof BusError) || error.code !== 'INBOX_EMPTY' || waitMs === 0) throw error;
    // An absent agent cannot send the awaited message.
    if (want.from !== '' && core.sessions.liveOf(want.from) === undefined) {
      const { role } = core.registry.record(want.from) ?? {};
      // A message of a hosted agent comes from any process that may speak for it.
      if (core.isHostedRole(role)) return core.mailboxes.take(receiver);
      const isKnown = role !== undefined;
      throw new BusError(isKnown ? 'AGENT_OFFLINE' : 'UNKNOWN_AGENT', { agent: want.from });
    }
    core.mailboxes.take(receiver);
  }
};
