import { expect, test } from 'vitest';
import { ask, queryLattice } from '../../../src/operations/ask.js';
import { answerTokens } from '../../../src/operations/bounds.js';
import { replied, type Asking, type Call, type Reply } from '../../../src/operations/operation.js';
import type { Answer, Evidence, FlowEdge, Hop } from '../../../src/pgc/shapes.js';

const long = 'a long \u001b text '.repeat(2_000);

function evidence(id: number): Evidence {
  return {
    ...{ id, kind: 'function', name: `f${id}`, container: '', said: `it does ${id}`, why: [long] },
    excerpt: Array.from({ length: 12 }, (_, at) => ({
      ...{ line: at + 1, text: 'int x;'.repeat(30), decides: true },
    })),
    ...{ overlay: 'O1', section: 'O1', text: 'text', content: 'int x;', symbol: `f${id}` },
    ...{ blob: 'b', similarity: 0.87654, weight: 1, file_path: `src/f${id}.c`, agent: 'drivers' },
    ...{ line_start: 1, line_end: 2 },
  };
}

const edge = (id: number): FlowEdge => ({
  ...{ from: 'f', to: `f${id}`, site: `src/f.c:${id}`, kind: 'call', certainty: 'exact' },
  ...{ agent: 'drivers', definition: `src/f${id}.c:1`, evidence: id },
});

function answerOf(hopCount: number): Answer {
  const each = Math.max(1, 64 / Math.max(1, hopCount));
  const all = Array.from({ length: Math.max(1, hopCount) * each }, (_, at) => evidence(at + 1));
  const agents = Array.from({ length: hopCount }, (_, at) => `agent-of-a-long-name-${at}`);
  const via = { symbol: 's', from: 'a.c:1', to: 'b.c:1', from_agent: 'x', chain: [], relevance: 1 };
  const hops = agents.map((agent, at): Hop => ({
    ...{ agent, scope: [long], via, elapsed_ms: 1 },
    evidence: all.slice(at * each, (at + 1) * each).map(({ id }) => id),
  }));
  const ids = all.map(({ id }) => id);
  const gone = { code: 'AGENT_FAILED', text: long, retryable: true, agent: 'x' };
  return {
    question: long,
    clauses: Array.from({ length: 8 }, () => ({ text: long, status: 'found', evidence: ids })),
    evidence: all,
    flow: [...ids, 0, 0, 0, ...ids].map(edge),
    unsure: Array.from({ length: 9 }, () => ({ kind: 'sites', text: long })),
    next: Array.from({ length: 3 }, () => ({
      ...{ operation: 'callers', arguments: { symbol: long }, why: long },
    })),
    ...{ prose: long, confidence: 'high', likelihood: 0.9, partial: true },
    query_intent: { intent: 'general', entities: [], scope: '', refined_query: long },
    left_out: Array.from({ length: 99 }, () => ({ overlay: 'O4', why: long })),
    overlay_warnings: Array.from({ length: 99 }, () => long),
    errors: Array.from({ length: 99 }, () => gone),
    ...{ query_path: agents, hops, root: long },
    safety: { max_hops: 32, actual_hops: hopCount, visited_agents: agents },
    metadata: {
      ...{ question_hash: 'h', top_k: 5, elapsed_ms: 1, index_version: long, engine: 'extractive' },
      ...{ cached: false, agents_asked: 32, model: null },
    },
  };
}

async function replyTo(answer: Answer): Promise<Reply<Answer>> {
  const given = (): Promise<Answer> => Promise.resolve(answer);
  const questions = { ask: given, query: given };
  const bus = { questions: () => Promise.resolve(questions) } as unknown as Asking;
  const call = { bus, deadlineMs: 1, tell: () => undefined } as unknown as Call;
  if (answer.hops.length > 0)
    return queryLattice.run(queryLattice.input.parse({ question: 'x y' }), call);
  return ask.run(ask.input.parse({ question: 'x y' }), call);
}

test.each([
  [0, answerTokens.min],
  [0, answerTokens.default],
  [6, answerTokens.min],
  [6, answerTokens.default],
  [32, answerTokens.min],
  [32, answerTokens.default],
  [32, answerTokens.max],
])(
  'an answer of %i hops fits %i tokens, and refers to nothing that was cut',
  async (hops, tokens) => {
    const whole = answerOf(hops);
    const { structured, text } = replied(await replyTo(whole), tokens);
    expect(JSON.stringify(structured).length + text.length).toBeLessThanOrEqual(4 * tokens);
    const part = structured as unknown as Answer & { shown: number; total: number; rest: string };
    const kept = part.evidence.map(({ id }) => id);
    expect([part.shown, part.total]).toEqual([kept.length, whole.evidence.length]);
    expect(part.rest).not.toBe('');
    for (const each of part.flow) expect([0, ...kept]).toContain(each.evidence);
    for (const each of [...part.clauses, ...part.hops])
      for (const id of each.evidence) expect(kept).toContain(id);
    if (tokens > answerTokens.min && 4 * tokens > 1_000 * hops) {
      expect(part.hops).toHaveLength(hops);
      expect(kept.length).toBeGreaterThan(0);
      // In turns: no hop has two before another has one.
      const counts = part.hops.map(({ evidence: its }) => its.length);
      expect(Math.max(0, ...counts) - Math.min(...counts, Infinity)).toBeLessThanOrEqual(1);
    }
    // In the text the numbers of evidence are those of the structure.
    for (const [, number] of text.matchAll(/^\[(\d+)\] /gm)) expect(kept).toContain(Number(number));
  },
);

test('where room is short, what was found beside the hops stays before them', async () => {
  const whole = answerOf(4);
  const [first, ...others] = whole.hops;
  const answer = { ...whole, hops: others };
  const { structured } = replied(await replyTo(answer), answerTokens.default);
  const kept = (structured as unknown as Answer).evidence.map(({ id }) => id);
  expect(kept.length).toBeLessThan(whole.evidence.length);
  expect(kept).toEqual(first?.evidence.slice(0, kept.length));
  expect(kept.length).toBeGreaterThan(0);
});

test('an answer that fits is given whole, without what its reader knows', async () => {
  const whole = { ...answerOf(0), ...{ unsure: [], left_out: [], overlay_warnings: [] } };
  const small: Answer = {
    ...{ ...whole, evidence: [{ ...evidence(1), why: [] }], flow: [edge(1)], errors: [] },
    ...{ clauses: [{ text: 'x y', status: 'found', evidence: [1] }], next: [], prose: '' },
    metadata: { ...whole.metadata, index_version: 'v' },
    query_intent: { ...whole.query_intent, refined_query: '' },
  };
  const { structured } = replied(await replyTo(small), answerTokens.default);
  expect(structured).toMatchObject({
    ...{ truncated: false, shown: 1, total: 1, rest: '', flow: [edge(1)] },
    evidence: [{ id: 1, name: 'f1', similarity: 0.877, content: 'int x;', blob: 'b' }],
  });
  expect(Object.keys(structured)).not.toContain('question');
});
