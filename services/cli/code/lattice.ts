import type { Command } from 'commander';
import { planFolder } from '../../../src/pgc/plan/plan-folder.js';
import { readShardRequest } from '../../../src/pgc/plan/shard-request.js';
import { renderPlan, renderPlanTree } from '../../../src/render/plan.js';
import { configOf, withCommon, type CommonOptions } from '../options.js';
import { print, usage } from '../output.js';

export function addLatticeCommands(sigma: Command): void {
  const lattice = sigma.command('lattice').description('work across shards');
  lattice.action(() => {
    throw usage('name a command: plan, topology, path or query');
  });

  withCommon(lattice.command('plan').argument('[repo]', 'root of the source tree', '.'))
    .description('show how a tree would be split into shards; changes nothing')
    .option('--shards <plan>', 'auto, a number, maintainers, codeowners, or a JSON file', 'auto')
    .option('--tree', 'print the folders, each with its shard')
    .action(async (repo: string, its: CommonOptions & { shards: string; tree?: boolean }) => {
      const request = await readShardRequest(its.shards, repo);
      const plan = await planFolder(repo, request, configOf(its).home);
      print(its, plan, () => (its.tree === true ? renderPlanTree(plan) : renderPlan(plan)));
    });
}
