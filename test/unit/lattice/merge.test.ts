import { expect, test } from 'vitest';
import { ask, merge } from '../../../src/lattice/ask.js';
import { Lattice } from '../../../src/lattice/lattice.js';
import { mergedAnswer } from '../../../src/lattice/prose/answer-merge.js';
import type {
  Answer,
  AskRequest,
  Evidence,
  FlowEdge,
  NextStep,
  SeekAnswer,
  ShardPort,
} from '../../../src/pgc/shapes.js';
import type { Shard } from '../../../src/pgc/serve/shard.js';
import { chainTree } from '../../support/chain-tree.js';

function evidence(id: number, path: string, similarity: number): Evidence {
  return {
    ...{ id, kind: 'function', name: path, container: '', said: '', excerpt: [], why: [] },
    ...{ overlay: 'O1', section: 'O1', text: '', content: path, symbol: '', blob: '' },
    ...{ similarity, weight: 1, file_path: path, line_start: 1, line_end: 1, agent: path },
  };
}

function edge(to: string, id: number): FlowEdge {
  const how = { kind: 'call', certainty: 'exact', agent: '', definition: '' } as const;
  return { ...how, from: 'main', to, site: `${to}:1`, evidence: id };
}

const next = (symbol: string): NextStep => ({
  ...{ operation: 'callers', arguments: { symbol }, why: 'all' },
});

/** What one shard found. */
function found(all: Evidence[], more: Partial<Answer> = {}): Answer {
  const empty = { flow: [], unsure: [], next: [], errors: [], left_out: [], overlay_warnings: [] };
  const metadata = { top_k: 5, cached: true, agents_asked: 1, index_version: 'v' };
  const its = { question: 'Who opens it?', evidence: all, prose: '', likelihood: 0, metadata };
  return { ...empty, ...its, ...more } as unknown as Answer;
}

test('the likeliest of all answers is kept in their order, numbered through, each place once', () => {
  const one = found([evidence(1, 'a', 0.95), evidence(2, 'b', 0.3), evidence(3, 'c', 0.9)]);
  const other = found([evidence(1, 'c', 0.9), evidence(2, 'd', 0.92)]);
  const { evidence: all, clauses, query_path } = merge([one, other], 3);
  expect(all.map(({ id, file_path }) => [id, file_path])).toEqual([
    [1, 'a'],
    [2, 'c'],
    [3, 'd'],
  ]);
  // What is found bears words of the question, and nothing says how likely that is what was asked for.
  expect(clauses).toEqual([{ text: 'Who opens it?', status: 'partly', evidence: [1, 2, 3] }]);
  expect(query_path).toEqual(['a', 'c', 'd']);
});

test('a call goes with the evidence that shows it; one that none shows comes last', () => {
  const one = found([evidence(1, 'a', 0.95), evidence(2, 'b', 0.3)], {
    flow: [edge('a', 1), edge('b', 2), edge('nothing', 0)],
  });
  const other = found([evidence(1, 'c', 0.9), evidence(2, 'a', 0.95)], {
    flow: [edge('c', 1), edge('a', 2)],
  });
  const { flow } = merge([one, other], 2);
  expect(flow.map(({ to, evidence: id }) => [to, id])).toEqual([
    ['a', 1],
    ['c', 2],
    ['nothing', 0],
  ]);
});

test('a call whose place came from another answer goes with that place, each call once', () => {
  const one = found([evidence(1, 'a', 0.95)]);
  const other = found([evidence(1, 'c', 0.9), evidence(2, 'a', 0.95)], {
    flow: [edge('a', 2), edge('c', 1)],
  });
  const { flow } = merge([one, other, other], 2);
  expect(flow).toEqual([edge('a', 1), edge('c', 2)]);
});

test('a merged answer is weak where all of it is, and as likely as the likeliest; what is not shown stays so', () => {
  const weak = { kind: 'weak', text: 'weak' } as const;
  const sites = { kind: 'sites', text: 'at 3 further sites' } as const;
  const poor = found([evidence(1, 'a', 0.1)], { unsure: [weak, sites], next: [next('a')] });
  const good = found([evidence(1, 'b', 0.6)], { next: [next('b'), next('c'), next('d')] });
  expect(merge([poor], 5).unsure).toEqual([weak, sites]);
  const likely = found([evidence(1, 'c', 0.2)], { likelihood: 0.85 });
  expect(merge([poor, likely], 5)).toMatchObject({ likelihood: 0.85, confidence: 'high' });
  expect(merge([found([]), poor], 5).unsure).toEqual([weak, sites]);
  const both = merge([good, poor], 5);
  expect(both.unsure).toEqual([sites]);
  expect(both.next).toEqual([next('b'), next('c'), next('d')]);
});

test('what a search with hints found is added, and nothing is lost by it', () => {
  const plain = found([evidence(1, 'a', 0.6)], { flow: [edge('a', 1)] });
  const gone = { code: 'NOT_FOUND', text: '', retryable: false, agent: '' };
  const nothing = found([], { errors: [gone] });
  const hinted = found([evidence(1, 'b', 0.9), evidence(2, 'a', 0.6)]);
  expect(mergedAnswer(plain, plain)).toBe(plain);
  const both = mergedAnswer(plain, hinted);
  expect(both.evidence.map(({ file_path }) => file_path)).toEqual(['b', 'a']);
  expect(both.flow).toEqual([edge('a', 2)]);
  const anew = mergedAnswer(nothing, hinted);
  expect(anew.evidence.map(({ file_path }) => file_path)).toEqual(['b', 'a']);
  expect(anew.errors).toEqual([]);
});

function seekAnswer(similarities: number[], more: Partial<SeekAnswer> = {}): SeekAnswer {
  const empty = { is_known: true, left_out: [], overlay_warnings: [], errors: [] };
  return { similarities, ...empty, ...more };
}

/** A shard that gives this answer, whatever it is asked. */
async function portOf(shard: Shard, all: Evidence[]): Promise<ShardPort> {
  const usual = await shard.ask({ question: 'What is it?', overlays: [], top_k: 5 });
  return Object.assign(Object.create(shard) as ShardPort, {
    ask: () => Promise.resolve({ ...usual, evidence: all }),
    weigh: (its: AskRequest) => shard.weigh(its),
    seek: () => Promise.resolve(seekAnswer(all.map(({ similarity }) => similarity))),
  });
}

test('what a shard could not consult is told, also where its answer is not used', async () => {
  await using tree = await chainTree();
  const [one, other] = tree.shards;
  const request = { question: 'What is the ring for frames?', overlays: ['O4'], top_k: 5 };
  const failed = { text: 'it is gone', retryable: false, agent: other!.agent };
  const gap = { ...failed, code: 'INDEX_CORRUPT' };
  const left = { overlay: 'O4', why: 'it is gone' };
  const lacking = Object.assign(Object.create(other!) as ShardPort, {
    ask: async () => ({
      ...(await other!.ask(request)),
      ...{ evidence: [], flow: [], left_out: [left, left] },
      errors: [gap, { ...failed, code: 'NOT_FOUND' }],
    }),
    weigh: (its: AskRequest) => other!.weigh(its),
    seek: () => Promise.resolve(seekAnswer([], { left_out: [left, left], errors: [gap] })),
  });
  const cards = await Promise.all(tree.shards.slice(0, 2).map((shard) => shard.card()));
  const told = async (...all: Evidence[]) =>
    ask(new Lattice([await portOf(one!, all), lacking], cards), request);
  for (const { left_out, errors } of [await told(evidence(1, 'c1', 0.9)), await told()]) {
    expect(left_out).toEqual([left]);
    expect(errors).toContainEqual(gap);
  }
  // That one of several knows nothing is no error of what another one knows.
  const { errors } = await told(evidence(1, 'c1', 0.9));
  expect(errors).not.toContainEqual({ ...failed, code: 'NOT_FOUND' });
});
