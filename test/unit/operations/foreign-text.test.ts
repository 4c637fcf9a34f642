import { expect, test } from 'vitest';
import { listAgents } from '../../../src/operations/agents.js';
import { blastRadius, locate } from '../../../src/operations/analysis.js';
import {
  callees,
  callers,
  implementations,
  references,
  trace,
} from '../../../src/operations/graph.js';
import { textOf, type Asking, type Operation } from '../../../src/operations/operation.js';
import { latticePath, topology } from '../../../src/operations/topology.js';
import { verifyCitations } from '../../../src/operations/verify.js';

/** Clears the screen, and begins a line that looks like one of ours. */
const foreign = 'a\u001b[2J\u009b1m\nnot ours\u202e';

const site = {
  ...{ symbol: foreign, container: foreign, kind: foreign, file_path: foreign, line: 1 },
  ...{ agent: foreign, definition: foreign, via: foreign, call_site: foreign, through: foreign },
  ...{ certainty: 'possible', ignored: true, id: foreign, role: foreign, type: foreign, depth: 2 },
};
const errors = [{ code: 'AGENT_FAILED', text: foreign, retryable: true, agent: foreign }];
const whole = {
  ...{ symbol: foreign, definitions: [site], errors, warnings: [foreign] },
  ...{ callers: [site], callees: [site], implementations: [site], possible: [site] },
  ...{ possible_total: 1, found: true, path: [site], agents_asked: 1, elapsed_ms: 1 },
  ...{ files: [{ path: foreign, agent: foreign, score: 1 }], shards: [foreign], nodes: [] },
  ...{
    version: foreign,
    edges: [{ from: foreign, to: foreign, references: 1, symbols: [foreign] }],
  },
  ...{ targets: [site], consumers: [site], dependencies: [site], truncated: false },
  metrics: { criticalPaths: [{ path: [foreign], reason: foreign }], undecided_sites: 0 },
};
const agent = {
  record: { id: foreign, alias: foreign, role: foreign, project: foreign, scope: [foreign] },
  ...{ state: foreign, last_seen_ms: 0, load: 0 },
};
const record = { ...agent.record, overlays: { [foreign]: { state: foreign } }, model: foreign };

const answered = (value: unknown) => () => Promise.resolve(value);
const questions = {
  ...{ callers: answered(whole), callees: answered(whole), trace: answered(whole) },
  references: answered(whole),
  ...{ implementations: answered(whole), locate: answered(whole), topology: answered(whole) },
  ...{ blastRadius: answered(whole), path: answered({ path: [foreign, foreign] }) },
  verify: answered({ results: [{ status: 'stale', reason: foreign, now_at: foreign }] }),
};
const bus = {
  questions: answered(questions),
  ...{ analyses: answered(questions), locator: answered(questions) },
  client: answered({
    identity: { agent: foreign },
    agents: answered([{ ...agent, record }]),
  }),
} as unknown as Asking;

const symbol = { symbol: 'a' };
const cited = { file_path: foreign, line_start: 1, line_end: 2, content: '' };
const all: [Operation<never>, object][] = [
  ...[callers, references, callees, implementations, blastRadius].map(
    (each): [Operation<never>, object] => [each as unknown as Operation<never>, symbol],
  ),
  [trace as never, { from: 'a', to: 'b' }],
  [locate as never, { report: 'the probe fails' }],
  [listAgents as never, {}],
  [verifyCitations as never, { citations: [cited] }],
  [topology as never, {}],
  [latticePath as never, { from: 'a', to: 'b' }],
];

test.each(all.map(([its, args]) => [its.name, its, args] as const))(
  'what %s says of foreign text stays in its line and commands no terminal',
  async (_, operation, args) => {
    const call = { bus, signal: new AbortController().signal, tell: () => undefined };
    const text = await textOf(operation, args, call);
    expect(text).toContain('not ours');
    // oxlint-disable-next-line no-control-regex
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    expect(text).not.toMatch(/^not ours/m);
  },
);
