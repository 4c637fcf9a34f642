import { InvalidArgumentError, type Command } from 'commander';
import type { Analyses, AnalysisOptions } from '../../../src/pgc/analyse/analyses.js';
import {
  depthDefault,
  depthLimit,
  directions,
  type BlastNode,
  type BlastRadius,
  type Direction,
} from '../../../src/pgc/analyse/blast-radius.js';
import {
  violationsDefault,
  violationsLimit,
  type DependencyPatterns,
} from '../../../src/pgc/analyse/dependency-patterns.js';
import type { SecurityBlastRadius } from '../../../src/pgc/analyse/security-blast-radius.js';
import { withAnalyses } from '../connect.js';
import { configOf, wholeNumber, withTree, type TreeOptions } from '../options.js';
import { table } from '../../../src/render/terminal.js';
import { print, usage } from '../output.js';

/** Rows of one list on a screen; --json has them all. */
const rowsShown = 40;
const pairsShown = 20;

/** A walk over all calls of a kernel takes its time. */
export const analysisDeadlineMs = 300_000;

/** `blast-radius`, `security blast-radius` and `patterns`: over the running lattice, or a built index without a broker. */
export function addAnalysisCommands(sigma: Command): void {
  const symbolHelp = 'a name, or path#name where a name has several definitions';
  const options = (command: Command): Command => withTree(command, analysisDeadlineMs);

  options(sigma.command('blast-radius').argument('<symbol>', symbolHelp))
    .description('list what uses a symbol and what it uses, directly and indirectly')
    .option('--max-depth <n>', 'most steps to follow', wholeNumber(1, depthLimit), depthDefault)
    .option('--direction <way>', 'up (consumers), down (dependencies) or both', direction, 'both')
    .action(
      async (symbol: string, its: TreeOptions & { maxDepth: number; direction: Direction }) => {
        const { maxDepth } = its;
        const request = { symbol, max_depth: maxDepth, direction: its.direction };
        const answer = await analysed(its, (tree, how) => tree.blastRadius(request, how));
        print(its, answer, () => renderBlast(answer));
      },
    );

  const security = sigma
    .command('security')
    .description('analyse what a change means for security');
  security.action(() => {
    throw usage('security needs a command: blast-radius');
  });
  options(security.command('blast-radius').argument('<symbol>', `${symbolHelp}; or a file`))
    .description('list weaknesses near a symbol, how it can be reached from outside, and advice')
    .action(async (symbol: string, its: TreeOptions) => {
      const answer = await analysed(its, (tree, how) => tree.securityBlastRadius({ symbol }, how));
      print(its, answer, () => renderSecurity(answer));
    });

  options(sigma.command('patterns'))
    .description('find dependencies that violate the layers of a tree')
    .option('--filter <name>', 'dependencies: layers from .sigma/layers.json, or inferred')
    .option(
      '--limit <n>',
      'most violations to print',
      wholeNumber(1, violationsLimit),
      violationsDefault,
    )
    .action(async (its: TreeOptions & { filter?: string; limit: number }) => {
      if (its.filter !== 'dependencies')
        throw usage('patterns need a filter: --filter dependencies');
      const request = { filter: its.filter, limit: its.limit };
      const answer = await analysed(its, (tree, how) => tree.patterns(request, how));
      print(its, answer, () => renderPatterns(answer));
    });
}

/** Asks the running lattice, or the index that `--repo` names. */
export function analysed<A>(
  its: TreeOptions,
  ask: (analyses: Analyses, options: AnalysisOptions) => Promise<A>,
): Promise<A> {
  return withAnalyses(configOf(its), its.repo, (analyses) =>
    ask(analyses, { deadlineMs: its.deadline }),
  );
}

function direction(text: string): Direction {
  const known = directions.find((each) => each === text);
  if (known === undefined) throw new InvalidArgumentError('It must be up, down or both.');
  return known;
}

function renderBlast(answer: BlastRadius): string {
  const { metrics } = answer;
  return [
    ...answer.targets.map((each) => `${each.id}  ${each.file_path}:${each.line}  ${each.role}`),
    '',
    `${metrics.totalImpacted} consumers (${metrics.direct_consumers} direct), ` +
      `at most ${metrics.maxConsumerDepth} away; ` +
      `${metrics.total_dependencies} dependencies, at most ${metrics.maxDependencyDepth} away`,
    ...(metrics.undecided_sites > 0
      ? [`${metrics.undecided_sites} call sites of this name lead to nothing known`]
      : []),
    ...renderNodes('Used by', answer.consumers),
    ...renderNodes('Uses', answer.dependencies),
    ...renderPaths('Open to the outside', metrics.criticalPaths),
    ...notes(answer),
  ].join('\n');
}

function renderSecurity(answer: SecurityBlastRadius): string {
  const { risk_assessment: risk, security_threats: threats, blast_radius: blast } = answer;
  return [
    ...answer.target.targets
      .slice(0, rowsShown)
      .map((each) => `${each.id}  ${each.file_path}:${each.line}  ${each.role}`),
    '',
    `risk ${risk.severity}: ${risk.reason}`,
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
    ),
    ...renderPaths(
      'Ways in from outside',
      risk.data_exposure.map(({ surface, place, ...each }) => ({
        ...each,
        reason: `${surface} (${place})`,
      })),
    ),
    ...(answer.recommendations.length > 0 ? ['', 'What to do'] : []),
    ...answer.recommendations.map((each) => `  ${each}`),
    ...notes(answer),
  ].join('\n');
}

function renderPatterns(answer: DependencyPatterns): string {
  const { pairs, violations, cycles } = answer;
  return [
    `layers ${answer.mode === 'declared' ? 'as .sigma/layers.json declares them' : 'inferred from the folders'}: ${answer.layers.join(', ')}`,
    ...listed(
      'Uses between layers',
      pairs
        .slice(0, pairsShown)
        .map((each) => [`${each.from} -> ${each.to}`, String(each.uses), each.verdict]),
      pairs.length,
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
    ),
    ...(cycles.length > 0 ? ['', 'Cycles'] : []),
    ...cycles.map((each) => `  ${each.path.join(' -> ')}  (${each.layers.length} layers)`),
    ...answer.warnings.map((each) => `note: ${each}`),
  ].join('\n');
}

function renderNodes(head: string, nodes: readonly BlastNode[]): string[] {
  const rows = nodes.map((each) => [
    String(each.depth),
    each.type,
    each.id,
    each.role,
    `at ${each.call_site}`,
    each.depth > 1 ? `through ${each.through}` : '',
  ]);
  return listed(head, rows, nodes.length);
}

function renderPaths(head: string, paths: readonly { path: string[]; reason: string }[]): string[] {
  if (paths.length === 0) return [];
  return ['', head, ...paths.map(({ path, reason }) => `  ${reason}: ${path.join(' -> ')}`)];
}

/** A head and as many rows as a screen takes; `total` of them there are. */
function listed(head: string, rows: string[][], total: number): string[] {
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
    ...warnings.map((each) => `note: ${each}`),
  ];
}
