import type { Certainty, FlowEdge } from '../../../../../src/pgc/shapes.js';
import { splitPlace } from '../../parts/place.js';

export interface FlowNode {
  /** Also what its page is asked for. */
  id: string;
  name: string;
  /** Of which file, where that is known. */
  path: string;
  /** Its evidence is shown beside the graph. */
  evidence: number[];
}

export interface FlowLine {
  from: string;
  to: string;
  kind: FlowEdge['kind'];
  certainty: Certainty;
  /** Places of the calls. */
  sites: string[];
  evidence: number[];
}

export interface FlowGraph {
  nodes: FlowNode[];
  lines: FlowLine[];
  /** Calls that are not drawn. */
  left: number;
}

/** More nodes than this are no picture: the list has all. */
export const nodesMax = 40;

/**
 * Calls as nodes and lines. A caller is known by its name and the file of the call, what is called by the place of its definition: they
 * are one node where both agree.
 */
export function flowGraph(flow: readonly FlowEdge[]): FlowGraph {
  const nodes = new Map<string, FlowNode>();
  const defined = new Map<string, string>();
  for (const { to, definition } of flow)
    if (definition !== '') defined.set(`${splitPlace(definition).path}#${to}`, definition);
  const lines = new Map<string, FlowLine>();
  let left = 0;
  for (const edge of flow) {
    const { from, to, site, kind, certainty, definition, evidence } = edge;
    const { path } = splitPlace(site);
    const own = `${path}#${from}`;
    const at = defined.get(own) ?? own;
    const target = definition === '' ? to : definition;
    const source = nodes.get(at) ?? { id: at, name: from, path, evidence: [] };
    const called = nodes.get(target) ?? {
      ...{ id: target, name: to, evidence: [] },
      path: definition === '' ? '' : splitPlace(definition).path,
    };
    const added = [...new Set([at, target])].filter((id) => !nodes.has(id));
    if (nodes.size + added.length > nodesMax) {
      left += 1;
      continue;
    }
    nodes.set(at, source).set(target, at === target ? source : called);
    const key = [at, target, kind, certainty].join('\n');
    const line = lines.get(key) ?? {
      ...{ from: at, to: target, kind, certainty },
      ...{ sites: [], evidence: [] },
    };
    lines.set(key, line);
    if (!line.sites.includes(site)) line.sites.push(site);
    if (evidence > 0 && !line.evidence.includes(evidence)) line.evidence.push(evidence);
    if (evidence > 0 && !source.evidence.includes(evidence)) source.evidence.push(evidence);
  }
  return { nodes: [...nodes.values()], lines: [...lines.values()], left };
}
