import { BusError } from '../../errors/bus-error.js';
import { Command } from '../../wire/frame.js';
import {
  backupAnswerCodec,
  backupRequestCodec,
  countAnswerCodec,
  messagesAdminCodec,
} from '../../wire/messages.js';
import type { BrokerCore, CommandRun } from '../core.js';
import type { Letter } from '../mailbox.js';
import { dismiss, enrol } from './enrol.js';

/** What changes the messages of others, or the store. */
export const admin: CommandRun = async (core, session, frame) => {
  const { type } = frame.envelope;
  const work = actions.get(type);
  if (work === undefined) throw new BusError('UNKNOWN_TYPE', { agent: 'the broker', type });
  if (!session.rights.mayAdminister(type))
    throw new BusError('UNAUTHORISED', { agent: session.agent, role: `administrator (${type})` });
  const body = await work(core, frame.body);
  core.audit('administered', session.agent, 'broker', frame);
  core.answer(session, frame, Command.ANSWER, body);
};

const actions = new Map<string, (core: BrokerCore, body: Buffer) => Promise<Buffer>>([
  ['agent.enrol', enrol],
  ['agent.dismiss', dismiss],
  [
    'dead.requeue',
    async (core, body) => {
      const letters = chosen(core, body, true);
      await core.mailboxes.requeue(letters);
      return countAnswerCodec.encode({ count: letters.length });
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

async function purge(core: BrokerCore, letters: Letter[]): Promise<Buffer> {
  await core.mailboxes.purge(letters);
  return countAnswerCodec.encode({ count: letters.length });
}

/** Throws NO_SUCH_MESSAGE when one that was named is not there. */
function chosen(core: BrokerCore, body: Buffer, isDead: boolean): Letter[] {
  const { mailbox, seqs } = messagesAdminCodec.decode(body);
  if (seqs.length > 0) {
    return [...new Set(seqs)].map((seq) => {
      const letter = core.mailboxes.letterBySeq(seq);
      const isMeant = letter !== undefined && letter.deadMs > 0 === isDead;
      if (!isMeant || (mailbox !== '' && mailbox !== '*' && letter.mailbox !== mailbox))
        throw new BusError('NO_SUCH_MESSAGE', { message: seq });
      return letter;
    });
  }
  if (mailbox === '') throw new BusError('USAGE', { detail: 'name messages, or a mailbox, or *' });
  return core.mailboxes
    .list(mailbox === '*' ? 'all' : [mailbox], isDead, 0, Infinity)
    .flatMap(({ seq }) => core.mailboxes.letterBySeq(seq) ?? []);
}
