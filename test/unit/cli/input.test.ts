import path from 'node:path';
import { expect, test } from 'vitest';
import { beginningOf, wholeOf } from '../../../services/cli/input.js';
import { TemporaryTree } from '../../support/git-tree.js';

test('of a text its beginning is read, without what colours it', async () => {
  await using tree = await TemporaryTree.create({
    'log.txt': '\u001b[1;31mgate\u001b[0m is \u009b2Jshut, [1;31m is not',
  });
  const file = path.join(tree.root, 'log.txt');
  expect(await beginningOf(file, 100)).toEqual({
    text: 'gate is shut, [1;31m is not',
    isCut: false,
  });
  expect(await beginningOf(file, 11)).toEqual({ text: 'gate', isCut: true });
});

test('the whole of a file is read up to its limit, and nothing of what is none', async () => {
  await using tree = await TemporaryTree.create({ 'body.txt': '12345678' });
  const file = path.join(tree.root, 'body.txt');
  expect((await wholeOf(file, 8, 'the input')).toString()).toBe('12345678');
  await expect(wholeOf(file, 7, 'the input')).rejects.toMatchObject({
    code: 'TOO_LARGE',
    data: { what: 'the input', bytes: 8, limit: 7 },
  });
  await expect(wholeOf(tree.root, 8, 'the input')).rejects.toMatchObject({
    code: 'USAGE',
    data: { detail: `${tree.root} is a folder, and a file is wanted` },
  });
  await expect(wholeOf(`${file}.absent`, 8, 'the input')).rejects.toMatchObject({ code: 'USAGE' });
});
