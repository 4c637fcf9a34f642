import { execFileSync } from 'node:child_process';
import { mkdir, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { blobId, measureLines } from '../../../../src/pgc/source/blob.js';
import { ConfinedReader } from '../../../../src/pgc/source/confined-reader.js';
import { fileBytesMax, lineBytesMax, SourceTree } from '../../../../src/pgc/source/source-tree.js';
import { TemporaryTree } from '../../../support/git-tree.js';

async function pathsOf(root: string): Promise<string[]> {
  const { files } = await (await SourceTree.open(root)).list();
  return files.map((file) => file.path);
}

async function reasonFor(root: string, path: string): Promise<unknown> {
  const result = await (await SourceTree.open(root)).read({ path, language: 'c' });
  return 'reason' in result ? result.reason : result.lines;
}

describe('a source tree', () => {
  test('of a git work tree has tracked and new files, not ignored ones', async () => {
    await using tree = await TemporaryTree.create({
      '.gitignore': 'out/\n*.gen.c\n',
      'mm/slab.c': 'int a;\n',
      'mm/x.gen.c': 'int x;\n',
      'out/a.c': 'int o;\n',
      'notes.xyz': '# tree\n',
    });
    tree.commitAll();
    await tree.write({ 'mm/new file.c': 'int n;\n' });
    expect(await pathsOf(tree.root)).toEqual(['mm/new file.c', 'mm/slab.c']);
    const { leftOut } = await (await SourceTree.open(tree.root)).list();
    expect(leftOut.map((each) => each.path).sort()).toEqual(['.gitignore', 'notes.xyz']);
  });

  test('of a folder inside a work tree has the paths below that folder', async () => {
    await using tree = await TemporaryTree.create({ 'mm/slab.c': '', 'net/core/dev.c': '' });
    tree.commitAll();
    expect(await pathsOf(join(tree.root, 'net'))).toEqual(['core/dev.c']);
  });

  test('whose git is broken is walked', async () => {
    await using tree = await TemporaryTree.create({
      '.git': 'gitdir: /nowhere\n',
      'a.c': 'int a;\n',
    });
    expect(await pathsOf(tree.root)).toEqual(['a.c']);
  });

  test('does not run the file-system monitor that a repository configures', async () => {
    await using tree = await TemporaryTree.create({ 'a.c': '' });
    tree.commitAll();
    tree.git('config', 'core.fsmonitor', `touch ${join(tree.root, 'was-run')}; false`);
    await pathsOf(tree.root);
    const { leftOut } = await (await SourceTree.open(tree.root)).list();
    expect(leftOut).toEqual([]);
  });

  test('without git leaves out build output, caches and hidden folders, and keeps namesakes', async () => {
    await using tree = await TemporaryTree.create({
      'app/package.json': '{}',
      'app/dist/a.js': '',
      'app/node_modules/x/index.js': '',
      'app/src/a.js': '',
      'drivers/target/core.c': '',
      'rust/target/CACHEDIR.TAG': '',
      'rust/target/gen.c': '',
      '.cache/a.c': '',
    });
    expect(await pathsOf(tree.root)).toEqual([
      'app/package.json',
      'app/src/a.js',
      'drivers/target/core.c',
    ]);
    const { leftOut } = await (await SourceTree.open(tree.root)).list();
    const skipped = leftOut
      .filter((each) => each.reason === 'skipped folder')
      .map((each) => each.path);
    expect(skipped.sort()).toEqual(['.cache', 'app/dist', 'app/node_modules', 'rust/target']);
  });

  test('never follows a symbolic link', async () => {
    await using outside = await TemporaryTree.create({ 'secret.c': 'int secret;\n' });
    await using tree = await TemporaryTree.create({ 'a.c': '' });
    await symlink(outside.root, join(tree.root, 'folder'));
    await symlink(join(outside.root, 'secret.c'), join(tree.root, 'file.c'));
    expect(await pathsOf(tree.root)).toEqual(['a.c']);
    expect(await reasonFor(tree.root, 'file.c')).toBe('symbolic link');
    expect(await reasonFor(tree.root, 'folder/secret.c')).toBe('outside the root');
    expect(await reasonFor(tree.root, '../secret.c')).toBe('outside the root');
  });

  test('does not read a tracked file whose folder was replaced by a link', async () => {
    await using outside = await TemporaryTree.create({ 'slab.c': 'int secret;\n' });
    await using tree = await TemporaryTree.create({ 'mm/slab.c': 'int a;\n' });
    tree.commitAll();
    execFileSync('rm', ['-r', join(tree.root, 'mm')]);
    await symlink(outside.root, join(tree.root, 'mm'));
    expect(await pathsOf(tree.root)).toContain('mm/slab.c');
    expect(await reasonFor(tree.root, 'mm/slab.c')).toBe('outside the root');
  });

  test('does not read through a link that took the place of a folder it has read from', async () => {
    await using outside = await TemporaryTree.create({ secret: 'int secret;\n' });
    await using tree = await TemporaryTree.create({ 'd/x': 'int x;\n' });
    const reader = new ConfinedReader(tree.root, fileBytesMax);
    expect(await reader.read('d/x')).toEqual({ bytes: Buffer.from('int x;\n') });
    await rm(join(tree.root, 'd'), { recursive: true });
    await symlink(outside.root, join(tree.root, 'd'));
    expect(await reader.read('d/secret')).toEqual({ refused: 'outside the root' });
    expect(reader.readSync('d/secret')).toEqual({ refused: 'outside the root' });
  });

  test('says why a file is left out', async () => {
    await using tree = await TemporaryTree.create({
      'binary.c': Buffer.from('int a;\0int b;\n'),
      'minified.c': `int a${' '.repeat(lineBytesMax)};\n`,
      'large.c': Buffer.alloc(fileBytesMax + 1, 'a\n'),
      'good.c': 'int a;\nint b;',
    });
    await mkdir(join(tree.root, 'folder.c'));
    execFileSync('mkfifo', [join(tree.root, 'pipe.c')]);
    const names = ['binary.c', 'minified.c', 'large.c', 'folder.c', 'pipe.c', 'gone.c', 'good.c'];
    const reasons = await Promise.all(names.map((name) => reasonFor(tree.root, name)));
    expect(reasons).toEqual([
      'binary',
      'generated',
      'too large',
      'not a file',
      'not a file',
      'absent',
      2,
    ]);
  });

  test('reads no more of a file than is allowed, however it grows', async () => {
    // Its size is told as 0, as if all of it had been written since.
    const reader = new ConfinedReader(await realpath('/proc/self'), 1_000);
    expect(await reader.read('smaps')).toEqual({ refused: 'too large' });
    expect(reader.readSync('smaps')).toEqual({ refused: 'too large' });
  });

  test('reads a file of any size to its end', async () => {
    const files = Object.fromEntries(
      [0, 1, 4_095, 65_536, 300_001].map((bytes) => [`f${bytes}.c`, Buffer.alloc(bytes, 'a\n')]),
    );
    await using tree = await TemporaryTree.create(files);
    const reader = new ConfinedReader(tree.root, 300_001);
    for (const [path, bytes] of Object.entries(files)) {
      expect(await reader.read(path)).toEqual({ bytes });
      expect(reader.readSync(path)).toEqual({ bytes });
    }
  });

  test('lists repositories inside it as such, and does not look into them', async () => {
    await using library = await TemporaryTree.create({ 'lib.c': 'int lib;\n' });
    library.commit('library');
    await using tree = await TemporaryTree.create({ 'a.c': 'int a;\n' });
    tree.commit('first');
    tree.git('-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', library.root, 'sub.c');
    await tree.write({ 'inner/b.c': 'int b;\n' });
    execFileSync('git', ['init', '-q'], { cwd: join(tree.root, 'inner') });
    const { files, leftOut, note } = await (await SourceTree.open(tree.root)).list();
    expect(files.map((file) => file.path)).toEqual(['a.c']);
    expect(Object.fromEntries(leftOut.map(({ path, reason }) => [path, reason]))).toEqual({
      '.gitmodules': 'unknown language',
      inner: 'repository of its own',
      'sub.c': 'repository of its own',
    });
    expect(note).toBe('');
  });

  test.each([false, true])('lists names that are not UTF-8 (git: %s)', async (hasGit) => {
    await using tree = await TemporaryTree.create({ 'a.c': 'int a;\n' });
    const name = Buffer.concat([Buffer.from(`${tree.root}/caf`), Buffer.from([0xe9, 0x2e, 0x63])]);
    await writeFile(name, 'int b;\n');
    if (hasGit) tree.git('init', '-q');
    const { files, leftOut } = await (await SourceTree.open(tree.root)).list();
    expect(files.map((file) => file.path)).toEqual(['a.c']);
    expect(leftOut).toEqual([{ path: 'caf\ufffd.c', reason: 'name is not UTF-8' }]);
  });

  test('says when git cannot list it, and reads it all the same', async () => {
    await using tree = await TemporaryTree.create({ '.gitignore': 'b.c\n', 'a.c': '', 'b.c': '' });
    tree.commitAll();
    await writeFile(join(tree.root, '.git/index'), 'no index');
    const { files, note } = await (await SourceTree.open(tree.root)).list();
    expect(files.map((file) => file.path)).toEqual(['a.c', 'b.c']);
    expect(note).toBe('git cannot list this tree; files that it would ignore are read as well');
  });

  test('of a bare repository needs a revision', async () => {
    await using tree = await TemporaryTree.create();
    tree.git('init', '-q', '--bare');
    await expect((await SourceTree.open(tree.root)).list()).rejects.toMatchObject({
      code: 'REPO_UNREADABLE',
      message: expect.stringContaining('--as-of HEAD') as string,
    });
  });

  test('of a folder that is not there cannot be read', async () => {
    await expect(SourceTree.open('/no/such/folder')).rejects.toMatchObject({
      code: 'REPO_UNREADABLE',
    });
    await expect(SourceTree.open('/etc/hostname')).rejects.toMatchObject({
      code: 'REPO_UNREADABLE',
    });
  });
});

test('a blob id is the one that git gives', async () => {
  await using tree = await TemporaryTree.create({ 'a.c': 'int ü;\n' });
  tree.commitAll();
  expect(blobId(Buffer.from('int ü;\n'))).toBe(tree.git('hash-object', 'a.c').trim());
});

test.each([
  ['', 0, 0],
  ['\n', 1, 0],
  ['abc', 1, 3],
  ['a\nbcd\n', 2, 3],
  ['a\n\nbc', 3, 2],
])('%j has %i lines, the longest of %i bytes', (text, lines, longest) => {
  expect(measureLines(Buffer.from(text))).toEqual({ lines, longest });
});
