import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Directory } from '../../../../../src/lattice/topology/directory.js';
import {
  cardDefinesMax,
  cardOf,
  cardPlacesMax,
  cardReferencesMax,
  cardStandInsMax,
  cardTermsMax,
} from '../../../../../src/pgc/search/card/card.js';
import type { FactsLanguage, FileFacts, SymbolFact } from '../../../../../src/pgc/format/facts.js';
import { shardMessages } from '../../../../../src/pgc/serve/messages.js';
import {
  segmentLayout,
  writeSections,
} from '../../../../../src/pgc/format/container/segment-file.js';
import { SegmentWriter } from '../../../../../src/pgc/format/segment-writer.js';
import { Segment } from '../../../../../src/pgc/format/segment.js';
import type { Card } from '../../../../../src/pgc/shapes.js';

const none: FileFacts = {
  ...{
    language: 'c',
    lines: 0,
    bytes: 0,
    error_bytes: 0,
    symbols: [],
    calls: [],
    uses: [],
    imports: [],
  },
  ...{ types: [], words: [], documents: [], items: [], scanned_names: [], scanned_lines: [] },
  generated: false,
};
const named = (prefix: string, at: number): string => `${prefix}${String(at).padStart(6, '0')}`;
const symbol = (name: string, line: number, declaration: boolean): SymbolFact => ({
  ...{ name, kind: 'function', line_start: line, line_end: line, signature: `function:${name}` },
  ...{ container: '', exported: true, doc: '', declaration },
});
const call = (callee: string, line: number): FileFacts['calls'][number] => ({
  ...{ callee, line, caller: 1, kind: 'direct', receiver: '', expression: '', unused: false },
});

/** A shard that has more of everything than a card holds. */
async function crowded(folder: string): Promise<Segment> {
  const writer = new SegmentWriter();
  const row = (path: string, language: FactsLanguage) => ({
    ...{ path, blob: 'a'.repeat(40), language, lines: 1 },
  });
  // Every name that is called once, and the last ones twice.
  const callees = Array.from({ length: cardReferencesMax + 10 }, (_, at) => named('callee', at));
  const calls = [...callees, ...callees.slice(-10)].map((each, at) => call(each, at + 1));
  const caller = symbol('caller', 1, false);
  writer.add(row('a.c', 'c'), { ...none, symbols: [caller], calls });
  const words = Array.from({ length: cardTermsMax + 10 }, (_, at) => named('word', at));
  const documents = [{ word: words.map((_, at) => at), count: words.map(() => 1) }];
  const symbols = Array.from({ length: cardDefinesMax + 10 }, (_, at) =>
    symbol(named('defined', at), at * 2 + 2, false),
  );
  const declared = symbols
    .slice(0, cardStandInsMax + 10)
    .map(({ name, line_start }) => symbol(name, line_start - 1, true));
  const both = [...declared, ...symbols].sort((a, b) => a.line_start - b.line_start);
  writer.add(row('b.h', 'c'), { ...none, symbols: both, words, documents });
  for (let at = 0; at < cardPlacesMax + 10; at += 1)
    writer.add(row(`${named('m', at)}.ts`, 'typescript'), { ...none, language: 'typescript' });
  const path = join(folder, 'crowded.seg');
  const info = {
    ...{
      agent: 'a',
      alias: 'a',
      project: 'p',
      root: '/p',
      scope: ['.'],
      languages: ['c', 'typescript'],
    },
    ...{ files: 1, lines: 1, version: 'v', overlays: {}, abbreviations: [] },
  };
  await writeSections(path, segmentLayout, writer.finish(info));
  return Segment.open(path);
}

let folder: string;
let card: Card;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sigma-card-'));
  const index = await crowded(folder);
  card = cardOf(index);
});
afterAll(() => rm(folder, { recursive: true }));

test('each list of a card ends at its limit, and the card says which of them did', () => {
  expect(card.terms).toHaveLength(cardTermsMax);
  expect(card.defines).toHaveLength(cardDefinesMax);
  expect(card.stand_ins).toHaveLength(cardStandInsMax);
  expect(card.places).toHaveLength(cardPlacesMax);
  expect(card.unresolved).toHaveLength(cardReferencesMax);
  // A sketch never was all terms.
  expect(new Set(card.truncated)).toEqual(
    new Set(['defines', 'stand_ins', 'places', 'unresolved']),
  );
});

test('of the names that are called elsewhere those with the most call sites are kept, in order', () => {
  const twice = card.unresolved.filter(({ documents }) => documents === 2);
  expect(twice.map(({ term }) => term)).toEqual(
    Array.from({ length: 10 }, (_, at) => named('callee', cardReferencesMax + at)),
  );
  const terms = card.unresolved.map(({ term }) => term);
  expect(terms).toEqual(terms.toSorted());
});

test('who has not told all that it calls is asked for callers of any name', () => {
  const { answer } = shardMessages.card;
  const unresolved = card.unresolved.slice(0, 10);
  const few = { ...card, unresolved, terms: [], defines: [], stand_ins: [] };
  const whole = { ...few, agent: 'whole', truncated: [] };
  const cards = [few, whole].map((each) => answer.decode(answer.encode(each)));
  const called = new Directory(cards).whoCalls(['callee000001', 'nowhere']);
  expect(called('a')).toBeUndefined();
  expect(called('whole')).toEqual(new Set(['callee000001']));
});
