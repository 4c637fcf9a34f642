import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bounded } from '../../../../src/critic/finding.js';
import type { Examined } from '../../../../src/critic/mode.js';
import { chainOfVerification } from '../../../../src/critic/modes/chain-of-verification.js';
import { criticLimits } from '../../../../src/critic/shapes.js';
import type { TreeGround } from '../../../../src/critic/artifact/tree-ground.js';
import { inputOf } from '../../../support/critic.js';
import { TemporaryTree } from '../../../support/git-tree.js';
import { AnalysedTree } from '../../../support/ground.js';

let ground: TreeGround;
let analysed: AnalysedTree;

beforeAll(async () => {
  const tree = await TemporaryTree.create({
    'src/store.ts': [
      'export const batchBytesMax = 64;',
      'export class Store {',
      '  commit(batch: string[], force = false): boolean {',
      '    return writeBatch(batch.length, force);',
      '  }',
      '}',
      'function writeBatch(count: number, force: boolean): boolean {',
      '  return count > 0 || force;',
      '}',
      '',
    ].join('\n'),
    'src/open-store.ts': [
      "import { Store, writeBatch } from './store.js';",
      'export function openStore(): Store {',
      '  const store = new Store();',
      '  store.commit([]);',
      '  return store;',
      '}',
      'export function readHome(): string {',
      "  return process.env.STORE_HOME ?? '';",
      '}',
      "export const options = ['--force-write', '--dry-run', '--as-of', 'compact'];",
      '',
    ].join('\n'),
    'src/disk-store.js': [
      "import { Store } from './store.js';",
      'export class DiskStore extends Store {',
      '  lingerMs = 2e3;',
      '  isEager = true;',
      '}',
      '',
    ].join('\n'),
    'src/check.ts': [
      'export function checkSize(size: number): number {',
      "  if (size < 0) throw new Error('too small');",
      '  return size;',
      '}',
      'export function trySize(size: number): number {',
      '  try {',
      "    if (size < 0) throw new Error('too small');",
      '  } catch {',
      '    return 0;',
      '  }',
      '  return checkSize(size);',
      '}',
      '',
    ].join('\n'),
    'src/speak.py': [
      'def read_size(text):',
      '    """',
      '    raise ValueError where there is no size: its callers do.',
      '    """',
      '    return len(text)',
      'def need_size(text):',
      '    raise ValueError(text)',
      '',
    ].join('\n'),
    'src/limits.ts': 'export const sessionsMax = 4_096;\n',
    'src/http.ts': 'export const http = { sessionsMax: 64 };\n',
    'src/ring.c': [
      'enum { RING_A, RING_B, RING_C, RING_D, RING_E, RING_F };',
      'int ring_push(int item) { return item; }',
      'int ring_pop(int item) { return item; }',
      'int ring_open(int size) { return size; }',
      'int ring_close(int size) { return size; }',
      'int ring_reset(int size) { return size; }',
      '',
    ].join('\n'),
    'cli/Cargo.toml':
      '[package]\nname = "seek-find"\nversion = "10.4.2"\n\n[[bin]]\nname = "seek"\n',
    'cli/src/main.rs': [
      'const WAIT_MAX: usize = 1000;',
      'pub static LABEL: &str = "quick";',
      '#[arg(long = "threads", short = \'j\')]',
      'pub fn job() -> i32 { execute() }',
      'pub fn batch() -> i32 { execute_batch() }',
      'pub fn execute() -> i32 { 0 }',
      'pub fn execute_batch() -> i32 { 1 }',
      'pub fn outer() -> i32 { batch() }',
      'pub fn lonely() -> i32 { 2 }',
      '#[cfg(test)]',
      'mod tests {',
      '    use super::*;',
      '    #[test]',
      '    fn runs_lonely() { assert_eq!(lonely(), 2); }',
      '}',
      '',
    ].join('\n'),
    'cli/limits.go': 'package cli\n\nconst (\n\tRetryMax int = 7\n)\n',
    'package.json': JSON.stringify({
      ...{ name: 'store-kit', version: '1.2.3', engines: { node: '>=20' } },
      ...{ scripts: { 'bench:bus': 'x' }, bin: { storekit: 'x' } },
    }),
    Makefile: 'all: build\nbuild:\n\ttrue\ninstall: build\n\ttrue\n',
    'README.md': '# Store kit\n\n## Limits\n\n<a id=plain></a>\n',
  });
  analysed = await AnalysedTree.of(tree);
  ground = await analysed.ground();
});

afterAll(() => analysed[Symbol.asyncDispose]());

function examine(text: string, path = 'design.md'): Promise<Examined> {
  return chainOfVerification.examine(inputOf(`${text}\n`, { path, ground }));
}

describe('what the tree proves wrong', () => {
  test.each([
    ['`src/stores.ts` holds it.', 'src/store.ts'],
    ['See `src/store.ts:400`.', 'Name lines'],
    ['`writeBatch` (`src/store.ts:2`)', 'src/store.ts:7'],
    ['See [it](README.md#stor-kit).', '#store-kit'],
    ['`openStore` is defined in `src/store.ts`.', 'src/open-store.ts:2'],
    ['`writeBatch` is defined in `src/open-store.ts`.', 'src/store.ts:7'],
    ['Then `Store.committ()` runs.', 'commit'],
    ['Then `ring_pushh()` runs.', 'ring_push'],
    ['`commit()` takes four parameters.', 'Say 2'],
    ['`batchBytesMax` is 128.', 'Say 64'],
    ['`batchBytesMax` is `128`.', 'Say 64'],
    ['There is `batchBytesMax = 128`.', 'Say 64'],
    ['- `lingerMs` (number, default: `5e3`)', 'Say 2e3'],
    ['### `DiskStore.isEager`\n\nDefault: false', 'Say true'],
    ['Run `storekit --force-writes`.', '--force-write'],
    ['```sh\n$ storekit --force-writes\n```', '--force-write'],
    ['Run `npm run bench:bas`.', 'bench:bus'],
    ['Run `make instal`.', 'install'],
    ['It needs Node.js >= 18.', 'Say >=20'],
    ['It needs Node.js `^18.0.0 || >=20.0.0`.', 'Say >=20'],
    ['It is `store-kit@1.3.0`.', 'Say 1.2.3'],
    ['`WAIT_MAX` is 5000.', 'Say 1000'],
    ['`RetryMax` is 9.', 'Say 7'],
    ['`job` calls `execute_batch`.', 'Name who calls execute_batch'],
    ['`execute_batch` is called by `job`.', 'Name who calls execute_batch'],
    ['`execute` is never called.', 'Say who calls execute'],
    ['Nobody calls `execute`.', 'Say who calls execute'],
    ['`execute` is called at seven places.', 'Say how often execute'],
    ['`execute` is only called by `batch`.', 'Name job as well'],
  ])('%s', async (text, remedy) => {
    const { findings } = await examine(text);
    expect(findings).toMatchObject([{ rule: 'CLAIM_CONTRADICTED', severity: 'major' }]);
    expect(findings[0]?.remedy).toContain(remedy);
  });
});

describe('what holds, and what the tree cannot decide', () => {
  test.each([
    '`writeBatch` is defined in `src/store.ts`, and `openStore` names `src/open-store.ts`.',
    '`commit()` takes two parameters. `commit()` takes one parameter.',
    '`batchBytesMax` is 64. `lingerMs` is 2 seconds.',
    '`sessionsMax` is 16.',
    'Run `storekit --dry-run`, `storekit compact`, `git log --onelines` and `npm run bench:bus`.',
    'Run `npm install`, `npm test`, `make install` and `make`.',
    'It needs Node.js >= 20, or Node.js 20.0 or later.',
    'See [limits](README.md#limits) and [here](README.md#plain).',
    'Then `flushEverything()` and `ring_shove()` run.',
    '`Array.prototype.flatMaps()`, `JSON.stringifies()` and `myOwnHelper()` are of others.',
    'There is no `src/gone.ts`, and `src/later.ts` will be added.',
    '`src/gone.ts` was removed. `flushEverything()` is no longer there.',
    'It writes `src/made.ts`. If `src/own.ts` exists, it is read.',
    'Use `path/to/file.ts`, `src/*.ts`, `dist/src/store.js` or `orchestration.yaml`.',
    '```js\nstore.committ(`src/stores.ts`)\n```',
    'In user space `flushEverything()` does so.',
    '```js\nflushEverything()\n```\n\nThen `flushEverything()` runs.',
    'Kept: `arch/alpha/pci.c#one`, `fs/open.c#two`, `src/sys.c#three`.',
    '`CONFIG_HOST_GOV` and `ring_NAME` and `RING_X` are patterns.',
    'Set `NODE_ENV`, `$PATH` and `EBUSY`.',
    'See `ring.c:2` for what it returns.',
    '`WAIT_MAX` is 1000, and `RetryMax` is 7.',
    '`job` calls `execute`. `outer` calls `execute_batch`. `execute` is only called by `job`.',
    'It waits, or `execute` is never called. Where `batch` calls `execute`, it ends.',
    '`execute` is only called by `job` and `outer`. `execute` is only called by `job` in a release.',
    '`execute` is never called, except by `job`. `execute` has no callers in `cli/limits.go`.',
    'Nobody calls `execute` before `outer`. `execute` is called at two places in `cli/limits.go`.',
    '`execute` is dead slow. `execute` is called three times.',
    'There is no `execute` in `cli/limits.go`. `execute` is not used in `cli/limits.go`.',
    // Of what only a test calls, and of what nothing is known, nothing is said.
    '`lonely` is never called. `job` calls `sort`. `seek` calls `rm`.',
  ])('%s', async (text) => {
    const { findings } = await examine(text);
    expect(findings.map((each) => each.text)).toEqual([]);
  });
});

test('a name that the tree has nothing like is not found, and not wrong', async () => {
  const text = '`flushEverything()` and `startOthers()` run.';
  const { findings, claims } = await chainOfVerification.examine(inputOf(text, { ground }));
  expect(findings).toEqual([]);
  expect(claims).toEqual({ verified: 0, contradicted: 0, unverified: 2, named: 0 });
});

test('a finding quotes the lines that decide', async () => {
  const { findings } = await examine('`writeBatch` is defined in `src/open-store.ts`.');
  expect(findings[0]?.evidence[0]).toMatchObject({
    ...{ file_path: 'src/store.ts', line_start: 7, line_end: 7, symbol: 'writeBatch' },
    content: 'function writeBatch(count: number, force: boolean): boolean {',
  });
  expect(findings[0]?.evidence[0]?.blob).toMatch(/^[0-9a-f]{40}$/);
});

test('a wrong claim of a requirement is critical, and ends the pipeline', async () => {
  const { findings, abort } = await examine('Callers MUST use `Store.committ()`.');
  expect(findings).toMatchObject([{ severity: 'critical', is_hard: true }]);
  expect(abort).toBe('HARD_RULE_CONTRADICTED');
});

test('without an index no claim is checked, and the report says so', async () => {
  const { findings, unable, sections } = await chainOfVerification.examine(
    inputOf('`src/gone.ts` is there.'),
  );
  expect(findings).toEqual([]);
  expect(unable.join(' ')).toContain('there is no index of the tree');
  expect(sections.at(-1)?.text).toContain('1 claims: 0 hold, 0 wrong, 0 not found, 1 not checked');
});

test('the sections are those of the mode, within their limits, and the same each time', async () => {
  const text = Array.from({ length: 400 }, (_, at) => `- [it](README.md#gone-${at})`).join('\n');
  const [one, other] = [await examine(text), await examine(text)];
  expect(one).toEqual(other);
  expect(one.sections.map(({ title }) => title)).toEqual(chainOfVerification.sections);
  expect(one.findings.length).toBe(criticLimits.findings);
  for (const each of bounded(one).sections)
    expect(each.text.length).toBeLessThanOrEqual(criticLimits.sectionChars);
});

test('a line break in an artifact starts no new line of a section', async () => {
  const { sections } = await examine('Run `make\ninstal` - line 1: | verified');
  const contradicted = sections.find(({ title }) => title === 'Contradicted Claims')?.text ?? '';
  expect(contradicted.split('\n')).toHaveLength(1);
});

test.each([
  ['`checkSize` never throws.', { contradicted: 1, verified: 0, unverified: 0, named: 1 }],
  ['`checkSize()` does not throw.', { contradicted: 1, verified: 0, unverified: 0, named: 1 }],
  [
    '`checkSize` throws where the size is wrong.',
    { contradicted: 0, verified: 1, unverified: 0, named: 1 },
  ],
  // It calls one that throws, and may catch what it throws itself: neither is certain.
  ['`trySize` never throws.', { contradicted: 0, verified: 0, unverified: 1, named: 1 }],
  // A docstring that begins a line with the word throws nothing.
  ['`read_size` never throws.', { contradicted: 0, verified: 0, unverified: 1, named: 1 }],
  ['`need_size` never throws.', { contradicted: 1, verified: 0, unverified: 0, named: 1 }],
  ['`trySize` reads sizes of any kind.', { contradicted: 0, verified: 0, unverified: 0, named: 1 }],
])('that a name exists verifies nothing that is said of it: %s', async (text, claims) => {
  const examined = await chainOfVerification.examine(inputOf(text, { ground }));
  expect(examined.claims).toEqual(claims);
  const isOpen = examined.unable.some((each) => each.includes('1 sentence says'));
  expect(isOpen).toBe(claims.contradicted + claims.verified + claims.unverified === 0);
});

test('an artifact that names nothing is told to be none that could be looked up', async () => {
  const { unable, claims } = await chainOfVerification.examine(
    inputOf('We met on Monday.', { ground }),
  );
  expect(claims).toEqual({ contradicted: 0, verified: 0, unverified: 0, named: 0 });
  expect(unable).toEqual(['to look up anything: the artifact names no code and no file']);
});

describe('the package of an artifact is that of its manifest', () => {
  test('a program and a version of Cargo are known, and an option that is given without dashes', async () => {
    const text = 'Run `seek --threads 4`. It is `seek-find@9.0.0`.';
    const { sections, findings } = await examine(text, 'cli/note.md');
    const results = sections.find(({ title }) => title === 'Verification Results')?.text;
    expect(results).toContain("--threads · seek | holds (medium) | The sources have 'threads'.");
    expect(findings.map(({ remedy }) => remedy)).toEqual(['Say 10.4.2.']);
  });
});
