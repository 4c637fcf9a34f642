import { z } from 'zod';
import { listed } from '../../render/message.js';
import { line } from '../../render/terminal.js';
import type { MailboxView, MessagesAnswer } from '../../wire/messages.js';
import { nameCharsMax } from '../shapes.js';
import { listing, looks, type Operation } from '../operation.js';

/** Mailboxes of all agents, for pages. */

const pageMax = 500;

const mailboxesInput = z.strictObject({});

/** `mailboxes`: how much waits where. */
export const mailboxes: Operation<typeof mailboxesInput> = {
  name: 'mailboxes',
  title: 'Mailboxes',
  description: 'All mailboxes, with what waits in each, since when, and dead letters.',
  input: mailboxesInput,
  output: z.looseObject({ mailboxes: z.array(z.looseObject({ mailbox: z.string() })) }),
  annotations: looks,
  doing: 'asking the broker',
  isTool: false,
  async run(_, { bus }) {
    const found = await (await bus.client()).mail.mailboxes();
    return listing<{ mailboxes: MailboxView[] }>({ mailboxes: found }, ['mailboxes'], (its) =>
      its.mailboxes
        .map(({ mailbox, depth, dead }) => line`${mailbox}: ${depth} waiting, ${dead} dead`)
        .join('\n'),
    );
  },
};

const messagesInput = z.strictObject({
  mailbox: z.string().max(nameCharsMax).describe('agent:ID, service:NAME or reply:ID.'),
  after: z.int().min(0).max(Number.MAX_SAFE_INTEGER).default(0),
  limit: z.int().min(1).max(pageMax).default(100),
});

/** `mailbox_messages`: looks, takes nothing. Throws UNAUTHORISED. */
export const mailboxMessages: Operation<typeof messagesInput> = {
  name: 'mailbox_messages',
  title: 'Messages of a mailbox',
  description: 'What waits in one mailbox, oldest first, without bodies.',
  input: messagesInput,
  output: z.looseObject({ messages: z.array(z.looseObject({ seq: z.int() })) }),
  annotations: looks,
  doing: 'looking into the mailbox',
  isTool: false,
  asks: 'as operator',
  async run(query, { bus }) {
    const page = await (await bus.client()).mail.inbox(query);
    return listing<MessagesAnswer>(
      page,
      ['messages'],
      ({ messages, depth }) => listed(messages, depth),
      { total: page.depth },
    );
  },
};
