import type { Command } from 'commander';
import type { Client } from '../../../src/client/client.js';
import { newId } from '../../../src/base/ids.js';
import { BusError } from '../../../src/errors/bus-error.js';
import type { QueueAnswer } from '../../../src/task/requests/messages.js';
import { frameBytesMax } from '../../../src/wire/frame.js';
import type { MessageAnswer } from '../../../src/wire/messages.js';
import { bodyOf, shown } from '../../../src/remote/message-body.js';
import { listed, rendered } from '../../../src/render/message.js';
import { receiveOne, unlessEmpty } from '../../../src/remote/receive.js';
import { withClient } from '../connect.js';
import { wholeOf } from '../input.js';
import {
  actorOf,
  configOf,
  duration,
  longDuration,
  withCommon,
  type CommonOptions,
} from '../options.js';
import { printable, printableText } from '../../../src/render/terminal.js';
import { FailureWith, print } from '../output.js';
import { Tasks } from '../../../src/remote/tasks.js';

/** Messages that one `check --all` takes, and rows that one `inbox` shows. */
const messagesMax = 500;
const defaultWaitMs = 30_000;

interface AsOptions extends CommonOptions {
  as?: string;
}

interface SendOptions extends AsOptions {
  type: string;
  id?: string;
  orderKey?: string;
  delay?: number;
  ttl?: number;
  correlation?: string;
  reply?: number;
  timeout?: number;
}

interface TakeOptions extends AsOptions {
  from?: string;
  lifo?: boolean;
  reply?: string;
  wait?: number;
  all?: boolean;
}

/** `send`, `receive`, `check` and `inbox`: durable messages by hand. */
export function addMailCommands(sigma: Command): void {
  withAs(
    sigma
      .command('send')
      .argument('<to>', 'an agent (id or alias), service:NAME, or reply:AGENT with --correlation')
      .argument('<message>', 'the text; - reads standard input'),
  )
    .description('send a message; it is stored until the agent handles it')
    .option('--type <type>', 'type of the message', 'text')
    .option('--id <id>', 'id; sending again under the same id stores it once')
    .option('--order-key <key>', 'messages with the same key are handled in order')
    .option('--delay <duration>', 'deliver it no earlier than this', longDuration)
    .option('--ttl <duration>', 'drop it if it is not handled by then', longDuration)
    .option('--correlation <id>', 'id of the message that this one answers')
    .option('--reply <duration>', 'wait this long for the answer, and print it', duration)
    .option('--timeout <duration>', 'how long to try', duration)
    .action(async (to: string, message: string, options: SendOptions) => {
      const body =
        message === '-' ? await wholeOf('-', frameBytesMax, 'the message') : Buffer.from(message);
      const id = options.id ?? newId('message');
      let hint = `Sent again with --id ${printable(id)}, it is stored once.`;
      await withClient(
        configOf(options),
        async (client) => {
          const from = actor(options);
          const accepted = await client.post(
            to.includes(':') ? to : `agent:${to}`,
            options.type,
            body,
            {
              id,
              from,
              wantsReply: options.reply !== undefined,
              deadlineMs: options.timeout ?? defaultWaitMs,
              ...(options.orderKey !== undefined && { orderKey: options.orderKey }),
              ...(options.delay !== undefined && { delayMs: options.delay }),
              ...(options.ttl !== undefined && { ttlMs: options.ttl }),
              ...(options.correlation !== undefined && { correlation: options.correlation }),
            },
          );
          if (options.reply === undefined)
            return print(
              options,
              accepted,
              () => `accepted as ${accepted.seq} (id ${accepted.id})`,
            );
          const as = options.as === undefined ? '' : ` --as ${options.as}`;
          hint = `It was accepted; its answer comes with: sigma receive --reply ${printable(id + as)}`;
          const reply = await wholeReply(client, id, { deadlineMs: options.reply, from });
          print(options, { ...accepted, reply: { from: reply.from, ...bodyOf(reply) } }, () =>
            printableText(reply.body.toString()),
          );
        },
        'operator',
      ).catch((error: unknown) => {
        throw isOpen(error) ? new FailureWith(error, { id }, hint) : error;
      });
    });

  withTaking(sigma.command('receive'))
    .description('take one message; wait as long as an agent could still send one')
    .option('--wait <duration>', 'longest wait', duration)
    .action(async (options: TakeOptions) => {
      await taking(options, async (client, mailbox) => {
        const taken = await takenOne(client, options, mailbox, waitOf(options));
        print(options, { message: shown(taken) }, () => rendered(taken));
        client.settle([taken.view.seq]);
      });
    });

  withTaking(sigma.command('check'))
    .description('take a message if there is one; do not wait')
    .option('--all', 'take all messages')
    .action(async (options: TakeOptions) => {
      await taking(options, async (client, mailbox) => {
        const taken: MessageAnswer[] = [];
        const max = options.all === true ? messagesMax : 1;
        while (taken.length < max) {
          const next = await unlessEmpty(takenOne(client, options, mailbox, 0));
          if (next === undefined) break;
          taken.push(next);
        }
        print(options, { messages: taken.map(shown) }, () =>
          taken.length === 0 ? 'Nothing is there.' : taken.map(rendered).join('\n\n'),
        );
        client.settle(taken.map(({ view }) => view.seq));
      });
    });

  withAs(sigma.command('inbox'))
    .description('list waiting messages; take none')
    .option('--all', 'for all agents')
    .action(async (options: AsOptions & { all?: boolean }) => {
      await withClient(
        configOf(options),
        async (client) => {
          const as = actor(options);
          const mailboxes = options.all === true ? ['*'] : [`agent:${as}`, `reply:${as}`];
          const pages = await Promise.all(
            mailboxes.map((mailbox) => client.mail.inbox({ mailbox, limit: messagesMax })),
          );
          const messages = pages.flatMap((page) => page.messages);
          const depth = pages.reduce((sum, page) => sum + page.depth, 0);
          print(options, { messages, depth }, () =>
            messages.length === 0 ? 'The inbox is empty.' : listed(messages, depth),
          );
        },
        'operator',
      );
    });
}

/** What became of the message, or of its answer, is not known yet. */
function isOpen(error: unknown): boolean {
  return error instanceof BusError && openCodes.has(error.code);
}

const openCodes: ReadonlySet<string> = new Set([
  'BROKER_BUSY',
  'BROKER_DRAINING',
  'BROKER_LOST',
  'DEADLINE_EXCEEDED',
  'INBOX_EMPTY',
  'INTERRUPTED',
  'NO_BROKER',
  'RATE_LIMITED',
  'STORE_UNAVAILABLE',
]);

/** All parts of an answer, in order. */
async function wholeReply(
  client: Client,
  id: string,
  options: { deadlineMs: number; from: string },
): Promise<{ from: string; body: Buffer }> {
  const untilMs = performance.now() + options.deadlineMs;
  const parts: Buffer[] = [];
  while (true) {
    const deadlineMs = Math.max(0, untilMs - performance.now());
    const { from, body, isMore } = await client.collect(id, { ...options, deadlineMs });
    parts.push(body);
    if (!isMore) return { from, body: Buffer.concat(parts) };
  }
}

function withAs(command: Command): Command {
  return withCommon(command).option(
    '--as <agent>',
    'act as this agent, with its mailbox (default: operator)',
  );
}

function withTaking(command: Command): Command {
  return withAs(command)
    .option(
      '--from <agent>',
      'only from this agent or queued task; stops waiting when that is gone',
    )
    .option('--lifo', 'newest first')
    .option('--reply <id>', 'only the answer to this message');
}

/** Default: the operator on this machine; over tcp the agent of the identity. */
function actor(options: AsOptions): string {
  return actorOf(configOf(options), options.as);
}

function taking(
  options: TakeOptions,
  work: (client: Client, mailbox: string) => Promise<void>,
): Promise<void> {
  return withClient(
    configOf(options),
    (client) => {
      const kind = options.reply === undefined ? 'agent' : 'reply';
      return work(client, `${kind}:${actor(options)}`);
    },
    'operator',
  );
}

function want({ from = '', lifo = false, reply = '' }: TakeOptions, mailbox: string) {
  return { mailbox, from, lifo, correlation: reply };
}

function waitOf(options: TakeOptions): number {
  return options.wait ?? defaultWaitMs;
}

/** Waits for an answer to the end of its time; for any other message only as long as an agent could still send one. */
function takenOne(
  client: Client,
  options: TakeOptions,
  mailbox: string,
  waitMs: number,
): Promise<MessageAnswer> {
  if (options.reply !== undefined)
    return client.take({ ...want(options, mailbox), deadlineMs: waitMs });
  const { from = '', lifo = false } = options;
  const agent = actor(options);
  const queueOf = (): Promise<QueueAnswer> => new Tasks(client).queue(agent);
  return receiveOne(client, { agent, mailbox, from, lifo, waitMs, queueOf });
}
