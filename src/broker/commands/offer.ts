import { isDottedName } from '../../base/ids.js';
import { BusError } from '../../errors/bus-error.js';
import { Command } from '../../wire/frame.js';
import { offerCodec } from '../../wire/messages.js';
import type { CommandRun } from '../core.js';

/** This session answers for these services from now on; all of them or, if one is refused, none. */
export const offer: CommandRun = (core, session, frame) => {
  const { services } = offerCodec.decode(frame.body);
  const invalid = services.find((service) => !isDottedName(service));
  if (invalid !== undefined)
    throw new BusError('INVALID_NAME', { name: invalid.slice(0, 120), what: 'service name' });
  const forbidden = services.find((service) => !session.rights.mayOffer(service));
  if (forbidden !== undefined)
    throw new BusError('UNAUTHORISED', {
      agent: session.agent,
      role: `responder of ${forbidden}`,
      why: `the role ${session.role} has no right to offer it`,
    });
  const offered = new Set([...session.services, ...services]).size;
  const limit = core.limits.servicesPerSessionMax;
  if (offered > limit)
    throw new BusError('TOO_LARGE', { what: 'an offer', bytes: offered, unit: 'services', limit });
  for (const service of services) core.sessions.offer(session, service);
  core.answer(session, frame, Command.ACCEPT);
};

/** Requests under way are still answered; new ones go to other agents. */
export const withdraw: CommandRun = (core, session, frame) => {
  for (const service of offerCodec.decode(frame.body).services) {
    core.sessions.withdrawService(session, service);
    core.mailboxes.withdraw(session.peer, `service:${service}`);
  }
  core.answer(session, frame, Command.ACCEPT);
};
