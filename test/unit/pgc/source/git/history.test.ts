import { execFileSync } from 'node:child_process';
import { readdir, rename, symlink, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HistoryBuilder } from '../../../../../src/pgc/source/git/history.js';
import { historyOf, type HistoryRequest } from '../../../../../src/pgc/source/git/history-reader.js';
import { TemporaryTree } from '../../../../support/git-tree.js';

const day = (n: number): string => `2026-01-${String(n).padStart(2, '0')}T12:00:00Z`;

/** A history that must be there. */
async function read(root: string, request: HistoryRequest = {}) {
  const history = await historyOf(root, request);
  if (history === undefined) throw new Error('no history');
  return history;
}

describe('the history of a file', () => {
  test('says who changed it, how often, when first and last, and why', async () => {
    await using tree = await TemporaryTree.create({ 'mm/slab.c': '1\n', 'mm/other.c': '1\n' });
    tree.commit('mm: slab', { author: 'Ann', date: day(1) });
    await tree.write({ 'mm/slab.c': '2\n' });
    tree.commit('mm: faster', { author: 'Ben', date: day(2) });
    await tree.write({ 'mm/slab.c': '3\n' });
    const last = tree.commit('mm: right\n\nA body.', { author: 'Ann', date: day(3) });
    const history = await read(tree.root);
    expect(history.isComplete).toBe(true);
    expect(history.commits).toBe(3);
    expect(history.commit).toBe(last);
    const slab = history.of('mm/slab.c');
    expect(slab).toMatchObject({
      commits: 3,
      authors: [
        { name: 'Ann', commits: 2 },
        { name: 'Ben', commits: 1 },
      ],
      authors_total: 2,
      first: { author: 'Ann', date: '2026-01-01', subject: 'mm: slab' },
      last: { commit: last, author: 'Ann', date: '2026-01-03', subject: 'mm: right' },
      co_changes: [],
    });
    expect(history.of('mm/other.c')?.commits).toBe(1);
    expect(history.of('mm/none.c')).toBeUndefined();
  });

  test('names the five authors of most commits, and never an address', async () => {
    await using tree = await TemporaryTree.create();
    const authors = ['a', 'b', 'c', 'd', 'e', 'f', 'f', 'mail@example.org', '@', 'a'];
    for (const [at, author] of authors.entries()) {
      await tree.write({ 'a.c': `${at}\n` });
      tree.commit(`${at}`, { author });
    }
    const known = (await read(tree.root)).of('a.c');
    expect(known?.authors_total).toBe(8);
    expect(known?.authors).toEqual([
      { name: 'a', commits: 2 },
      { name: 'f', commits: 2 },
      { name: '@', commits: 1 },
      { name: 'b', commits: 1 },
      { name: 'c', commits: 1 },
    ]);
    expect((await read(tree.root, { asOf: 'HEAD~2' })).of('a.c')?.last.author).toBe('mail');
  });

  test('names as author who wrote a change, not who merged it', async () => {
    await using tree = await TemporaryTree.create({ 'a.c': '1\n', 'b.c': '1\n' });
    tree.commit('base', { author: 'Ann', date: day(1) });
    tree.git('checkout', '-qb', 'side');
    await tree.write({ 'a.c': '2\n' });
    tree.commit('on the side', { author: 'Ben', date: day(2) });
    tree.git('checkout', '-q', 'main');
    await tree.write({ 'b.c': '2\n' });
    tree.commit('on main', { author: 'Cem', date: day(3) });
    tree.git('merge', '-q', '--no-ff', '-m', 'a merge', 'side');
    const history = await read(tree.root);
    expect(history.commits).toBe(3);
    expect(history.of('a.c')?.last).toMatchObject({ author: 'Ben', subject: 'on the side' });
    expect(history.of('a.c')?.commits).toBe(2);
  });

  test('begins anew where it was renamed, and ends where it was removed', async () => {
    await using tree = await TemporaryTree.create({ 'old.c': 'int a;\n', 'gone.c': 'int g;\n' });
    tree.commit('first', { author: 'Ann', date: day(1) });
    await rename(join(tree.root, 'old.c'), join(tree.root, 'new.c'));
    await rename(join(tree.root, 'gone.c'), join(tree.root, 'here.txt'));
    tree.commit('renamed', { author: 'Ben', date: day(2) });
    const history = await read(tree.root);
    expect(history.of('new.c')).toMatchObject({ commits: 1, first: { subject: 'renamed' } });
    expect(history.of('old.c')).toBeUndefined();
    expect(history.of('gone.c')).toBeUndefined();
  });

  test('as of a commit holds nothing newer', async () => {
    await using tree = await TemporaryTree.create({ 'a.c': '1\n' });
    const first = tree.commit('first', { author: 'Ann', date: day(1) });
    await tree.write({
      'a.c': '2\n',
      'b.c': '1\n',
      '.mailmap': 'Eve <e@x> Ann <author@example.org>\n',
    });
    tree.commit('second', { author: 'Ben', date: day(2) });
    tree.git('tag', 'v2');
    tree.git('replace', first, 'HEAD');
    const history = await read(tree.root, { asOf: 'v2~1' });
    expect(history.commit).toBe(first);
    expect(history.commits).toBe(1);
    expect(history.of('a.c')?.last).toMatchObject({ author: 'Ann', subject: 'first' });
    expect(history.of('b.c')).toBeUndefined();
  });

  test('counts side branches that were merged without effect, whichever folder is asked about', async () => {
    await using tree = await TemporaryTree.create({ 'net/a.c': '1\n', 'b.c': '1\n' });
    tree.commit('base', { date: day(1) });
    tree.git('checkout', '-qb', 'side');
    await tree.write({ 'net/a.c': '2\n' });
    tree.commit('picked', { date: day(2) });
    tree.git('checkout', '-q', 'main');
    await tree.write({ 'net/a.c': '2\n', 'b.c': '2\n' });
    tree.commit('the same', { date: day(3) });
    tree.git('merge', '-q', '--no-ff', '-m', 'nothing new', 'side');
    expect((await read(tree.root)).of('net/a.c')?.commits).toBe(3);
    expect((await read(join(tree.root, 'net'))).of('a.c')?.commits).toBe(3);
  });
});

describe('co-change', () => {
  test('names files that changed together three times or more, with its confidence', async () => {
    await using tree = await TemporaryTree.create();
    for (let n = 0; n < 4; n += 1) {
      const pair = { 'net/a.c': `${n}\n`, 'net/a.h': `${n}\n` };
      await tree.write(n < 2 ? { ...pair, 'net/twice.c': `${n}\n` } : pair);
      tree.commit(`${n}`, { date: day(n + 1) });
    }
    await tree.write({ 'net/a.c': 'alone\n' });
    tree.commit('alone', { date: day(9) });
    const history = await read(tree.root);
    expect(history.of('net/a.c')?.co_changes).toEqual([
      { path: 'net/a.h', together: 4, confidence: 0.8 },
    ]);
    expect(history.of('net/a.h')?.co_changes).toEqual([
      { path: 'net/a.c', together: 4, confidence: 1 },
    ]);
    expect(history.of('net/twice.c')?.co_changes).toEqual([]);
  });

  test('is not read from commits of more than fifty files, seen from a small folder too', async () => {
    await using tree = await TemporaryTree.create();
    for (let n = 0; n < 3; n += 1) {
      const many = Object.fromEntries(
        Array.from({ length: 49 }, (_, at) => [`doc/${at}.txt`, `${n}\n`]),
      );
      await tree.write({ ...many, 'mm/a.c': `${n}\n`, 'mm/b.c': `${n}\n` });
      tree.commit(`licence ${n}`, { date: day(n + 1) });
    }
    for (const root of [tree.root, join(tree.root, 'mm')]) {
      const history = await read(root);
      const known = history.of(root === tree.root ? 'mm/a.c' : 'a.c');
      expect(known?.commits).toBe(3);
      expect(known?.co_changes).toEqual([]);
    }
  });

  test('is what counting every pair would give', () => {
    const commit = fc.uniqueArray(fc.integer({ min: 0, max: 7 }), { maxLength: 6 });
    fc.assert(
      fc.property(fc.array(commit, { maxLength: 60 }), (commits) => {
        const names = ['a', 'b', 'c', 'd', 'e', 'f'];
        const builder = new HistoryBuilder(names);
        for (const [at, touched] of commits.entries()) {
          builder.commit({ commit: `${at}`, seconds: at, author: `${at % 3}`, subject: '' });
          // Numbers behind the names stand for files that are gone; damaged trees may name a file twice.
          for (const id of [...touched, ...touched.slice(0, 2)])
            builder.touch(names[id] ?? `gone${id}`);
        }
        const history = builder.finish('', undefined);
        for (const [id, name] of names.entries()) {
          const own = commits.filter((touched) => touched.includes(id));
          const pairs = names
            .map((path, other) => {
              const together = own.filter((touched) => touched.includes(other)).length;
              return { path, together, confidence: together / own.length };
            })
            .filter(({ path, together }) => path !== name && together >= 3)
            .sort((a, b) => b.together - a.together || (a.path < b.path ? -1 : 1))
            .slice(0, 5);
          const known = history.of(name);
          expect(known?.commits ?? 0).toBe(own.length);
          expect(known?.co_changes ?? []).toEqual(pairs);
        }
      }),
    );
  });
});

describe('a history', () => {
  test('of a folder inside a work tree has the paths below that folder', async () => {
    await using tree = await TemporaryTree.create({ 'net/core/dev.c': '1\n', 'mm/slab.c': '1\n' });
    tree.commit('first');
    const history = await read(join(tree.root, 'net'));
    expect(history.of('core/dev.c')?.commits).toBe(1);
    expect(history.of('mm/slab.c')).toBeUndefined();
    expect(history.of('net/core/dev.c')).toBeUndefined();
  });

  test('knows odd names, and leaves out links and submodules', async () => {
    const odd = ['-x.c', 'a\nb.c', 'a b.c', ':(top)c.c', ':100644 1.c', '"q".c', 'd\n/ä.c'];
    await using other = await TemporaryTree.create({ 'a.c': '' });
    other.commit('other');
    await using tree = await TemporaryTree.create(Object.fromEntries(odd.map((n) => [n, '1\n'])));
    tree.commit('first');
    await symlink('a b.c', join(tree.root, 'link.c'));
    tree.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', other.root, 'sub');
    tree.commit('::100644 ');
    const history = await read(tree.root);
    expect(odd.map((name) => history.of(name)?.commits)).toEqual(odd.map(() => 1));
    expect(history.of('link.c')).toBeUndefined();
    expect(history.of('sub')).toBeUndefined();
    expect(history.commits).toBe(2);
    const inside = await read(join(tree.root, 'd\n'));
    expect(inside.of('ä.c')?.commits).toBe(1);
  });

  test('is the same in a linked work tree and where ids are SHA-256', async () => {
    await using tree = await TemporaryTree.create({ 'a.c': '1\n' });
    tree.git('init', '-q', '--object-format=sha256');
    const commit = tree.commit('first');
    expect(commit).toHaveLength(64);
    await using linked = await TemporaryTree.create();
    tree.git('worktree', 'add', '-q', '--detach', join(linked.root, 'w'));
    for (const root of [tree.root, join(linked.root, 'w')])
      expect((await read(root)).of('a.c')?.last.commit).toBe(commit);
  });

  test('of a shallow clone says so, and does not blame its edge for everything', async () => {
    await using tree = await TemporaryTree.create({ 'a.c': '1\n', 'b.c': '1\n' });
    tree.commit('first', { author: 'Ann', date: day(1) });
    for (let n = 2; n < 5; n += 1) {
      await tree.write({ 'a.c': `${n}\n` });
      tree.commit(`change ${n}`, { author: 'Ben', date: day(n) });
    }
    await using clone = await TemporaryTree.create();
    clone.git('clone', '-q', '--depth', '3', `file://${tree.root}`, '.');
    const history = await read(clone.root);
    expect([history.isComplete, history.why]).toEqual([false, 'shallow']);
    expect(history.of('a.c')).toMatchObject({ commits: 2, first: { subject: 'change 3' } });
    expect(history.of('b.c')).toBeUndefined();
  });

  test('that a limit cuts keeps the newest, and says which limit', async () => {
    await using tree = await TemporaryTree.create();
    for (let n = 1; n < 5; n += 1) {
      await tree.write({ 'a.c': `${n}\n` });
      tree.commit(`change ${n}`, { date: day(n) });
    }
    const few = await read(tree.root, { commitsMax: 2 });
    expect([few.isComplete, few.why, few.commits]).toEqual([false, 'commits', 2]);
    expect(few.of('a.c')).toMatchObject({ commits: 2, first: { subject: 'change 3' } });
    const exact = await read(tree.root, { commitsMax: 4 });
    expect([exact.isComplete, exact.commits]).toEqual([true, 4]);
    const small = await read(tree.root, { bytesMax: 100 });
    expect([small.isComplete, small.why, small.commits]).toEqual([false, 'bytes', 0]);
    const short = await read(tree.root, { msMax: 0 });
    expect([short.isComplete, short.why]).toEqual([false, 'time']);
  });

  test('is none without git, without a commit, or when git is broken', async () => {
    await using tree = await TemporaryTree.create({ 'a.c': '' });
    expect(await historyOf(tree.root)).toBeUndefined();
    await expect(historyOf(tree.root, { asOf: 'HEAD' })).rejects.toMatchObject({
      code: 'REPO_UNREADABLE',
    });
    tree.git('init', '-q');
    expect(await historyOf(tree.root)).toBeUndefined();
    await using broken = await TemporaryTree.create({ '.git': 'gitdir: /nowhere\n' });
    expect(await historyOf(broken.root)).toBeUndefined();
    expect(await historyOf(join(tree.root, 'none'))).toBeUndefined();
  });

  test('as of what is no commit is refused', async () => {
    await using tree = await TemporaryTree.create({ 'a.c': '1\n' });
    tree.commit('first');
    const wrong = [
      'nope',
      '',
      '^HEAD',
      '--all',
      'HEAD..HEAD',
      'HEAD:a.c',
      'a\0b',
      'x'.repeat(2_000),
    ];
    for (const asOf of wrong)
      await expect(historyOf(tree.root, { asOf }), asOf).rejects.toMatchObject({ code: 'USAGE' });
  });

  test('whose older commits are lost holds what was read before them', async () => {
    await using tree = await TemporaryTree.create({ 'a.c': '1\n' });
    const first = tree.commit('first', { date: day(1) });
    await tree.write({ 'a.c': '2\n' });
    tree.commit('second', { date: day(2) });
    await tree.write({ 'a.c': '3\n' });
    tree.commit('third', { date: day(3) });
    await truncateLoose(tree.root, first);
    const history = await read(tree.root);
    expect([history.isComplete, history.why]).toEqual([false, 'broken']);
    expect(history.of('a.c')?.last.subject).toBe('third');
  });

  test('of a truncated pack is broken, and not an exception', async () => {
    await using tree = await TemporaryTree.create({ 'a.c': '1\n' });
    const head = tree.commit('first', { date: day(1) });
    tree.git('repack', '-adq');
    const packs = join(tree.root, '.git/objects/pack');
    for (const name of await readdir(packs))
      if (name.endsWith('.pack')) {
        execFileSync('chmod', ['u+w', join(packs, name)]);
        await truncate(join(packs, name), 20);
      }
    expect(await historyOf(tree.root)).toMatchObject({ commit: head, commits: 0, why: 'broken' });
    await expect(historyOf(tree.root, { asOf: head })).rejects.toMatchObject({ code: 'USAGE' });
  });

  test('ends when it is told to', async () => {
    await using tree = await TemporaryTree.create({ 'a.c': '1\n' });
    tree.commit('first');
    await expect(historyOf(tree.root, { signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: 'INTERRUPTED',
    });
  });

  test('runs nothing that the repository configures', async () => {
    await using tree = await TemporaryTree.create({
      'a.c': '1\n',
      'net/b.c': '1\n',
      '.gitattributes': '*.c diff=evil filter=evil\n',
    });
    tree.commit('first');
    const evil = `touch ${join(tree.root, 'was-run')}; cat`;
    for (const key of ['diff.external', 'diff.evil.textconv', 'diff.evil.command', 'core.pager'])
      tree.git('config', key, evil);
    tree.git('config', 'filter.evil.clean', evil);
    tree.git('config', 'log.showSignature', 'true');
    tree.git('config', 'diff.orderFile', '/nowhere');
    tree.git('config', 'log.showRoot', 'false');
    tree.git('config', 'diff.relative', 'true');
    tree.git('config', 'log.follow', 'true');
    expect((await read(tree.root)).of('a.c')?.commits).toBe(1);
    expect((await read(join(tree.root, 'net'))).of('b.c')?.commits).toBe(1);
    expect(await readdir(tree.root)).not.toContain('was-run');
  });
});

async function truncateLoose(root: string, id: string): Promise<void> {
  const path = join(root, '.git/objects', id.slice(0, 2), id.slice(2));
  execFileSync('chmod', ['u+w', path]);
  await truncate(path, 5);
}
