import type { Command } from 'commander';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '../../../src/client/client.js';
import { asBusError } from '../../../src/errors/bus-error.js';
import type { MailboxView } from '../../../src/wire/messages.js';
import { withClient } from '../connect.js';
import { configOf, duration, withCommon, type CommonOptions } from '../options.js';
import { print } from '../output.js';
import { Screen } from './screen.js';
import { ratesOf, topLines, type Look } from '../../../src/render/bus-view.js';

interface TopOptions extends CommonOptions {
  once?: boolean;
  interval: number;
}

const intervalMsDefault = 1_000;
const intervalMsMin = 100;
/** With more, listing them every second would be a load: the table stays empty. */
const agentsListedMax = 2_000;

export function addTopCommand(sigma: Command): void {
  withCommon(sigma.command('top'))
    .description('show live broker activity, refreshed every second')
    .option('--once', 'print once, with the rates of one interval')
    .option('--interval <duration>', 'time between refreshes', duration, intervalMsDefault)
    .action(async (options: TopOptions) => {
      const over = new AbortController();
      const leave = (): void => over.abort();
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, leave);
      const config = configOf(options);
      const watching = withClient(config, (client) => watch(client, options, over.signal));
      await watching.catch((error: unknown) => {
        // Ctrl-C is how one leaves.
        if (!over.signal.aborted || asBusError(error).code !== 'INTERRUPTED') throw error;
      });
    });
}

async function watch(client: Client, options: TopOptions, over: AbortSignal): Promise<void> {
  const { json = false, once = false } = options;
  const intervalMs = Math.max(options.interval, intervalMsMin);
  using screen = process.stdout.isTTY && !once && !json ? new Screen(process.stdout) : undefined;
  const isOver = (): boolean => over.aborted;
  let before: Look | undefined;
  while (!isOver()) {
    let now: Look | undefined;
    try {
      now = await lookAt(client);
    } catch (error) {
      if (isOver()) return;
      const { retryable, message } = asBusError(error);
      if (screen === undefined || !retryable) throw error;
      // It may be on its way back; a view that ended now would have to be started again.
      screen.draw([`waiting for the broker: ${message}`]);
    }
    if (isOver()) return;
    if (now !== undefined && screen !== undefined)
      screen.draw(topLines(now, before, screen.size.rows));
    // One look alone knows no rates.
    else if (now !== undefined && (before !== undefined || !once)) show(json, now, before);
    if (once && before !== undefined) return;
    before = now;
    await sleep(intervalMs, undefined, { signal: over }).catch(() => undefined);
  }
}

function show(json: boolean, now: Look, before: Look | undefined): void {
  const { status, agents, mailboxes } = now;
  print({ json }, { ...status, agents, mailboxes, rates: ratesOf(now, before) }, () =>
    topLines(now, before).join('\n'),
  );
  if (!json) process.stdout.write('\n');
}

async function lookAt(client: Client): Promise<Look> {
  const status = await client.status();
  const [agents, mailboxes] = await Promise.all([
    status.agents_known > agentsListedMax ? [] : client.agents(),
    client.mail.mailboxes().catch(asNone),
  ]);
  return { atMs: performance.now(), nowMs: Date.now(), status, agents, mailboxes };
}

/** Not for everybody, and not known to every broker. */
function asNone(error: unknown): MailboxView[] {
  const { code } = asBusError(error);
  if (code === 'UNAUTHORISED' || code === 'UNKNOWN_TYPE') return [];
  throw error;
}
