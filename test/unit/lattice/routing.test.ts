import { describe, expect, test } from 'vitest';
import { probesDefault, Router } from '../../../src/lattice/route/routing.js';
import { wordsOf } from '../../../src/pgc/format/words.js';
import { analyse } from '../../../src/pgc/search/question/question.js';
import type { Card } from '../../../src/pgc/shapes.js';

function card(
  agent: string,
  scope: string,
  terms: Record<string, number>,
  defines: string[] = [],
  standIns: string[] = [],
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
    stand_ins: standIns,
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

test('who holds only a stand-in is no evidence while another shard holds the real one', () => {
  const header = card('include', 'include', { dma: 90 }, ['dma_map'], ['dma_map']);
  const real = card('dma', 'kernel/dma', { dma: 80 }, ['dma_map']);
  const evidence = (...cards: Card[]): [string, string[]][] =>
    new Router(cards, wordsOf)
      .rank(analyse('What does dma_map do?'))
      .map((each) => [each.agent, each.evidence]);
  expect(evidence(header, real)).toEqual([
    ['dma', ['dma_map']],
    ['include', []],
  ]);
  expect(evidence(header)).toEqual([['include', ['dma_map']]]);
});

test('a word that is at home in one shard alone speaks for it', () => {
  const drivers = card('drivers', 'drivers', { e1000: 700, driver: 60 });
  const headers = card('include', 'include', { e1000: 2, driver: 600 });
  const [best, other] = new Router([headers, drivers], wordsOf).rank(
    analyse('How does the e1000 driver start?'),
  );
  expect([best?.agent, best?.words]).toEqual(['drivers', ['e1000']]);
  expect(other?.words).toEqual(['driver']);
});

describe('folders and files that a question speaks of', () => {
  const rare = (documents: number) => ({ inotify: documents });
  const cards = [
    { ...card('fs', 'fs', rare(1)), places: ['inotify', 'light', 'write'], documents: 100_000 },
    { ...card('iio', 'iio', { light: 900 }), places: ['light', 'tcs3472'], documents: 100_000 },
    { ...card('mm', 'mm', { light: 400 }), places: ['8250'], documents: 100_000 },
  ];
  const words = (question: string): string[][] => {
    const ranked = new Router(cards, wordsOf).rank(analyse(question));
    return ['fs', 'iio', 'mm'].map((agent) => ranked.find((each) => each.agent === agent)!.words);
  };

  test.each([
    ['a word of one place alone', 'What wakes a reader of inotify?', [['inotify'], [], []]],
    ['an everyday word', 'How is the light switched on?', [[], [], []]],
    ['a number', 'How does an 8250 port work?', [[], [], ['8250']]],
    ['what is done', 'How does a driver write a block?', [[], [], []]],
  ])('%s', (_, question, expected) => expect(words(question)).toEqual(expected));
});

test('what makes a shard likely is the same however small the shards are', () => {
  const sized = (by: number): Card[] =>
    ['net', 'mm', 'sound'].map((agent, at) => ({
      ...card(agent, agent, { page: by * (8 - 3 * at), frame: by * (1 + 3 * at) }),
      documents: by * 100 * (at + 1),
    }));
  const scores = (by: number): [string, string][] =>
    new Router(sized(by), wordsOf)
      .rank(analyse('How are pages framed?'))
      .map(({ agent, score }) => [agent, score.toFixed(6)]);
  expect(scores(500)).toEqual(scores(1));
});

test('where shards are small, as many more are asked as together are not much', () => {
  const asked = (count: number, documents: number): number =>
    new Router(
      Array.from({ length: count }, (_, at) => ({
        ...card(`s${at}`, `s${at}`, { page: 1 }),
        documents,
      })),
      wordsOf,
    ).probed(analyse('Where is the page?')).length;
  expect(asked(40, 100_000)).toBe(probesDefault);
  expect(asked(40, 10_000)).toBe(30);
  expect(asked(40, 100)).toBe(40);
  expect(asked(200, 100)).toBe(64);
});
