import type { Command } from 'commander';
import { moveFromNats, moveToNats } from '../../bus-move.js';
import { storeFolder } from '../../bus-store.js';
import type { Kept } from '../../../src/store/move.js';
import { isNats } from '../../../src/transport/address.js';
import { configOf, withCommon, type CommonOptions } from '../options.js';
import { print, usage } from '../output.js';

interface MigrateOptions extends CommonOptions {
  to?: string;
  from?: string;
  force?: boolean;
}

export function addMigrateCommand(bus: Command): void {
  withCommon(bus.command('migrate'))
    .option('--to <address>', 'move the store of this home to a bus on NATS: tls://… or nats://…')
    .option('--from <address>', 'move it back from there to this home')
    .option('--force', 'replace what the target keeps; a store of this home is moved aside')
    .description('move what a broker keeps to a bus on NATS, or back; stop all its brokers first')
    .action(async (_own: CommonOptions, command: Command) => {
      const options: MigrateOptions = command.optsWithGlobals();
      const { to, from } = options;
      const address = to ?? from;
      if (address === undefined || (to !== undefined && from !== undefined))
        throw usage('name one bus on NATS: --to ADDRESS, or --from ADDRESS');
      if (!isNats(address)) throw usage(`${address} is no bus on NATS: tls://… or nats://…`);
      const config = configOf(options);
      const asked = { config, address, isForced: options.force === true };
      const startedMs = performance.now();
      const move = to === undefined ? moveFromNats : moveToNats;
      const { kept, replaced, aside } = await move(asked);
      const [source, target] = [storeFolder(config), address];
      const moved = {
        ...(to === undefined ? { from: target, to: source } : { from: source, to: target }),
        ...kept,
        elapsed_ms: Math.round(performance.now() - startedMs),
        ...(replaced && { replaced }),
        ...(aside !== undefined && { moved_to: aside }),
      };
      print(options, moved, () => told(moved));
    });
}

interface Told extends Kept {
  from: string;
  to: string;
  elapsed_ms: number;
  replaced?: Kept;
  moved_to?: string;
}

function told(moved: Told): string {
  const { from, to, elapsed_ms, replaced, moved_to } = moved;
  return [
    `${from} was moved to ${to}: ${counted(moved)}, ${elapsed_ms} ms`,
    ...(replaced === undefined ? [] : [`it replaced ${counted(replaced)}`]),
    ...(moved_to === undefined ? [] : [`the store that was in this home is in ${moved_to}`]),
  ].join('\n');
}

function counted({ agents, messages, dead_letters, bytes }: Kept): string {
  return `${agents} agents, ${messages} messages, ${dead_letters} dead letters, ${Math.ceil(bytes / 1024)} KiB`;
}
