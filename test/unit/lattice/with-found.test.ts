import { BusError } from '../../../src/errors/bus-error.js';
import { expect, test } from 'vitest';
import { withFound } from '../../../src/lattice/query/with-found.js';
import type { Answer, CodedError, Evidence, FlowEdge } from '../../../src/pgc/shapes.js';

function evidence(id: number, path: string, similarity: number): Evidence {
  return {
    ...{ id, kind: 'function', name: path, container: '', said: '', excerpt: [], why: [] },
    ...{ overlay: 'O1', section: 'O1', text: '', content: path, symbol: '', blob: '' },
    ...{ similarity, weight: 1, file_path: path, line_start: 1, line_end: 1, agent: path },
  };
}

const edge = (to: string, id: number, certainty: FlowEdge['certainty'] = 'exact'): FlowEdge => ({
  ...{ from: 'main', to, site: `${to}:1`, kind: 'call', certainty },
  ...{ agent: '', definition: '', evidence: id },
});

const failure = (agent: string, code: string): CodedError => ({
  ...{ agent, code, text: code, retryable: true },
});

function answerOf(evidence: Evidence[], more: Partial<Answer> = {}): Answer {
  const empty = {
    ...{ flow: [], unsure: [], next: [], errors: [], hops: [], partial: false },
    overlay_warnings: [],
  };
  const metadata = { agents_asked: 1 };
  const its = { question: 'Who opens it?', evidence, likelihood: 0, metadata };
  return { ...empty, ...its, ...more } as unknown as Answer;
}

const hop = (agent: string, ids: number[]): Answer['hops'][number] => ({
  ...{ agent, scope: [], evidence: ids, via: null, elapsed_ms: 1 },
});

test('what was found comes first, each place once, and every id is that of evidence of the whole', () => {
  const told = answerOf([evidence(1, 'a', 0.2), evidence(2, 'b', 0.2)], {
    flow: [edge('a', 1), edge('b', 2), edge('elsewhere', 0)],
    hops: [hop('a', [1]), hop('b', [2])],
  });
  const found = answerOf([evidence(1, 'c', 0.9), evidence(2, 'b', 0.5)], {
    flow: [edge('b', 2, 'possible'), edge('c', 1)],
  });
  const whole = withFound(told, found);
  expect(whole.evidence.map(({ id, file_path }) => [id, file_path])).toEqual([
    [1, 'c'],
    [2, 'b'],
    [3, 'a'],
  ]);
  expect(whole.hops.map((each) => each.evidence)).toEqual([[3], [2]]);
  expect(whole.clauses.flatMap((each) => each.evidence)).toEqual([1, 2, 3]);
  // What was checked at both ends is kept of a call that both tell.
  expect(whole.flow.map((each) => [each.to, each.evidence, each.certainty])).toEqual([
    ['a', 3, 'exact'],
    ['b', 2, 'exact'],
    ['elsewhere', 0, 'exact'],
    ['c', 1, 'exact'],
  ]);
});

test('that no way was found is no error beside what was found', () => {
  const told = answerOf([], { errors: [failure('', 'NOT_FOUND')] });
  const whole = withFound(told, answerOf([evidence(1, 'c', 0.9)]));
  expect([whole.errors, whole.evidence.length]).toEqual([[], 1]);
});

test('a way is no answer where nothing in all shards is; one that is sure by itself stays', () => {
  const nowhere = answerOf([], { errors: [failure('s', 'NOT_FOUND')] });
  const told = answerOf([evidence(1, 'a', 0.2)], { likelihood: 0.2, hops: [hop('a', [1])] });
  const none = { evidence: [], hops: [], likelihood: 0, errors: nowhere.errors };
  expect(withFound(told, nowhere)).toMatchObject(none);
  const sure = { ...told, likelihood: 0.9 };
  expect(withFound(sure, nowhere)).toMatchObject({ evidence: sure.evidence, errors: [] });
});

test('a shard that failed beside the way is told, also where nothing was found', () => {
  const told = answerOf([evidence(1, 'a', 0.2)], { errors: [failure('x', 'AGENT_FAILED')] });
  for (const all of [[], [evidence(1, 'c', 0.9)]]) {
    const errors = ['x', 'y'].map((agent) => failure(agent, 'AGENT_FAILED'));
    const found = answerOf(all, { errors: [...errors, failure('z', 'NOT_FOUND')], partial: true });
    const whole = withFound(told, found);
    expect([whole.partial, whole.errors]).toEqual([true, errors]);
  }
});

test('that what was found has changed since is said, and is no no', () => {
  const changed = { ...new BusError('INDEX_BEHIND', { paths: 'a.c' }).toFailure(), agent: 'a' };
  const none = { ...new BusError('NOT_FOUND').toFailure(), agent: '' };
  const warning = 'Left out, because it has changed since it was indexed: a.c.';
  const found = answerOf([], { errors: [changed], overlay_warnings: [warning] });
  const whole = withFound(answerOf([], { errors: [none] }), found);
  expect(whole.errors.map(({ code }) => code)).toEqual(['INDEX_BEHIND']);
  expect(whole.overlay_warnings).toEqual([warning]);
});
