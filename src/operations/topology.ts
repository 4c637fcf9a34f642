import { z } from 'zod';
import type { TopologyAnswer } from '../pgc/shapes.js';
import { renderDot, renderTopology, selected } from '../render/topology.js';
import { line } from '../render/terminal.js';
import { listing, looks, plain, type Operation } from './operation.js';
import { agentArgument, agentInput } from './shapes.js';

const referencesMax = 1_000_000_000;
const hopsMax = 32;

const topologyInput = z.strictObject({
  agent: agentInput.optional().describe('Only dependencies from and to this shard.'),
  min: z
    .int()
    .min(1)
    .max(referencesMax)
    .default(1)
    .describe('Edges with fewer references are left out.'),
  dot: z.boolean().default(false).describe('The text is a graph for Graphviz.'),
});

/** `topology`: which shard depends on which. */
export const topology: Operation<typeof topologyInput> = {
  name: 'topology',
  title: 'Topology',
  description: 'Which shard depends on which, by the number of references.',
  input: topologyInput,
  output: z.looseObject({ shards: z.array(z.string()), edges: z.array(z.looseObject({})) }),
  annotations: looks,
  isTool: false,
  doing: 'comparing the shards',
  cli: {
    command: 'lattice topology',
    help: 'show which shard depends on which',
    arguments: [],
    flags: {
      agent: { flag: '--agent <alias>', help: 'only dependencies from and to this shard' },
      min: { flag: '--min <n>', help: 'leave out edges with fewer references' },
      dot: { flag: '--dot', help: 'print a graph for Graphviz' },
    },
  },
  async run({ agent, min, dot }, { bus, deadlineMs, signal }) {
    const whole = await (await bus.questions()).topology({}, { deadlineMs, signal });
    return listing<TopologyAnswer>(
      selected(whole, agent, min),
      ['edges', 'shards', 'nodes'],
      (its) => (dot ? renderDot(its) : renderTopology(its, agent)),
    );
  },
};

const pathInput = z.strictObject({
  from: agentInput,
  to: agentInput,
  max_hops: z
    .int()
    .min(1)
    .max(hopsMax)
    .default(6)
    .describe('Shards on the chain, both ends included.'),
});

/** `lattice_path`: how one shard depends on another. */
export const latticePath: Operation<typeof pathInput> = {
  name: 'lattice_path',
  title: 'Path between shards',
  description: 'The shortest chain of dependencies between two shards.',
  input: pathInput,
  output: z.looseObject({ path: z.array(z.string()) }),
  annotations: looks,
  isTool: false,
  doing: 'following dependencies',
  cli: {
    command: 'lattice path',
    help: 'find the shortest chain of dependencies between two shards',
    arguments: [agentArgument('from'), agentArgument('to')],
    flags: {
      max_hops: { flag: '--max-hops <n>', help: 'most shards on the chain, both ends included' },
    },
  },
  async run({ from, to, max_hops }, { bus, deadlineMs, signal }) {
    const questions = await bus.questions();
    const { path } = await questions.path({ from, to, max_hops }, { deadlineMs, signal });
    return plain({ path }, line`${path.join(' → ')}`);
  },
};
