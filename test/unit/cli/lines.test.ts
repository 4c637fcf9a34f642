import { expect, test } from 'vitest';
import { linesIn } from '../../../services/cli/input.js';

const bytesMax = 16;

async function linesOf(chunks: readonly (string | Buffer)[]): Promise<(string | undefined)[]> {
  const lines: (string | undefined)[] = [];
  async function* stream(): AsyncGenerator<Buffer> {
    await Promise.resolve();
    for (const chunk of chunks) yield Buffer.from(chunk);
  }
  for await (const line of linesIn(stream(), bytesMax)) lines.push(line);
  return lines;
}

test('lines are put together from pieces, without the mark of the encoding, the last without an end too', async () => {
  expect(await linesOf(['\ufeff{"a', '":1}\n\n{"b', '":2}'])).toEqual(['{"a":1}', '', '{"b":2}']);
  expect(await linesOf([])).toEqual([]);
});

test('a letter that is cut in two is whole again', async () => {
  const bytes = Buffer.from('ä\n');
  expect(await linesOf([bytes.subarray(0, 1), bytes.subarray(1)])).toEqual(['ä']);
});

test('a line that is too long is none, and the next one is read', async () => {
  const half = Buffer.alloc(bytesMax / 2 + 1, 0x61);
  expect(await linesOf([half, half, half, '\nnext\n', half, half])).toEqual([
    ...[undefined, 'next', undefined],
  ]);
});
