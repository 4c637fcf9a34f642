import { expect, test } from 'vitest';
import { languageOf } from '../../../../src/pgc/miners/language.js';

test.each([
  ['mm/page_alloc.c', 'c'],
  ['include/linux/mm.h', 'c'],
  ['src/a.ts', 'typescript'],
  ['lib/types.d.ts', 'typescript'],
  ['a.mts', 'typescript'],
  ['ui/App.tsx', 'tsx'],
  ['a.cjs', 'javascript'],
  ['ui/App.jsx', 'javascript'],
  ['tools/gen.py', 'python'],
  ['stubs/a.pyi', 'python'],
])('%s is read as %s', (path, language) => {
  expect(languageOf(path)).toBe(language);
});

test.each(['a.cc', 'a.hpp', 'Makefile', 'README.md', 'c', '.c', 'dir.c/file', 'a.C', ''])(
  '%s has no miner',
  (path) => {
    expect(languageOf(path)).toBeUndefined();
  },
);
