import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { stem } from '../../../../src/pgc/format/stem.js';
import {
  bodyTermsOf,
  IdentifierTable,
  identifiersOf,
  wordCharsMax,
  wordsOf,
} from '../../../../src/pgc/format/words.js';

describe('words of an identifier', () => {
  test('a name in snake case gives itself and its stemmed parts', () => {
    expect(wordsOf('dma_alloc_coherent')).toEqual([
      'dma_alloc_coherent',
      'dma',
      'alloc',
      'coherent',
    ]);
  });

  test('camel case splits where the case rises, and after a run of capitals', () => {
    expect(wordsOf('DMABuffers')).toEqual(['dmabuffer', 'dma', 'buffer']);
    expect(wordsOf('parseHTTPResponse').slice(1)).toEqual(['parse', 'http', 'response']);
    expect(wordsOf('getURLs').slice(1)).toEqual(['get', 'url']);
  });

  test('digits stay with the letters before them', () => {
    expect(wordsOf('e1000')).toEqual(['e1000']);
    expect(wordsOf('x86_64')).toEqual(['x86_64', 'x86']);
    expect(wordsOf('IPv4')).toEqual(['ipv4']);
    expect(wordsOf('8139too')).toEqual(['8139too']);
  });

  test('leading underscores separate nothing from nothing', () => {
    expect(wordsOf('__alloc_pages')).toEqual(['__alloc_pages', 'alloc', 'page']);
    expect(wordsOf('_private')).toEqual(wordsOf('private'));
  });

  test('a text gives the words of all its names once', () => {
    expect(wordsOf('free the pages, then free page_pool')).toEqual([
      'free',
      'the',
      'page',
      'then',
      'page_pool',
      'pool',
    ]);
  });

  test('words beyond ASCII are words', () => {
    expect(wordsOf('Größe naïve Память')).toEqual(['größe', 'naïve', 'память']);
  });
});

describe('identifiers of a text', () => {
  test('numbers of any notation are left out', () => {
    expect(identifiersOf('x = 42 + 0xFFUL + 1e9 + 0b101 + 1_000n + 3.14f; 64bit')).toEqual([
      '64bit',
    ]);
  });

  test('encoded data is not a word', () => {
    expect(identifiersOf(`${'a'.repeat(wordCharsMax + 1)} ${'b'.repeat(wordCharsMax)}`)).toEqual([
      'b'.repeat(wordCharsMax),
    ]);
  });

  test('any text is read without an error', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        for (const word of wordsOf(text)) expect(word).toBe(word.toLowerCase());
      }),
    );
  });
});

describe('index terms of a body', () => {
  test('keywords and function words of bare text are dropped, but kept inside a name', () => {
    expect(bodyTermsOf('switch')).toEqual([]);
    expect(bodyTermsOf('context_switch')).toEqual(['context_switch', 'context', 'switch']);
    expect(bodyTermsOf('wait_for_completion')).not.toContain('for');
  });

  test('a body and a question name the same thing with the same terms', () => {
    for (const name of ['vma_merge', 'BoundedQueue', 'e1000_probe', 'kmalloc', 'SIGMA_HOME']) {
      expect(wordsOf(name)).toEqual(expect.arrayContaining([...bodyTermsOf(name)]));
    }
  });
});

describe('stems', () => {
  test.each([
    ['alloc', 'allocate allocates allocated allocating allocation allocations allocator'],
    ['buffer', 'buffers buffered buffering'],
    ['page', 'pages paged paging'],
    ['map', 'maps mapped mapping'],
    ['queue', 'queues queued queueing queuing'],
    ['free', 'frees freed freeing'],
    ['register', 'registers registered registering registration'],
    ['entry', 'entries'],
    ['index', 'indices indexes indexed'],
    ['address', 'addresses addressing'],
    ['control', 'controls controlled controlling'],
    ['notify', 'notifies notified notification'],
  ])('inflections of %s meet in it', (root, inflections) => {
    for (const each of inflections.split(' ')) expect(stem(each)).toBe(stem(root));
  });

  test.each([
    ['driver', 'drive'],
    ['header', 'head'],
    ['state', 'stat'],
    ['station', 'stat'],
    ['string', 'str'],
    ['code', 'cod'],
    ['tune', 'tun'],
  ])('%s is not %s', (one, other) => {
    expect(stem(one)).not.toBe(stem(other));
  });

  test('a stem is its own stem, for any word', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z]{1,14}$/), (word) => {
        expect(stem(stem(word))).toBe(stem(word));
      }),
    );
  });

  test('a stem is its own stem, for every word of real prose', () => {
    const prose = readFileSync(
      new URL('../../../../LICENSE', import.meta.url),
      'utf8',
    ).toLowerCase();
    const words = prose.match(/[a-z]+/g) ?? [];
    expect(words.length).toBeGreaterThan(100);
    for (const word of words) expect(stem(stem(word))).toBe(stem(word));
  });
});

test('a table has one value for each identifier, also when it grows', () => {
  const made: string[] = [];
  const table = new IdentifierTable((identifier) => made.push(identifier));
  const names = Array.from({ length: 3_000 }, (_, at) => `name_${at} größe${at}`).join('(');
  const seen: number[] = [];
  const text = `x 0x1f 42 ${names} ${names}`;
  table.each(text, 0, text.length, (value) => seen.push(value));
  expect(made).toEqual(identifiersOf(names));
  expect(seen).toEqual([...made, ...made].map((_, at) => (at % made.length) + 1));
  expect(table.size).toBe(made.length);
  table.each(text, text.length - 5, text.length, (value) => seen.push(value));
  expect(made.at(-1)).toBe('e2999');
});
