import { BusError } from '../../errors/bus-error.js';
import { Command, type Frame } from '../../wire/frame.js';
import {
  agentsAnswerCodec,
  agentsPageMax,
  agentsQueryCodec,
  mailboxesAnswerCodec,
  messageAnswerCodec,
  messageQueryCodec,
  messagesAnswerCodec,
  messagesQueryCodec,
  statusAnswerCodec,
  topicsAnswerCodec,
  topicsQueryCodec,
  type AgentView,
} from '../../wire/messages.js';
import type { BrokerCore, CommandRun } from '../core.js';
import type { Session } from '../session/sessions.js';
import { ownsMailbox } from './settle.js';

/** Lookups; they change nothing. */
export const query: CommandRun = (core, session, frame) => {
  const answer = (body: Buffer): void => core.answer(session, frame, Command.ANSWER, body);
  switch (frame.envelope.type) {
    case 'agents':
      return answer(agentsPage(core, frame.body));
    case 'status':
      return answer(statusAnswerCodec.encode(core.status()));
    case 'role':
      // The role of the session with this name, registered or not; empty: no session.
      return answer(Buffer.from(core.sessions.liveOf(frame.body.toString())?.role ?? ''));
    case 'person':
      return answer(Buffer.from(core.sessions.liveOf(frame.body.toString())?.person ?? ''));
    case 'topics':
      return answer(
        topicsAnswerCodec.encode(core.topics.sync(topicsQueryCodec.decode(frame.body))),
      );
    case 'mailboxes':
      return answer(mailboxesAnswerCodec.encode({ mailboxes: core.mailboxes.views() }));
    case 'inbox':
      return answer(messagesPage(core, session, frame, false));
    case 'dead':
      return answer(messagesPage(core, session, frame, true));
    case 'message':
      return message(core, session, frame);
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

/** A page of a mailbox, without bodies. Throws UNAUTHORISED for the mailbox of another agent. */
function messagesPage(core: BrokerCore, session: Session, frame: Frame, isDead: boolean): Buffer {
  const { mailbox, after, limit } = messagesQueryCodec.decode(frame.body);
  const own = [`agent:${session.agent}`, `reply:${session.agent}`];
  const names = mailbox === '*' ? 'all' : mailbox === '' ? own : [mailbox];
  const mayRead =
    mailbox === '' ||
    own.includes(mailbox) ||
    session.rights.mayAdminister(isDead ? 'dead.read' : 'inbox.read');
  if (!mayRead)
    throw new BusError('UNAUTHORISED', {
      agent: session.agent,
      role: `reader of ${mailbox}`,
      why: 'it is the mailbox of another agent',
    });
  const max = core.limits.messagesPageMax;
  const wanted = limit === 0 ? max : Math.min(limit, max);
  const found = core.mailboxes.list(names, isDead, after, wanted + 1);
  const messages = found.slice(0, wanted);
  const views = core.mailboxes
    .views()
    .filter((view) => names === 'all' || names.includes(view.mailbox));
  return messagesAnswerCodec.encode({
    messages,
    next: found.length > wanted ? (messages.at(-1)?.seq ?? 0) : 0,
    depth: views.reduce((sum, view) => sum + (isDead ? view.dead : view.depth), 0),
    bytes: views.reduce((sum, view) => sum + view.bytes, 0),
  });
}

/** For its sender, its recipient and administrators; throws NO_SUCH_MESSAGE for every other agent. */
async function message(core: BrokerCore, session: Session, frame: Frame): Promise<void> {
  const { seq, from, id } = messageQueryCodec.decode(frame.body);
  const sender = from || session.agent;
  const message =
    seq > 0 ? core.mailboxes.messageBySeq(seq) : core.mailboxes.messageById(sender, id);
  const mayRead =
    message !== undefined &&
    (message.from === session.agent ||
      ownsMailbox(session, message.mailbox) ||
      session.rights.mayAdminister('inbox.read'));
  if (!mayRead) throw new BusError('NO_SUCH_MESSAGE', { message: seq || id });
  const answer = await core.mailboxes.read(message);
  core.answer(session, frame, Command.ANSWER, messageAnswerCodec.encode(answer));
}
