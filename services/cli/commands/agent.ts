import type { Command } from 'commander';
import { configOf, withCommon, type CommonOptions } from '../options.js';
import { usage } from '../output.js';

export function addAgentCommands(sigma: Command): void {
  withCommon(
    sigma
      .command('agent')
      .argument('<role>', 'pgc or manager')
      .argument('[repo]', 'for pgc: the indexed tree (default: the current folder)'),
  )
    .description('run one agent process, in the foreground')
    .action(async (role: string, repo: string | undefined, options: CommonOptions) => {
      switch (role) {
        case 'pgc': {
          const { runPgc } = await import('../../pgc/main.js');
          return runPgc(configOf(options), repo ?? process.cwd());
        }
        case 'manager': {
          if (repo !== undefined) throw usage('the manager takes no folder');
          const { runManager } = await import('../../manager/main.js');
          return runManager(configOf(options));
        }
        default:
          throw usage(`there is no agent role ${role}; use pgc or manager`);
      }
    });
}
