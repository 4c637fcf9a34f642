import { expect, test } from 'vitest';
import { languageOf } from '../../../../src/pgc/source/language.js';

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
  ['a.cc', 'cpp'],
  ['a.hpp', 'cpp'],
  ['pkg/main.go', 'go'],
  ['src/lib.rs', 'rust'],
  ['org/A.java', 'java'],
  ['README.md', 'markdown'],
  ['README', 'text'],
  ['Documentation/core-api/dma-api.rst', 'rst'],
  ['mm/Kconfig', 'kconfig'],
  ['lib/Kconfig.debug', 'kconfig'],
  ['mm/Makefile', 'make'],
  ['drivers/net/Kbuild', 'make'],
  ['MAINTAINERS', 'maintainers'],
  ['package.json', 'settings'],
  ['.github/workflows/ci.yml', 'settings'],
  ['deploy/a.service', 'settings'],
  ['Dockerfile', 'settings'],
  ['build.sh', 'shell'],
])('%s is read as %s', (path, language) => {
  expect(languageOf(path)).toBe(language);
});

test.each(['c', '.c', 'dir.c/file', 'a.C', 'a.json', 'Makefiles', 'image.png', ''])(
  '%s has no miner',
  (path) => {
    expect(languageOf(path)).toBeUndefined();
  },
);
