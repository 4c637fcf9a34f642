import type { Command } from 'commander';
import { isName } from '../../../src/base/ids.js';
import { BusError } from '../../../src/errors/bus-error.js';
import { programs } from '../../programs.js';
import { configOf, wholeNumber, withCommon, type CommonOptions } from '../options.js';
import { usage } from '../output.js';

const portMax = 65_535;
const portDefault = 3918;

export function addA2aCommand(sigma: Command): void {
  withCommon(sigma.command('a2a'))
    .description('serve the agents of the bus to other agents over A2A, on 127.0.0.1')
    .option('--port <port>', 'where; 0: any free one', wholeNumber(0, portMax), portDefault)
    .option('--as <agent>', 'name on the bus (default: one per working directory)')
    .action(async (options: CommonOptions & { port: number; as?: string }) => {
      if (options.json === true) throw usage('a2a speaks its own protocol and takes no --json');
      const { as, port } = options;
      if (as !== undefined && !isName(as))
        throw new BusError('INVALID_NAME', { name: as, what: 'agent id' });
      const runA2a = await programs.a2a();
      await runA2a(configOf(options), { port, ...(as !== undefined && { as }) });
    });
}
