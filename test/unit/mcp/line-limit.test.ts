import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { LineLimit } from '../../../services/mcp/line-limit.js';

async function through(chunks: string[], bytesMax: number): Promise<[string, number]> {
  let dropped = 0;
  const limit = new LineLimit(bytesMax, () => (dropped += 1));
  let lines = '';
  for await (const each of Readable.from(chunks.map((each) => Buffer.from(each))).pipe(limit))
    lines += String(each);
  return [lines, dropped];
}

test('lines come whole, however they were cut into pieces', async () => {
  expect(await through(['on', 'e\ntw', 'o\nthree', '\n', '\nfour'], 10)).toEqual([
    'one\ntwo\nthree\n\n',
    0,
  ]);
});

test('a line that is too long is dropped and told once, and the next one is read', async () => {
  expect(await through(['aaaa', 'aaaa', 'aaaa\nok\n', 'bbbbbbbbbbbb\nfine\n'], 5)).toEqual([
    'ok\nfine\n',
    2,
  ]);
  expect(await through(['1234\n12345\n'], 5)).toEqual(['1234\n', 1]);
});
