import { expect, test } from 'vitest';
import { Router } from '../../../src/lattice/routing.js';
import { wordsOf } from '../../../src/pgc/miners/words.js';
import { analyse } from '../../../src/pgc/question.js';
import type { Card } from '../../../src/pgc/shapes.js';

function card(
  agent: string,
  scope: string,
  terms: Record<string, number>,
  defines: string[] = [],
): Card {
  return {
    agent,
    alias: agent,
    project: 'p',
    root: '/p',
    scope: [scope],
    languages: ['c'],
    files: 10,
    lines: 1_000,
    documents: 1_000,
    index_version: '1',
    terms: Object.entries(terms).map(([term, documents]) => ({ term, documents })),
    defines,
    unresolved: [],
  };
}

const router = new Router(
  [
    card('net', 'net/core', { skb: 400, packet: 200, page: 20 }, ['netif_rx']),
    card('mm', 'mm', { page: 800, reclaim: 150, pressur: 20 }, ['cma_alloc']),
    card('sound', 'sound', { codec: 300, stream: 200 }, []),
  ],
  wordsOf,
);
const first = (question: string): string | undefined => router.rank(analyse(question))[0]?.agent;

test('the shard whose words the question uses comes first', () => {
  expect(first('How are pages reclaimed under pressure?')).toBe('mm');
  expect(first('How are packets queued?')).toBe('net');
});

test('a name that a shard defines outweighs all words', () => {
  const ranked = router.rank(analyse('How does netif_rx reclaim pages under pressure?'));
  expect(ranked[0]).toMatchObject({ agent: 'net', evidence: ['netif_rx'] });
});

test('a path in the question points to the shard that owns it', () => {
  expect(first('What happens to pages in sound/core/pcm.c?')).toBe('sound');
});

test('no shard is left out of the ranking', () => {
  expect(
    router
      .rank(analyse('anything at all'))
      .map((each) => each.agent)
      .sort(),
  ).toEqual(['mm', 'net', 'sound']);
});
