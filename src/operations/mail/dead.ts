import { z } from 'zod';
import type { Client } from '../../client/client.js';
import { BusError } from '../../errors/bus-error.js';
import { shown, type ShownMessage } from '../../remote/message-body.js';
import { listed, rendered } from '../../render/message.js';
import type { MessagesAnswer } from '../../wire/messages.js';
import { nameCharsMax } from '../shapes.js';
import { acts, forPeople, listing, looks, plain } from '../operation.js';

/** Messages that no agent could handle, for people: a model decides nothing about them. */

export type { ShownMessage };

const pageMax = 500;
const seqInput = z.int().min(1).max(Number.MAX_SAFE_INTEGER).describe('its number');
const mailboxInput = z.string().max(nameCharsMax).optional();
const above = 'manage dead letters: messages that no agent could handle';

const listInput = z.strictObject({
  mailbox: mailboxInput,
  after: z.int().min(0).max(Number.MAX_SAFE_INTEGER).optional(),
});

export const deadList = forPeople({
  input: listInput,
  command: 'dead list',
  annotations: looks,
  help: 'list dead letters with their reasons',
  above,
  arguments: [],
  flags: {
    mailbox: {
      flag: '--mailbox <name>',
      help: 'only of this mailbox: agent:ID, service:NAME or reply:ID',
    },
    after: { flag: '--after <seq>', help: 'only after this number' },
  },
  asks: 'as operator',
  async run({ mailbox = '*', after = 0 }, { bus }) {
    const client = await bus.client();
    const page = await client.mail.dead({ mailbox, after, limit: pageMax });
    return listing<MessagesAnswer>(
      page,
      ['messages'],
      ({ messages, depth }) =>
        messages.length === 0 ? 'There are no dead letters.' : listed(messages, depth),
      { total: page.depth },
    );
  },
});

const showInput = z.strictObject({ seq: seqInput });

export const deadShow = forPeople({
  input: showInput,
  command: 'dead show',
  annotations: looks,
  help: 'show one message with its body',
  above,
  arguments: ['seq'],
  asks: 'as operator',
  async run({ seq }, { bus }) {
    const answer = await (await bus.client()).mail.message({ seq });
    const { state, reason } = answer.view;
    const text = `${state}: ${reason || '-'}\n${rendered(answer)}`;
    return plain({ message: shown(answer) }, text);
  },
});

const choiceInput = z.strictObject({
  seq: z.array(seqInput).default([]),
  mailbox: mailboxInput,
  all: z.boolean().default(false),
});

/** `requeue` and `purge`. */
function changing(
  name: string,
  done: string,
  help: string,
  change: (mail: Client['mail'], mailbox: string, seqs: number[]) => Promise<number>,
) {
  return forPeople({
    input: choiceInput,
    command: `dead ${name}`,
    annotations: acts,
    ...{ help, above },
    arguments: [{ field: 'seq', argument: '[seq...]', help: 'their numbers' }],
    flags: {
      mailbox: { flag: '--mailbox <name>', help: 'all messages of this mailbox' },
      all: { flag: '--all', help: 'all messages' },
    },
    asks: 'as operator',
    check({ seq, mailbox, all }) {
      const ways = [seq.length > 0, mailbox !== undefined, all].filter(Boolean).length;
      const detail = 'name messages by their numbers, or one --mailbox, or --all';
      if (ways !== 1) throw new BusError('USAGE', { detail });
    },
    async run({ seq, mailbox = '', all }, { bus }) {
      const { mail } = await bus.client();
      const count = await change(mail, all ? '*' : mailbox, seq);
      return plain({ count }, `${count} ${done}`);
    },
  });
}

export const requeue = changing(
  ...(['requeue', 'requeued', 'deliver messages again, with their attempts reset'] as const),
  (mail, mailbox, seqs) => mail.requeue(mailbox, seqs),
);
export const purge = changing(
  ...(['purge', 'purged', 'delete messages for good'] as const),
  (mail, mailbox, seqs) => mail.purgeDead(mailbox, seqs),
);

export const deadLetters = [deadList, deadShow, requeue, purge];
