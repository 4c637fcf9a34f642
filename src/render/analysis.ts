import type { AlgebraAnchor, AlgebraAnswer } from '../pgc/analyse/algebra/evaluate.js';
import type { BlastNode, BlastRadius, BlastSymbol } from '../pgc/analyse/blast-radius.js';
import type { DependencyPatterns } from '../pgc/analyse/dependency-patterns.js';
import type { SecurityBlastRadius } from '../pgc/analyse/security-blast-radius.js';
import { renderErrors } from './answer.js';
import { line, printable, table } from './terminal.js';

/** Rows of one list on a screen; --json has them all. */
export const rowsOnScreen = 40;
const pairsShown = 20;
/** Definitions of one name. */
const targetsShown = 20;

export function renderBlast(answer: BlastRadius, rowsShown: number): string {
  const { metrics, consumers } = answer;
  const inTests = consumers.filter(({ role }) => role === 'test');
  const others = consumers.filter(({ role }) => role !== 'test');
  return [
    ...targetLines(answer.targets),
    '',
    `${counted(metrics.totalImpacted, 'consumer')} (${metrics.direct_consumers} direct, ${metrics.test_consumers} in tests), ` +
      `at most ${metrics.maxConsumerDepth} away; ` +
      `${counted(metrics.total_dependencies, 'dependency', 'dependencies')}, at most ${metrics.maxDependencyDepth} away`,
    ...(metrics.undecided_sites > 0
      ? [
          `not counted: ${counted(metrics.undecided_sites, 'call')} of this name that may mean it; nothing proves what they call, and \`callers\` lists them`,
        ]
      : []),
    ...renderNodes('Used by', others, rowsShown),
    ...renderNodes('Used by tests', inTests, rowsShown),
    ...renderNodes('Uses', answer.dependencies, rowsShown),
    ...renderPaths('Open to the outside', metrics.criticalPaths),
    ...notes(answer),
  ].join('\n');
}

export function renderSecurity(answer: SecurityBlastRadius, rowsShown: number): string {
  const { risk_assessment: risk, security_threats: threats, blast_radius: blast } = answer;
  return [
    ...targetLines(answer.target.targets),
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
    wayOf(each),
    each.id,
    each.role,
    `at ${each.call_site}`,
    each.depth > 1 ? `through ${each.through}` : '',
  ]);
  return listed(head, rows, nodes.length, rowsShown);
}

/** What was meant, and how to ask for one of several. */
function targetLines(targets: readonly BlastSymbol[]): string[] {
  const shown = targets.slice(0, targetsShown);
  const [first] = targets;
  const isName = first !== undefined && targets.every(({ symbol }) => symbol === first.symbol);
  return [
    ...shown.map((each) => line`${each.id}  ${each.file_path}:${each.line}  ${each.role}`),
    ...(targets.length > shown.length ? [`and ${targets.length - shown.length} more`] : []),
    ...(isName && targets.length > 1
      ? [
          line`the name has ${targets.length} meanings, and what follows is about all of them; ask for one as path#name, such as ${first.id}`,
        ]
      : []),
  ];
}

/** How it is used, in words. */
function wayOf({ type, certainty, via }: BlastNode): string {
  const way =
    { slot: 'in a field', value: 'as a value', type: 'as a type' }[type as string] ?? type;
  if (certainty === 'possible') return `${way}?`;
  return via === '' ? way : `${way} through ${via}`;
}

function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
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
