import type { Command } from 'commander';
import { BusError } from '../../../src/errors/bus-error.js';
import { planFolder } from '../../../src/pgc/plan/plan-folder.js';
import { readShardRequest } from '../../../src/pgc/plan/shard-request.js';
import { withQuestions } from '../connect.js';
import { renderPlan, renderPlanTree } from '../render-plan.js';
import {
  configOf,
  duration,
  engine,
  engineHelp,
  wholeNumber,
  withCommon,
  type CommonOptions,
} from '../options.js';
import { print, usage, withError } from '../output.js';
import { renderDot, renderTopology, selected } from '../render-topology.js';
import { renderQuery } from '../render.js';

const deadlineMsDefault = 30_000;
const maxHopsDefault = 6;
const maxHopsLimit = 32;
const sourcesMax = 10;
const referencesMax = 1_000_000_000;

interface LatticeOptions extends CommonOptions {
  repo?: string;
  deadline: number;
}

export function addLatticeCommands(sigma: Command): void {
  const lattice = sigma.command('lattice').description('many shards together');
  lattice.action(() => {
    throw usage('which of plan, topology, path and query?');
  });
  const options = (command: Command): Command =>
    withCommon(command)
      .option('--repo <dir>', 'use the built index of this tree, without a broker')
      .option('--deadline <duration>', 'longest wait', duration, deadlineMsDefault);

  withCommon(lattice.command('plan').argument('[repo]', 'root of the source tree', '.'))
    .description('how a tree would be cut into shards; writes nothing')
    .option('--shards <plan>', 'auto, a number, maintainers, codeowners, or a JSON file', 'auto')
    .option('--tree', 'the folders, each with the shard that owns it')
    .action(async (repo: string, its: CommonOptions & { shards: string; tree?: boolean }) => {
      const request = await readShardRequest(its.shards, repo);
      const plan = await planFolder(repo, request, configOf(its).home);
      print({ json: its.json === true }, plan, () =>
        its.tree === true ? renderPlanTree(plan) : renderPlan(plan),
      );
    });

  options(lattice.command('topology'))
    .description('which shard depends on which, by resolved references')
    .option('--agent <alias>', 'who it depends on, and who depends on it')
    .option('--min <n>', 'leave weaker edges out', wholeNumber(1, referencesMax), 1)
    .option('--dot', 'as a graph for Graphviz')
    .action(async (its: LatticeOptions & { agent?: string; min: number; dot?: boolean }) => {
      if (its.dot === true && its.json === true) throw usage('either --dot or --json');
      const whole = await withQuestions(configOf(its), its.repo, (questions) =>
        questions.topology({ deadlineMs: its.deadline }),
      );
      const topology = selected(whole, its.agent, its.min);
      print({ json: its.json === true }, topology, () =>
        its.dot === true ? renderDot(topology) : renderTopology(topology, its.agent),
      );
    });

  options(lattice.command('path').argument('<from>').argument('<to>'))
    .description('the shortest route of dependencies between two shards')
    .option(
      '--max-hops <n>',
      'agents on the route, both ends included',
      wholeNumber(1, maxHopsLimit),
      maxHopsDefault,
    )
    .action(async (from: string, to: string, its: LatticeOptions & { maxHops: number }) => {
      const path = await withQuestions(configOf(its), its.repo, (questions) =>
        questions.path(from, to, its.maxHops, { deadlineMs: its.deadline }),
      );
      print({ json: its.json === true }, { path }, () => path.join(' → '));
    });

  options(lattice.command('query').argument('<question>'))
    .description('a question that may hop from shard to shard')
    .option('--from <agent>', 'enter at this shard', '')
    .option(
      '--max-hops <n>',
      'agents visited at most',
      wholeNumber(1, maxHopsLimit),
      maxHopsDefault,
    )
    .option('--top-k <n>', 'citations of each hop', wholeNumber(1, sourcesMax), 5)
    .option('--engine <name>', engineHelp, engine)
    .action(
      async (
        question: string,
        its: LatticeOptions & { from: string; maxHops: number; topK: number; engine?: string },
      ) => {
        if (question.trim() === '') throw new BusError('EMPTY_QUESTION');
        const { from, maxHops: max_hops, topK: top_k, engine: named = '' } = its;
        const request = { question, from, max_hops, top_k, engine: named };
        const answer = await withQuestions(configOf(its), its.repo, (questions) =>
          questions.query(request, { deadlineMs: its.deadline }),
        );
        const isEmpty = answer.hops.length === 0;
        print({ json: its.json === true }, withError(answer, isEmpty), () => renderQuery(answer));
        if (isEmpty) process.exitCode = 1;
      },
    );
}
