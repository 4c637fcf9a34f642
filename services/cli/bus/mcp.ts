import type { Command } from 'commander';
import { isName } from '../../../src/base/ids.js';
import { BusError } from '../../../src/errors/bus-error.js';
import { configOf, list, wholeNumber, withCommon, type CommonOptions } from '../options.js';
import { usage } from '../output.js';
import { setNames, setsDefault } from '../../../src/operations/tool-sets.js';
import { programs } from '../../programs.js';

const portMax = 65_535;

export function addMcpCommand(sigma: Command): void {
  withCommon(sigma.command('mcp'))
    .description('serve the bus to AI coding agents as MCP tools, over standard input and output')
    .option('--http <port>', 'serve streamable HTTP on 127.0.0.1 instead', wholeNumber(0, portMax))
    .option(
      '--tools <sets>',
      `sets of tools to offer, with commas: ${setNames.join(', ')}, all (default: ${setsDefault.join(',')})`,
      list,
    )
    .option('--structure', 'give answers as data besides the text')
    .option('--as <agent>', 'name on the bus (default: one per working directory)')
    .action(
      async (
        options: CommonOptions & {
          http?: number;
          as?: string;
          tools?: string[];
          structure?: boolean;
        },
      ) => {
        if (options.json === true) throw usage('mcp speaks its own protocol and takes no --json');
        const { as, http, tools, structure } = options;
        if (as !== undefined && !isName(as))
          throw new BusError('INVALID_NAME', { name: as, what: 'agent id' });
        const runMcp = await programs.mcp();
        await runMcp(configOf(options), {
          ...(as !== undefined && { as }),
          ...(http !== undefined && { http }),
          ...(tools !== undefined && { tools }),
          ...(structure !== undefined && { isStructured: structure }),
        });
      },
    );
}
