import fc from 'fast-check';
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { bundledModel, findBundledModel, readVerified } from '../../../src/model/bundled-model.js';
import { textCharsMax, WordPiece } from '../../../src/model/word-piece.js';

const vocabulary = [
  ...['[PAD]', '[UNK]', '[CLS]', '[SEP]', 'buffer', '##s', 'free', '##d', 're', '##lease', 'a'],
  ...['.', '(', ')', '_', 'cafe', '日', '##b'],
];
const tiny = new WordPiece(vocabulary);
const words = (text: string): string[] => tiny.pieces(text, 100).map((id) => vocabulary[id]!);

test.each([
  ['Buffers FREED', ['buffer', '##s', 'free', '##d']],
  ['free(buffer).', ['free', '(', 'buffer', ')', '.']],
  ['re_lease release', ['re', '_', '[UNK]', 're', '##lease']],
  ['Café', ['cafe']],
  ['cafe\u0301', ['cafe']],
  ['a日a', ['a', '日', 'a']],
  ['fr\u0000ee\u200bd', ['free', '##d']],
  ['free\u00a0free', ['free', 'free']],
  ['', []],
  [' \t\n\r ', []],
  [`${'a'.repeat(101)} a`, ['[UNK]', 'a']],
  ['freedx', ['[UNK]']],
])('%j is cut into the longest pieces there are', (text, pieces) => {
  expect(words(text)).toEqual(pieces);
});

test('a mark in a text is text', () => {
  expect(tiny.encode('[SEP]', 100).slice(1, -1)).not.toContain(tiny.end);
});

test('start and end count among the ids, and what is too much is cut off', () => {
  expect(tiny.encode('free free free', 4)).toEqual([2, 6, 6, 3]);
  expect(tiny.encode('free', 2)).toEqual([2, 3]);
});

test('a text is looked at up to its limit', () => {
  expect(tiny.pieces(`${' '.repeat(textCharsMax)}free`, 10)).toEqual([]);
});

test('pieces of any text are those of its words, whatever stands between them', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...'abdefrs日é.( _\u0000\u0301'.split(''))), (letters) => {
      const text = letters.join('');
      const ids = tiny.pieces(text, 1_000);
      expect(ids.every((id) => id >= 0 && id < vocabulary.length)).toBe(true);
      expect(tiny.pieces(` ${text}\n`, 1_000)).toEqual(ids);
    }),
  );
});

test('a vocabulary without the marks is refused', () => {
  expect(() => new WordPiece(['a'])).toThrow('lacks [UNK]');
});

test('another kind of tokenizer is refused', () => {
  expect(() => WordPiece.fromJson('{"model":{"type":"BPE","vocab":{}}}')).toThrow();
});

const found = findBundledModel();

test.skipIf('missing' in found)('ids of the bundled model are those that are known', async () => {
  if ('missing' in found) return;
  const json = await readVerified(found.files.tokenizer, bundledModel.tokenizerSha256);
  const tokenizer = WordPiece.fromJson(json.toString());
  expect(tokenizer.vocabulary.length).toBe(30_522);
  expect(tokenizer.encode('hello world', 256)).toEqual([101, 7592, 2088, 102]);
  expect(tokenizer.encode('unaffable', 256)).toEqual([101, 14477, 20961, 3468, 102]);
  expect(tokenizer.encode('日本', 256)).toEqual([101, 1864, 1876, 102]);
});

interface Published {
  encode(text: string): { ids: number[] };
}

test.skipIf('missing' in found)(
  'the code of this folder is cut as by the published tokenizer',
  async (context) => {
    if ('missing' in found) return;
    const published = await publishedTokenizer(found.files.tokenizer).catch(() => undefined);
    if (published === undefined) return context.skip('@huggingface/tokenizers is not installed');
    const json = await readFile(found.files.tokenizer, 'utf8');
    const tokenizer = WordPiece.fromJson(json);
    for (const name of ['word-piece', 'minilm', 'endpoint']) {
      const text = await readFile(
        new URL(`../../../src/model/${name}.ts`, import.meta.url),
        'utf8',
      );
      for (const line of text.split('\n').filter((each) => !/\[(?:UNK|CLS|SEP)\]/.test(each)))
        expect(tokenizer.encode(line, 128), line).toEqual(published.encode(line).ids);
    }
  },
);

async function publishedTokenizer(file: string): Promise<Published> {
  const name = '@huggingface/tokenizers';
  const { Tokenizer } = (await import(/* @vite-ignore */ name)) as {
    Tokenizer: new (json: object, config: object) => Published;
  };
  const json = JSON.parse(await readFile(file, 'utf8')) as object;
  return new Tokenizer(json, {});
}
