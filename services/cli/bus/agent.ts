import { resolve } from 'node:path';
import type { Command } from 'commander';
import { runners, type RunnerName } from '../../../src/delegation/task/shapes.js';
import type { HostOptions } from '../../../src/pgc/serve/host.js';
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
import { programs } from '../../programs.js';

interface AgentOptions extends CommonOptions {
  name?: string;
  runners?: string[];
  slots?: number;
  root?: string;
  reads?: string;
  memory?: number;
  part?: { part: number; of: number };
  shardsOf?: string[];
  shared?: boolean;
  takeOver?: boolean;
  jobs?: number;
}

export function addAgentCommands(sigma: Command): void {
  withCommon(
    sigma
      .command('agent')
      .argument('<role>', 'pgc, manager, executor, critic or miner')
      .argument('[repo]', 'for pgc: the indexed tree (default: the current folder)'),
  )
    .description('run one agent in the foreground')
    .option(
      '--memory <size>',
      'for pgc: memory limit for open shards, like 500m or 2g (default: 1g)',
      size,
    )
    .option('--part <part>', 'for pgc: serve one part of the shards, like 2/4', part)
    .option('--shards-of <aliases>', 'for pgc: serve only these shards, like net,mm', list)
    .option(
      '--shared',
      'for pgc: serve what falls to this host, of all that share the tree, by their --memory',
    )
    .option('--jobs <n>', 'for miner: worker threads', wholeNumber(1, 64))
    .option('--name <agent>', 'for executor: its name on the bus (default: executor)')
    .option('--runners <names>', 'for executor: any of answer,command,model,agent,prompt', list)
    .option('--slots <n>', 'for executor: tasks at once (default: 4)', wholeNumber(1, 64))
    .option('--root <dir>', 'for executor: programs run in this folder and below it')
    .option(
      '--reads <dir>',
      'for executor: prompts may /read files below this folder (default: --root)',
    )
    .option('--take-over', 'for pgc: take over shards that another process serves')
    .action(async (role: string, repo: string | undefined, options: AgentOptions) => {
      assertOptionsOf(role, options);
      if (role !== 'pgc' && repo !== undefined)
        throw usage(`the ${role} takes no folder${role === 'executor' ? '; see --root' : ''}`);
      const config = configOf(options);
      switch (role) {
        case 'pgc':
          return (await programs.pgc())(
            config,
            repo ?? process.cwd(),
            await hostOptionsOf(options),
          );
        case 'manager':
          return (await programs.manager())(config);
        case 'critic':
          return (await programs.critic())(config);
        case 'miner':
          return (await programs.miner())(
            config,
            options.jobs === undefined ? {} : { jobs: options.jobs },
          );
        case 'executor': {
          const { name, slots, root, reads } = options;
          const below = (dir: string | undefined) => (dir === undefined ? undefined : resolve(dir));
          const its = { name, slots, root: below(root), reads: below(reads) };
          return (await programs.executor())(config, {
            ...its,
            runners: runnersOf(options.runners),
          });
        }
        default:
          throw usage(
            `there is no agent role ${role}; use pgc, manager, executor, critic or miner`,
          );
      }
    });
}

/** Throws USAGE for an option of another role. */
function assertOptionsOf(role: string, options: AgentOptions): void {
  const { name, runners: wanted, slots, root, reads, memory, part: share } = options;
  const isGiven = (its: readonly unknown[]): boolean => its.some((each) => each !== undefined);
  if (role !== 'executor' && isGiven([name, wanted, slots, root, reads]))
    throw usage('--name, --runners, --slots, --root and --reads are for executor');
  if (role !== 'miner' && options.jobs !== undefined) throw usage('--jobs is for miner');
  if (
    role !== 'pgc' &&
    isGiven([memory, share, options.shardsOf, options.shared, options.takeOver])
  )
    throw usage('--memory, --part, --shards-of, --shared and --take-over are for pgc');
}

/** Throws USAGE for an unknown name. */
function runnersOf(names: readonly string[] | undefined): RunnerName[] | undefined {
  return names?.map((name) => {
    const found = runners.find((each) => each === name);
    if (found === undefined) throw usage(`there is no runner "${name}"; use ${runners.join(', ')}`);
    return found;
  });
}

async function hostOptionsOf(options: AgentOptions): Promise<HostOptions> {
  const { memoryBytesDefault, memoryBytesMin } =
    await import('../../../src/pgc/serve/shard-memory.js');
  const { memory = memoryBytesDefault, part: share, shardsOf, takeOver = false } = options;
  if (memory < memoryBytesMin)
    throw usage(`--memory must be at least ${memoryBytesMin / 1024 / 1024}m`);
  const { shared = false } = options;
  if ([share !== undefined, shardsOf !== undefined, shared].filter(Boolean).length > 1)
    throw usage('give one of --part, --shards-of and --shared');
  if (shared && takeOver) throw usage('--shared takes shards from those that share the tree alone');
  if (shardsOf?.length === 0) throw usage('--shards-of needs at least one shard');
  const named = shardsOf === undefined ? 'all' : new Set(shardsOf);
  return { share: shared ? 'placed' : (share ?? named), memoryBytes: memory, takesOver: takeOver };
}
