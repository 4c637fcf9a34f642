import { truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { asBusError } from '../../../../src/errors/bus-error.js';
import { ScipFile, type ScipDocument } from '../../../../src/pgc/scip/read-index.js';
import { TemporaryTree } from '../../../support/git-tree.js';
import { ours, scipIndex } from '../../../support/scip.js';

const text = 'function f() {}\nf();\n';
const document = {
  path: 'a.ts',
  text,
  occurrences: [
    { line: 1, name: 'f', symbol: ours('a/f().'), isDefinition: true as const, nth: 2 },
    { line: 2, name: 'f', symbol: ours('a/f().') },
  ],
};
const whole = scipIndex('/x', [document, { ...document, path: 'b.ts' }]);

async function read(path: string): Promise<ScipDocument[]> {
  await using file = await ScipFile.open(path);
  await file.metadata();
  const found: ScipDocument[] = [];
  for await (const each of file.documents()) found.push(each);
  return found;
}

async function readBytes(bytes: Buffer): Promise<ScipDocument[]> {
  await using tree = await TemporaryTree.create({ 'index.scip': bytes });
  return await read(join(tree.root, 'index.scip'));
}

test('an index is read document by document', async () => {
  const documents = await readBytes(whole);
  expect(documents.map(({ relative_path }) => relative_path)).toEqual(['a.ts', 'b.ts']);
  expect(documents[0]?.occurrences.map(({ range, symbol_roles }) => [range, symbol_roles])).toEqual(
    [
      [[0, 9, 10], 1],
      [[1, 0, 1], 0],
    ],
  );
});

test('an index that is cut anywhere is refused, or ends after a whole document', async () => {
  await using tree = await TemporaryTree.create({});
  const path = join(tree.root, 'index.scip');
  const outcomes = new Set<string>();
  for (let length = whole.length - 1; length >= 0; length -= 1) {
    if (length === whole.length - 1) await writeFile(path, whole);
    await truncate(path, length);
    outcomes.add(
      await read(path).then(
        (documents) => `${documents.length}`,
        (error: unknown) => asBusError(error).code,
      ),
    );
  }
  expect([...outcomes].sort()).toEqual(['0', '1', 'SCIP_INVALID']);
});

test('fields of a later revision are skipped, inside documents and between them', async () => {
  const later = Buffer.from([
    ...[0xa2, 0x01, 3, 1, 2, 3],
    ...[0xa8, 0x01, 150, 1],
    ...[0xad, 0x01, 1, 2, 3, 4],
    ...[0xa9, 0x01, 1, 2, 3, 4, 5, 6, 7, 8],
  ]);
  expect(await readBytes(Buffer.concat([whole, later]))).toHaveLength(2);
  const path = Buffer.from('c.ts');
  const body = Buffer.concat([Buffer.from([10, path.length]), path, later]);
  const added = Buffer.concat([whole, Buffer.from([18, body.length]), body]);
  expect((await readBytes(added)).at(-1)?.relative_path).toBe('c.ts');
});

test.each([
  ['nothing', Buffer.alloc(0)],
  ['text', Buffer.from('# not an index\n')],
  ['an index without metadata', whole.subarray(whole.indexOf(18, 2 + (whole[1] ?? 0)))],
  ['another protocol', Buffer.concat([Buffer.from([10, 2, 8, 7])])],
  ['a number without an end', Buffer.concat([whole, Buffer.alloc(20, 255)])],
  ['a document that is no message', Buffer.concat([whole, Buffer.from([18, 3, 10, 200, 1])])],
])('%s is refused', async (_, bytes) => {
  await expect(readBytes(bytes)).rejects.toMatchObject({ code: 'SCIP_INVALID' });
});

test('a document that is too large is refused before it is read', async () => {
  const huge = Buffer.concat([whole, Buffer.from([18, 0xff, 0xff, 0xff, 0xff, 0x07])]);
  await expect(readBytes(huge)).rejects.toMatchObject({ code: 'SCIP_TOO_LARGE' });
});

test('a folder, and a file that is not there, are named', async () => {
  await using tree = await TemporaryTree.create({});
  for (const path of [tree.root, join(tree.root, 'none')])
    await expect(read(path)).rejects.toMatchObject({ code: 'SCIP_UNREADABLE', data: { path } });
});
