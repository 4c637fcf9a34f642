import type { Command } from 'commander';
import type { HostOptions } from '../../pgc/host.js';
import { configOf, list, part, size, withCommon, type CommonOptions } from '../options.js';
import { usage } from '../output.js';

interface AgentOptions extends CommonOptions {
  memory?: number;
  part?: { part: number; of: number };
  shardsOf?: string[];
  takeOver?: boolean;
}

export function addAgentCommands(sigma: Command): void {
  withCommon(
    sigma
      .command('agent')
      .argument('<role>', 'pgc or manager')
      .argument('[repo]', 'for pgc: the indexed tree (default: the current folder)'),
  )
    .description('run one agent process, in the foreground')
    .option(
      '--memory <size>',
      'for pgc: hold at most so much open, like 500m or 2g (default: 1g)',
      size,
    )
    .option('--part <part>', 'for pgc: serve one part of the shards, like 2/4', part)
    .option('--shards-of <aliases>', 'for pgc: serve these shards only, like net,mm', list)
    .option('--take-over', 'for pgc: take the shards over from whoever serves them now')
    .action(async (role: string, repo: string | undefined, options: AgentOptions) => {
      switch (role) {
        case 'pgc': {
          const { runPgc } = await import('../../pgc/main.js');
          return runPgc(configOf(options), repo ?? process.cwd(), await hostOptionsOf(options));
        }
        case 'manager': {
          const { memory, part: share, shardsOf, takeOver } = options;
          if (repo !== undefined) throw usage('the manager takes no folder');
          if ([memory, share, shardsOf, takeOver].some((each) => each !== undefined))
            throw usage('--memory, --part, --shards-of and --take-over are for pgc');
          const { runManager } = await import('../../manager/main.js');
          return runManager(configOf(options));
        }
        default:
          throw usage(`there is no agent role ${role}; use pgc or manager`);
      }
    });
}

async function hostOptionsOf(options: AgentOptions): Promise<HostOptions> {
  const { memoryBytesDefault, memoryBytesMin } = await import('../../pgc/host-memory.js');
  const { memory = memoryBytesDefault, part: share, shardsOf, takeOver = false } = options;
  if (memory < memoryBytesMin)
    throw usage(`--memory must be at least ${memoryBytesMin / 1024 / 1024}m`);
  if (share !== undefined && shardsOf !== undefined)
    throw usage('--part and --shards-of exclude each other');
  if (shardsOf?.length === 0) throw usage('--shards-of names no shard');
  const named = shardsOf === undefined ? 'all' : new Set(shardsOf);
  return { share: share ?? named, memoryBytes: memory, takesOver: takeOver };
}
