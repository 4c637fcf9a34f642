import type { Command } from 'commander';
import { BusError } from '../../../src/errors/bus-error.js';
import { catalogue, isErrorCode } from '../../../src/errors/catalogue.js';
import { troublePrefix } from '../../../src/pgc/serve/messages.js';
import { watchedTrees, type Watched } from '../../../src/pgc/build/watch/watch-notice.js';
import type { AgentView, StatusAnswer } from '../../../src/wire/messages.js';
import { withClient } from '../connect.js';
import { configOf, duration, withCommon, type CommonOptions } from '../options.js';
import { printable } from '../../../src/render/terminal.js';
import { print } from '../output.js';

const waitPollMs = 100;

export function addStatusCommand(sigma: Command): void {
  withCommon(
    sigma
      .command('status')
      .option('--wait <duration>', 'wait at most this long for the broker to answer', duration),
  )
    .description('show the state of the broker')
    .action(async (options: CommonOptions & { wait?: number }) => {
      const config = configOf(options);
      const { status, managers } = await waiting(options.wait ?? 0, () =>
        withClient(config, async (client) => ({
          status: await client.status(),
          managers: await client.agents({ role: 'manager' }),
        })),
      );
      const watched = await watchedTrees(config.home);
      const troubles = managers.flatMap(troublesOf);
      const all = { address: config.bus, ...status, watched, troubles };
      print(options, all, () =>
        [
          renderStatus(config.bus, status),
          ...watched.map(renderWatched),
          ...troubles.map(renderTrouble),
        ].join('\n'),
      );
    });
}

async function waiting<T>(withinMs: number, attempt: () => Promise<T>): Promise<T> {
  const until = performance.now() + withinMs;
  while (true) {
    try {
      return await attempt();
    } catch (error) {
      const isWorthIt =
        error instanceof BusError && error.retryable && error.code !== 'INTERRUPTED';
      if (!isWorthIt || performance.now() > until) throw error;
      await new Promise((resolve) => setTimeout(resolve, waitPollMs));
    }
  }
}

/** The shape that scripts rely on: the record's fields beside what the broker knows. */
function renderStatus(address: string, status: StatusAnswer): string {
  const upS = Math.round((Date.now() - status.started_ms) / 1_000);
  const refused = Object.entries(status.refused).map(([code, count]) => `${code} ${count}`);
  const { accept_p50_ms: p50, accept_p99_ms: p99, loop_lag_ms: lag } = status;
  return [
    `broker ${status.version} at ${address}: ${status.state}, up ${upS} s, pid ${status.pid}, ${megabytes(status.rss_bytes)} MB`,
    `agents ${status.agents_online} online of ${status.agents_known} known · sessions ${status.sessions} · open requests ${status.requests_open}`,
    `messages ${status.messages} queued (${status.message_bytes} bytes), ${status.leases} leased, oldest ${Math.round(status.oldest_ms / 1_000)} s · dead letters ${status.dead_letters}`,
    `durable ${status.accepted} accepted, ${status.delivered} delivered, ${status.settled} settled · ${status.redelivered} redelivered, ${status.duplicates} sent twice`,
    `accept p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms · event loop late by ${lag.toFixed(0)} ms at worst · store ${status.store_state}`,
    `frames ${status.frames_in} in, ${status.frames_out} out, ${status.frames_corrupt} corrupt · publications ${status.publications}`,
    ...(refused.length === 0 ? [] : [`refused ${refused.join(', ')}`]),
    ...status.services.map((each) => `service ${each.name}: ${each.agents.join(', ')}`),
  ].join('\n');
}

interface Trouble {
  agent: string;
  code: string;
}

/** Of an agent that works, but not as it should. */
function troublesOf({ record, state }: AgentView): Trouble[] {
  if (state === 'offline') return [];
  const codes = record.capabilities.filter((each) => each.startsWith(troublePrefix));
  return codes.map((each) => ({ agent: record.id, code: each.slice(troublePrefix.length) }));
}

function renderTrouble({ agent, code }: Trouble): string {
  const text = isErrorCode(code) ? catalogue[code].text.replace(/: \{.*/, '') : '';
  return `${printable(agent)}: ${printable(code)} ${text}; see sigma error ${printable(code)} and its log`;
}

function renderWatched(watched: Watched): string {
  const { root, state, kind, code, refreshed_ms, elapsed_ms, files_mined } = watched;
  const how = kind === 'events' ? 'by events' : 'by looking';
  const last =
    refreshed_ms === 0
      ? 'not refreshed yet'
      : `refreshed ${Math.round((Date.now() - refreshed_ms) / 1_000)} s ago in ${(elapsed_ms / 1_000).toFixed(1)} s, ${files_mined} files mined`;
  return `watch ${printable(root)}: ${state} ${how}, ${last}${code === '' ? '' : `, ${code}`}`;
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 1024 / 1024);
}
