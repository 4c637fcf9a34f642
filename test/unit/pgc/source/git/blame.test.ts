import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { blobId } from '../../../../../src/pgc/source/blob.js';
import {
  blameLinesMax,
  blameOf,
  type BlameRequest,
} from '../../../../../src/pgc/source/git/blame.js';
import { TemporaryTree } from '../../../../support/git-tree.js';

const before = 'int a;\nint f(void)\n{\n\treturn 1;\n}\n';
const after = 'int a;\nint f(void)\n{\n\t/* Why: two is more. */\n\treturn 2;\n}\n';

async function changed(): Promise<{ tree: TemporaryTree; first: string; second: string }> {
  const tree = await TemporaryTree.create({ 'net/a.c': before });
  const first = tree.commit('net: f', { author: 'Ann', date: '2026-01-01T12:00:00Z' });
  await tree.write({ 'net/a.c': after });
  const second = tree.commit('net: f is more', { author: 'Ben', date: '2026-01-02T12:00:00Z' });
  return { tree, first, second };
}

describe('the blame of some lines', () => {
  test('says who wrote them, when and why', async () => {
    const { tree: made, first, second } = await changed();
    await using tree = made;
    const request = { path: 'net/a.c', line_start: 2, line_end: 6 };
    expect(await blameOf(tree.root, request)).toEqual({
      ...{ file_path: 'net/a.c', line_start: 2, line_end: 6 },
      ...{ commit: second, blob: blobId(Buffer.from(after)) },
      authors: [
        { name: 'Ann', lines: 3 },
        { name: 'Ben', lines: 2 },
      ],
      authors_total: 2,
      commits: [
        { commit: second, author: 'Ben', date: '2026-01-02', subject: 'net: f is more', lines: 2 },
        { commit: first, author: 'Ann', date: '2026-01-01', subject: 'net: f', lines: 3 },
      ],
      commits_total: 2,
      lines_unknown: 0,
    });
  });

  test('as of a revision knows nothing newer; a later .mailmap renames nobody', async () => {
    const { tree: made, first } = await changed();
    await using tree = made;
    await tree.write({ '.mailmap': 'Eve <eve@example.org> Ann <author@example.org>\n' });
    const request = { path: 'a.c', line_start: 1, line_end: 5, asOf: 'HEAD~1' };
    const blame = await blameOf(join(tree.root, 'net'), request);
    expect(blame).toMatchObject({ commit: first, blob: blobId(Buffer.from(before)) });
    expect(blame.authors).toEqual([{ name: 'Ann', lines: 5 }]);
  });

  test('does not blame the edge of a shallow clone', async () => {
    const { tree: made, second } = await changed();
    await using tree = made;
    await using clone = await TemporaryTree.create();
    clone.git('clone', '-q', '--depth', '1', `file://${tree.root}`, '.');
    const blame = await blameOf(clone.root, { path: 'net/a.c', line_start: 1, line_end: 6 });
    expect(blame).toMatchObject({ commit: second, commits: [], authors: [], lines_unknown: 6 });
  });

  test('of an odd name is found', async () => {
    await using tree = await TemporaryTree.create({ ':(top)-x\ny.c': 'int a;\n' });
    tree.commit('odd', { author: 'Ann' });
    const request = { path: ':(top)-x\ny.c', line_start: 1, line_end: 1 };
    expect((await blameOf(tree.root, request)).authors).toEqual([{ name: 'Ann', lines: 1 }]);
  });

  test('is refused with a code', async () => {
    const { tree: made } = await changed();
    await using tree = made;
    const good = { path: 'net/a.c', line_start: 1, line_end: 1 };
    const cases: [Partial<BlameRequest>, string][] = [
      [{ path: '../x.c' }, 'PATH_OUTSIDE_ROOT'],
      [{ path: 'none.c' }, 'NOT_FOUND'],
      [{ path: 'net' }, 'NOT_FOUND'],
      [{ line_start: 0 }, 'USAGE'],
      [{ line_start: 2 }, 'USAGE'],
      [{ line_end: 7 }, 'USAGE'],
      [{ line_end: blameLinesMax + 1 }, 'USAGE'],
      [{ line_start: 1.5, line_end: 2 }, 'USAGE'],
      [{ asOf: 'nope' }, 'USAGE'],
      [{ msMax: 0 }, 'DEADLINE_EXCEEDED'],
      [{ signal: AbortSignal.abort() }, 'INTERRUPTED'],
    ];
    for (const [change, code] of cases)
      await expect(
        blameOf(tree.root, { ...good, ...change }),
        JSON.stringify(change),
      ).rejects.toMatchObject({ code });
    await using plain = await TemporaryTree.create({ 'net/a.c': before });
    await expect(blameOf(plain.root, good)).rejects.toMatchObject({ code: 'REPO_UNREADABLE' });
  });

  test('runs no filter of the repository, and heeds no list of ignored commits', async () => {
    const { tree: made } = await changed();
    await using tree = made;
    await tree.write({ '.gitattributes': '*.c filter=evil diff=evil\n' });
    tree.git('config', 'filter.evil.clean', `touch ${join(tree.root, 'was-run')}; cat`);
    tree.git('config', 'diff.evil.textconv', `touch ${join(tree.root, 'was-run')}; cat`);
    tree.git('config', 'blame.ignoreRevsFile', '/nowhere');
    const blame = await blameOf(tree.root, { path: 'net/a.c', line_start: 1, line_end: 6 });
    expect(blame.authors_total).toBe(2);
    expect(await readdir(tree.root)).not.toContain('was-run');
  });
});
