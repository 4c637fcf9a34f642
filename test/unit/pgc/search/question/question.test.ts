import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  analyse,
  conceptsIn,
  conceptsMax,
  queryIntent,
  questionCharsMax,
} from '../../../../../src/pgc/search/question/question.js';

const termsOf = (text: string): string[] =>
  analyse(text).concepts.flatMap((each) => each.variants.map(({ term }) => term));

test('the intent is what the question wants to know', () => {
  const intents = Object.entries({
    'How does the page allocator reclaim memory?': 'mechanism',
    'Where is dma_alloc_attrs defined?': 'definition',
    'What does kfree_skb do?': 'definition',
    'Who calls netif_rx?': 'usage',
    'Which functions use struct sk_buff?': 'usage',
    'Which file holds the slab allocator?': 'location',
    'What is the difference between SLUB and SLAB?': 'comparison',
    'page fault latency': 'general',
    'Which kinds of stores exist, and who picks one?': 'implementations',
    'Which types implement Sink?': 'implementations',
    'Which ways of carrying out a command are there?': 'implementations',
    'I want to add a field to every hit. Which places have to follow?': 'impact',
    'What is affected if the pool is replaced?': 'impact',
    "The job fails with 'no upstreams are available'. Where does that come from?": 'symptom',
    'Where is it decided whether a connection is kept?': 'decision',
    'How does a pool get its threads, and for what kinds of work?': 'mechanism',
  });
  expect(intents.map(([text]) => [text, analyse(text).intent])).toEqual(intents);
});

test('a pronoun behind a verb is no name', () => {
  expect(analyse('There is a setting for retries. Which code calls it?').identifiers).toEqual([]);
  expect(analyse('Which types implement it?').identifiers).toEqual([]);
});

test('identifiers, paths, frames, quotations and configuration names are entities', () => {
  const question = analyse(
    'Why does e1000_open+0x1f/0x90 in drivers/net/e1000_main.c print "link is down" with CONFIG_E1000 in NetDevice?',
  );
  expect(question.identifiers).toEqual(
    expect.arrayContaining(['e1000_open', 'CONFIG_E1000', 'NetDevice']),
  );
  expect(question.paths).toEqual(['drivers/net/e1000_main.c']);
  expect(question.quoted).toEqual(['link is down']);
  expect(queryIntent(question).entities).toEqual(
    expect.arrayContaining([
      'e1000_open',
      'drivers/net/e1000_main.c',
      'link is down',
      'CONFIG_E1000',
    ]),
  );
  expect(question.scope).toBe('drivers/net/e1000_main.c');
});

test('a plain English word is no identifier, a word in a question by itself is', () => {
  expect(analyse('How are buffers freed?').identifiers).toEqual([]);
  expect(analyse('kmalloc').identifiers).toEqual(['kmalloc']);
  expect(analyse('Explain `retry` and the function settle').identifiers).toEqual([
    'retry',
    'settle',
  ]);
});

test('abbreviations stand for their words, at less trust, in both directions', () => {
  const { concepts } = analyse('How are device buffers allocated?');
  const buffer = concepts.find((each) => each.word === 'buffers');
  expect(buffer?.variants[0]).toEqual({ term: 'buffer', trust: 1 });
  expect(buffer?.variants.find((each) => each.term === 'buf')?.trust).toBeLessThan(1);
  expect(termsOf('skb buf dev')).toEqual(expect.arrayContaining(['buffer', 'devic']));
  expect(termsOf('free the socket buffers')).toContain('skb');
});

test('a name speaks of the concepts that its sub-words spell', () => {
  const question = analyse('How does the network driver allocate DMA buffers?');
  const words = (name: string): string[] =>
    [...conceptsIn(question, name).keys()].map((at) => question.concepts[at]?.word ?? '');
  expect(words('dma_alloc_coherent')).toEqual(['allocate', 'dma']);
  expect(words('rxBufferPool')).toEqual(['buffers']);
  expect(words('spin_lock')).toEqual([]);
});

test('a question without a word is EMPTY_QUESTION', () => {
  for (const text of ['', '  \n', '?!', '—']) {
    expect(() => analyse(text)).toThrow(expect.objectContaining({ code: 'EMPTY_QUESTION' }));
  }
});

test('a question that is too long is cut with a warning', () => {
  const question = analyse(`How does reclaim work? ${'log line '.repeat(questionCharsMax)}`);
  expect(question.text).toHaveLength(questionCharsMax);
  expect(question.warnings).toHaveLength(1);
});

test('any text is read quickly, and its concepts are bounded', () => {
  const text = fc.oneof(
    fc.string({ maxLength: 500 }),
    fc.constantFrom('a.', 'a/', 'a_', '-a', '`a', '+0x').map((each) => each.repeat(9_000)),
  );
  fc.assert(
    fc.property(text, (raw) => {
      const startedMs = performance.now();
      try {
        expect(analyse(raw).concepts.length).toBeLessThanOrEqual(conceptsMax);
      } catch (error) {
        expect(error).toMatchObject({ code: 'EMPTY_QUESTION' });
      }
      expect(performance.now() - startedMs).toBeLessThan(2_000);
    }),
    { numRuns: 60 },
  );
});

test.each([
  ['Who calls analyse?', ['analyse']],
  ['who invokes verify()', ['verify']],
  ['What are the callers of flush?', ['flush']],
  ['What does analyse call?', ['analyse']],
  ['Who uses the parser?', []],
  ['Who calls it when a task ends?', []],
])('%s names %j', (text, identifiers) => {
  expect(analyse(text).identifiers).toEqual(identifiers);
});

test('a sentence without spaces is as many words as it has', () => {
  const { concepts, identifiers } = analyse('缓冲区在哪里刷新 JsonWriter？');
  expect(identifiers).toEqual(['JsonWriter']);
  const unknown = concepts.filter(({ word }) => /\p{Script=Han}/u.test(word));
  expect(unknown.length).toBeGreaterThan(2);
});
