import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BusError } from '../../../../src/errors/bus-error.js';
import { pathGlob } from '../../../../src/pgc/source/path-glob.js';
import {
  ownersBytesMax,
  patternsMax,
  sectionFinder,
  sectionsOf,
  type OwnersFile,
} from '../../../../src/pgc/plan/shard-plan-owners.js';
import { ownerOf, type PlannedFile } from '../../../../src/pgc/plan/planned-shards.js';
import { planShards } from '../../../../src/pgc/plan/shard-plan.js';
import { runs } from '../../../support/runs.js';

const linux = `List of maintainers
===================
Descriptions of section entries:
	M: *Mail* patches to: FullName <address@domain>
	F: *Files* and directories wildcard patterns.

Maintainers List
----------------

E1000 DRIVER
M:	Somebody <a@b.c>
F:	drivers/net/intel/e1000*/
X:	drivers/net/intel/e1000x/

NETWORKING
F:	drivers/net/
F:	net/core/[a-d]*.c

TYPHOON
F:	drivers/net/3com/typhoon*

THE REST
F:	*
F:	*/
`;

function titleOf(file: OwnersFile): (path: string) => string {
  const sections = sectionsOf(file);
  const find = sectionFinder(sections);
  return (path) => sections[find(path)]?.title ?? 'nobody';
}

function failureOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    return error instanceof BusError ? `${error.code} ${error.message}` : String(error);
  }
  return 'nothing thrown';
}

describe('MAINTAINERS', () => {
  const owner = titleOf({ owners: 'maintainers', file: 'MAINTAINERS', text: linux });

  test.each([
    ['drivers/net/intel/e1000/e1000_main.c', 'E1000 DRIVER'],
    ['drivers/net/intel/e1000e/deep/er.c', 'E1000 DRIVER'],
    ['drivers/net/intel/e1000x/a.c', 'NETWORKING'],
    ['drivers/net/3com/typhoon.c', 'TYPHOON'],
    ['drivers/net/3com/typhoon/a.c', 'NETWORKING'],
    ['net/core/dev.c', 'NETWORKING'],
    ['net/core/sock.c', 'THE REST'],
    ['Makefile', 'THE REST'],
  ])('%s belongs to %s', (path, title) => expect(owner(path)).toBe(title));

  test.each([
    ['F:	mm/\n', 'line 1: F: before the title'],
    ['A\nF:\n', 'line 2: a pattern is missing'],
    ['A\nF:	/etc\n', 'line 2: /etc is outside'],
    ['A\nF:	a\nF:	b/../../c\n', 'line 3: b/../../c is outside'],
    ['A\nM:	me\nF:	a[b\n', 'line 3: a[b has a [ without'],
    [`A\nF:	${'a'.repeat(1_001)}\n`, 'line 2: a pattern has more than'],
    ['prose\n\nmore prose\n', 'line 4: no line names a path'],
  ])('what is wrong in %j is told with its line', (text, told) => {
    const failure = failureOf(() =>
      sectionsOf({ owners: 'maintainers', file: 'MAINTAINERS', text }),
    );
    expect(failure).toContain('SHARD_PLAN_INVALID');
    expect(failure).toContain(told);
  });
});

test.each<[string, () => string, string]>([
  [
    'patterns',
    () => `A\n${'F:\ta\n'.repeat(patternsMax + 1)}`,
    `more than ${patternsMax} patterns`,
  ],
  ['bytes', () => 'é'.repeat(ownersBytesMax / 2 + 1), `more than ${ownersBytesMax} bytes`],
])('a file of too many %s is refused', (_, text, told) => {
  const failure = failureOf(() =>
    sectionsOf({ owners: 'maintainers', file: 'MAINTAINERS', text: text() }),
  );
  expect(failure).toContain(told);
});

test('of two sections with the same pattern the first has the file', () => {
  const text = 'B\nF:\tmm/\n\nA\nF:\tmm/\n';
  expect(titleOf({ owners: 'maintainers', file: 'MAINTAINERS', text })('mm/a.c')).toBe('B');
});

describe('CODEOWNERS', () => {
  const text = `# comment
*       @all
*.js    @js  # in line
/build/logs/ @doctocat
docs/*  docs@example.com
apps/   @octocat
/apps/github
**/logs @logs
/my\\ file.txt @spaces
[Section]
`;
  const owner = titleOf({ owners: 'codeowners', file: 'CODEOWNERS', text });

  test.each([
    ['a.c', '@all'],
    ['deep/a.js', '@js'],
    ['build/logs/x.txt', '@logs'],
    ['build/other', '@all'],
    ['docs/getting.md', 'docs@example.com'],
    ['docs/build/trouble.md', '@all'],
    ['x/docs/getting.md', '@all'],
    ['x/apps/a.ts', '@octocat'],
    ['apps/github/a.ts', 'the rest'],
    ['deploy/logs/x', '@logs'],
    ['my file.txt', '@spaces'],
  ])('%s belongs to %s, as the last pattern says', (path, title) =>
    expect(owner(path)).toBe(title),
  );

  test('what GitHub does not take is refused with its line', () => {
    const failure = failureOf(() =>
      sectionsOf({ owners: 'codeowners', file: 'CODEOWNERS', text: '* @a\n!b @c\n' }),
    );
    expect(failure).toContain('CODEOWNERS line 2');
  });
});

const name = fc.constantFrom('a', 'b', 'ab', 'net', 'x.c', 'y.h');
const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join('/'));
const wild = fc.constantFrom('*', '?', 'a*', '*.c', '[ab]', '*a*b*');
const pattern = fc
  .tuple(fc.array(fc.oneof(name, wild), { minLength: 1, maxLength: 4 }), fc.boolean())
  .map(([names, isFolder]) => names.join('/') + (isFolder ? '/' : ''));

test('a pattern matches what the same regular expression matches', () => {
  const asRegex = (text: string): RegExp => {
    const body = text
      .replace(/\/$/, '')
      .replace(/[.]/g, '\\.')
      .replaceAll('*', '[^/]*')
      .replaceAll('?', '[^/]');
    const isPlain = !/[*?[]/.test(text.replace(/\/$/, '').split('/').at(-1) ?? '');
    return new RegExp(`^${body}${text.endsWith('/') ? '/.+' : isPlain ? '(?:/.+)?' : ''}$`);
  };
  fc.assert(
    fc.property(pattern, path, (text, each) => {
      const glob = pathGlob(text, { classes: true, below: 'plain' });
      expect(glob.matches(each)).toBe(asRegex(text).test(each));
    }),
    { numRuns: runs(400) },
  );
});

test.each([
  ['a[!b]c', 'axc', true],
  ['a[!b]c', 'abc', false],
  ['a[^b-d]', 'ac', false],
  ['a[]b]c', 'a]c', true],
  ['a[!]b]c', 'axc', true],
  ['a[!]b]c', 'a]c', false],
  ['a[b-]', 'a-', true],
])('%s matches %s: %s', (text, each, matches) => {
  expect(pathGlob(text, { classes: true, below: 'never' }).matches(each)).toBe(matches);
});

test('a pattern of many stars costs no more than its length times that of the path', () => {
  const glob = pathGlob(`${'*a'.repeat(400)}b`, { classes: false, below: 'never' });
  expect(glob.matches('a'.repeat(4_000))).toBe(false);
});

describe('plans by owners', () => {
  const tree = fc.uniqueArray(
    fc.record({
      path: path.map((each) => `${each}.file`),
      lines: fc.integer({ min: 0, max: 90_000 }),
    }),
    {
      selector: (file) => file.path,
      minLength: 1,
      maxLength: 40,
    },
  );
  const sections = fc.array(fc.array(pattern, { minLength: 1, maxLength: 3 }), {
    minLength: 1,
    maxLength: 6,
  });
  const textOf = (all: string[][]): string =>
    all
      .map((its, at) => `SECTION ${at}\n${its.map((each) => `F:\t${each}\n`).join('')}`)
      .join('\n');

  test('every path has exactly one owner, also a future one, and no path is given twice', () => {
    fc.assert(
      fc.property(tree, sections, path, (files, all, future) => {
        const request = { owners: 'maintainers', file: 'MAINTAINERS', text: textOf(all) } as const;
        const { shards } = planShards(files, request, 'linux');
        const owner = ownerOf(shards);
        for (const each of [...files.map((file) => file.path), future, `${future}/new.c`])
          expect(owner(each)).toBeDefined();
        const paths = shards.flatMap((shard) => shard.paths);
        expect(new Set(paths).size).toBe(paths.length);
        expect(new Set(shards.map(({ alias }) => alias)).size).toBe(shards.length);
      }),
    );
  });

  test('what one section has stays together, apart from its neighbour, when both are large', () => {
    const files: PlannedFile[] = ['e1000/a.c', 'e1000/b.c', 'ice/a.c', 'ice/b.c', 'Kconfig'].map(
      (each) => ({
        path: `drivers/${each}`,
        lines: each === 'Kconfig' ? 1 : each === 'ice/a.c' ? 70_000 : 60_000,
      }),
    );
    const text = 'E1000\nF:\tdrivers/e1000/\nF:\tdrivers/ice/b.c\n\nICE\nF:\tdrivers/ice/\n';
    const { shards } = planShards(files, { owners: 'maintainers', file: 'M', text }, 'linux');
    const owner = ownerOf(shards);
    const aliasOf = (each: string): string | undefined => shards[owner(each) ?? -1]?.alias;
    expect(aliasOf('drivers/ice/new.c')).toBe('ice');
    expect(aliasOf('drivers/ice/a.c')).toBe('ice');
    // 180 000 lines are more than a shard has: they are cut, and no part of it goes to the other section.
    expect(aliasOf('drivers/ice/b.c')).toMatch(/^e1000/);
  });
});

describe('a plan in force', () => {
  const folders = fc.array(fc.integer({ min: 1_000, max: 90_000 }), {
    minLength: 4,
    maxLength: 60,
  });
  const treeOf = (lines: number[]): PlannedFile[] =>
    lines.map((each, n) => ({ path: `d${n % 7}/e${n}/a.c`, lines: each }));

  test('is kept when some files come, go or change, and every path has an owner', () => {
    fc.assert(
      fc.property(folders, fc.integer({ min: 0, max: 59 }), (lines, at) => {
        const before = planShards(treeOf(lines), 'auto', 'p');
        const changed = treeOf(lines)
          .filter((_, n) => n !== at || lines.length < 8)
          .concat({ path: 'd1/e1/new.c', lines: 500 });
        const again = planShards(changed, 'auto', 'p', before);
        const [one, other] = [ownerOf(before.shards), ownerOf(again.shards)];
        const aliases = (plan: typeof before, n: number | undefined): string | undefined =>
          plan.shards[n ?? -1]?.alias;
        const same = changed.filter(
          ({ path: each }) => aliases(before, one(each)) === aliases(again, other(each)),
        );
        expect(same.length).toBeGreaterThanOrEqual(changed.length * 0.7);
        expect(other('quite/new.c')).toBeDefined();
      }),
    );
  });

  test('is cut where one shard has grown far beyond the budget, and that one keeps its name', () => {
    const files = treeOf(Array.from({ length: 20 }, () => 20_000));
    const before = planShards(files, 'auto', 'p');
    const grown = files.concat(
      Array.from({ length: 6 }, (_, n) => ({ path: `d1/e1/f${n}/b.c`, lines: 60_000 })),
    );
    const again = planShards(grown, 'auto', 'p', before);
    const kept = before.shards.filter(({ alias }) =>
      again.shards.some((each) => each.alias === alias),
    );
    expect(kept).toHaveLength(before.shards.length);
    expect(again.shards.length).toBeGreaterThan(before.shards.length);
    const owner = ownerOf(again.shards);
    const lines = again.shards.map(() => 0);
    for (const file of grown) lines[owner(file.path)!]! += file.lines;
    expect(Math.max(...lines)).toBeLessThanOrEqual(125_000);
  });

  test('is made anew for a tree of another size', () => {
    const before = planShards(treeOf(Array.from({ length: 30 }, () => 30_000)), 'auto', 'p');
    const small = treeOf(Array.from({ length: 30 }, () => 300));
    expect(before.shards.length).toBeGreaterThan(4);
    expect(planShards(small, 'auto', 'p', before)).toEqual(planShards(small, 'auto', 'p'));
  });
});
