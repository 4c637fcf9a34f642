import { BusError } from '../../errors/bus-error.js';
import { parseAddress } from '../../wire/address.js';
import { Command, readdress } from '../../wire/frame.js';
import type { CommandRun } from '../core.js';

/** A publication of a client: counted in its stream, kept for a while, sent to the present subscribers. */
export const publish: CommandRun = (core, session, frame) => {
  if (core.isDraining) throw new BusError('BROKER_DRAINING');
  const { id, to, type, trace } = frame.envelope;
  const { kind, name } = parseAddress(to);
  if (kind !== 'topic')
    throw new BusError('INVALID_NAME', { name: to.slice(0, 120), what: 'topic address' });
  if (!session.rights.mayPublish(session.agent, name))
    throw new BusError('UNAUTHORISED', {
      agent: session.agent,
      role: `publisher of ${name}`,
      why: `the role ${session.role} has no right to it`,
    });
  const publication = readdress(frame, Command.PUBLISH, { id, from: session.agent, type, trace });
  const seq = core.topics.publish(name, publication);
  core.audit('published', session, to, frame);
  core.answer(session, frame, Command.ACCEPT, undefined, { seq });
};
