import type { Command } from 'commander';
import type { Client } from '../../../src/client/client.js';
import { withClient } from '../connect.js';
import { configOf, wholeNumber, withCommon, type CommonOptions } from '../options.js';
import { printable } from '../../../src/render/terminal.js';
import { print, usage } from '../output.js';
import { shown } from '../../../src/remote/message-body.js';
import { listed, rendered } from '../../../src/render/message.js';

const pageMax = 500;
const seqMax = Number.MAX_SAFE_INTEGER;

interface ChoiceOptions extends CommonOptions {
  mailbox?: string;
  all?: boolean;
}

/** `dead list|show|requeue|purge`: messages that no agent could handle. */
export function addDeadCommands(sigma: Command): void {
  const dead = sigma
    .command('dead')
    .description('manage dead letters: messages that no agent could handle');
  dead.action(() => {
    throw usage('name a command: list, show, requeue or purge');
  });

  withCommon(dead.command('list'))
    .description('list dead letters with their reasons')
    .option('--mailbox <name>', 'only of this mailbox: agent:ID, service:NAME or reply:ID')
    .option('--after <seq>', 'only after this number', wholeNumber(0, seqMax))
    .action((options: ChoiceOptions & { after?: number }) =>
      asOperator(options, async (client) => {
        const { mailbox = '*', after = 0 } = options;
        const page = await client.mail.dead({ mailbox, after, limit: pageMax });
        print(options, page, () =>
          page.messages.length === 0
            ? 'There are no dead letters.'
            : listed(page.messages, page.depth),
        );
      }),
    );

  withCommon(dead.command('show').argument('<seq>', 'its number', wholeNumber(1, seqMax)))
    .description('show one message with its body')
    .action((seq: number, options: CommonOptions) =>
      asOperator(options, async (client) => {
        const answer = await client.mail.message({ seq });
        print(options, { message: shown(answer) }, () =>
          [printable(`${answer.view.state}: ${answer.view.reason || '-'}`), rendered(answer)].join(
            '\n',
          ),
        );
      }),
    );

  withChoice(dead.command('requeue'))
    .description('deliver messages again, with their attempts reset')
    .action((seqs: string[], options: ChoiceOptions) =>
      changing(seqs, options, 'requeued', (client, ...which) => client.mail.requeue(...which)),
    );

  withChoice(dead.command('purge'))
    .description('delete messages for good')
    .action((seqs: string[], options: ChoiceOptions) =>
      changing(seqs, options, 'purged', (client, ...which) => client.mail.purgeDead(...which)),
    );
}

function withChoice(command: Command): Command {
  return withCommon(command.argument('[seq...]', 'their numbers'))
    .option('--mailbox <name>', 'all messages of this mailbox')
    .option('--all', 'all messages');
}

async function changing(
  texts: string[],
  options: ChoiceOptions,
  done: string,
  work: (client: Client, mailbox: string, seqs: number[]) => Promise<number>,
): Promise<void> {
  const seqs = texts.map(wholeNumber(1, seqMax));
  const ways = [seqs.length > 0, options.mailbox !== undefined, options.all === true];
  if (ways.filter(Boolean).length !== 1)
    throw usage('name messages by their numbers, or one --mailbox, or --all');
  await asOperator(options, async (client) => {
    const mailbox = options.all === true ? '*' : (options.mailbox ?? '');
    const count = await work(client, mailbox, seqs);
    print(options, { count }, () => `${count} ${done}`);
  });
}

function asOperator(
  options: CommonOptions,
  work: (client: Client) => Promise<void>,
): Promise<void> {
  return withClient(configOf(options), work, 'operator');
}
