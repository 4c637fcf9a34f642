import { BusError } from '../../errors/bus-error.js';
import { Command } from '../../wire/frame.js';
import {
  backupAnswerCodec,
  backupRequestCodec,
  countAnswerCodec,
  messagesAdminCodec,
} from '../../wire/messages.js';
import type { BrokerCore, CommandRun } from '../core.js';
import type { StoredMessage } from '../mail/mailbox.js';
import { dismiss, enrol } from './enrol.js';

/** Administration: changes messages of other agents, or the store. */
export const admin: CommandRun = async (core, session, frame) => {
  const { type } = frame.envelope;
  const work = actions.get(type);
  if (work === undefined) throw new BusError('UNKNOWN_TYPE', { agent: 'the broker', type });
  if (!session.rights.mayAdminister(type))
    throw new BusError('UNAUTHORISED', {
      agent: session.agent,
      role: `administrator (${type})`,
      why: `the role ${session.role} has no right to it`,
    });
  const body = await work(core, frame.body);
  core.audit('administered', session, 'broker', frame);
  core.answer(session, frame, Command.ANSWER, body);
};

const actions = new Map<string, (core: BrokerCore, body: Buffer) => Promise<Buffer>>([
  ['agent.enrol', enrol],
  ['agent.dismiss', dismiss],
  [
    'dead.requeue',
    async (core, body) => {
      const messages = chosen(core, body, true);
      await core.mailboxes.requeue(messages);
      return countAnswerCodec.encode({ count: messages.length });
    },
  ],
  ['dead.purge', (core, body) => purge(core, chosen(core, body, true))],
  ['inbox.purge', (core, body) => purge(core, chosen(core, body, false))],
  [
    'backup',
    async (core, body) => {
      const { folder } = backupRequestCodec.decode(body);
      return backupAnswerCodec.encode(await core.backup(folder));
    },
  ],
  [
    'compact',
    async (core) => {
      await core.compact();
      return Buffer.alloc(0);
    },
  ],
]);

async function purge(core: BrokerCore, messages: StoredMessage[]): Promise<Buffer> {
  await core.mailboxes.purge(messages);
  return countAnswerCodec.encode({ count: messages.length });
}

/** Throws NO_SUCH_MESSAGE when one that was named is not there. */
function chosen(core: BrokerCore, body: Buffer, isDead: boolean): StoredMessage[] {
  const { mailbox, seqs } = messagesAdminCodec.decode(body);
  if (seqs.length > 0) {
    return [...new Set(seqs)].map((seq) => {
      const message = core.mailboxes.messageBySeq(seq);
      const isMeant = message !== undefined && message.deadMs > 0 === isDead;
      if (!isMeant || (mailbox !== '' && mailbox !== '*' && message.mailbox !== mailbox))
        throw new BusError('NO_SUCH_MESSAGE', { message: seq });
      return message;
    });
  }
  if (mailbox === '') throw new BusError('USAGE', { detail: 'name messages, or a mailbox, or *' });
  return core.mailboxes
    .list(mailbox === '*' ? 'all' : [mailbox], isDead, 0, Infinity)
    .flatMap(({ seq }) => core.mailboxes.messageBySeq(seq) ?? []);
}
