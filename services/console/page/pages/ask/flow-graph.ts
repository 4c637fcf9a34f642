import type { Certainty, FlowEdge } from '../../../../../src/pgc/shapes.js';
import { splitPlace } from '../../parts/place.js';

export interface FlowNode {
  id: string;
  name: string;
  /** What its page is asked for. */
  link: string;
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
  const node = (its: Omit<FlowNode, 'evidence'>): string | undefined => {
    if (!nodes.has(its.id) && nodes.size >= nodesMax) return undefined;
    if (!nodes.has(its.id)) nodes.set(its.id, { ...its, evidence: [] });
    return its.id;
  };
  const lines = new Map<string, FlowLine>();
  for (const edge of flow) {
    const { from, to, site, kind, certainty, definition, evidence } = edge;
    const { path } = splitPlace(site);
    const own = `${path}#${from}`;
    const at = defined.get(own) ?? own;
    const source = node({ id: at, name: from, link: at, path });
    const isKnown = definition !== '';
    const target = node({
      id: isKnown ? definition : to,
      name: to,
      link: isKnown ? definition : to,
      path: isKnown ? splitPlace(definition).path : '',
    });
    if (source === undefined || target === undefined) continue;
    const key = [source, target, kind, certainty].join('\n');
    const line = lines.get(key) ?? {
      ...{ from: source, to: target, kind, certainty },
      ...{ sites: [], evidence: [] },
    };
    lines.set(key, line);
    if (!line.sites.includes(site)) line.sites.push(site);
    if (evidence > 0 && !line.evidence.includes(evidence)) line.evidence.push(evidence);
    const its = nodes.get(source);
    if (evidence > 0 && its !== undefined && !its.evidence.includes(evidence))
      its.evidence.push(evidence);
  }
  return { nodes: [...nodes.values()], lines: [...lines.values()] };
}
