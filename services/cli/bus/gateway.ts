import type { Command } from 'commander';
import { isNats } from '../../../src/transport/address.js';
import { programs } from '../../programs.js';
import { configOf, withCommon, type CommonOptions } from '../options.js';
import { usage } from '../output.js';

export function addGatewayCommand(sigma: Command): void {
  withCommon(sigma.command('gateway'))
    .description('show agents to the programs on the same NATS servers, and theirs to the bus')
    .action(async (options: CommonOptions) => {
      const config = configOf(options);
      if (!isNats(config.bus))
        throw usage(`a gateway needs a bus on NATS, and ${config.bus} is none: see deploy/nats`);
      const runGateway = await programs.gateway();
      await runGateway(config);
    });
}
