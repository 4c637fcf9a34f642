import { describe, expect, test } from 'vitest';
import type { Lookup } from '../../../../src/pgc/shapes.js';
import {
  equallyGood,
  visibleDefinitions,
  type Candidate,
} from '../../../../src/pgc/bind/visibility.js';

function definition(file_path: string, more: Partial<Candidate> = {}): Candidate {
  return {
    symbol: 'x',
    kind: 'function',
    file_path,
    line: 1,
    exported: true,
    declaration: false,
    container: '',
    ...more,
  };
}

const lookup = (more: Partial<Lookup> = {}): Lookup => ({
  name: 'x',
  container: '',
  path: '',
  line: 0,
  ...more,
});
const paths = (found: Candidate[]): string[] => found.map((each) => each.file_path);

describe('in C', () => {
  const use = (path: string, ...includes: string[]) => ({ path, includes, lookup: lookup() });

  test('the included header wins over a copy of it elsewhere', () => {
    const candidates = [
      definition('tools/virtio/linux/dma-mapping.h'),
      definition('include/linux/dma-mapping.h'),
    ];
    const found = visibleDefinitions(use('drivers/net/a.c', 'linux/dma-mapping.h'), candidates);
    expect(paths(found)[0]).toBe('include/linux/dma-mapping.h');
  });

  test.each([
    ['the core does not call its tools', 'mm/a.c', ['linux/x.h'], 'tools/include/linux/x.h', false],
    ['nor their source files', 'mm/a.c', ['linux/slab.h'], 'tools/lib/slab.c', false],
    ['tools call each other', 'tools/vm/a.c', ['linux/x.h'], 'tools/include/linux/x.h', true],
    ['and the core', 'tools/vm/a.c', [], 'lib/string.c', true],
    ['a header of a folder is its own', 'drivers/a/a.c', ['common.h'], 'drivers/b/common.h', false],
    ['it is seen from below', 'drivers/b/c/a.c', ['common.h'], 'drivers/b/common.h', true],
    ['and by a path', 'drivers/a/a.c', ['../b/common.h'], 'drivers/b/common.h', true],
    ['or by the end of one, nearby', 'drivers/a/a.c', ['b/common.h'], 'drivers/b/common.h', true],
    ['not far away', 'net/a.c', ['b/common.h'], 'drivers/b/common.h', false],
    ['what is public is seen', 'net/a.c', [], 'include/linux/x.h', true],
    ['an architecture is seen from the core', 'mm/a.c', [], 'arch/x86/include/asm/x.h', true],
    ['but not from another one', 'arch/arm/a.c', [], 'arch/x86/include/asm/x.h', false],
    ['nor are its sources', 'arch/arm/a.c', [], 'arch/x86/kvm/mmu.c', false],
    ['but for what they share', 'arch/arm/a.c', [], 'arch/common/irq.c', true],
    ['and what sisters lend', 'arch/arm64/kernel/setup.c', [], 'arch/arm/xen/enlighten.c', true],
    ['under any name', 'sys/arch/amd64/a.c', [], 'sys/arch/x86/x86/cpu.c', true],
    ['but where one is made of two', 'arch/um/a.c', [], 'arch/x86/um/a.c', true],
    ['the core sees them', 'virt/kvm/a.c', [], 'arch/x86/kvm/mmu.c', true],
    ['nor what it has for itself', 'mm/a.c', [], 'arch/x86/boot/x.h', false],
    ['a public folder belongs to its owner', 'net/a.c', [], 'drivers/b/include/x.h', false],
  ])('%s', (_, from, includes, to, isSeen) => {
    const found = visibleDefinitions(use(from, ...includes), [definition(to)]);
    expect(found.length).toBe(isSeen ? 1 : 0);
  });

  test('what an architecture has of its own is meant, not what its sister has', () => {
    const candidates = [definition('arch/arm/mm/fault.c'), definition('arch/arm64/mm/fault.c')];
    const found = visibleDefinitions(use('arch/arm64/kernel/entry.c'), candidates);
    expect(paths(found)).toEqual(['arch/arm64/mm/fault.c']);
  });

  test('a macro of a source file is seen there alone', () => {
    const macro = definition('net/b.c', { kind: 'macro' });
    expect(visibleDefinitions(use('net/a.c', 'b.h'), [macro])).toEqual([]);
    expect(visibleDefinitions(use('net/b.c'), [macro])).toEqual([macro]);
  });

  test('a source file whose header is included wins over one that lies nearer', () => {
    const candidates = [definition('kernel/dma/debug.c'), definition('mm/cma.c')];
    const found = visibleDefinitions(use('kernel/dma/contiguous.c', 'linux/cma.h'), candidates);
    expect(paths(found)).toEqual(['mm/cma.c', 'kernel/dma/debug.c']);
  });

  test('a header that is reached through others is seen, and wins over what no include names', () => {
    const own = definition('lib/os/unix/files.h', { kind: 'macro' });
    const other = definition('lib/os/win/files.c');
    const sees = (header: string): boolean => header === own.file_path;
    const from = { ...use('core/a.c', 'core.h'), sees };
    expect(paths(visibleDefinitions(from, [own]))).toEqual([own.file_path]);
    const found = visibleDefinitions(from, [other, own]);
    expect(paths(found)).toEqual([own.file_path, other.file_path]);
    expect(equallyGood(from, found)).toBe(1);
    expect(visibleDefinitions(use('core/a.c', 'core.h'), [own])).toEqual([]);
  });

  test('what lies nearer is meant rather than its twin; of two that are equally near, either', () => {
    const [unix, win] = [definition('src/unix/fs.c'), definition('src/win/fs.c')];
    const near = visibleDefinitions(use('src/win/pipe.c'), [unix, win]);
    expect(paths(near)).toEqual(['src/win/fs.c', 'src/unix/fs.c']);
    expect(equallyGood(use('src/win/pipe.c'), near)).toBe(1);
    expect(equallyGood(use('src/loop.c'), [unix, win])).toBe(2);
  });

  test('what the file itself defines is meant, static or not', () => {
    const own = definition('a/a.c', { exported: false });
    expect(visibleDefinitions(use('a/a.c', 'b.h'), [definition('b/b.c'), own])).toEqual([own]);
  });

  test('a static function of another file, a declaration and another language are no targets', () => {
    const candidates = [
      definition('b/b.c', { exported: false }),
      definition('include/b.h', { declaration: true }),
      definition('scripts/b.py'),
    ];
    expect(visibleDefinitions(use('a/a.c', 'b.h'), candidates)).toEqual([]);
  });

  test('a stand-in in the included header is not meant while a real definition is known', () => {
    const header = 'include/linux/dma.h';
    const declared = definition(header, { declaration: true });
    const standIn = definition(header, { line: 9 });
    const real = definition('kernel/dma/mapping.c');
    const from = use('net/core/page_pool.c', 'linux/dma.h');
    expect(visibleDefinitions(from, [declared, standIn, real])).toEqual([real]);
    expect(visibleDefinitions(from, [declared, standIn])).toEqual([standIn]);
    expect(visibleDefinitions(from, [standIn, real])).toEqual([standIn, real]);
  });

  test('many equal candidates and no include that decides: nobody knows', () => {
    const candidates = ['b', 'c', 'd', 'e', 'f'].map((each) => definition(`${each}/open.c`));
    expect(visibleDefinitions(use('a/a.c', 'unrelated.h'), candidates)).toEqual([]);
  });
});

test('what the binder found is meant, and nothing else of its name', () => {
  const container = 'Broker';
  const method = definition('src/a.ts', { kind: 'method', container });
  const others = [definition('src/a.ts'), definition('src/b.ts', { kind: 'method', container })];
  const exactly = (line: number) => ({
    path: 'src/main.ts',
    includes: [],
    lookup: lookup({ container, path: 'src/a.ts', line }),
  });
  expect(visibleDefinitions(exactly(0), [...others, method])).toEqual([method]);
  expect(visibleDefinitions(exactly(1), [...others, method])).toEqual([method]);
  expect(visibleDefinitions(exactly(2), [...others, method])).toEqual([]);
});
