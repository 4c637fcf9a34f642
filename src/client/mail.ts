import { Command } from '../wire/frame.js';
import {
  agentRecordCodec,
  countAnswerCodec,
  mailboxesAnswerCodec,
  messageAnswerCodec,
  messageQueryCodec,
  messagesAdminCodec,
  messagesAnswerCodec,
  messagesQueryCodec,
  type AgentRecord,
  type MailboxView,
  type MessageAnswer,
  type MessagesAnswer,
  type MessagesQuery,
} from '../wire/messages.js';

/** Asks the broker; `type` of a QUERY or ADMIN frame. */
export type AskBroker = (command: Command, type: string, body: Buffer) => Promise<{ body: Buffer }>;

/** Lists and administers stored messages; delivers none. */
export class Mail {
  readonly #ask: AskBroker;

  constructor(ask: AskBroker) {
    this.#ask = ask;
  }

  /** One page of unsettled messages. `mailbox`: the agent's own when absent, all for `*`. Throws UNAUTHORISED. */
  inbox(query: Partial<MessagesQuery> = {}): Promise<MessagesAnswer> {
    return this.#page('inbox', query);
  }

  /** One page of dead letters; as `inbox`. */
  dead(query: Partial<MessagesQuery> = {}): Promise<MessagesAnswer> {
    return this.#page('dead', query);
  }

  /** One stored message with its body. Throws NO_SUCH_MESSAGE, also without the right to read it. */
  async message(which: { seq: number } | { from?: string; id: string }): Promise<MessageAnswer> {
    const query = { seq: 0, from: '', id: '', ...which };
    const { body } = await this.#ask(Command.QUERY, 'message', messageQueryCodec.encode(query));
    return messageAnswerCodec.decode(body);
  }

  async mailboxes(): Promise<MailboxView[]> {
    const { body } = await this.#ask(Command.QUERY, 'mailboxes', Buffer.alloc(0));
    return mailboxesAnswerCodec.decode(body).mailboxes;
  }

  /** Dead letters back into their mailboxes; all of `mailbox` when none is named. Resolves with their number. Throws UNAUTHORISED, NO_SUCH_MESSAGE. */
  requeue(mailbox: string, seqs: number[] = []): Promise<number> {
    return this.#change('dead.requeue', mailbox, seqs);
  }

  /** Dead letters away for good; as `requeue`. */
  purgeDead(mailbox: string, seqs: number[] = []): Promise<number> {
    return this.#change('dead.purge', mailbox, seqs);
  }

  /** What waits in a mailbox away for good; as `requeue`. */
  purgeInbox(mailbox: string, seqs: number[] = []): Promise<number> {
    return this.#change('inbox.purge', mailbox, seqs);
  }

  /** Registers an agent of the role `task`, which need not be connected. Idempotent. Throws UNAUTHORISED, REGISTRY_FULL. */
  async enrol(record: AgentRecord): Promise<void> {
    await this.#ask(Command.ADMIN, 'agent.enrol', agentRecordCodec.encode(record));
  }

  /** Removes such an agent; its waiting messages become dead letters. Idempotent. Throws UNAUTHORISED. */
  async dismiss(agent: string): Promise<void> {
    await this.#ask(Command.ADMIN, 'agent.dismiss', Buffer.from(agent));
  }

  async #page(type: string, query: Partial<MessagesQuery>): Promise<MessagesAnswer> {
    const whole = { mailbox: '', after: 0, limit: 0, ...query };
    const { body } = await this.#ask(Command.QUERY, type, messagesQueryCodec.encode(whole));
    return messagesAnswerCodec.decode(body);
  }

  async #change(type: string, mailbox: string, seqs: number[]): Promise<number> {
    const body = messagesAdminCodec.encode({ mailbox, seqs });
    return countAnswerCodec.decode((await this.#ask(Command.ADMIN, type, body)).body).count;
  }
}
