import { Graph, layout } from '@dagrejs/dagre';
import { beginning } from '../../parts/amounts.js';
import type { FlowGraph, FlowLine, FlowNode } from './flow-graph.js';

export interface Placed {
  width: number;
  height: number;
  nodes: (FlowNode & { x: number; y: number; width: number; height: number; label: string })[];
  lines: (FlowLine & { points: { x: number; y: number }[] })[];
}

/** What the layout adds to a node, and to a line. */
interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

interface Bent {
  points: { x: number; y: number }[];
}

/** Of the fixed font in which names stand. */
const charWidth = 7.3;
const labelCharsMax = 30;
const nodeHeight = 40;
const shortened = (name: string): string => beginning(name, labelCharsMax);

/** In layers, callers above what they call. */
export function placed({ nodes, lines }: FlowGraph): Placed {
  const graph = new Graph({ multigraph: true });
  graph.setGraph({ rankdir: 'TB', nodesep: 18, ranksep: 42, marginx: 8, marginy: 8 });
  graph.setDefaultEdgeLabel(() => ({}));
  // Names of its own: it takes `toString` for what every object has.
  const keys = new Map(nodes.map(({ id }, at) => [id, `node ${at}`]));
  const keyOf = (id: string): string => keys.get(id) ?? '';
  for (const { id, name, path } of nodes) {
    const file = path.slice(path.lastIndexOf('/') + 1);
    const chars = Math.max(shortened(name).length, shortened(file).length);
    graph.setNode(keyOf(id), { width: Math.max(72, chars * charWidth + 24), height: nodeHeight });
  }
  lines.forEach(({ from, to }, at) => graph.setEdge(keyOf(from), keyOf(to), {}, String(at)));
  layout(graph);
  const { width, height } = graph.graph() as Box;
  return {
    ...{ width, height },
    nodes: nodes.map((node) => {
      const { x, y, width: wide, height: high } = graph.node(keyOf(node.id)) as Box;
      return { ...node, x, y, width: wide, height: high, label: shortened(node.name) };
    }),
    lines: lines.map((line, at) => ({
      ...line,
      points: (graph.edge({ v: keyOf(line.from), w: keyOf(line.to), name: String(at) }) as Bent)
        .points,
    })),
  };
}
