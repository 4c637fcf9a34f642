import { deflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { CardNames } from '../../../src/lattice/topology/card-names.js';
import { Lattice } from '../../../src/lattice/lattice.js';
import { shardMessages } from '../../../src/pgc/serve/messages.js';
import { Wanted } from '../../../src/pgc/search/card/name-list.js';
import { PackedCard } from '../../../src/pgc/search/card/packed-card.js';
import { analyse } from '../../../src/pgc/search/question/question.js';
import type { Card } from '../../../src/pgc/shapes.js';
import { codec, pgc } from '../../../src/wire/codec.js';
import { chainTree } from '../../support/chain-tree.js';

const plain = codec<Card>(pgc.Card);
const packed = (card: Card): PackedCard => new PackedCard(plain.encode(card));
/** With every list read. */
const asObject = (card: Card): object => Object.fromEntries(Object.entries(card));

const name = fc.oneof(
  fc.constantFrom('a', 'ab', 'abc', 'b', 'skb', 'page', 'ä', 'äö', '語', '😀', '\uffee'),
  fc.string({ minLength: 1, maxLength: 6 }),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 300 }),
);
const names = fc.uniqueArray(name, { maxLength: 40 });
const documents = fc.nat({ max: 1_000_000 });
const cards: fc.Arbitrary<Card> = fc.record({
  agent: fc.uuid(),
  alias: name,
  project: name,
  root: name,
  scope: names,
  languages: fc.constantFrom(['c'], ['python'], []),
  ...{ files: documents, lines: documents, documents, index_version: name },
  terms: names.chain((all) =>
    fc.tuple(...all.map((term) => fc.record({ term: fc.constant(term), documents }))),
  ),
  defines: names,
  stand_ins: names,
  unresolved: fc.array(fc.record({ term: name, documents, files: names, container: name }), {
    maxLength: 10,
  }),
  truncated: fc.constantFrom([], ['defines']),
  places: names,
});

test('a packed card says what it was packed from', () => {
  fc.assert(
    fc.property(cards, (card) => {
      expect(asObject(packed(card))).toEqual(plain.decode(plain.encode(card)));
    }),
  );
});

test('names are found in packed cards as they are in plain ones, whatever their order', () => {
  fc.assert(
    fc.property(fc.array(cards, { maxLength: 4 }), names, (all, others) => {
      const [one, other] = [new CardNames(all), new CardNames(all.map(packed))];
      const wanted = [...others, ...all.flatMap((card) => [...card.defines, ...card.places!])];
      const terms = all.flatMap((card) => card.terms.map(({ term }) => term));
      // Learned in one pass, or looked up one by one.
      const learned = new CardNames(all.map(packed));
      learned.learn(wanted);
      for (const each of wanted) {
        expect(other.holdersOf(each)).toEqual(one.holdersOf(each));
        expect(learned.holdersOf(each)).toEqual(one.holdersOf(each));
        expect(other.placesOf(each)).toEqual(one.placesOf(each));
      }
      for (const each of [...terms, ...others])
        expect(other.documentsWith(each)).toEqual(one.documentsWith(each));
    }),
  );
});

describe('a real tree', () => {
  let sent: Card[];
  beforeAll(async () => {
    await using tree = await chainTree();
    const all = await Promise.all(tree.shards.map((shard) => shard.card()));
    sent = all.map((card) => plain.decode(plain.encode(card)));
  });

  test('is routed, and depends, to the last bit as with plain cards', () => {
    const [one, other] = [new Lattice([], sent), new Lattice([], sent.map(packed))];
    for (const text of [
      'How does the nic driver allocate its ring?',
      'Where does dma_alloc_mapped end in mm/page.c?',
      'What is logged when the interface is reset, and who frees pages?',
    ]) {
      const question = analyse(text);
      expect(other.router.rank(question)).toEqual(one.router.rank(question));
    }
    const topology = (lattice: Lattice): object =>
      lattice.kept.topologies.of([...lattice.cards.values()], () => lattice.directory);
    expect(topology(other)).toEqual(topology(one));
    expect(other.directory.sitesOf('nic_log')).toBe(one.directory.sitesOf('nic_log'));
  });

  test('sends cards that arrive packed', () => {
    const { answer } = shardMessages.card;
    const [card] = sent;
    const arrived = answer.decode(answer.encode(card!));
    expect(arrived).toBeInstanceOf(PackedCard);
    expect(asObject(arrived)).toEqual(card);
  });

  test('whose card is damaged is refused when it arrives, not when it is read', () => {
    const bytes = plain.encode(sent[0]!);
    const { answer } = shardMessages.card;
    const raw = answer.encode(sent[0]!);
    for (let at = 1; at < bytes.length; at += 7) {
      const torn = Buffer.from(bytes);
      torn[at] = (torn[at] ?? 0) ^ 0xff;
      for (const damaged of [bytes.subarray(0, at), torn]) {
        let card: PackedCard | undefined;
        try {
          card = new PackedCard(Buffer.from(damaged));
        } catch {
          continue;
        }
        // What passes can be read to its end.
        expect(Object.keys(asObject(card))).toContain('terms');
        card.lists.defines.has(new Wanted('nic_open'));
      }
    }
    expect(() => answer.decode(raw.subarray(0, -9))).toThrow(
      expect.objectContaining({ code: 'MALFORMED_PAYLOAD' }),
    );
  });
});

test('a name whose length has more bytes than it needs is refused: read carelessly, it has a thousand million', () => {
  const { answer } = shardMessages.card;
  const length = [0x81, 0x80, 0x80, 0x80, 0x80];
  const defines = (...bytes: number[]): Buffer => Buffer.from([(12 << 3) | 2, ...bytes, 0x61]);
  const refused = expect.objectContaining({ code: 'MALFORMED_PAYLOAD' });
  for (const more of [[0x80, 0x80, 0x80, 0x3f], [0x7f]])
    expect(() => answer.decode(deflateRawSync(defines(...length, ...more)))).toThrow(refused);
  const card = answer.decode(deflateRawSync(defines(...length.slice(0, 4), 0)));
  expect(new CardNames([card]).holdersOf('a').real).toEqual([0]);
});
