import path from 'node:path';
import type { Command } from 'commander';
import { systemClock } from '../../../src/base/clock.js';
import type { Config } from '../../../src/config/config.js';
import { BusError } from '../../../src/errors/bus-error.js';
import { busLayout } from '../../../src/store/layouts.js';
import type { LevelStore } from '../../../src/store/level-store.js';
import { restoreStore } from '../../../src/store/restore.js';
import { isNetwork } from '../../../src/transport/address.js';
import { isListening } from '../../../src/transport/probe.js';
import { backupAnswerCodec, backupRequestCodec } from '../../../src/wire/messages.js';
import { asOwner, openPresentStore, storeFolder } from '../../bus-store.js';
import { programs } from '../../programs.js';
import { withClient } from '../connect.js';
import { configOf, withCommon, type CommonOptions } from '../options.js';
import { print } from '../output.js';
import { addMigrateCommand } from './migrate.js';

interface BusOptions extends CommonOptions {
  force?: boolean;
}

interface Copied {
  entries: number;
  bytes: number;
  elapsed_ms: number;
}

/** The broker, and what its store needs: a running broker does it itself, else it is done here. */
export function addBusCommands(sigma: Command): void {
  const bus = withCommon(sigma.command('bus'))
    .description('run only the broker, in the foreground; or maintain its store')
    .action(async (options: CommonOptions) => {
      const runBroker = await programs.broker();
      await runBroker(configOf(options));
    });

  withCommon(
    bus
      .command('backup')
      .argument('<folder>', 'a new or empty folder on the machine of the broker'),
  )
    .description('copy the store; the broker keeps running')
    .action(async (given: string, _own: CommonOptions, command: Command) => {
      const { options, config } = settingsOf(command);
      const folder = path.resolve(given);
      const copied = await ((await isServed(config))
        ? remoteBackup(config, folder)
        : withStore(config, async (store) => {
            const { entries, bytes, elapsedMs } = await store.backup(folder);
            return { entries, bytes, elapsed_ms: elapsedMs };
          }));
      print(options, { folder, ...copied }, () => told(folder, copied));
    });

  withCommon(bus.command('restore').argument('<folder>', 'a backup'))
    .option('--force', 'replace a store that is not empty; the old one is moved aside')
    .description('replace the store by a backup; stop the broker first')
    .action(async (given: string, _own: CommonOptions, command: Command) => {
      const { options, config } = settingsOf(command);
      const store = storeFolder(config);
      // Its store may be closed for want of space, and then its lock is free.
      if (!isNetwork(config.bus) && (await isListening(config.bus)))
        throw new BusError('BROKER_RUNNING', { path: store });
      const isForced = options.force === true;
      const { takenMs, movedTo, elapsedMs, ...counts } = await asOwner(
        config,
        restoreStore(path.resolve(given), store, {
          ...{ layout: busLayout, clock: systemClock, isForced },
        }),
      );
      const restored = {
        ...{ store, taken_ms: takenMs, ...counts, elapsed_ms: elapsedMs },
        ...(movedTo === undefined ? {} : { moved_to: movedTo }),
      };
      print(options, restored, () =>
        [
          told(store, restored),
          `as it was at ${new Date(takenMs).toISOString()}`,
          ...(movedTo === undefined ? [] : [`the store before is in ${movedTo}`]),
        ].join('\n'),
      );
    });

  addMigrateCommand(bus);

  withCommon(bus.command('compact'))
    .description('free the disk space of deleted entries; the broker keeps running')
    .action(async (_own: CommonOptions, command: Command) => {
      const { options, config } = settingsOf(command);
      const startedMs = performance.now();
      await ((await isServed(config))
        ? asOperator(config, 'compact', Buffer.alloc(0))
        : withStore(config, (store) => store.compact()));
      const elapsed_ms = Math.round(performance.now() - startedMs);
      print(options, { elapsed_ms }, () => `compacted in ${elapsed_ms} ms`);
    });
}

/** Of `sigma bus x --json` commander gives what `bus` knows too to `bus`. */
function settingsOf(command: Command): { options: BusOptions; config: Config } {
  const options: BusOptions = command.optsWithGlobals();
  return { options, config: configOf(options) };
}

/** Over a network the store is not ours to open. */
async function isServed(config: Config): Promise<boolean> {
  return isNetwork(config.bus) || (await isListening(config.bus));
}

async function remoteBackup(config: Config, folder: string): Promise<Copied> {
  const request = backupRequestCodec.encode({ folder });
  return backupAnswerCodec.decode(await asOperator(config, 'backup', request));
}

function asOperator(config: Config, type: string, body: Buffer): Promise<Buffer> {
  return withClient(config, async (client) => (await client.admin(type, body)).body, 'operator');
}

async function withStore<T>(config: Config, work: (store: LevelStore) => Promise<T>): Promise<T> {
  await using store = await openPresentStore(config);
  return await work(store);
}

function told(where: string, { entries, bytes, elapsed_ms }: Copied): string {
  return `${where}: ${entries} entries, ${Math.ceil(bytes / 1024)} KiB, ${elapsed_ms} ms`;
}
