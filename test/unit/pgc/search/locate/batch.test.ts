import { expect, test } from 'vitest';
import { rowBytesMax, rowsIn } from '../../../../../src/pgc/search/locate/batch.js';

async function rowsOf(chunks: readonly (string | Buffer)[]): Promise<(string | undefined)[]> {
  const rows: (string | undefined)[] = [];
  async function* stream(): AsyncGenerator<Buffer> {
    await Promise.resolve();
    for (const chunk of chunks) yield Buffer.from(chunk);
  }
  for await (const row of rowsIn(stream())) rows.push(row);
  return rows;
}

test('lines are put together from pieces, blank ones left out, the last without an end too', async () => {
  expect(await rowsOf(['{"a', '":1}\n\n  \n{"b', '":2}'])).toEqual(['{"a":1}', '{"b":2}']);
  expect(await rowsOf([])).toEqual([]);
});

test('a letter that is cut in two is whole again', async () => {
  const bytes = Buffer.from('ä\n');
  expect(await rowsOf([bytes.subarray(0, 1), bytes.subarray(1)])).toEqual(['ä']);
});

test('a line that is too long is none, and the next one is read', async () => {
  const half = Buffer.alloc(rowBytesMax / 2 + 1, 0x61);
  expect(await rowsOf([half, half, half, '\nnext\n', half, half])).toEqual([
    ...[undefined, 'next', undefined],
  ]);
});
