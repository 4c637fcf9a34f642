import { expect, test } from 'vitest';
import { AbbreviationMiner, Abbreviations } from '../../../../src/pgc/format/abbreviations.js';
import { withAbbreviations } from '../../../../src/pgc/search/question/expansion.js';
import { analyse } from '../../../../src/pgc/search/question/question.js';
import { indexedTree } from '../../../support/indexed-tree.js';

function mined(...texts: string[]): string[] {
  const miner = new AbbreviationMiner();
  for (const text of texts) miner.read(text);
  return miner.found().map(({ short, long }) => `${short}=${long}`);
}

test.each([
  ['The contiguous memory allocator (CMA) hands out pages.', ['cma=contiguous memory allocator']],
  ['See LTR (latency tolerance reporting) for more.', ['ltr=latency tolerance reporting']],
  ['Uses a breadth-first search (BFS).', ['bfs=breadth-first search']],
  // The letters are not in it, or not in this order.
  ['The page allocator (CMA) hands out pages.', []],
  ['It returns a value (OK) at once.', []],
  ['A remark (see below) is none.', []],
  ['A name (foo_bar) is none.', []],
])('%s', (text, expected) => {
  expect(mined(text)).toEqual(expected);
});

test('what is not spelled by first letters has to be explained twice', () => {
  const text = 'The interrupt throttle rate (ITHR) is low.';
  expect(mined(text)).toEqual([]);
  expect(mined(text, text)).toEqual(['ithr=interrupt throttle rate']);
});

test('a question is read with what the code base writes short, in either direction', () => {
  const known = new Abbreviations([{ short: 'cma', long: 'contiguous memory allocator' }]);
  const terms = (question: string, word: string): string[] =>
    withAbbreviations(analyse(question), known)
      .concepts.find((each) => each.word === word)!
      .variants.map(({ term }) => term);
  expect(terms('how does the contiguous memory allocator start', 'contiguous')).toContain('cma');
  expect(terms('how does the contiguous allocator start', 'contiguous')).not.toContain('cma');
  expect(terms('how does cma start', 'cma')).toEqual(
    expect.arrayContaining([expect.stringMatching(/^contig/)]),
  );
});

test('a term that several ways lead to is there once, with the most that one of them trusts it', () => {
  const known = new Abbreviations([
    { short: 'cma', long: 'contiguous memory allocator' },
    { short: 'cma', long: 'card memory area' },
    { short: 'buf', long: 'ring buffer' },
    { short: 'irq', long: 'interrupt request' },
    { short: 'irq', long: 'request of an interrupt' },
  ]);
  const trusts = (question: string, word: string): Record<string, number[]> => {
    const { concepts } = withAbbreviations(analyse(question), known);
    const its: Record<string, number[]> = {};
    for (const { term, trust } of concepts.find((each) => each.word === word)!.variants)
      (its[term] ??= []).push(trust);
    return its;
  };
  // Two long forms of one short form; what the word itself is stays certain.
  expect(trusts('how does cma start', 'cma')).toMatchObject({ memory: [0.4], cma: [1] });
  // `buf` stands for any buffer; that this tree says so of the whole phrase tells more.
  expect(trusts('how does a buffer start', 'buffer')).toMatchObject({ buf: [0.7] });
  expect(trusts('how does a ring buffer start', 'buffer')).toMatchObject({ buf: [0.85] });
  // What stands for the word in any tree is not trusted less for being explained here.
  expect(trusts('how does a buf start', 'buf')).toMatchObject({ buffer: [0.7] });
  // Two phrases, of which one is in the other.
  expect(trusts('is there a request of an interrupt request', 'request')).toMatchObject({
    irq: [0.85],
  });
});

test('a shard knows what its comments and documents write short', async () => {
  const files = {
    'lib/table.c': '/* Reads the block allocation table (BAT). */\nint load(void) { return 0; }\n',
    'lib/README.md': '# Tables\n\nThe cluster remap journal (CRJ) is read first.\n',
  };
  await using tree = await indexedTree(files, ['lib']);
  expect(tree.shards[0]!.index.info.abbreviations).toEqual(
    expect.arrayContaining([
      { short: 'bat', long: 'block allocation table' },
      { short: 'crj', long: 'cluster remap journal' },
    ]),
  );
});
