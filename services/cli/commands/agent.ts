import { resolve } from 'node:path';
import type { Command } from 'commander';
import { runners, type RunnerName } from '../../../src/delegation/task/shapes.js';
import type { HostOptions } from '../../pgc/host.js';
import {
  configOf,
  list,
  part,
  size,
  wholeNumber,
  withCommon,
  type CommonOptions,
} from '../options.js';
import { usage } from '../output.js';

interface AgentOptions extends CommonOptions {
  name?: string;
  runners?: string[];
  slots?: number;
  root?: string;
  reads?: string;
  memory?: number;
  part?: { part: number; of: number };
  shardsOf?: string[];
  takeOver?: boolean;
}

export function addAgentCommands(sigma: Command): void {
  withCommon(
    sigma
      .command('agent')
      .argument('<role>', 'pgc, manager, executor or critic')
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
    .option('--name <agent>', 'for executor: its name on the bus (default: executor)')
    .option('--runners <names>', 'for executor: which of answer,command,model,agent,prompt', list)
    .option('--slots <n>', 'for executor: tasks at once (default: 4)', wholeNumber(1, 64))
    .option('--root <dir>', 'for executor: programs run in this folder and below it')
    .option('--reads <dir>', 'for executor: /read of prompts is confined to it (default: --root)')
    .option('--take-over', 'for pgc: take the shards over from whoever serves them now')
    .action(async (role: string, repo: string | undefined, options: AgentOptions) => {
      const ofExecutor = [
        options.name,
        options.runners,
        options.slots,
        options.root,
        options.reads,
      ];
      if (role !== 'executor' && ofExecutor.some((each) => each !== undefined))
        throw usage('--name, --runners, --slots, --root and --reads are for executor');
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
        case 'critic': {
          const { memory, part: share, shardsOf, takeOver } = options;
          if (repo !== undefined) throw usage('the critic takes no folder');
          if ([memory, share, shardsOf, takeOver].some((each) => each !== undefined))
            throw usage('--memory, --part, --shards-of and --take-over are for pgc');
          const { runCritic } = await import('../../critic/main.js');
          return runCritic(configOf(options));
        }
        case 'executor': {
          const { memory, part: share, shardsOf, takeOver, name, slots, root, reads } = options;
          if (repo !== undefined) throw usage('the executor takes no folder; see --root');
          if ([memory, share, shardsOf, takeOver].some((each) => each !== undefined))
            throw usage('--memory, --part, --shards-of and --take-over are for pgc');
          const { runExecutor } = await import('../../executor/main.js');
          const below = (dir: string | undefined) => (dir === undefined ? undefined : resolve(dir));
          const its = { name, slots, root: below(root), reads: below(reads) };
          return runExecutor(configOf(options), { ...its, runners: runnersOf(options.runners) });
        }
        default:
          throw usage(`there is no agent role ${role}; use pgc, manager, executor or critic`);
      }
    });
}

/** Throws USAGE for a name that is none. */
function runnersOf(names: readonly string[] | undefined): RunnerName[] | undefined {
  return names?.map((name) => {
    const found = runners.find((each) => each === name);
    if (found === undefined)
      throw usage(`there is no runner "${name}"; there are ${runners.join(', ')}`);
    return found;
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
