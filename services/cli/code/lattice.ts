import type { Command } from 'commander';
import { BusError } from '../../../src/errors/bus-error.js';
import { planFolder } from '../../../src/pgc/plan/plan-folder.js';
import { readShardRequest } from '../../../src/pgc/plan/shard-request.js';
import { withQuestions } from '../connect.js';
import { renderPlan, renderPlanTree } from '../../../src/render/plan.js';
import {
  configOf,
  engine,
  engineHelp,
  wholeNumber,
  withCommon,
  withTree,
  type CommonOptions,
  type TreeOptions,
} from '../options.js';
import { print, usage, withError } from '../output.js';
import { renderDot, renderTopology, selected } from '../../../src/render/topology.js';
import { renderAnswer } from '../../../src/render/answer.js';

const maxHopsDefault = 6;
const maxHopsLimit = 32;
const sourcesMax = 10;
const referencesMax = 1_000_000_000;

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

  withTree(lattice.command('topology'))
    .description('show which shard depends on which')
    .option('--agent <alias>', 'only dependencies from and to this shard')
    .option('--min <n>', 'leave out edges with fewer references', wholeNumber(1, referencesMax), 1)
    .option('--dot', 'print a graph for Graphviz')
    .action(async (its: TreeOptions & { agent?: string; min: number; dot?: boolean }) => {
      if (its.dot === true && its.json === true) throw usage('either --dot or --json');
      const whole = await withQuestions(configOf(its), its.repo, (questions) =>
        questions.topology({ deadlineMs: its.deadline }),
      );
      const topology = selected(whole, its.agent, its.min);
      print(its, topology, () =>
        its.dot === true ? renderDot(topology) : renderTopology(topology, its.agent),
      );
    });

  withTree(lattice.command('path').argument('<from>').argument('<to>'))
    .description('find the shortest chain of dependencies between two shards')
    .option(
      '--max-hops <n>',
      'most shards on the chain, both ends included',
      wholeNumber(1, maxHopsLimit),
      maxHopsDefault,
    )
    .action(async (from: string, to: string, its: TreeOptions & { maxHops: number }) => {
      const path = await withQuestions(configOf(its), its.repo, (questions) =>
        questions.path(from, to, its.maxHops, { deadlineMs: its.deadline }),
      );
      print(its, { path }, () => path.join(' → '));
    });

  withTree(lattice.command('query').argument('<question>'))
    .description('ask a question whose answer may cross shards')
    .option('--from <agent>', 'start at this shard', '')
    .option('--max-hops <n>', 'most shards to visit', wholeNumber(1, maxHopsLimit), maxHopsDefault)
    .option('--top-k <n>', 'citations per shard', wholeNumber(1, sourcesMax), 5)
    .option('--engine <name>', engineHelp, engine)
    .action(
      async (
        question: string,
        its: TreeOptions & { from: string; maxHops: number; topK: number; engine?: string },
      ) => {
        if (question.trim() === '') throw new BusError('EMPTY_QUESTION');
        const { from, maxHops: max_hops, topK: top_k, engine: named = '' } = its;
        const request = { question, from, max_hops, top_k, engine: named };
        const answer = await withQuestions(configOf(its), its.repo, (questions) =>
          questions.query(request, { deadlineMs: its.deadline }),
        );
        const isEmpty = answer.hops.length === 0;
        print(its, withError(answer, isEmpty), () => renderAnswer(answer));
        if (isEmpty) process.exitCode = 1;
      },
    );
}
