import { execFileSync } from 'node:child_process';
import { readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { blobId } from '../../../../src/pgc/source/blob.js';
import { RevisionTree } from '../../../../src/pgc/source/revision-tree.js';
import { fileBytesMax, lineBytesMax, SourceTree } from '../../../../src/pgc/source/source-tree.js';
import { TemporaryTree } from '../../../support/git-tree.js';

async function listed(root: string, revision = 'HEAD') {
  await using tree = await RevisionTree.open(root, revision);
  const { files, leftOut } = await tree.list();
  return {
    paths: files.map((file) => file.path),
    leftOut: Object.fromEntries(leftOut.map(({ path, reason }) => [path, reason])),
  };
}

const loose = (root: string, id: string): string =>
  join(root, '.git/objects', id.slice(0, 2), id.slice(2));

/** Makes a tree object of rows that no work tree could give. */
function treeOf(tree: TemporaryTree, rows: Buffer): string {
  const args = ['hash-object', '-t', 'tree', '-w', '--literally', '--stdin'];
  return execFileSync('git', args, { cwd: tree.root, input: rows }).toString().trim();
}

function row(mode: string, name: string | Buffer, id: string): Buffer {
  return Buffer.concat([
    Buffer.from(`${mode} `),
    Buffer.from(name),
    Buffer.from([0]),
    Buffer.from(id, 'hex'),
  ]);
}

describe('the tree of a revision', () => {
  test('has the files of that commit and their content, nothing newer', async () => {
    await using tree = await TemporaryTree.create({
      'mm/a.c': 'int a;\n',
      'mm/gone.c': 'int g;\n',
    });
    const first = tree.commit('first');
    await tree.write({ 'mm/a.c': 'int newer;\n', 'mm/new.c': 'int n;\n' });
    await rm(join(tree.root, 'mm/gone.c'));
    tree.commit('second');
    await tree.write({ 'mm/untracked.c': '' });
    expect((await listed(tree.root, 'HEAD~1')).paths).toEqual(['mm/a.c', 'mm/gone.c']);
    expect((await listed(tree.root)).paths).toEqual(['mm/a.c', 'mm/new.c']);
    await using old = await RevisionTree.open(tree.root, 'HEAD~1');
    expect([old.root, old.commit]).toEqual([tree.root, first]);
    expect(await old.read({ path: 'mm/a.c', language: 'c' })).toEqual({
      ...{ path: 'mm/a.c', language: 'c', bytes: Buffer.from('int a;\n'), lines: 1 },
      blob: blobId(Buffer.from('int a;\n')),
    });
    const absent = await old.read({ path: 'mm/new.c', language: 'c' });
    expect(absent).toEqual({ path: 'mm/new.c', reason: 'absent' });
  });

  test('of HEAD is what SourceTree is of a clean work tree', async () => {
    await using tree = await TemporaryTree.create({
      'app/a.ts': 'export const a = 1;\n',
      'inc/c.h': 'int c;\n',
      'inc/cpp.h': 'namespace a { class B; }\n',
      'binary.c': Buffer.from('int a;\0int b;\n'),
      'minified.c': `int a${' '.repeat(lineBytesMax)};\n`,
      'large.c': Buffer.alloc(fileBytesMax + 1, 'a\n'),
      'most.c': Buffer.alloc(fileBytesMax, 'a\n'),
      'empty.c': '',
      'no-newline.c': 'int a;\nint b;',
      'README.md': '# Tree\n',
      'what.xyz': '',
    });
    tree.commit('first');
    const work = await SourceTree.open(tree.root);
    await using revision = await RevisionTree.open(tree.root, 'HEAD');
    const { files, leftOut, note } = await work.list();
    const wanted = { files, leftOut, note };
    expect(await revision.list()).toEqual(wanted);
    const found = await Promise.all(wanted.files.map((file) => revision.read(file)));
    for (const [at, file] of wanted.files.entries()) {
      const same = await work.read(file);
      if ('bytes' in same) {
        const { bytes, ...rest } = found[at] as typeof same;
        expect(bytes.equals(same.bytes), file.path).toBe(true);
        const { bytes: _, ...wantedRest } = same;
        expect(rest).toEqual(wantedRest);
      } else expect(found[at]).toEqual(same);
    }
    expect(found.filter((each) => 'reason' in each)).toHaveLength(3);
  });

  test('of a folder inside a work tree has the paths below it; of a bare repository all', async () => {
    await using tree = await TemporaryTree.create({ 'net/core/dev.c': 'int d;\n', 'mm/a.c': '' });
    tree.commit('first');
    const net = join(tree.root, 'net');
    expect((await listed(net)).paths).toEqual(['core/dev.c']);
    await using folder = await RevisionTree.open(net, 'HEAD');
    expect(await folder.read({ path: 'core/dev.c', language: 'c' })).toMatchObject({ lines: 1 });
    await using bare = await TemporaryTree.create();
    bare.git('clone', '-q', '--bare', tree.root, '.');
    expect((await listed(bare.root)).paths).toEqual(['mm/a.c', 'net/core/dev.c']);
  });

  test('names blobs by SHA-1 also where git does not', async () => {
    await using tree = await TemporaryTree.create({ 'a.c': 'int a;\n' });
    tree.git('init', '-q', '--object-format=sha256');
    tree.commit('first');
    await using revision = await RevisionTree.open(tree.root, 'HEAD');
    const blob = blobId(Buffer.from('int a;\n'));
    expect(await revision.read({ path: 'a.c', language: 'c' })).toMatchObject({ blob });
  });

  test('that did not have the folder yet is empty', async () => {
    await using tree = await TemporaryTree.create({ 'a.c': '' });
    tree.commit('first');
    await tree.write({ 'net/b.c': '' });
    tree.commit('second');
    expect((await listed(join(tree.root, 'net'), 'HEAD~1')).paths).toEqual([]);
  });

  test('leaves out links and submodules, and says so', async () => {
    await using other = await TemporaryTree.create({ 'a.c': '' });
    other.commit('other');
    await using tree = await TemporaryTree.create({ 'a.c': '' });
    tree.commit('first');
    await symlink('/etc/passwd', join(tree.root, 'link.c'));
    tree.git(
      '-c',
      'protocol.file.allow=always',
      'submodule',
      '--quiet',
      'add',
      other.root,
      'sub.c',
    );
    tree.commit('second');
    expect(await listed(tree.root)).toEqual({
      paths: ['a.c'],
      leftOut: {
        '.gitmodules': 'unknown language',
        'link.c': 'symbolic link',
        'sub.c': 'repository of its own',
      },
    });
  });

  test('reads files of odd names', async () => {
    const names = [
      '-x.c',
      'a\nb.c',
      ' a b.c',
      ':(top)c.c',
      '"q".c',
      'd\n/ä.c',
      '\u{1f600}.c',
      '*.c',
    ];
    await using tree = await TemporaryTree.create(
      Object.fromEntries(names.map((name) => [name, `/* ${JSON.stringify(name)} */\n`])),
    );
    tree.commit('odd');
    await using revision = await RevisionTree.open(tree.root, 'HEAD');
    const { files } = await revision.list();
    expect(files.map((file) => file.path).sort()).toEqual([...names].sort());
    for (const file of files) {
      const source = await revision.read(file);
      if (!('bytes' in source)) throw new Error(source.reason);
      expect(source.bytes.toString()).toBe(`/* ${JSON.stringify(file.path)} */\n`);
    }
  });

  test('leaves out names that no file can have here', async () => {
    await using tree = await TemporaryTree.create({ 'a.c': 'int a;\n' });
    tree.commit('first');
    const blob = blobId(Buffer.from('int a;\n'));
    const up = treeOf(tree, row('100644', 'up.c', blob));
    const root = treeOf(
      tree,
      Buffer.concat([
        row('40000', '..', up),
        row('40000', 'x', treeOf(tree, row('40000', '..', up))),
        row('100644', 'a.c', blob),
        row('100644', 'a.c', blob),
        row('100644', Buffer.from([0x62, 0xff, 0x2e, 0x63]), blob),
        row('100644', `${'l'.repeat(70_000)}.c`, blob),
      ]),
    );
    const commit = tree.git('commit-tree', '-m', 'odd', root).trim();
    const { paths, leftOut } = await listed(tree.root, commit);
    expect(paths).toEqual(['a.c']);
    expect(leftOut).toEqual({
      '../up.c': 'outside the root',
      'x/../up.c': 'outside the root',
      'a.c': 'unreadable',
      'b\ufffd.c': 'name is not UTF-8',
      [Object.keys(leftOut).find((path) => path.startsWith('lll')) ?? 'none']: 'unreadable',
    });
  });

  test('that is none is refused', async () => {
    await using tree = await TemporaryTree.create({ 'a.c': '' });
    await expect(RevisionTree.open(tree.root, 'HEAD')).rejects.toMatchObject({
      code: 'REPO_UNREADABLE',
    });
    tree.git('init', '-q');
    await expect(RevisionTree.open(tree.root, 'HEAD')).rejects.toMatchObject({ code: 'USAGE' });
    tree.commit('first');
    tree.git('tag', 'of-a-tree', 'HEAD^{tree}');
    for (const revision of [
      'nope',
      '',
      '^HEAD',
      '--all',
      '-h',
      'HEAD:a.c',
      'of-a-tree',
      'a\0',
      'a\nb',
    ])
      await expect(RevisionTree.open(tree.root, revision), revision).rejects.toMatchObject({
        code: 'USAGE',
      });
    await expect(RevisionTree.open(join(tree.root, 'none'), 'HEAD')).rejects.toMatchObject({
      code: 'REPO_UNREADABLE',
    });
    const signal = AbortSignal.abort();
    await expect(RevisionTree.open(tree.root, 'HEAD', signal)).rejects.toMatchObject({
      code: 'INTERRUPTED',
    });
  });

  test('answers many readers at once, each with its own file', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 300 }, (_, at) => [`f${at}.c`, `int f${at};\n`.repeat(at * 7)]),
    );
    await using tree = await TemporaryTree.create(files);
    tree.commit('first');
    await using revision = await RevisionTree.open(tree.root, 'HEAD');
    const wanted = (await revision.list()).files;
    const read = await Promise.all(wanted.map((file) => revision.read(file)));
    for (const [at, source] of read.entries())
      expect('bytes' in source && source.bytes.toString()).toBe(files[wanted[at]?.path ?? '']);
  });

  test('runs nothing that the repository configures', async () => {
    await using tree = await TemporaryTree.create({
      'a.c': 'int a;\n',
      '.gitattributes': '*.c filter=e\n',
    });
    tree.commit('first');
    tree.git('config', 'filter.e.smudge', `touch ${join(tree.root, 'was-run')}; cat`);
    tree.git('config', 'core.fsmonitor', `touch ${join(tree.root, 'was-run')}; false`);
    await using revision = await RevisionTree.open(tree.root, 'HEAD');
    expect(await revision.read({ path: 'a.c', language: 'c' })).toMatchObject({ lines: 1 });
    await expect(readFile(join(tree.root, 'was-run'))).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

describe('the tree of a revision in a broken repository', () => {
  test('leaves out a file whose object is gone, or is not what its id says', async () => {
    await using tree = await TemporaryTree.create({
      'a.c': 'int a;\n',
      'b.c': 'int b;\n',
      'c.c': '',
    });
    tree.commit('first');
    await rm(loose(tree.root, blobId(Buffer.from('int a;\n'))));
    const other = loose(tree.root, blobId(Buffer.from('int b;\n')));
    const empty = await readFile(loose(tree.root, blobId(Buffer.alloc(0))));
    execFileSync('chmod', ['u+w', other]);
    await writeFile(other, empty);
    await using revision = await RevisionTree.open(tree.root, 'HEAD');
    const read = await Promise.all(
      ['a.c', 'b.c', 'c.c'].map((path) => revision.read({ path, language: 'c' })),
    );
    expect(read.map((each) => ('reason' in each ? each.reason : each.lines))).toEqual([
      'unreadable',
      'unreadable',
      0,
    ]);
  });

  test('whose tree cannot be read is refused', async () => {
    await using tree = await TemporaryTree.create({ 'd/a.c': 'int a;\n' });
    tree.commit('first');
    await rm(loose(tree.root, tree.git('rev-parse', 'HEAD:d').trim()));
    await expect(RevisionTree.open(tree.root, 'HEAD')).rejects.toMatchObject({
      code: 'REPO_UNREADABLE',
    });
  });

  test('fails with a code when git dies over an object, also for those behind it', async () => {
    await using tree = await TemporaryTree.create({
      'a.c': Buffer.from(Array.from({ length: 200_000 }, (_, at) => (at * 7919) % 251)),
      'b.c': 'int b;\n',
    });
    tree.commit('first');
    const broken = loose(tree.root, tree.git('rev-parse', 'HEAD:a.c').trim());
    execFileSync('chmod', ['u+w', broken]);
    await truncate(broken, 300);
    await using revision = await RevisionTree.open(tree.root, 'HEAD');
    const outcomes = await Promise.allSettled([
      revision.read({ path: 'a.c', language: 'c' }),
      revision.read({ path: 'b.c', language: 'c' }),
    ]);
    for (const outcome of outcomes)
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'REPO_UNREADABLE' } });
    await expect(revision.read({ path: 'b.c', language: 'c' })).rejects.toMatchObject({
      code: 'REPO_UNREADABLE',
    });
  });

  test('fails with a code where a partial clone left objects out, and fetches nothing', async () => {
    await using tree = await TemporaryTree.create({ 'a.c': 'int a;\n' });
    tree.commit('first');
    tree.git('config', 'uploadpack.allowFilter', 'true');
    await using clone = await TemporaryTree.create();
    const partial = ['--no-checkout', '--filter=blob:none', `file://${tree.root}`, '.'];
    clone.git('clone', '-q', ...partial);
    await using revision = await RevisionTree.open(clone.root, 'HEAD');
    await expect(revision.read({ path: 'a.c', language: 'c' })).rejects.toMatchObject({
      code: 'REPO_UNREADABLE',
    });
    expect(clone.git('rev-list', '--objects', '--missing=print', 'HEAD')).toMatch(/^\?/m);
  });

  test('and one that was closed answers no more', async () => {
    await using tree = await TemporaryTree.create({ 'a.c': 'int a;\n' });
    tree.commit('first');
    const revision = await RevisionTree.open(tree.root, 'HEAD');
    await revision[Symbol.asyncDispose]();
    await revision[Symbol.asyncDispose]();
    await expect(revision.read({ path: 'a.c', language: 'c' })).rejects.toMatchObject({
      code: 'REPO_UNREADABLE',
    });
  });
});
