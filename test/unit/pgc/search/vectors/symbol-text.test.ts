import fc from 'fast-check';
import { expect, test } from 'vitest';
import { wordsOf } from '../../../../../src/pgc/format/words.js';
import { stem } from '../../../../../src/pgc/format/stem.js';
import { explains, inWords, plainText } from '../../../../../src/pgc/search/vectors/symbol-text.js';

test.each([
  ['dma_alloc_coherent', 'dma alloc coherent'],
  ['dmaAllocCoherent', 'dma Alloc Coherent'],
  ['DMABuffers', 'DMA Buffers'],
  ['IPv4', 'IPv4'],
  ['URLs', 'URLs'],
  ['__init', 'init'],
  ['_', ''],
  ['plain', 'plain'],
])('%s is read as %j', (name, words) => {
  expect(inWords(name)).toBe(words);
});

test('a name is cut as the words of the index are', () => {
  const parts = fc.array(
    fc.constantFrom('dma', 'Alloc', 'URL', 'x64', '_', 'Buffers', 'IP', 'v4'),
    {
      minLength: 1,
    },
  );
  fc.assert(
    fc.property(parts, (some) => {
      const name = some.join('').slice(0, 64);
      const own = inWords(name)
        .split(' ')
        .map((each) => stem(each.toLowerCase()))
        .filter((each) => each.length >= 2 && !/^\d+$/.test(each));
      const known = new Set(wordsOf(name));
      expect(own.filter((each) => !known.has(each))).toEqual([]);
    }),
  );
});

test('names in a text are read as words, the rest stays', () => {
  expect(plainText('Why does kfree_skb() drop sk_buff->head, isn’t it freed?')).toBe(
    'Why does kfree skb() drop sk buff->head, isn’t it freed?',
  );
});

test('what explains has a vector: functions, types, and what is documented', () => {
  const of = (kind: string, documented = false, declaration = false): boolean =>
    explains({ kind, declaration }, documented);
  expect(
    ['function', 'method', 'class', 'struct', 'interface', 'type', 'enum'].every((k) => of(k)),
  ).toBe(true);
  expect(['constant', 'macro', 'variable'].some((kind) => of(kind))).toBe(false);
  expect(of('macro', true)).toBe(true);
  expect(of('function', false, true)).toBe(false);
  expect(of('function', true, true)).toBe(true);
});
