import { expect, test } from 'vitest';
import { ask } from '../../../src/lattice/ask.js';
import { Lattice } from '../../../src/lattice/lattice.js';
import { sentenceEnd } from '../../../src/lattice/synthesis.js';
import type { Citation, ShardPort } from '../../../src/pgc/shapes.js';
import type { Shard } from '../../../src/pgc/serve/shard.js';
import { chainTree } from '../../support/chain-tree.js';

test('an answer is cut behind the sources of its sentences, and nowhere else', () => {
  const sentences = [
    'Nothing here clearly answers the question; this is nearest.',
    '`a.md:1` (section): See [the guide]. `npm test` builds all sites. `npm start` starts it [1].',
    '`open` is called by `main` (a.c:7) [2], at 3 further sites.',
    '`shut` (function, a.c:9): Shuts it [3].',
  ];
  expect(sentences.join(' ').split(sentenceEnd)).toEqual(sentences);
});

function citation(path: string, similarity: number): Citation {
  const said = { overlay: 'O1', section: 'O1', text: '', content: path, symbol: '', blob: '' };
  return { ...said, similarity, weight: 1, file_path: path, line_start: 1, line_end: 1, agent: '' };
}

/** A shard that gives this answer, whatever it is asked. */
async function portOf(shard: Shard, answer: string, sources: Citation[]): Promise<ShardPort> {
  const usual = await shard.ask({ question: 'What is it?', overlays: [], top_k: 5 });
  const { agent } = shard.index.info;
  return Object.assign(Object.create(shard) as ShardPort, {
    ask: () => Promise.resolve({ ...usual, answer, sources, agent }),
  });
}

test('sentences are merged with all that they cite, and nothing is cited that no sentence needs', async () => {
  await using tree = await chainTree();
  const [one, other] = tree.shards;
  const callers = ['c1', 'c2', 'c3', 'c4'].map((path) => citation(path, 0.92));
  const ports = [
    await portOf(
      one!,
      '`open` is called by `a` (c1:1) [1], `b` (c2:1) [2], `c` (c3:1) [3] and `d` (c4:1) [4]. `open` (function, d:1) [5].',
      [...callers, citation('d', 0.93)],
    ),
    await portOf(other!, '`shut` (function, e:1) [2]. `lock` (function, f:1) [1].', [
      citation('f', 0.94),
      citation('e', 0.95),
    ]),
  ];
  const cards = await Promise.all(tree.shards.slice(0, 2).map((shard) => shard.card()));
  const { answer, sources } = await ask(new Lattice(ports, cards), {
    ...{ question: 'Who opens, and what is the ring for frames?', overlays: [], top_k: 5 },
  });
  expect(answer).toBe(
    '`shut` (function, e:1) [1]. `lock` (function, f:1) [2]. `open` (function, d:1) [3].',
  );
  expect(sources.map(({ file_path }) => file_path)).toEqual(['e', 'f', 'd']);
});

test('what a shard could not consult is told, also where its answer is not used', async () => {
  await using tree = await chainTree();
  const [one, other] = tree.shards;
  const request = { question: 'What is the ring for frames?', overlays: ['O4'], top_k: 5 };
  const failed = { text: 'it is gone', retryable: false, agent: other!.agent };
  const gap = { ...failed, code: 'INDEX_CORRUPT' };
  const lacking = Object.assign(Object.create(other!) as ShardPort, {
    ask: async () => ({
      ...(await other!.ask(request)),
      ...{ answer: '', sources: [], overlay_warnings: ['O4 was not consulted: it is gone.'] },
      errors: [gap, { ...failed, code: 'NOT_FOUND' }],
    }),
  });
  const cards = await Promise.all(tree.shards.slice(0, 2).map((shard) => shard.card()));
  const told = async (...sources: Citation[]) => {
    const knowing = await portOf(one!, sources.length === 0 ? '' : 'So it is [1].', sources);
    return ask(new Lattice([knowing, lacking], cards), request);
  };
  for (const { overlay_warnings, errors } of [await told(citation('c1', 0.9)), await told()]) {
    expect(overlay_warnings).toContain('O4 was not consulted: it is gone.');
    expect(errors).toContainEqual(gap);
  }
  // That one of several knows nothing is no error of what another one knows.
  const { errors } = await told(citation('c1', 0.9));
  expect(errors).not.toContainEqual({ ...failed, code: 'NOT_FOUND' });
});
