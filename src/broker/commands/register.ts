import { isName } from '../../base/ids.js';
import { BusError } from '../../errors/bus-error.js';
import { Command } from '../../wire/frame.js';
import { agentRecordCodec } from '../../wire/messages.js';
import type { CommandRun } from '../core.js';

/** The agent's public record: stored, then accepted, then told to the others. */
export const register: CommandRun = async (core, session, frame) => {
  const record = agentRecordCodec.decode(frame.body);
  if (record.alias !== '' && !isName(record.alias)) {
    throw new BusError('INVALID_NAME', { name: record.alias.slice(0, 120), what: 'alias' });
  }
  // Who speaks is known from the session; what the record claims about it does not count.
  const stamped = { ...record, id: session.agent, role: session.role };
  const forgotten = await core.registry.register(stamped, {
    isEphemeral: session.isEphemeral,
    nowMs: core.clock.nowMs(),
    isOnline: (id) => core.sessions.liveOf(id) !== undefined,
  });
  for (const agent of forgotten) core.topics.forget(`presence.${agent}`);
  core.answer(session, frame, Command.ACCEPT);
  core.announce('updated', session.agent);
};
