import { access, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { blobId } from '../../../../src/pgc/source/blob.js';
import { Excerpts } from '../../../../src/pgc/source/excerpt.js';
import { verify } from '../../../../src/pgc/answer/verify.js';
import { TemporaryTree } from '../../../support/git-tree.js';

const slab = `#include <linux/slab.h>

static int order;

void *kmalloc(size_t size)
{
	struct page *page = alloc_pages(order);
	return page_address(page);
}

void kfree(const void *p)
{
	free_pages(p, order);
}
`;
const citation = {
  file_path: 'mm/slab.c',
  line_start: 5,
  line_end: 8,
  content: slab.split('\n').slice(4, 8).join('\n'),
  symbol: 'kmalloc',
  blob: blobId(Buffer.from(slab)),
};

const committed = async (): Promise<TemporaryTree> => {
  const tree = await TemporaryTree.create({ 'mm/slab.c': slab, 'mm/other.c': 'int other;\n' });
  tree.commitAll();
  return tree;
};
const status = async (claim: unknown, root: string): Promise<string> => {
  const verdict = await verify(claim, root);
  return `${verdict.status} ${verdict.now_at}`.trim();
};

describe('a citation is valid', () => {
  test('when the cited lines of the cited blob hold the content and the symbol', async () => {
    await using tree = await committed();
    expect(await status(citation, tree.root)).toBe('valid mm/slab.c:5');
  });

  test('when its content is as many of longer cited lines as an excerpt can hold', async () => {
    const lines = ['a', 'b', 'c'].map((letter) => letter.repeat(200));
    await using tree = await TemporaryTree.create({ 'a.c': lines.join('\n') });
    const claim = { file_path: 'a.c', line_start: 1, line_end: 3 };
    const content = lines.slice(0, 2).join('\n');
    expect(await status({ ...claim, content }, tree.root)).toBe('valid a.c:1');
    expect(await status({ ...claim, content: lines[0] }, tree.root)).toMatch(/^false/);
  });

  test('when its content is the beginning of a line that no excerpt can hold', async () => {
    await using tree = await TemporaryTree.create({ 'a.c': 'w'.repeat(900) });
    const claim = { file_path: 'a.c', line_start: 1, line_end: 1 };
    expect(await status({ ...claim, content: 'w'.repeat(500) }, tree.root)).toBe('valid a.c:1');
    expect(await status({ ...claim, content: 'w'.repeat(499) }, tree.root)).toMatch(/^false/);
  });

  test('in a folder without git, and without naming the blob', async () => {
    await using tree = await TemporaryTree.create({ 'mm/slab.c': slab });
    expect(await status({ ...citation, blob: '' }, tree.root)).toMatch(/^valid/);
  });

  test('for a file with carriage returns', async () => {
    const text = slab.replaceAll('\n', '\r\n');
    await using tree = await TemporaryTree.create({ 'mm/slab.c': text });
    const blob = blobId(Buffer.from(text));
    expect(await status({ ...citation, blob }, tree.root)).toMatch(/^valid/);
  });
});

describe('a citation is stale', () => {
  test('where its text is only in a bare repository, and false where it is not even there', async () => {
    await using tree = await committed();
    await using bare = await TemporaryTree.create();
    bare.git('clone', '-q', '--bare', tree.root, '.');
    expect(await status(citation, bare.root)).toBe('stale');
    const other = { ...citation, file_path: 'mm/other.c' };
    expect(await status(other, bare.root)).toMatch(/^false/);
  });

  test('when lines were added above: it names the new place', async () => {
    await using tree = await committed();
    await tree.write({ 'mm/slab.c': `/* one */\n/* two */\n${slab}` });
    expect(await status(citation, tree.root)).toBe('stale mm/slab.c:7');
  });

  test('when the file changed elsewhere: the place is the same', async () => {
    await using tree = await committed();
    await tree.write({ 'mm/slab.c': `${slab}int more;\n` });
    expect(await status(citation, tree.root)).toBe('stale mm/slab.c:5');
  });

  test.each([true, false])('when one cited line changed (git: %s)', async (hasGit) => {
    await using tree = await committed();
    if (!hasGit) await rm(join(tree.root, '.git'), { recursive: true });
    await tree.write({ 'mm/slab.c': slab.replace('alloc_pages(order)', 'alloc_pages(order + 1)') });
    expect(await status(citation, tree.root)).toBe('stale mm/slab.c:5');
  });

  test('when its only line changed beyond recognition: it is nowhere', async () => {
    await using tree = await committed();
    await tree.write({ 'mm/slab.c': slab.replace('static int order;', 'u8 n;') });
    const line = {
      ...citation,
      line_start: 3,
      line_end: 3,
      content: 'static int order;',
      symbol: 'order',
    };
    expect(await status(line, tree.root)).toBe('stale');
  });

  test.each(['committed', 'uncommitted'])('when the file was moved (%s)', async (how) => {
    await using tree = await committed();
    await mkdir(join(tree.root, 'lib'));
    await rename(join(tree.root, 'mm/slab.c'), join(tree.root, 'lib/slab.c'));
    if (how === 'committed') tree.commitAll();
    expect(await status(citation, tree.root)).toBe('stale lib/slab.c:5');
  });

  test('when the file was removed with its history kept', async () => {
    await using tree = await committed();
    await rm(join(tree.root, 'mm/slab.c'));
    tree.commitAll();
    expect(await status(citation, tree.root)).toBe('stale');
  });

  test('when it names no blob and the content stands on other lines', async () => {
    await using tree = await committed();
    const claim = { ...citation, blob: '', line_start: 2, line_end: 5 };
    expect(await status(claim, tree.root)).toBe('stale mm/slab.c:5');
  });
});

describe('a citation is false', () => {
  test.each([
    ['the content is invented', { content: 'void *kmalloc(int gfp)' }],
    ['the content is empty', { content: ' \n' }],
    [
      'it is of git itself',
      {
        file_path: '.git/config',
        line_start: 1,
        line_end: 1,
        content: '[core]',
        symbol: '',
        blob: '',
      },
    ],
    ['the lines are others', { line_start: 6, line_end: 9 }],
    ['the content is one letter of the line', { content: 'v', symbol: '' }],
    ['the content ends within a line', { content: citation.content.slice(0, -3) }],
    ['the content is a part of the cited lines', { line_end: 12 }],
    ['the symbol is a pattern', { symbol: '(k+)+malloc' }],
    ['the lines lie behind the end', { line_start: 900, line_end: 903 }],
    ['the lines go beyond the end', { line_end: 900 }],
    ['the symbol is not there', { symbol: 'vmalloc' }],
    ['the symbol is only a part of a word', { symbol: 'malloc' }],
    ['there is no such path', { file_path: 'mm/dma-mapping.c' }],
    ['the path is a folder', { file_path: 'mm' }],
    [
      'the path is another file, and the blob with it',
      { file_path: 'mm/other.c', content: 'int other;\n}' },
    ],
    ['the path leaves the root', { file_path: '../../etc/passwd' }],
    ['the path is absolute', { file_path: '/etc/passwd' }],
    ['the path holds NUL', { file_path: 'mm/slab.c\0.txt' }],
  ])('when %s', async (_why, change) => {
    await using tree = await committed();
    expect((await verify({ ...citation, ...change }, tree.root)).status).toBe('false');
  });

  test('when the file changed and the cited blob, which git has, never held it', async () => {
    await using tree = await committed();
    await tree.write({ 'mm/slab.c': `${slab}void *kmalloc_node(int node);\n` });
    const claim = { ...citation, content: 'void *kmalloc_node(int node);', symbol: '' };
    expect((await verify(claim, tree.root)).status).toBe('false');
  });

  test('when its path is a link out of the root, though the text behind it fits', async () => {
    await using outside = await TemporaryTree.create({ 'slab.c': slab });
    await using tree = await TemporaryTree.create({ 'a.c': '' });
    await symlink(outside.root, join(tree.root, 'mm'));
    await symlink(join(outside.root, 'slab.c'), join(tree.root, 'slab.c'));
    expect((await verify(citation, tree.root)).status).toBe('false');
    expect((await verify({ ...citation, file_path: 'slab.c' }, tree.root)).status).toBe('false');
  });
});

test('no program that the configuration of a repository names for signatures is run', async () => {
  await using tree = await committed();
  await rm(join(tree.root, 'mm/slab.c'));
  tree.commitAll();
  const signature = 'gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----';
  const signed = tree.git('cat-file', 'commit', 'HEAD').replace('\n\n', `\n${signature}\n\n`);
  await writeFile(join(tree.root, '.git/signed'), signed);
  const commit = tree.git('hash-object', '-t', 'commit', '-w', '.git/signed').trim();
  tree.git('update-ref', 'HEAD', commit);
  const program = join(tree.root, '.git/program');
  const trace = join(tree.root, '.git/was-run');
  await writeFile(program, `#!/bin/sh\ntouch '${trace}'\n`, { mode: 0o755 });
  tree.git('config', 'gpg.program', program);
  tree.git('config', 'log.showSignature', 'true');
  expect(await status(citation, tree.root)).toBe('stale');
  await expect(access(trace)).rejects.toMatchObject({ code: 'ENOENT' });
  // The trap is a real one.
  tree.git('log', '-1');
  await access(trace);
});

describe('a citation without lines', () => {
  const quote = { file_path: 'mm/slab.c', content: '  return page_address(page);' };

  test('gets those in which its text stands, and is valid with them', async () => {
    await using tree = await committed();
    const { found, ...verdict } = await verify(quote, tree.root);
    expect(verdict).toMatchObject({ status: 'valid', now_at: 'mm/slab.c:8' });
    expect(found).toEqual({ line_start: 8, line_end: 8, content: '\treturn page_address(page);' });
    expect(await status({ ...quote, ...found }, tree.root)).toBe('valid mm/slab.c:8');
    const part = { ...quote, content: 'alloc_pages(order);\n\treturn page_address' };
    expect((await verify(part, tree.root)).found).toMatchObject({ line_start: 7, line_end: 8 });
  });

  test.each([
    ['is nowhere in the file', 'return kmalloc(page);'],
    ['begins within a word', 'ress(page);'],
    ['is in every file', '}'],
  ])('is false where its text %s', async (_, content) => {
    await using tree = await committed();
    expect(await verify({ ...quote, content }, tree.root)).toMatchObject({ status: 'false' });
  });

  test('of a file that has changed is stale', async () => {
    await using tree = await committed();
    await writeFile(join(tree.root, 'mm/slab.c'), 'int nothing;\n');
    const cited = { ...quote, blob: citation.blob };
    expect(await status(cited, tree.root)).toBe('stale');
  });
});

test.each([
  ['not an object', 'mm/slab.c'],
  ['without content', { ...citation, content: undefined }],
  ['with lines in reverse', { ...citation, line_start: 9, line_end: 8 }],
  ['with line 0', { ...citation, line_start: 0 }],
  ['with a broken line', { ...citation, line_start: 1.5 }],
  ['with a blob that is none', { ...citation, blob: 'HEAD' }],
  ['with more content than an excerpt', { ...citation, content: 'x'.repeat(501) }],
  ['with newlines without end', { ...citation, content: `${'\n'.repeat(1_000_000)}x` }],
  ['with a symbol that is no name', { ...citation, symbol: 'x'.repeat(513) }],
])('a citation %s is malformed', async (_what, claim) => {
  await using tree = await committed();
  const { status, reason } = await verify(claim, tree.root);
  expect(status).toBe('malformed');
  expect(reason).not.toMatch(/Invalid|Too (?:small|big)|expected|✖/);
  expect(reason).toMatch(/^(?:it|line_|content|blob|symbol)/);
});

describe('an excerpt', () => {
  test('that could not be read is looked for again', async () => {
    await using tree = await TemporaryTree.create();
    const excerpts = new Excerpts(tree.root);
    expect(excerpts.contentOf('mm/slab.c', citation.blob, 5, 8)).toBeUndefined();
    await tree.write({ 'mm/slab.c': slab });
    expect(excerpts.contentOf('mm/slab.c', citation.blob, 5, 8)).toBe(citation.content);
  });

  test('is not cut through a surrogate pair', async () => {
    const text = `${'x'.repeat(499)}😀\n\ny\n`;
    await using tree = await TemporaryTree.create({ 'a.c': text });
    const content = new Excerpts(tree.root).contentOf('a.c', blobId(Buffer.from(text)), 1, 3);
    expect(content).toBe('x'.repeat(499));
    const claim = { file_path: 'a.c', line_start: 1, line_end: 1, content };
    expect(await status(claim, tree.root)).toBe('valid a.c:1');
  });

  test('is the verbatim text while the tree has the indexed content', async () => {
    await using tree = await TemporaryTree.create({ 'mm/slab.c': slab });
    const excerpts = new Excerpts(tree.root);
    expect(excerpts.contentOf('mm/slab.c', citation.blob, 5, 8)).toBe(citation.content);
    expect(excerpts.lines({ path: 'mm/slab.c', blob: citation.blob }, 13, 99)).toEqual([
      '\tfree_pages(p, order);',
      '}',
    ]);
  });

  test('of content that the tree lost comes from git, and without git from nowhere', async () => {
    await using tree = await committed();
    await tree.write({ 'mm/slab.c': 'int changed;\n' });
    expect(new Excerpts(tree.root).contentOf('mm/slab.c', citation.blob, 5, 8)).toBe(
      citation.content,
    );
    await rm(join(tree.root, '.git'), { recursive: true });
    expect(new Excerpts(tree.root).contentOf('mm/slab.c', citation.blob, 5, 8)).toBeUndefined();
  });

  test('ends at a line end within 500 characters', async () => {
    const text = `${'x'.repeat(300)}\n${'y'.repeat(199)}\nz\n`;
    await using tree = await TemporaryTree.create({ 'a.c': text, 'b.c': 'w'.repeat(900) });
    const excerpts = new Excerpts(tree.root);
    expect(excerpts.contentOf('a.c', blobId(Buffer.from(text)), 1, 3)).toBe(text.slice(0, 500));
    expect(excerpts.contentOf('b.c', blobId(Buffer.from('w'.repeat(900))), 1, 1)).toBe(
      'w'.repeat(500),
    );
  });

  test('is never read from outside the root', async () => {
    await using outside = await TemporaryTree.create({ 'slab.c': slab });
    await using tree = await TemporaryTree.create({ 'a.c': '' });
    await symlink(outside.root, join(tree.root, 'mm'));
    const excerpts = new Excerpts(tree.root);
    expect(excerpts.contentOf('mm/slab.c', citation.blob, 5, 8)).toBeUndefined();
    expect(excerpts.contentOf(join(outside.root, 'slab.c'), citation.blob, 5, 8)).toBeUndefined();
  });
});
