import type { Command } from 'commander';
import type { Client } from '../../../src/client/client.js';
import { newId } from '../../../src/base/ids.js';
import { BusError } from '../../../src/errors/bus-error.js';
import { taskMessages, type QueueAnswer } from '../../../src/task/requests/messages.js';
import { resultMessage } from '../../../src/task/requests/result-message.js';
import { frameBytesMax } from '../../../src/wire/frame.js';
import type { MessageAnswer, MessageView } from '../../../src/wire/messages.js';
import { remoteIdentity } from '../../identity.js';
import { receiveOne } from '../../mail/receive.js';
import { withClient } from '../connect.js';
import { wholeOf } from '../input.js';
import { configOf, duration, longDuration, withCommon, type CommonOptions } from '../options.js';
import { FailureWith, print, printable, printableText, table } from '../output.js';
import { Tasks } from '../tasks.js';

/** Messages that one `check --all` takes, and rows that one `inbox` shows. */
const messagesMax = 500;
const defaultWaitMs = 30_000;
const previewChars = 100;

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
      .argument('<message>', 'the text, or - for standard input'),
  )
    .description('store a message for an agent, which need not be there')
    .option('--type <type>', 'what the message is', 'text')
    .option('--id <id>', 'sent again under the same id, it is stored once')
    .option('--order-key <key>', 'messages with the same key are handled in order')
    .option('--delay <duration>', 'deliver it not before', longDuration)
    .option('--ttl <duration>', 'give it up when it is not handled by then', longDuration)
    .option('--correlation <id>', 'the message that this one answers')
    .option('--reply <duration>', 'wait so long for the answer and print it', duration)
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
          const form = { json: options.json === true };
          if (options.reply === undefined)
            return print(form, accepted, () => `accepted as ${accepted.seq} (id ${accepted.id})`);
          const as = options.as === undefined ? '' : ` --as ${options.as}`;
          hint = `It was accepted; its answer comes with: sigma receive --reply ${printable(id + as)}`;
          const reply = await wholeReply(client, id, { deadlineMs: options.reply, from });
          print(form, { ...accepted, reply: { from: reply.from, ...bodyOf(reply) } }, () =>
            printableText(reply.body.toString()),
          );
        },
        'operator',
      ).catch((error: unknown) => {
        throw isOpen(error) ? new FailureWith(error, { id }, hint) : error;
      });
    });

  withTaking(sigma.command('receive'))
    .description('take one message, waiting for it as long as somebody is left who could send one')
    .option('--wait <duration>', 'at most so long', duration)
    .action(async (options: TakeOptions) => {
      await taking(options, async (client, mailbox) => {
        const taken = await takenOne(client, options, mailbox, waitOf(options));
        print({ json: options.json === true }, { message: shown(taken) }, () => rendered(taken));
        client.settle([taken.view.seq]);
      });
    });

  withTaking(sigma.command('check'))
    .description('take a message if one is there')
    .option('--all', 'all that are there')
    .action(async (options: TakeOptions) => {
      await taking(options, async (client, mailbox) => {
        const taken: MessageAnswer[] = [];
        const max = options.all === true ? messagesMax : 1;
        while (taken.length < max) {
          const next = await nextOf(client, options, mailbox);
          if (next === undefined) break;
          taken.push(next);
        }
        print({ json: options.json === true }, { messages: taken.map(shown) }, () =>
          taken.length === 0 ? 'Nothing is there.' : taken.map(rendered).join('\n\n'),
        );
        client.settle(taken.map(({ view }) => view.seq));
      });
    });

  withAs(sigma.command('inbox'))
    .description('what waits for an agent; nothing is taken')
    .option('--all', 'of all agents')
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
          print({ json: options.json === true }, { messages, depth }, () =>
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
  return withCommon(command).option('--as <agent>', 'whose mailbox, and in whose name (operator)');
}

function withTaking(command: Command): Command {
  return withAs(command)
    .option('--from <agent>', 'only from this agent, or task of the queue; ends when it is gone')
    .option('--lifo', 'the newest instead of the oldest')
    .option('--reply <id>', 'only the answer to this message');
}

/** On this machine it is the operator that speaks, unless told otherwise; over tcp the agent of the identity. */
function actor(options: AsOptions): string {
  return options.as ?? remoteIdentity(configOf(options))?.agent ?? 'operator';
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

/** An answer is waited for as long as it takes; any other message as long as somebody is left who could send one. */
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

async function nextOf(
  client: Client,
  options: TakeOptions,
  mailbox: string,
): Promise<MessageAnswer | undefined> {
  try {
    return await takenOne(client, options, mailbox, 0);
  } catch (error) {
    if (error instanceof BusError && error.code === 'INBOX_EMPTY') return undefined;
    throw error;
  }
}

/** As text where it is text; what a task came to as the JSON of a ResultMessage. */
export function bodyOf(message: { type?: string; body: Uint8Array }): {
  body: string;
  encoding: string;
} {
  const bytes = finishedIn(message) ?? Buffer.from(message.body);
  const text = bytes.toString();
  return Buffer.from(text).equals(bytes)
    ? { body: text, encoding: 'utf8' }
    : { body: bytes.toString('base64'), encoding: 'base64' };
}

/** Undefined also for what only bears the name of it. */
function finishedIn({ type, body }: { type?: string; body: Uint8Array }): Buffer | undefined {
  const { finished } = taskMessages;
  if (type !== finished.type) return undefined;
  try {
    return Buffer.from(JSON.stringify(resultMessage(finished.codec.decode(body))));
  } catch {
    return undefined;
  }
}

export function shown({ view, body }: MessageAnswer): object {
  return { ...view, ...bodyOf({ type: view.type, body }) };
}

export function rendered({ view, body }: MessageAnswer): string {
  const about = [
    `from ${view.from}`,
    view.type,
    `id ${view.id}`,
    new Date(view.stored_ms).toISOString(),
    ...(view.correlation === '' ? [] : [`answers ${view.correlation}`]),
    ...(view.reply_to === '' ? [] : [`wants an answer to ${view.reply_to}`]),
  ];
  return `${printable(about.join(' · '))}\n${printableText(bodyOf({ type: view.type, body }).body)}`;
}

export function listed(messages: MessageView[], depth: number): string {
  const rows = messages.map((each) =>
    [
      String(each.seq),
      each.state,
      each.mailbox,
      each.from,
      each.type,
      `${each.bytes} B`,
      age(each.stored_ms),
      String(each.attempts),
      each.reason.slice(0, previewChars),
    ].map(printable),
  );
  const head = ['SEQ', 'STATE', 'MAILBOX', 'FROM', 'TYPE', 'SIZE', 'AGE', 'FAILED', 'WHY'];
  const rest = depth > messages.length ? `\n… and ${depth - messages.length} more` : '';
  return table([head, ...rows]) + rest;
}

function age(sinceMs: number): string {
  const seconds = Math.max(0, Math.round((Date.now() - sinceMs) / 1_000));
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7_200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3_600)} h`;
}
