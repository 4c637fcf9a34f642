import { InvalidArgumentError, type Command } from 'commander';
import {
  blastRadius,
  depthDefault,
  depthLimit,
  directions,
  type BlastNode,
  type BlastRadius,
  type Direction,
} from '../../../src/pgc/analysis/blast-radius.js';
import {
  dependencyPatterns,
  violationsDefault,
  violationsLimit,
  type DependencyPatterns,
} from '../../../src/pgc/analysis/dependency-patterns.js';
import {
  securityBlastRadius,
  type SecurityBlastRadius,
} from '../../../src/pgc/analysis/security-blast-radius.js';
import { openIndex, type OpenedTree } from '../../../src/pgc/open-index.js';
import { configOf, wholeNumber, withCommon, type CommonOptions } from '../options.js';
import { print, table, usage } from '../output.js';

/** Rows of one list on a screen; --json has them all. */
const rowsShown = 40;
const pairsShown = 20;

interface RepoOptions extends CommonOptions {
  repo: string;
}

/** `blast-radius`, `security blast-radius` and `patterns`: the graph of a built index, without a broker. */
export function addAnalysisCommands(sigma: Command): void {
  const symbolHelp = 'a name, or path#name where a name has several definitions';
  const options = (command: Command): Command =>
    withCommon(command).option('--repo <dir>', 'a tree that has been indexed', '.');

  options(sigma.command('blast-radius').argument('<symbol>', symbolHelp))
    .description('who uses a symbol, and what it uses, at any distance')
    .option('--max-depth <n>', 'so many steps away', wholeNumber(1, depthLimit), depthDefault)
    .option('--direction <way>', 'up (consumers), down (dependencies) or both', direction, 'both')
    .action(
      async (symbol: string, its: RepoOptions & { maxDepth: number; direction: Direction }) => {
        const { maxDepth } = its;
        const tree = await treeOf(its);
        const answer = await blastRadius(tree, symbol, { maxDepth, direction: its.direction });
        show(its, answer, () => renderBlast(answer));
      },
    );

  const security = sigma.command('security').description('what a change means for security');
  security.action(() => {
    throw usage('security needs a command: blast-radius');
  });
  options(security.command('blast-radius').argument('<symbol>', `${symbolHelp}; or a file`))
    .description('weaknesses near a symbol, who can reach it from outside, and what to do')
    .action(async (symbol: string, its: RepoOptions) => {
      const answer = await securityBlastRadius(await treeOf(its), symbol);
      show(its, answer, () => renderSecurity(answer));
    });

  options(sigma.command('patterns'))
    .description('what goes against the layers of a tree')
    .option('--filter <name>', 'dependencies: declared in .sigma/layers.json, or inferred')
    .option(
      '--limit <n>',
      'at most so many violations',
      wholeNumber(1, violationsLimit),
      violationsDefault,
    )
    .action(async (its: RepoOptions & { filter?: string; limit: number }) => {
      if (its.filter !== 'dependencies')
        throw usage('patterns need a filter: --filter dependencies');
      const answer = await dependencyPatterns(await treeOf(its), { limit: its.limit });
      show(its, answer, () => renderPatterns(answer));
    });
}

function treeOf(options: RepoOptions): Promise<OpenedTree> {
  return openIndex(options.repo, configOf(options).home);
}

function show(options: CommonOptions, answer: object, render: () => string): void {
  print({ json: options.json === true }, answer, render);
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
    ...(truncated ? ['note: there is more; the search met its limit'] : []),
    ...warnings.map((each) => `note: ${each}`),
  ];
}
