import { isName } from '../../base/ids.js';
import { BusError } from '../../errors/bus-error.js';
import { Command } from '../../wire/frame.js';
import { agentRecordCodec } from '../../wire/messages.js';
import type { BrokerCore, CommandRun } from '../core.js';
import type { Session } from '../session/sessions.js';

/** The agent's public record: stored, then accepted, then told to the others. */
export const register: CommandRun = async (core, session, frame) => {
  const record = agentRecordCodec.decode(frame.body);
  if (record.alias !== '' && !isName(record.alias)) {
    throw new BusError('INVALID_NAME', { name: record.alias.slice(0, 120), what: 'alias' });
  }
  if (isAliasTaken(core, session, record.alias)) {
    const role = `"${record.alias}", which is what another agent is called`;
    throw new BusError('UNAUTHORISED', { agent: session.agent, role });
  }
  // Who speaks is known from the session; what the record claims about it does not count.
  const stamped = { ...record, id: session.agent, role: session.role };
  await core.enroll(stamped, session.isEphemeral);
  core.answer(session, frame, Command.ACCEPT);
  core.announce('updated', session.agent);
};

/** Agents of one role may share an alias; none takes the id of another, or what those of another role are called. */
function isAliasTaken(core: BrokerCore, { agent, role }: Session, alias: string): boolean {
  if (alias === '' || alias === agent) return false;
  if (alias !== role && core.isProvenRole(alias)) return true;
  const isId =
    core.sessions.liveOf(alias) !== undefined || core.registry.record(alias) !== undefined;
  const others = core.registry.withAlias(alias);
  return isId || others.some((id) => core.registry.record(id)?.role !== role);
}
