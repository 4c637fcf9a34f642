import { isForeignName } from '../../base/prover.js';
import { isName } from '../../base/ids.js';
import { BusError } from '../../errors/bus-error.js';
import { Command } from '../../wire/frame.js';
import { agentRecordCodec } from '../../wire/messages.js';
import type { BrokerCore, CommandRun } from '../core.js';
import type { Session } from '../session/sessions.js';
import { giveUpUnread } from './recipient.js';

/** The agent's public record: stored, then accepted, then announced. */
export const register: CommandRun = async (core, session, frame) => {
  const record = agentRecordCodec.decode(frame.body);
  if (record.alias !== '' && !isName(record.alias)) {
    throw new BusError('INVALID_NAME', { name: record.alias.slice(0, 120), what: 'alias' });
  }
  if (isAliasTaken(core, session, record.alias)) {
    throw new BusError('ALIAS_TAKEN', { alias: record.alias });
  }
  // The sender is known from the session; the record's claims about it are ignored.
  const stamped = { ...record, id: session.agent, role: session.role };
  await core.enroll(stamped, session.isEphemeral);
  giveUpUnread(core, session.agent);
  core.answer(session, frame, Command.ACCEPT);
  core.announce('updated', session.agent);
};

/** Agents of one role may share an alias. An alias must not be an agent's id or an alias of another role. */
function isAliasTaken(core: BrokerCore, { agent, role }: Session, alias: string): boolean {
  if (alias === '' || alias === agent) return false;
  if (isForeignName(alias) || (alias !== role && core.isProvenRole(alias))) return true;
  const isId =
    core.sessions.liveOf(alias) !== undefined || core.registry.record(alias) !== undefined;
  const others = core.registry.withAlias(alias);
  return isId || others.some((id) => core.registry.record(id)?.role !== role);
}
