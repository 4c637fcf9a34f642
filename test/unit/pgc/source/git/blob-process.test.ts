import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { blobId } from '../../../../../src/pgc/source/blob.js';
import { BlobProcess } from '../../../../../src/pgc/source/git/blob-process.js';
import { historyOf } from '../../../../../src/pgc/source/git/history-reader.js';
import { RevisionTree } from '../../../../../src/pgc/source/revision-tree.js';
import { TemporaryTree } from '../../../../support/git-tree.js';

const path = process.env.PATH;
afterEach(() => {
  process.env.PATH = path;
});

const id = 'a'.repeat(40);

/** A folder with a program called git, which is first on the way from now on. */
async function gitThat(script: string): Promise<TemporaryTree> {
  const tree = await TemporaryTree.create({ git: `#!/bin/sh\n${script}\n` });
  await chmod(join(tree.root, 'git'), 0o755);
  process.env.PATH = `${tree.root}:${path ?? ''}`;
  return tree;
}

describe('a process that reads blobs', () => {
  test('says what is missing, what is no blob and what is too large, and goes on', async () => {
    await using tree = await TemporaryTree.create({ 'a.c': 'int a;\n', 'b.c': 'int a, b;\n' });
    const commit = tree.commit('first');
    const blobs = new BlobProcess(tree.root, 7);
    const a = blobId(Buffer.from('int a;\n'));
    const asked = [id, commit, blobId(Buffer.from('int a, b;\n')), a];
    const read = await Promise.all(asked.map((each) => blobs.read(each)));
    expect(read).toEqual([
      { refused: 'missing' },
      { refused: 'missing' },
      { refused: 'too large' },
      { bytes: Buffer.from('int a;\n') },
    ]);
    await blobs.close();
    await expect(blobs.read(a)).rejects.toThrow('it ended with 0');
  });

  test.each([
    ['printf "hello world\\n"; exec sleep 9', 'unexpected output'],
    ['head -c 9000 /dev/zero; exec sleep 9', 'unexpected output'],
    [`printf "${'b'.repeat(40)} blob 1\\nx\\n"; exec sleep 9`, 'unexpected output'],
    [`printf "${id} blob 9\\nx"`, 'it ended with 0'],
    ['exec sleep 9', 'no output for 200 ms'],
    ['exit 3', 'it ended with 3'],
  ])('fails all that is asked of it when it does not behave: %s', async (script, why) => {
    await using tree = await gitThat(script);
    // On a busy machine a shell takes its time to say anything.
    const blobs = new BlobProcess(tree.root, 1_000, why.includes('200 ms') ? 200 : 20_000);
    for (const outcome of await Promise.allSettled([blobs.read(id), blobs.read(id)]))
      expect(String((outcome as PromiseRejectedResult).reason)).toContain(why);
    await expect(blobs.read(id)).rejects.toThrow(why);
    await blobs.close();
  });

  test('is killed when it does not end by itself', async () => {
    await using tree = await gitThat('exec sleep 99');
    const blobs = new BlobProcess(tree.root, 1_000);
    const open = blobs.read(id).catch((error: unknown) => String(error));
    await blobs.close();
    expect(await open).toContain('it ended with SIGKILL');
  });
});

test('where git is not installed there is no history, and a revision is refused', async () => {
  await using tree = await TemporaryTree.create({ 'a.c': '' });
  tree.commit('first');
  await using nothing = await TemporaryTree.create();
  process.env.PATH = nothing.root;
  expect(await historyOf(tree.root)).toBeUndefined();
  await expect(RevisionTree.open(tree.root, 'HEAD')).rejects.toMatchObject({
    code: 'REPO_UNREADABLE',
  });
  await expect(new BlobProcess(tree.root, 1_000).read(id)).rejects.toThrow('it cannot be started');
});
