import { Argument, type Command } from 'commander';
import { version } from '../../version.js';
import { completionFor, shells, type Shell } from './completion.js';
import { described } from './described.js';
import { manPage } from './man-page.js';

/** Both are made from what `--help` says. `all`: the program with every command. */
export function manualCommands(all: () => Promise<Command>): (sigma: Command) => void {
  return (sigma) => {
    sigma
      .command('completion')
      .description('print a script that completes commands and options in your shell')
      .addArgument(new Argument('<shell>', 'your shell').choices(shells))
      .action(async (shell: Shell) => {
        process.stdout.write(completionFor(shell, described(await all())));
      });
    sigma
      .command('manual')
      .description('print the manual page, for `man`')
      .action(async () => {
        process.stdout.write(manPage(described(await all()), version));
      });
  };
}
