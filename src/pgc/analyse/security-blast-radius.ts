import type { Plain, sigma } from '../../wire/codec.js';
import { BusError } from '../../errors/bus-error.js';
import { severities, type Severity } from '../mine/items/security-rules.js';
import type { OpenedTree } from '../search/open-index.js';
import type { OverlayItem } from '../overlay/overlay-file.js';
import { adviceFor } from './advice.js';
import {
  blastNodesMax,
  blastOf,
  criticalPaths,
  deepest,
  lateWarnings,
  nodesIn,
  openings,
  symbolAt,
  warningsOf,
  type Blast,
  type BlastNode,
  type BlastSymbol,
  type CriticalPath,
} from './blast-radius.js';
import type { Reached, Spread } from './breadth-first.js';

/** Threats are looked for so far from the target, both ways. */
export const threatDepth = 2;
/** Who can reach the target from outside is looked for so far. */
export const exposureDepth = 6;
/** Threats in one answer; `count` counts all. */
export const threatsMax = 200;
/** Openings in one answer; `exposed_by` counts all. */
export const exposuresMax = 20;
/** More distinct consumers than this make a change wide. */
export const wideConsumers = 20;
const recommendationsMax = 12;
/** Places that one recommendation names. */
const placesMax = 3;

const threatSeverities = severities.filter((each) => each !== 'info');
export type Risk = 'none' | Exclude<Severity, 'info'>;

/** By the worst threat: neither exposed nor wide · one of the two · both. */
const riskTable: Readonly<Record<Risk, readonly [Risk, Risk, Risk]>> = {
  none: ['none', 'low', 'low'],
  low: ['low', 'low', 'medium'],
  medium: ['low', 'medium', 'high'],
  high: ['medium', 'high', 'critical'],
  critical: ['high', 'critical', 'critical'],
};

export type Threat = Plain<sigma.pgc.Threat, { direction: 'target' | 'consumer' | 'dependency' }>;

/** Where data from outside comes in, and how it gets to the target. */
export type Exposure = Plain<sigma.pgc.Exposure>;

export interface SecurityBlastRadius {
  target: { symbol: string; file_path: string; filePath: string; targets: BlastSymbol[] };
  security_threats: { count: number; threats: Threat[] };
  blast_radius: {
    direct_consumers: number;
    /** Distinct consumers within `exposureDepth`. */
    transitive_impact: number;
    max_depth: number;
    /** Within `threatDepth`. */
    consumers: BlastNode[];
    dependencies: BlastNode[];
    critical_paths: CriticalPath[];
  };
  risk_assessment: {
    severity: Risk;
    worst_threat: Risk;
    exposed: boolean;
    wide: boolean;
    reason: string;
    exposed_by: number;
    data_exposure: Exposure[];
  };
  recommendations: string[];
  truncated: boolean;
  warnings: string[];
}

/**
 * What a symbol, or a file, means for security: weaknesses within two steps of it, who can reach it from
 * outside, and how grave that is by `riskTable`. Throws NO_SUCH_SYMBOL, TOO_LARGE, OVERLAY_MISSING when O2
 * is built for no shard, INDEX_CORRUPT.
 */
export async function securityBlastRadius(
  tree: OpenedTree,
  symbolOrPath: string,
  {
    roles = [],
    nodesMax = blastNodesMax,
    isOver,
  }: { roles?: readonly string[]; nodesMax?: number; isOver?: () => boolean } = {},
): Promise<SecurityBlastRadius> {
  const limits = {
    ...{ upMax: exposureDepth, downMax: threatDepth, nodesMax },
    ...(isOver && { isOver }),
  };
  const blast = await blastOf(tree, symbolOrPath, limits);
  if (blast.surfaces.missing.length === tree.shards.length)
    throw new BusError('OVERLAY_MISSING', { overlay: 'O2', agent: tree.project });
  const { nodes } = blast.graph;
  const isWanted = ({ node }: Pick<Reached, 'node'>): boolean => nodes.isFor(node, roles);
  const threats = threatsIn(blast, isWanted);
  const exposures = exposuresOf(blast);
  const risk = assess(threats, exposures.length, consumersWithin(blast.up));
  const file_path = blast.graph.nodes.facts(blast.targets[0] ?? 0).file_path;
  return {
    target: {
      symbol: symbolOrPath,
      file_path,
      filePath: file_path,
      targets: blast.targets.map((node) => symbolAt(blast, node)),
    },
    security_threats: { count: threats.length, threats: threats.slice(0, threatsMax) },
    blast_radius: {
      direct_consumers: consumersWithin(blast.up, 1),
      transitive_impact: consumersWithin(blast.up),
      max_depth: deepest(blast.up),
      consumers: nodesIn(blast, blast.up, { depthMax: threatDepth, roles }),
      dependencies: nodesIn(blast, blast.down, { depthMax: threatDepth, roles }),
      critical_paths: criticalPaths(blast),
    },
    risk_assessment: { ...risk, data_exposure: exposures.slice(0, exposuresMax) },
    recommendations: recommend(threats, exposures),
    truncated: blast.up.truncated || blast.down.truncated,
    warnings: [...warningsOf(blast.surfaces), ...lateWarnings(blast)],
  };
}

/** By `riskTable`. */
export function riskOf(worst: Risk, isExposed: boolean, isWide: boolean): Risk {
  return riskTable[worst][Number(isExposed) + Number(isWide)] ?? worst;
}

function assess(
  threats: readonly Threat[],
  exposed_by: number,
  consumers: number,
): Omit<SecurityBlastRadius['risk_assessment'], 'data_exposure'> {
  const worst_threat =
    threatSeverities.find((severity) => threats.some((each) => each.severity === severity)) ??
    'none';
  const exposed = exposed_by > 0;
  const wide = consumers > wideConsumers;
  const reason = [
    worst_threat === 'none' ? 'no known weakness nearby' : `the worst weakness is ${worst_threat}`,
    exposed ? `ways in from outside: ${exposed_by}` : 'no known way in from outside',
    `consumers: ${consumers}`,
  ].join(', ');
  return {
    severity: riskOf(worst_threat, exposed, wide),
    worst_threat,
    exposed,
    wide,
    reason,
    exposed_by,
  };
}

/** Worst first, then nearest. What is above and below the target at once counts by the nearer way. */
function threatsIn(
  { graph, surfaces, up, down }: Blast,
  isWanted: (reached: Reached) => boolean,
): Threat[] {
  const near = new Map<number, { reached: Reached; direction: Threat['direction'] }>();
  for (const [direction, { reached }] of [
    ['consumer', up],
    ['dependency', down],
  ] as const) {
    for (const each of reached.values()) {
      if (each.depth > threatDepth || !isWanted(each)) continue;
      if (each.depth < (near.get(each.node)?.reached.depth ?? Infinity))
        near.set(each.node, { reached: each, direction: each.depth === 0 ? 'target' : direction });
    }
  }
  return [...near.values()]
    .flatMap(({ reached: { node, depth }, direction }) =>
      surfaces
        .threatsOf(node)
        .map((item) => threatOf(item, graph.nodes.facts(node).id, depth, direction)),
    )
    .sort(
      (one, other) =>
        rankOf(one.severity) - rankOf(other.severity) ||
        one.depth - other.depth ||
        compare(one.file_path, other.file_path) ||
        one.line - other.line,
    );
}

function threatOf(
  { rule, severity, cwe, text, file_path, line_start }: OverlayItem,
  symbol: string,
  depth: number,
  direction: Threat['direction'],
): Threat {
  const place = { file_path, line: line_start, symbol };
  return { type: rule, severity, cwe, description: text, ...place, depth, direction };
}

function exposuresOf(blast: Blast): Exposure[] {
  return openings(blast).map(({ end, path, rule, reason, place }) => ({
    ...{ surface: reason, rule, place },
    path: [...path].reverse(),
    depth: end.depth,
  }));
}

/** One line a rule, with the first places it was found at, then what the ways in ask for. */
function recommend(threats: readonly Threat[], exposures: readonly Exposure[]): string[] {
  const byRule = new Map<string, Threat[]>();
  for (const threat of threats)
    byRule.set(threat.type, [...(byRule.get(threat.type) ?? []), threat]);
  const lines = [...byRule].map(([rule, found]) => {
    const severity = found[0]?.severity ?? '';
    const places = found.slice(0, placesMax).map((each) => `${each.file_path}:${each.line}`);
    const more = found.length > places.length ? ` and ${found.length - places.length} more` : '';
    return `${severity}: ${adviceFor(rule, found[0]?.description ?? '')} (${places.join(', ')}${more})`;
  });
  const [nearest] = exposures;
  if (nearest !== undefined)
    lines.push(
      `exposed: treat what reaches it as hostile; the nearest way in is ${nearest.surface} (${nearest.place})`,
    );
  return lines.slice(0, recommendationsMax);
}

function consumersWithin({ reached }: Spread, depthMax = Infinity): number {
  return [...reached.values()].filter(({ depth }) => depth > 0 && depth <= depthMax).length;
}

function rankOf(severity: string): number {
  const at = (severities as readonly string[]).indexOf(severity);
  return at < 0 ? severities.length : at;
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
