import type { Plain, sigma } from '../../wire/codec.js';
import { BusError } from '../../errors/bus-error.js';
import type { OpenedIndex, OpenedTree } from '../search/open-index.js';
import { pathTo, spread, type Reached, type Spread } from './breadth-first.js';
import { CodeGraph } from './code-graph.js';
import { exactly, type EdgeType, type Meant } from './edges.js';
import type { NodeKey } from './nodes.js';
import { Surfaces, type Role } from './surfaces.js';

export const depthDefault = 3;
export const depthLimit = 16;
/** Nodes in one direction; beyond them the answer is `truncated`. */
export const blastNodesMax = 10_000;
export const criticalPathsMax = 5;

export const directions = ['up', 'down', 'both'] as const;
export type Direction = (typeof directions)[number];

/** A definition as an answer names it. `filePath` is the name that the delegation document gives it. */
export interface BlastSymbol {
  /** `path#name`; the path alone for what lies outside all symbols of a file. */
  id: string;
  symbol: string;
  kind: string;
  file_path: string;
  filePath: string;
  line: number;
  role: Role;
  agent: string;
}

export interface BlastNode extends BlastSymbol, Meant {
  /** Of the edge by which it was reached first. */
  type: EdgeType;
  /** Edges on the shortest path from the nearest target. */
  depth: number;
  /** The node before it on that path. */
  through: string;
  /** Where that edge stands in the text, `path:line`, the first of `sites`. */
  call_site: string;
  sites: number;
}

export type CriticalPath = Plain<sigma.pgc.CriticalPath>;

export interface BlastRadius {
  /** As it was asked for. */
  symbol: string;
  /** Of the first target. */
  file_path: string;
  filePath: string;
  /** Every definition that the symbol may mean. */
  targets: BlastSymbol[];
  consumers: BlastNode[];
  dependencies: BlastNode[];
  metrics: {
    /** Distinct consumers at any depth; neither the target nor its dependencies. */
    totalImpacted: number;
    maxConsumerDepth: number;
    maxDependencyDepth: number;
    criticalPaths: CriticalPath[];
    direct_consumers: number;
    /** Of the consumers those in files of tests. */
    test_consumers: number;
    total_dependencies: number;
    /** Call sites of the targets' names whose target is unknown; they are not counted. */
    undecided_sites: number;
  };
  max_depth: number;
  direction: Direction;
  /** More than `blastNodesMax` nodes lie in one direction. */
  truncated: boolean;
  warnings: string[];
}

export interface BlastOptions {
  maxDepth?: number;
  direction?: Direction;
  /** Only what lies in files of these; empty: any. */
  roles?: readonly string[] | undefined;
  nodesMax?: number;
  /** No time is left: what was found is the answer. */
  isOver?: () => boolean;
}

/** What was spread from, and what it reached. */
export interface Blast {
  graph: CodeGraph;
  surfaces: Surfaces;
  targets: NodeKey[];
  up: Spread;
  down: Spread;
}

/** A tree never changes while it is open, so neither does its graph. */
const graphs = new WeakMap<OpenedIndex, CodeGraph>();

export function graphOf(tree: OpenedIndex): CodeGraph {
  let known = graphs.get(tree);
  if (known === undefined) graphs.set(tree, (known = new CodeGraph(tree.shards)));
  return known;
}

/**
 * What a change of a symbol reaches: who uses it, and what it uses, each with its least depth. Several
 * definitions of a bare name are all targets. A class is changed with its methods. Throws NO_SUCH_SYMBOL,
 * TOO_LARGE, USAGE, INDEX_CORRUPT.
 */
export async function blastRadius(
  tree: OpenedTree,
  symbol: string,
  options: BlastOptions = {},
): Promise<BlastRadius> {
  const { maxDepth = depthDefault, direction = 'both', nodesMax = blastNodesMax } = options;
  const { roles = [], isOver } = options;
  if (!Number.isInteger(maxDepth) || maxDepth < 1 || maxDepth > depthLimit)
    throw new BusError('USAGE', { detail: `the depth must be from 1 to ${depthLimit}` });
  const blast = await blastOf(tree, symbol, {
    upMax: direction === 'down' ? 0 : maxDepth,
    downMax: direction === 'up' ? 0 : maxDepth,
    nodesMax,
    ...(isOver && { isOver }),
  });
  const { up, down, graph, surfaces } = blast;
  const targets = blast.targets.map((node) => symbolAt(blast, node));
  const consumers = nodesIn(blast, up, { roles });
  const dependencies = nodesIn(blast, down, { roles });
  const file_path = targets[0]?.file_path ?? '';
  return {
    symbol,
    file_path,
    filePath: file_path,
    targets,
    consumers,
    dependencies,
    metrics: {
      totalImpacted: consumers.length,
      maxConsumerDepth: Math.max(0, ...consumers.map(({ depth }) => depth)),
      maxDependencyDepth: Math.max(0, ...dependencies.map(({ depth }) => depth)),
      criticalPaths: criticalPaths(blast),
      direct_consumers: consumers.filter(({ depth }) => depth === 1).length,
      test_consumers: consumers.filter(({ role }) => role === 'test').length,
      total_dependencies: dependencies.length,
      undecided_sites: undecidedSites(graph, blast.targets),
    },
    max_depth: maxDepth,
    direction,
    truncated: up.truncated || down.truncated,
    warnings: [...warningsOf(surfaces), ...lateWarnings(blast)],
  };
}

/** Both spreads of a symbol or a file; a depth of 0 leaves a direction out. */
export async function blastOf(
  tree: OpenedTree,
  reference: string,
  limits: { upMax: number; downMax: number; nodesMax: number; isOver?: () => boolean },
): Promise<Blast> {
  const graph = graphOf(tree);
  const targets = graph.find(reference);
  const starts = [...new Set(targets.flatMap((node) => [node, ...graph.membersOf(node)]))];
  const surfaces = await Surfaces.open(tree, graph);
  const { upMax, downMax, ...both } = limits;
  const up = spread(starts, (node) => graph.consumersOf(node), { depthMax: upMax, ...both });
  const down = spread(starts, (node) => graph.dependenciesOf(node), { depthMax: downMax, ...both });
  return { graph, surfaces, targets, up, down };
}

/** Everything that was reached, nearest first, then by path and line. */
export function nodesIn(
  blast: Blast,
  { reached }: Spread,
  { depthMax = depthLimit, roles = [] }: { depthMax?: number; roles?: readonly string[] } = {},
): BlastNode[] {
  const { nodes } = blast.graph;
  return [...reached.values()]
    .filter(({ depth }) => depth > 0 && depth <= depthMax)
    .filter(({ node }) => nodes.isFor(node, roles))
    .map((each) => nodeOf(blast, each))
    .sort(
      (one, other) =>
        one.depth - other.depth ||
        compare(one.file_path, other.file_path) ||
        one.line - other.line ||
        compare(one.id, other.id),
    );
}

export function symbolAt({ graph, surfaces }: Blast, node: NodeKey): BlastSymbol {
  const { id, symbol, kind, file_path, line, agent } = graph.nodes.facts(node);
  const role = surfaces.roleOf(node);
  return { id, symbol, kind, file_path, filePath: file_path, line, role, agent };
}

/** Where the outside begins among the consumers and the targets themselves, nearest first. */
export function openings({ graph, surfaces, up }: Blast): {
  end: Reached;
  path: string[];
  rule: string;
  reason: string;
  place: string;
}[] {
  return [...up.reached.values()]
    .flatMap((end) => {
      const opening = surfaces.opening(end.node);
      if (opening === undefined) return [];
      return [{ end, path: pathTo(end).map((node) => graph.nodes.facts(node).id), ...opening }];
    })
    .sort(
      (one, other) =>
        one.end.depth - other.end.depth || compare(one.path.at(-1) ?? '', other.path.at(-1) ?? ''),
    );
}

export function criticalPaths(blast: Blast): CriticalPath[] {
  return openings(blast)
    .filter(({ end }) => end.depth > 0)
    .slice(0, criticalPathsMax)
    .map(({ end: { depth }, path, reason, place }) => ({
      path,
      depth,
      reason: `${reason} (${place})`,
    }));
}

export function deepest({ reached }: Spread): number {
  return Math.max(0, ...[...reached.values()].map(({ depth }) => depth));
}

export function warningsOf({ missing }: Surfaces): string[] {
  if (missing.length === 0) return [];
  return [`O2 is not built for ${missing.join(', ')}: what is open to others there is not known`];
}

/** What was left out for want of time, and how much is known. */
export function lateWarnings({ up, down }: Blast): string[] {
  const late = [...(up.isLate ? ['consumers'] : []), ...(down.isLate ? ['dependencies'] : [])];
  if (late.length === 0) return [];
  const known = up.reached.size + down.reached.size;
  return [
    `The time was up before all ${late.join(' and ')} were found: ${known} nodes are known, those further away are left out.`,
  ];
}

/** Definitions of one name share their undecided sites. */
function undecidedSites(graph: CodeGraph, targets: readonly NodeKey[]): number {
  const byName = new Map(targets.map((node) => [graph.nodes.facts(node).symbol, node]));
  return [...byName.values()].reduce((sum, node) => sum + graph.undecidedSites(node), 0);
}

function nodeOf(blast: Blast, { node, depth, edge, before }: Reached): BlastNode {
  return {
    ...symbolAt(blast, node),
    type: edge?.type ?? 'calls',
    depth,
    through: before === undefined ? '' : blast.graph.nodes.facts(before.node).id,
    call_site: edge === undefined ? '' : `${edge.site_path}:${edge.site_line}`,
    sites: edge?.sites ?? 0,
    certainty: edge?.certainty ?? exactly.certainty,
    via: edge?.via ?? '',
  };
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
