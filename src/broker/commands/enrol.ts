import { isName } from '../../base/ids.js';
import { BusError } from '../../errors/bus-error.js';
import { agentRecordCodec } from '../../wire/messages.js';
import type { BrokerCore } from '../core.js';

/** The reason of dead letters that a dismissed agent leaves. */
export const overReason = 'AGENT_DISMISSED';

const none = Buffer.alloc(0);

/** Gives a hosted agent a mailbox. Throws UNAUTHORISED for a name in use or a role that is not hosted, INVALID_NAME, TOO_LARGE, REGISTRY_FULL, STORE_UNAVAILABLE. */
export async function enrol(core: BrokerCore, body: Buffer): Promise<Buffer> {
  const record = agentRecordCodec.decode(body);
  const { id, role } = record;
  if (!isName(id)) throw new BusError('INVALID_NAME', { name: id.slice(0, 120), what: 'agent id' });
  const owner = core.sessions.liveOf(id)?.role ?? core.registry.record(id)?.role;
  const isFree = owner === undefined || owner === role;
  if (!core.isHostedRole(role) || !isFree || isCalled(core, id))
    throw new BusError('UNAUTHORISED', {
      ...{
        agent: id,
        role,
        why: isFree ? 'the name is in use' : `it belongs to the role ${owner}`,
      },
    });
  if (core.registry.record(id) !== undefined) return none;
  await core.enroll({ ...record, alias: '' }, false);
  core.announce('updated', id);
  return none;
}

/** Removes a hosted agent. Throws UNAUTHORISED for any other. */
export async function dismiss(core: BrokerCore, body: Buffer): Promise<Buffer> {
  const id = body.toString();
  const owner = core.sessions.liveOf(id)?.role ?? core.registry.record(id)?.role;
  if (owner === undefined) return none;
  if (!core.isHostedRole(owner))
    throw new BusError('UNAUTHORISED', {
      ...{ agent: id.slice(0, 120), role: owner, why: 'only agents of hosted roles are dismissed' },
    });
  await core.dismiss(id, overReason);
  return none;
}

/** The name is an alias of other agents, or a role that must prove itself. */
function isCalled(core: BrokerCore, name: string): boolean {
  return core.isProvenRole(name) || core.registry.withAlias(name).some((id) => id !== name);
}
