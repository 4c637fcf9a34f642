import { expect, test } from 'vitest';
import { visibleDefinitions } from '../../../src/lattice/visibility.js';
import type { Definition } from '../../../src/pgc/shapes.js';

function definition(file_path: string, more: Partial<Definition> = {}): Definition {
  return {
    symbol: 'x',
    kind: 'function',
    file_path,
    line: 1,
    line_end: 2,
    signature: '',
    exported: true,
    agent: file_path.split('/')[0] ?? '',
    declaration: false,
    ...more,
  };
}

const paths = (found: Definition[]): string[] => found.map((each) => each.file_path);

test('the included header wins over a copy of it elsewhere', () => {
  const use = { path: 'drivers/net/a.c', includes: ['linux/dma-mapping.h'] };
  const candidates = [
    definition('tools/virtio/linux/dma-mapping.h'),
    definition('include/linux/dma-mapping.h'),
  ];
  expect(paths(visibleDefinitions(use, candidates))[0]).toBe('include/linux/dma-mapping.h');
});

test('a source file whose header is included wins over one that lies nearer', () => {
  const use = { path: 'kernel/dma/contiguous.c', includes: ['linux/cma.h'] };
  const candidates = [definition('kernel/dma/debug.c'), definition('mm/cma.c')];
  expect(paths(visibleDefinitions(use, candidates))).toEqual(['mm/cma.c', 'kernel/dma/debug.c']);
});

test('a static function of another file and a declaration are no targets', () => {
  const use = { path: 'a/a.c', includes: ['b.h'] };
  const candidates = [
    definition('b/b.c', { exported: false }),
    definition('include/b.h', { declaration: true }),
  ];
  expect(visibleDefinitions(use, candidates)).toEqual([]);
});

test('relative imports of TypeScript and Python find their file', () => {
  const script = { path: 'src/wire/frame.ts', includes: ['../base/crc.js'] };
  const module = { path: 'app/views/list.py', includes: ['..models.user'] };
  expect(
    paths(visibleDefinitions(script, [definition('lib/crc.ts'), definition('src/base/crc.ts')]))[0],
  ).toBe('src/base/crc.ts');
  expect(
    paths(
      visibleDefinitions(module, [definition('old/user.py'), definition('app/models/user.py')]),
    )[0],
  ).toBe('app/models/user.py');
});

test('many equal candidates and no import that decides: nobody knows', () => {
  const use = { path: 'a/a.c', includes: ['unrelated.h'] };
  const candidates = ['b', 'c', 'd', 'e'].map((each) => definition(`${each}/open.c`));
  expect(visibleDefinitions(use, candidates)).toEqual([]);
});
