import { statSync } from 'node:fs';
import path from 'node:path';
import type { Command } from 'commander';
import { programs } from '../../programs.js';
import { configOf, wholeNumber, withCommon, type CommonOptions } from '../options.js';
import { print, usage } from '../output.js';

const portMax = 65_535;

interface ConsoleOptions extends CommonOptions {
  port?: number;
  readOnly?: boolean;
  link?: boolean;
}

export function addConsoleCommand(sigma: Command): void {
  withCommon(
    sigma.command('console').argument('[folder]', 'of several trees, the one with it', '.'),
  )
    .description(
      'serve a page for browsers: ask, look at the bus, decide (for other machines: `console` in config.json)',
    )
    .option(
      '--port <port>',
      'where; 0: any free one (default: 3919, or as configured)',
      wholeNumber(0, portMax),
    )
    .option('--read-only', 'only show; refuse what changes something')
    .option('--link', 'print a new link to the console that runs, and end')
    .action(async (folder: string, options: ConsoleOptions) => {
      const config = configOf(options);
      if (options.link === true) {
        const linkToRunning = await programs.consoleLink();
        const link = await linkToRunning(config);
        return print(options, { link }, () => link);
      }
      if (options.json === true) throw usage('console prints JSON only with --link');
      if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
        throw usage(`${folder} is no folder`);
      const { port, readOnly = false } = options;
      const runConsole = await programs.console();
      await runConsole(config, {
        ...{ folder: path.resolve(folder), isReadOnly: readOnly },
        ...(port !== undefined && { port }),
      });
    });
}
