import { z } from 'zod';
import {
  depthDefault,
  depthLimit,
  directions,
  type BlastNode,
  type BlastRadius,
} from '../pgc/analyse/blast-radius.js';
import type { SecurityBlastRadius } from '../pgc/analyse/security-blast-radius.js';
import type { LocateAnswer } from '../pgc/search/locate/locate.js';
import { listsOf, type Cut } from './bounds.js';
import { nodeOutput, offsetInput, reportInput, symbolInput } from './shapes.js';
import { listing, looks, type Reply, type Tool } from './tool.js';

const filesMax = { default: 10, limit: 50 };

const locateInput = z.strictObject({
  report: reportInput,
  limit: z
    .int()
    .min(1)
    .max(filesMax.limit)
    .default(filesMax.default)
    .describe('Files in the answer.'),
});

/** `locate`: from a bug report to files. */
export const locate: Tool<typeof locateInput> = {
  name: 'locate',
  title: 'Locate the files',
  description:
    'Which files does this bug report, log or stack trace concern? Files of the whole code base in order, each with the evidence for it. Scores order the files of one report and mean nothing beyond it.',
  input: locateInput,
  output: z.looseObject({
    files: z.array(z.looseObject({ path: z.string(), score: z.number(), agent: z.string() })),
    shards: z.array(z.looseObject({ agent: z.string(), score: z.number() })),
    agents_asked: z.int(),
    elapsed_ms: z.number(),
    warnings: z.array(z.string()),
  }),
  annotations: looks,
  doing: 'ranking files',
  async run({ report, limit }, { bus, deadlineMs, signal }): Promise<Reply<LocateAnswer>> {
    const asked = await bus.questions();
    const found = await asked.locate({ text: report, limit }, { deadlineMs, signal });
    return listing<LocateAnswer>(found, ['files', 'shards', 'warnings'], ({ files, warnings }) =>
      [
        ...files.map(({ path, score, agent }, at) => `${at + 1}. ${path} (${agent}, ${score})`),
        ...warnings.map((each) => `note: ${each}`),
      ].join('\n'),
    );
  },
};

const blastInput = z.strictObject({
  symbol: symbolInput,
  max_depth: z.int().min(1).max(depthLimit).default(depthDefault).describe('Edges followed.'),
  direction: z
    .enum(directions)
    .default('both')
    .describe('up: what a change affects; down: what it depends on.'),
  offset: offsetInput,
});

/** `blast_radius`: what a change affects. */
export const blastRadius: Tool<typeof blastInput> = {
  name: 'blast_radius',
  title: 'Blast radius',
  description:
    'What a change of this symbol affects (consumers, at any depth), and what it depends on (dependencies), with the call sites. Ask before you change code that is used elsewhere.',
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
  async run({ symbol, max_depth, direction, offset }, { bus, deadlineMs, signal }) {
    const request = { symbol, max_depth, direction };
    const found = await (await bus.questions()).blastRadius(request, { deadlineMs, signal });
    const { truncated: limit_met, ...its } = found;
    const value: Blast = {
      ...its,
      consumers: found.consumers.slice(offset),
      dependencies: found.dependencies.slice(offset),
      limit_met,
    };
    return {
      value,
      cut: listsOf<Blast>('consumers', 'dependencies', 'targets', 'warnings'),
      total: Math.max(found.consumers.length, found.dependencies.length),
      shown: (part: Blast) => Math.max(part.consumers.length, part.dependencies.length),
      rest: (shown) =>
        `Call again with offset ${offset + shown}, a smaller max_depth or one direction.`,
      text: blastText,
    };
  },
};

type Blast = Omit<BlastRadius, 'truncated'> & { limit_met: boolean };

function blastText({
  symbol,
  metrics,
  consumers,
  dependencies,
  warnings,
  limit_met,
}: Blast): string {
  return [
    `${symbol}: ${metrics.totalImpacted} affected by a change, at most ${metrics.maxConsumerDepth} calls away`,
    ...section('Consumers', consumers),
    ...section('Dependencies', dependencies),
    ...metrics.criticalPaths.map(({ path, reason }) => `${reason}: ${path.join(' → ')}`),
    ...(limit_met ? ['note: limit reached, there is more'] : []),
    ...warnings.map((each) => `note: ${each}`),
  ].join('\n');
}

function section(head: string, nodes: readonly BlastNode[]): string[] {
  if (nodes.length === 0) return [];
  return [
    head,
    ...nodes.map(
      ({ depth, symbol, file_path, line, call_site, role }) =>
        `${depth} ${symbol} ${file_path}:${line} (${role}, at ${call_site})`,
    ),
  ];
}

const securityInput = z.strictObject({ symbol: symbolInput });

/** `security_blast_radius`: the same for security. */
export const securityBlastRadius: Tool<typeof securityInput> = {
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
  async run({ symbol }, { bus, deadlineMs, signal }) {
    const asked = await bus.questions();
    const found = await asked.securityBlastRadius({ symbol }, { deadlineMs, signal });
    const { truncated: limit_met, ...its } = found;
    return {
      value: { ...its, limit_met },
      cut: securityRows,
      total: found.security_threats.count,
      shown: ({ security_threats }: Security) => security_threats.threats.length,
      rest: () => 'Call again with a larger max_tokens.',
      text: securityText,
    };
  },
};

type Security = Omit<SecurityBlastRadius, 'truncated'> & { limit_met: boolean };

const securityRows: Cut<Security> = {
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

function securityText(value: Security): string {
  const { target, security_threats, risk_assessment, recommendations, warnings } = value;
  return [
    `${target.symbol} ${target.file_path}: risk ${risk_assessment.severity}. ${risk_assessment.reason}`,
    ...security_threats.threats.map(
      ({ severity, type, file_path, line, description }) =>
        `${severity} ${type} ${file_path}:${line} ${description}`,
    ),
    ...risk_assessment.data_exposure.map(
      ({ surface, place, path }) => `reached from ${surface} (${place}): ${path.join(' → ')}`,
    ),
    ...recommendations.map((each) => `- ${each}`),
    ...warnings.map((each) => `note: ${each}`),
  ].join('\n');
}
