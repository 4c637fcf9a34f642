import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { indexFolder } from '../../../../../src/pgc/build/index-folder.js';
import { openIndex } from '../../../../../src/pgc/search/open-index.js';
import { TemporaryTree } from '../../../../support/git-tree.js';

const lines = (...text: string[]): string => `${text.join('\n')}\n`;

const files = {
  Kconfig: lines('config KNOWN', '\tbool "Known"'),
  Makefile: lines(
    '# $(CONFIG_IN_COMMENT)',
    'obj-$(CONFIG_KNOWN) += a.o',
    'obj-$(CONFIG_GONE) += b.o',
    'CONFIG_MADE := y',
    '$(call detected,CONFIG_FOUND)',
    'CFLAGS += -DCONFIG_GIVEN',
    'ifdef CONFIG_ALSO_GONE',
    'run: ; $(CONFIG_SHELL) go.sh',
    'endif',
  ),
  'include/api.h': lines(
    '/* Takes the ring that was made before. */',
    'int documented_above(int a);',
    'int nowhere(int a);',
    'struct ops {',
    '\tint (*flush_all)(int a);',
    '};',
  ),
  'lib/api.c': lines(
    'int documented_above(int a) { return a; }',
    'EXPORT_SYMBOL(documented_above);',
    '',
    'int nowhere(int a) { return a; }',
    'EXPORT_SYMBOL_GPL(nowhere);',
    '',
    'int spoken_of(int a) { return a; }',
    'EXPORT_SYMBOL_NS(spoken_of, API);',
    '',
    '/* Too short. */',
    '',
    'int short_of(int a) { return a; }',
    'EXPORT_SYMBOL(short_of);',
    '',
    'int kept_inside(int a) { return a; }',
    'SYSCALL_DEFINE1(open_tree, int, a)',
    '{',
    '\treturn a;',
    '}',
  ),
  'lib/use.c': lines(
    '/* CONFIG_IN_COMMENT */',
    '#ifdef CONFIG_KNOWN',
    '#endif /* CONFIG_AFTER */',
    '#if defined(CONFIG_MADE) || IS_ENABLED(CONFIG_MISSING_MODULE) /* CONFIG_BEHIND */',
    '#endif',
    '#if defined(CONFIG_FOUND) && \\',
    '    defined(CONFIG_GIVEN)',
    '#endif',
    'int f(void) { say("CONFIG_IN_STRING"); return IS_ENABLED(CONFIG_ABSENT); }',
    '#undef CONFIG_TAKEN_AWAY',
    '/*',
    ' * IS_BUILTIN(CONFIG_FOO) is how to ask.',
    ' */',
    '// Or IS_ENABLED(CONFIG_FOO).',
    'void g(int *p) {',
    '\t*p = IS_ENABLED(CONFIG_NOT_THERE);',
    '}',
  ),
  'lib/tests/api_test.c': lines('int helper(int a) { return a; }', 'EXPORT_SYMBOL(helper);'),
  'tools/run.sh': lines('#!/bin/sh', 'run_all() {', '\techo', '}'),
  'tools/offered.py': lines(
    "__all__ = ['offered', 'told']",
    'def offered(a):',
    '    return a',
    'def told(a):',
    '    """Tells."""',
    'def other(a):',
    '    return a',
  ),
  'docs/guide.rst': lines(
    'Guide',
    '=====',
    'Call spoken_of() and then open_tree(), or set flush_all() of the operations.',
    'Never call lost_function(); use makeNothing() here.',
    '',
    'Long ago old_function() was removed.',
    '',
    'The scripts have run_all(), of the library is pthread_barrier_x().',
    'Give it a my_function() or foo_bar(), ioreadX() and atomic{,64}_read_it().',
    '',
    'This shows it::',
    '',
    '    int shown_only(void);',
    '    other_shown()',
    '',
    'The shown_only() function is made there. A single() word says little.',
  ),
  'docs/porting.rst': lines('Porting', '=======', 'Then came lost_again() and all is well.'),
};

let source: TemporaryTree;
let home: TemporaryTree;
let items: { rule: string; file_path: string; line_start: number; subject: string }[];
beforeAll(async () => {
  source = await TemporaryTree.create(files);
  home = await TemporaryTree.create();
  const shards = ['docs', 'include', 'lib', 'tools'].map((alias) => ({ alias, paths: [alias] }));
  const rest = { alias: 'rest', paths: ['Kconfig', 'Makefile'] };
  await indexFolder({
    ...{ root: source.root, home: home.root, jobs: 0 },
    shards: { shards: [...shards, rest] },
  });
  const tree = await openIndex(source.root, home.root);
  const overlays = await tree.overlay('O7');
  items = overlays.flatMap((file) => [...file.items()]);
});
afterAll(async () => {
  await source[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});

describe('O7 of a whole tree', () => {
  const of = (rule: string): unknown[] =>
    items
      .filter((item) => item.rule === rule)
      .map(({ file_path, line_start, subject }) => [file_path, line_start, subject]);

  test('names that prose uses and no code holds: no field, system call, example or thing of the past', () => {
    expect(of('unknown-name')).toEqual([
      ['docs/guide.rst', 4, 'lost_function'],
      ['docs/guide.rst', 4, 'makeNothing'],
    ]);
  });

  test('options that are used, and that neither Kconfig nor make gives', () => {
    expect(of('unknown-option')).toEqual([
      ['lib/use.c', 4, 'CONFIG_MISSING'],
      ['lib/use.c', 9, 'CONFIG_ABSENT'],
      ['lib/use.c', 16, 'CONFIG_NOT_THERE'],
      ['Makefile', 3, 'CONFIG_GONE'],
      ['Makefile', 7, 'CONFIG_ALSO_GONE'],
    ]);
  });

  test('exported functions that no comment, header or document speaks of', () => {
    expect(of('undocumented')).toEqual([
      ['lib/api.c', 4, 'nowhere'],
      ['tools/offered.py', 2, 'offered'],
    ]);
  });

  test('nothing else, and no note', () => {
    const rules = new Set(items.map(({ rule }) => rule));
    expect([...rules].sort()).toEqual(['undocumented', 'unknown-name', 'unknown-option']);
  });
});
