import { parseJson } from '../task/json.js';
import { unique, type Insight, type Pgc } from './gathered.js';
import type { AnalysisHint } from '../task/shapes.js';

/** Limit of entries from each list of an analysis. */
const listedMax = 20;
/** Of a set, in the answer in words. */
const namedMax = 5;

/** The result of an analysis: one sentence, and a line for each place. */
export interface AnalysisResult {
  insights: Insight[];
  overlays: string[];
  warnings: string[];
  said: string;
}

/** Throws what the analysis throws, such as NO_SUCH_SYMBOL, ALGEBRA_SYNTAX or NO_RESPONDER. */
export function analyse(
  pgc: Pgc,
  { type, target, options }: AnalysisHint,
): Promise<AnalysisResult> {
  const given = parseJson(options);
  switch (type) {
    case 'blast_radius':
      return blastRadius(pgc, target, given);
    case 'security_impact':
      return securityImpact(pgc, target);
    case 'dependency_check':
      return dependencyCheck(pgc, target, given);
    case 'algebra_query':
      return algebraQuery(pgc, target, given);
  }
}

type Options = Readonly<Record<string, unknown>>;

/** 0: not given. */
function number(given: Options, name: string): number {
  return typeof given[name] === 'number' ? given[name] : 0;
}

async function blastRadius(pgc: Pgc, target: string, given: Options): Promise<AnalysisResult> {
  const direction = ['up', 'down', 'both'].find((each) => each === given.direction) ?? 'both';
  const found = await pgc.blastRadius({
    symbol: target,
    max_depth: number(given, 'max_depth') || number(given, 'depth'),
    direction: direction as 'up' | 'down' | 'both',
  });
  const { totalImpacted, direct_consumers, total_dependencies } = found.metrics;
  const said = `${target}: ${direct_consumers} direct consumers, ${totalImpacted} in all, ${total_dependencies} dependencies.`;
  const nodes = [
    ...found.consumers.map((each) => ({ ...each, verb: 'is reached by a change of' })),
    ...found.dependencies.map((each) => ({ ...each, verb: 'is used by' })),
  ].sort((one, other) => one.depth - other.depth);
  return {
    insights: [
      { overlay: 'O3', place: '', text: said },
      ...nodes.slice(0, listedMax).map(({ symbol, file_path, line, depth, verb }) => ({
        overlay: 'O3',
        place: `${file_path}:${line}`,
        text: `${symbol || file_path} ${verb} ${target}, ${depth} away`,
      })),
    ],
    overlays: ['O1', 'O3'],
    warnings: found.warnings,
    said,
  };
}

async function securityImpact(pgc: Pgc, target: string): Promise<AnalysisResult> {
  const found = await pgc.securityBlastRadius(target);
  const { severity, reason } = found.risk_assessment;
  const { threats, count } = found.security_threats;
  const said = `Security of ${target}: risk ${severity}, ${count} weaknesses near it; ${reason}.`;
  return {
    insights: [
      { overlay: 'O2', place: '', text: said },
      ...threats.slice(0, listedMax).map((each) => ({
        overlay: 'O2',
        place: `${each.file_path}:${each.line}`,
        text: `${each.severity} ${each.type}: ${each.description}`,
      })),
    ],
    overlays: ['O1', 'O2'],
    warnings: found.warnings,
    said,
  };
}

async function dependencyCheck(pgc: Pgc, target: string, given: Options): Promise<AnalysisResult> {
  const found = await pgc.patterns(number(given, 'limit') || listedMax, target);
  const said = `Dependencies between folders: ${found.violations_total} uses against their order, ${found.cycles.length} cycles.`;
  return {
    insights: [
      { overlay: 'O1', place: '', text: said },
      ...found.violations.slice(0, listedMax).map((each) => ({
        overlay: 'O1',
        place: `${each.file_path}:${each.line}`,
        text: `${each.from_layer} uses ${each.to_symbol} of ${each.to_layer}`,
      })),
    ],
    overlays: ['O1'],
    warnings: found.warnings,
    said,
  };
}

async function algebraQuery(pgc: Pgc, target: string, given: Options): Promise<AnalysisResult> {
  const found = await pgc.algebra(target, number(given, 'limit') || listedMax);
  const names = found.anchors.map(({ file_path, line, symbol }) =>
    symbol === '' ? `${file_path}:${line}` : `${symbol} (${file_path}:${line})`,
  );
  const shown = names.slice(0, namedMax);
  const more = found.count > shown.length ? [`… (\`sigma algebra "${target}"\` lists all)`] : [];
  const said = `${target}: ${found.count} found${found.count === 0 ? '' : `: ${[...shown, ...more].join(', ')}`}.`;
  return {
    insights: [
      { overlay: 'O1', place: '', text: said },
      ...found.anchors.map(({ file_path, line, symbol, kind, items }) => ({
        overlay: items[0]?.overlay ?? 'O1',
        place: `${file_path}:${line}`,
        text: `${symbol || file_path} (${kind})${items[0] === undefined ? '' : `: ${items[0].text}`}`,
      })),
    ],
    overlays: unique(target.match(/\bO[1-7]\b/g) ?? []).filter(
      (name) => !found.errors.some(({ text }) => text.includes(name)),
    ),
    warnings: [...found.warnings, ...found.errors.map(({ text }) => text)],
    said,
  };
}
