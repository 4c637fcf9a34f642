import { BusError } from '../errors/bus-error.js';
import type { TopologyAnswer } from '../pgc/shapes.js';
import { line, table } from './terminal.js';

const examplesShown = 3;
/** Inches of a node in a drawing: by the root of its lines. */
const widthMin = 0.8;
const widthMax = 4;
/** Graphviz lays out with whole numbers of limited size. */
const weightMax = 1_000;

/** The edges of one agent, or all, without those that are weaker than `min`. Throws UNKNOWN_AGENT. */
export function selected(
  topology: TopologyAnswer,
  agent: string | undefined,
  min: number,
): TopologyAnswer {
  if (agent !== undefined && !topology.shards.includes(agent))
    throw new BusError('UNKNOWN_AGENT', { agent });
  const edges = topology.edges.filter(
    ({ from, to, references }) =>
      references >= min && (agent === undefined || from === agent || to === agent),
  );
  if (agent === undefined) return { ...topology, edges };
  const near = new Set([agent, ...edges.flatMap(({ from, to }) => [from, to])]);
  const isNear = (each: string): boolean => near.has(each);
  return {
    ...topology,
    edges,
    shards: topology.shards.filter(isNear),
    nodes: topology.nodes.filter((node) => isNear(node.agent)),
  };
}

export function renderTopology(topology: TopologyAnswer, agent?: string): string {
  const head = line`topology ${topology.version}: ${topology.shards.length} shards`;
  const note = topology.truncated ? ['note: there are more edges; these are the strongest'] : [];
  if (agent === undefined) return [head, edgesTable(topology.edges), ...note].join('\n');
  const needs = topology.edges.filter(({ from }) => from === agent);
  const needed = topology.edges
    .filter(({ to }) => to === agent)
    .sort((one, other) => other.references - one.references);
  return [
    line`${agent} depends on ${needs.length} shards`,
    edgesTable(needs),
    '',
    line`${needed.length} shards depend on ${agent}`,
    edgesTable(needed),
    ...note,
  ].join('\n');
}

function edgesTable(edges: TopologyAnswer['edges']): string {
  const rows = edges.map((edge) => [
    edge.from,
    '→',
    edge.to,
    String(edge.references),
    edge.symbols.slice(0, examplesShown).join(', '),
  ]);
  return table([['FROM', '', 'TO', 'REFERENCES', 'FOR EXAMPLE'], ...rows]);
}

/** In the language of Graphviz. Nodes are as wide as they have lines, edges as strong as their references. */
export function renderDot({ version, nodes, edges }: TopologyAnswer): string {
  const most = Math.max(1, ...nodes.map(({ lines }) => lines));
  const heaviest = Math.max(2, ...edges.map(({ references }) => references));
  return [
    `digraph ${quoted(`topology ${version}`)} {`,
    '  node [shape=box];',
    ...nodes.map(({ agent, lines }) => {
      const width = Math.max(widthMin, widthMax * Math.sqrt(lines / most)).toFixed(2);
      return `  ${quoted(agent)} [label=${quoted(`${agent}\n${lines} lines`)}, width=${width}];`;
    }),
    ...edges.map(({ from, to, references }) => {
      const pen = (1 + (4 * Math.log(references)) / Math.log(heaviest)).toFixed(2);
      return `  ${quoted(from)} -> ${quoted(to)} [label=${quoted(String(references))}, weight=${Math.min(references, weightMax)}, penwidth=${pen}];`;
    }),
    '}',
  ].join('\n');
}

/** A backslash is one only before a quote or at the end; a line end is written as one. */
function quoted(text: string): string {
  const escaped = text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
  return `"${escaped}"`;
}
