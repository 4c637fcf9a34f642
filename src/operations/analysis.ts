import { z } from 'zod';
import { shownDefault, shownMax } from '../pgc/analyse/algebra/evaluate.js';
import { parseExpression } from '../pgc/analyse/algebra/expression.js';
import {
  depthDefault,
  depthLimit,
  directions,
  type BlastRadius,
} from '../pgc/analyse/blast-radius.js';
import {
  violationsDefault,
  violationsLimit,
  type DependencyPatterns,
} from '../pgc/analyse/dependency-patterns.js';
import {
  renderAlgebra,
  renderBlast,
  renderPatterns,
  renderSecurity,
  rowsOnScreen,
} from '../render/analysis.js';
import type { SecurityBlastRadius } from '../pgc/analyse/security-blast-radius.js';
import { answersOf, rowBytesMax } from '../pgc/search/locate/batch.js';
import { filesMax, type LocateAnswer } from '../pgc/search/locate/locate.js';
import { parseReport, reportCharsMax, reportOf, type Report } from '../pgc/search/locate/report.js';
import { roleNote } from '../pgc/answer/evidence-line.js';
import { renderLocated } from '../render/locate.js';
import { line } from '../render/terminal.js';
import { BusError } from '../errors/bus-error.js';
import { listsOf, type Cut } from './bounds.js';
import {
  nodeOutput,
  offsetInput,
  reportInput,
  rolesFlag,
  rolesInput,
  symbolInput,
} from './shapes.js';
import { inLines, listing, looks, type Reply, type Operation } from './operation.js';

const locateOffer = z.strictObject({
  report: reportInput,
  limit: z.int().min(1).max(filesMax).default(10).describe('Files in the answer.'),
  roles: rolesInput,
});
const locateInput = z.strictObject({
  report: z.string().default(''),
  limit: z.int().min(1).max(filesMax).default(filesMax),
  roles: rolesInput,
  batch: z.custom<AsyncIterable<string | undefined>>().optional(),
});

/** `locate`: from a bug report to files. */
export const locate: Operation<typeof locateInput> = {
  name: 'locate',
  title: 'Locate the files',
  description:
    'Which files does this bug report, log or stack trace concern? Files of the whole code base in order, each with the evidence for it. Scores order the files of one report and mean nothing beyond it.',
  input: locateInput,
  offered: locateOffer,
  output: z.looseObject({
    files: z.array(z.looseObject({ path: z.string(), score: z.number(), agent: z.string() })),
    shards: z.array(z.looseObject({ agent: z.string(), score: z.number() })),
    agents_asked: z.int(),
    elapsed_ms: z.number(),
    warnings: z.array(z.string()),
  }),
  annotations: looks,
  doing: 'ranking files',
  cli: {
    command: 'locate',
    help: 'rank the files that a bug report, a log or a stack trace is about',
    arguments: [
      {
        ...{ field: 'report', argument: '[file]' },
        help: 'a bug report, log or stack trace; - reads standard input',
        // More than is used, so that the answer says what was not.
        source: { holds: 'beginning', bytesMax: 8 * reportCharsMax },
      },
    ],
    flags: {
      limit: { flag: '--limit <n>', help: 'number of files' },
      roles: rolesFlag,
      batch: {
        flag: '--batch <file>',
        help: 'many reports as JSON Lines {id, title, description}; one answer per line, with --json one document',
        source: { holds: 'lines', bytesMax: rowBytesMax },
      },
    },
  },
  check({ report, batch }) {
    if (batch === undefined) parseReport(reportOf(report));
    else if (report !== '')
      throw new BusError('USAGE', { detail: 'give either one report or --batch, not both' });
  },
  async run(
    { report, limit, roles, batch },
    { bus, deadlineMs, signal },
  ): Promise<Reply<LocateAnswer>> {
    const locator = await bus.locator();
    const located = async (its: Report, isBrief: boolean): Promise<LocateAnswer> => {
      // Text beyond the limit is not read: it need not be sent.
      const title = its.title.slice(0, reportCharsMax);
      const text = its.description.slice(0, reportCharsMax - title.length);
      const asked = { text, title, limit, isBrief, roles };
      const answer = await locator.locate(asked, { deadlineMs, signal });
      if (its.title.length + its.description.length > reportCharsMax)
        answer.warnings.push(`only the first ${reportCharsMax} characters were read`);
      return answer;
    };
    if (batch !== undefined)
      return inLines(
        answersOf(batch, (its) => located(its, true)),
        'answers',
      );
    const found = await located(reportOf(report), false);
    return {
      ...listing<LocateAnswer>(found, ['files', 'shards', 'warnings'], ({ files, warnings }) =>
        [
          ...files.map(
            ({ path, score, agent, role }, at) =>
              line`${at + 1}. ${path}${roleNote({ role })} (${agent}, ${score})`,
          ),
          ...warnings.map((each) => line`note: ${each}`),
        ].join('\n'),
      ),
      screen: renderLocated,
      failure: found.files.length === 0 ? new BusError('NOT_FOUND').toFailure() : undefined,
    };
  },
};

/** A walk over all calls of a kernel takes its time. */
const deadlineMs = 300_000;

const blastInput = z.strictObject({
  symbol: symbolInput,
  max_depth: z.int().min(1).max(depthLimit).default(depthDefault).describe('Edges followed.'),
  direction: z
    .enum(directions)
    .default('both')
    .describe('up: what a change affects; down: what it depends on.'),
  roles: rolesInput,
  offset: offsetInput,
});

/** `blast_radius`: what a change affects. */
export const blastRadius: Operation<typeof blastInput> = {
  name: 'blast_radius',
  title: 'Blast radius',
  description:
    'What a change of this symbol affects (consumers, at any depth), and what it depends on (dependencies), with the sites. `type` of a row: calls, constructs, value (used without being called: registered, passed on), type (mentioned as a type), slot, extends, imports; `certainty`: exact, or dispatch through the interface method `via`. Ask before you change code that is used elsewhere.',
  input: blastInput,
  output: z.looseObject({
    symbol: z.string(),
    targets: z.array(nodeOutput),
    consumers: z.array(nodeOutput),
    dependencies: z.array(nodeOutput),
    metrics: z.looseObject({ totalImpacted: z.int(), maxConsumerDepth: z.int() }),
    warnings: z.array(z.string()),
    limit_met: z.boolean().describe('The search itself ended at its limit: there is more.'),
  }),
  annotations: looks,
  doing: 'following calls in both directions',
  cli: {
    command: 'blast-radius',
    help: 'list what uses a symbol and what it uses, directly and indirectly',
    arguments: ['symbol'],
    flags: {
      max_depth: { flag: '--max-depth <n>', help: 'most steps to follow' },
      direction: {
        flag: '--direction <way>',
        help: 'up (consumers), down (dependencies) or both',
      },
      roles: rolesFlag,
    },
    deadlineMs,
  },
  async run({ offset, ...request }, { bus, ...options }): Promise<Reply<BlastRadius>> {
    const found = await (await bus.analyses()).blastRadius(request, options);
    const value: BlastRadius = {
      ...found,
      consumers: found.consumers.slice(offset),
      dependencies: found.dependencies.slice(offset),
    };
    return {
      value,
      cut: listsOf<BlastRadius>('consumers', 'dependencies', 'targets', 'warnings'),
      total: Math.max(found.consumers.length, found.dependencies.length),
      shown: (part) => Math.max(part.consumers.length, part.dependencies.length),
      rest: (shown) =>
        `Call again with offset ${offset + shown}, a smaller max_depth or one direction.`,
      text: (part) => renderBlast(part, Infinity),
      screen: (part) => renderBlast(part, rowsOnScreen),
      structure: limitMet,
    };
  },
};

/** `truncated` is what the bounds of a tool say; that the search itself ended at its limit is another thing. */
function limitMet({ truncated: limit_met, ...its }: { truncated: boolean }): object {
  return { ...its, limit_met };
}

const securityInput = z.strictObject({
  symbol: symbolInput.describe(
    'A name, path#name where a name has several definitions, or a file.',
  ),
  roles: rolesInput,
});

/** `security_blast_radius`: the same for security. */
export const securityBlastRadius: Operation<typeof securityInput> = {
  name: 'security_blast_radius',
  title: 'Security blast radius',
  description:
    'What a symbol or a file means for security: weaknesses within two calls of it, who can reach it from outside, and how severe a change is.',
  input: securityInput,
  output: z.looseObject({
    target: z.looseObject({ symbol: z.string(), file_path: z.string() }),
    security_threats: z.looseObject({
      count: z.int(),
      threats: z.array(
        z.looseObject({
          type: z.string(),
          severity: z.string(),
          file_path: z.string(),
          line: z.int(),
        }),
      ),
    }),
    blast_radius: z.looseObject({ direct_consumers: z.int(), transitive_impact: z.int() }),
    risk_assessment: z.looseObject({
      severity: z.string(),
      reason: z.string(),
      exposed: z.boolean(),
    }),
    recommendations: z.array(z.string()),
    warnings: z.array(z.string()),
    limit_met: z.boolean().describe('The search itself ended at its limit: there is more.'),
  }),
  annotations: looks,
  doing: 'looking for weaknesses and ways in',
  cli: {
    command: 'security blast-radius',
    above: 'analyse what a change means for security',
    help: 'list weaknesses near a symbol, how it can be reached from outside, and advice',
    arguments: ['symbol'],
    flags: { roles: rolesFlag },
    deadlineMs,
  },
  async run(request, { bus, ...options }): Promise<Reply<SecurityBlastRadius>> {
    const value = await (await bus.analyses()).securityBlastRadius(request, options);
    return {
      value,
      cut: securityRows,
      total: value.security_threats.count,
      shown: ({ security_threats }) => security_threats.threats.length,
      rest: () => 'Call again with a larger max_tokens.',
      text: (part) => renderSecurity(part, Infinity),
      screen: (part) => renderSecurity(part, rowsOnScreen),
      structure: limitMet,
    };
  },
};

const securityRows: Cut<SecurityBlastRadius> = {
  rows: ({ target, security_threats, blast_radius, risk_assessment, recommendations, warnings }) =>
    Math.max(
      target.targets.length,
      security_threats.threats.length,
      blast_radius.consumers.length,
      blast_radius.dependencies.length,
      blast_radius.critical_paths.length,
      risk_assessment.data_exposure.length,
      recommendations.length,
      warnings.length,
    ),
  keep: (value, rows) => {
    const { target, security_threats, blast_radius, risk_assessment } = value;
    return {
      ...value,
      target: { ...target, targets: target.targets.slice(0, rows) },
      security_threats: {
        ...security_threats,
        threats: security_threats.threats.slice(0, rows),
      },
      blast_radius: {
        ...blast_radius,
        consumers: blast_radius.consumers.slice(0, rows),
        dependencies: blast_radius.dependencies.slice(0, rows),
        critical_paths: blast_radius.critical_paths.slice(0, rows),
      },
      risk_assessment: {
        ...risk_assessment,
        data_exposure: risk_assessment.data_exposure.slice(0, rows),
      },
      recommendations: value.recommendations.slice(0, rows),
      warnings: value.warnings.slice(0, rows),
    };
  },
};

const patternsInput = z.strictObject({
  filter: z
    .enum(['dependencies'], 'it must be dependencies')
    .describe('dependencies: layers, declared or inferred'),
  limit: z
    .int()
    .min(1)
    .max(violationsLimit)
    .default(violationsDefault)
    .describe('Most violations in the answer.'),
});

/** `patterns`: dependencies that violate the layers of a tree. */
export const patterns: Operation<typeof patternsInput> = {
  name: 'patterns',
  title: 'Layers',
  description: 'Which dependencies violate the layers of a tree, declared or inferred.',
  input: patternsInput,
  output: z.looseObject({ layers: z.array(z.string()), violations_total: z.int() }),
  annotations: looks,
  doing: 'comparing dependencies with the layers',
  isTool: false,
  cli: {
    command: 'patterns',
    help: 'find dependencies that violate the layers of a tree',
    arguments: [],
    flags: {
      filter: {
        flag: '--filter <name>',
        help: 'dependencies: layers from .sigma/layers.json, or inferred',
      },
      limit: { flag: '--limit <n>', help: 'most violations to print' },
    },
    deadlineMs,
  },
  async run(request, { bus, ...options }): Promise<Reply<DependencyPatterns>> {
    const value = await (await bus.analyses()).patterns(request, options);
    return {
      ...listing<DependencyPatterns>(value, ['violations', 'pairs', 'cycles', 'warnings'], (part) =>
        renderPatterns(part, Infinity),
      ),
      screen: (part) => renderPatterns(part, rowsOnScreen),
      structure: limitMet,
    };
  },
};

const algebraInput = z.strictObject({
  expression: z.string().min(1).max(10_000).describe('for example "O1 & O4"'),
  limit: z.int().min(0).max(shownMax).default(shownDefault).describe('Most anchors in the answer.'),
});

const algebraHelp = `
Sets of symbols, by what the overlays say of them:
  +  |  ∪   or      -  \\  −   without      &  ∩   and      !   every symbol that is not      ( )
  O2[severity=high]  O1[kind=function, path=net/core]  O3[calls, subject=kfree]  O6[assertion, text~"irq"]

Examples:
  sigma algebra "O1 & O4"                        symbols that the documentation speaks of
  sigma algebra "O1[kind=function] - O3"         functions that certainly neither call nor are called
  sigma algebra "O2[severity=high] - O6"         grave findings where nothing is asserted`;

/** `algebra`: overlays combined into a set of symbols. */
export const algebra: Operation<typeof algebraInput> = {
  name: 'algebra',
  title: 'Overlay algebra',
  description: 'Symbols as a set that overlays are combined into: O1[kind=function] - O3.',
  input: algebraInput,
  output: z.looseObject({ count: z.int(), warnings: z.array(z.string()) }),
  annotations: looks,
  doing: 'combining overlays',
  isTool: false,
  cli: {
    command: 'algebra',
    help: 'combine overlays into a set of symbols: union, intersection, difference, complement',
    arguments: ['expression'],
    flags: {
      limit: {
        flag: '--limit <n>',
        help: `how many are printed, at most ${shownMax}; all are counted`,
      },
    },
    deadlineMs,
    more: algebraHelp,
  },
  check: ({ expression }) => void parseExpression(expression),
  async run(request, { bus, ...options }) {
    const found = await (await bus.analyses()).algebra(request, options);
    const value = { expression: request.expression, ...found };
    return {
      ...listing<typeof value>(value, ['anchors', 'warnings', 'errors'], renderAlgebra, {
        total: found.count,
      }),
      failure: found.errors[0],
    };
  },
};
