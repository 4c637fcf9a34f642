import type { AlgebraAnchor, AlgebraAnswer } from '../pgc/analyse/algebra/evaluate.js';
import type { BlastNode, BlastRadius } from '../pgc/analyse/blast-radius.js';
import type { DependencyPatterns } from '../pgc/analyse/dependency-patterns.js';
import type { SecurityBlastRadius } from '../pgc/analyse/security-blast-radius.js';
import { renderErrors } from './answer.js';
import { line, printable, table } from './terminal.js';

/** Rows of one list on a screen; --json has them all. */
export const rowsOnScreen = 40;
const pairsShown = 20;

export function renderBlast(answer: BlastRadius, rowsShown: number): string {
  const { metrics } = answer;
  return [
    ...answer.targets.map((each) => line`${each.id}  ${each.file_path}:${each.line}  ${each.role}`),
    '',
    `${metrics.totalImpacted} consumers (${metrics.direct_consumers} direct), ` +
      `at most ${metrics.maxConsumerDepth} away; ` +
      `${metrics.total_dependencies} dependencies, at most ${metrics.maxDependencyDepth} away`,
    ...(metrics.undecided_sites > 0
      ? [`${metrics.undecided_sites} call sites of this name lead to nothing known`]
      : []),
    ...renderNodes('Used by', answer.consumers, rowsShown),
    ...renderNodes('Uses', answer.dependencies, rowsShown),
    ...renderPaths('Open to the outside', metrics.criticalPaths),
    ...notes(answer),
  ].join('\n');
}

export function renderSecurity(answer: SecurityBlastRadius, rowsShown: number): string {
  const { risk_assessment: risk, security_threats: threats, blast_radius: blast } = answer;
  return [
    ...answer.target.targets
      .slice(0, rowsShown)
      .map((each) => line`${each.id}  ${each.file_path}:${each.line}  ${each.role}`),
    '',
    line`risk ${risk.severity}: ${risk.reason}`,
    `${blast.direct_consumers} direct consumers, ${blast.transitive_impact} within ${blast.max_depth} steps`,
    ...listed(
      `Weaknesses (${threats.count})`,
      threats.threats.map((each) => [
        each.severity,
        each.cwe,
        `${each.file_path}:${each.line}`,
        each.description,
        each.depth === 0 ? each.direction : `${each.direction} at ${each.depth}`,
      ]),
      threats.count,
      rowsShown,
    ),
    ...renderPaths(
      'Ways in from outside',
      risk.data_exposure.map(({ surface, place, ...each }) => ({
        ...each,
        reason: `${surface} (${place})`,
      })),
    ),
    ...(answer.recommendations.length > 0 ? ['', 'What to do'] : []),
    ...answer.recommendations.map((each) => line`  ${each}`),
    ...notes(answer),
  ].join('\n');
}

export function renderPatterns(answer: DependencyPatterns, rowsShown: number): string {
  const { pairs, violations, cycles } = answer;
  return [
    line`layers ${answer.mode === 'declared' ? 'as .sigma/layers.json declares them' : 'inferred from the folders'}: ${answer.layers.join(', ')}`,
    ...listed(
      'Uses between layers',
      pairs
        .slice(0, pairsShown)
        .map((each) => [`${each.from} -> ${each.to}`, String(each.uses), each.verdict]),
      pairs.length,
      rowsShown,
    ),
    ...listed(
      `Violations (${answer.violations_total})`,
      violations.map((each) => [
        `${each.file_path}:${each.line}`,
        `${each.from_layer} -> ${each.to_layer}`,
        `${each.from_symbol === '' ? '(file level)' : each.from_symbol} ${each.type} ${each.to_symbol}`,
        each.to_path,
      ]),
      answer.violations_total,
      rowsShown,
    ),
    ...(cycles.length > 0 ? ['', 'Cycles'] : []),
    ...cycles.map((each) => line`  ${each.path.join(' -> ')}  (${each.layers.length} layers)`),
    ...answer.warnings.map((each) => line`note: ${each}`),
  ].join('\n');
}

function renderNodes(head: string, nodes: readonly BlastNode[], rowsShown: number): string[] {
  const rows = nodes.map((each) => [
    String(each.depth),
    each.type,
    each.id,
    each.role,
    `at ${each.call_site}`,
    each.depth > 1 ? `through ${each.through}` : '',
  ]);
  return listed(head, rows, nodes.length, rowsShown);
}

function renderPaths(head: string, paths: readonly { path: string[]; reason: string }[]): string[] {
  if (paths.length === 0) return [];
  return ['', head, ...paths.map(({ path, reason }) => line`  ${reason}: ${path.join(' -> ')}`)];
}

/** A head and as many rows as a screen takes; `total` of them there are. */
function listed(head: string, rows: string[][], total: number, rowsShown: number): string[] {
  if (rows.length === 0) return [];
  const shown = rows.slice(0, rowsShown);
  const more = total - shown.length;
  return [
    '',
    head,
    ...table(shown)
      .split('\n')
      .map((line) => `  ${line}`),
    ...(more > 0 ? [`  and ${more} more`] : []),
  ];
}

function notes({ truncated, warnings }: { truncated: boolean; warnings: string[] }): string[] {
  return [
    ...(truncated ? ['note: limit reached, there is more'] : []),
    ...warnings.map((each) => line`note: ${each}`),
  ];
}

export function renderAlgebra({ count, anchors, warnings, errors }: AlgebraAnswer): string {
  const total = `${count} ${count === 1 ? 'anchor' : 'anchors'}`;
  return [
    ...anchors.map((each) => printable(renderAnchor(each))),
    ...warnings.map((warning) => line`note: ${warning}`),
    ...renderErrors(errors),
    anchors.length < count ? `${total}, ${anchors.length} shown` : total,
  ].join('\n');
}

function renderAnchor({ file_path, line, symbol, kind, items }: AlgebraAnchor): string {
  const name = symbol === '' ? '' : `${symbol} `;
  // O1 says no more than the kind does.
  const said = items.filter(({ overlay }) => overlay !== 'O1');
  const why = [...new Set(said.map(({ overlay, rule }) => `${overlay} ${rule}`))].join(', ');
  return `${file_path}:${line} ${name}(${kind})${why === '' ? '' : `  ${why}`}`;
}
