import { BusError } from '../../errors/bus-error.js';
import { Command } from '../../wire/frame.js';
import {
  agentsAnswerCodec,
  agentsPageMax,
  agentsQueryCodec,
  statusAnswerCodec,
  type AgentView,
} from '../../wire/messages.js';
import type { BrokerCore, CommandRun } from '../core.js';

export const query: CommandRun = (core, session, frame) => {
  switch (frame.envelope.type) {
    case 'agents':
      return core.answer(session, frame, Command.ANSWER, agentsPage(core, frame.body));
    case 'status':
      return core.answer(session, frame, Command.ANSWER, statusAnswerCodec.encode(core.status()));
    default:
      throw new BusError('UNKNOWN_TYPE', { agent: 'the broker', type: frame.envelope.type });
  }
};

/** A page of registered agents in the order of their ids, reachable or not. */
function agentsPage(core: BrokerCore, body: Buffer): Buffer {
  const wanted = agentsQueryCodec.decode(body);
  const limit = wanted.limit === 0 ? agentsPageMax : Math.min(wanted.limit, agentsPageMax);
  const agents: AgentView[] = [];
  for (const id of core.registry.ids()) {
    if (id <= wanted.after) continue;
    const view = core.view(id);
    if (view === undefined) continue;
    if (wanted.role !== '' && view.record.role !== wanted.role) continue;
    if (wanted.project !== '' && view.record.project !== wanted.project) continue;
    if (agents.length === limit)
      return agentsAnswerCodec.encode({ agents, next: agents.at(-1)?.record.id ?? '' });
    agents.push(view);
  }
  return agentsAnswerCodec.encode({ agents, next: '' });
}
