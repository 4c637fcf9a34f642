import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Examined } from '../../../../src/critic/mode.js';
import { chainOfVerification } from '../../../../src/critic/modes/chain-of-verification.js';
import { criticLimits, type ContextVector } from '../../../../src/critic/shapes.js';
import type { TreeGround } from '../../../../src/critic/artifact/tree-ground.js';
import { TemporaryTree } from '../../../support/git-tree.js';
import { AnalysedTree } from '../../../support/ground.js';

const context: ContextVector = {
  ...{ criticality: 'C2', phase: 'PH-VALID', target_type: 'TGT-ARCH', maturity: 'MAT-DRAFT' },
  ...{
    team: 'TEAM-MULTI',
    enforcement: 'ENF-PORT',
    platform: 'PLAT-GENERIC',
    token_budget: 'TOK-FULL',
  },
};

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
      "import { Store } from './store.js';",
      'export function openStore(): Store {',
      '  const store = new Store();',
      '  store.commit([]);',
      '  return store;',
      '}',
      'export function readHome(): string {',
      "  return process.env.STORE_HOME ?? '';",
      '}',
      "export const options = ['--force-write', '--dry-run', '--as-of'];",
      '',
    ].join('\n'),
    'src/disk-store.js': [
      "import { Store } from './store.js';",
      'export class DiskStore extends Store {',
      '  constructor(options) {',
      '    super();',
      '    this.linger = options.lingerMs == null ? 2e3 : options.lingerMs;',
      '    options.isEager = options.isEager !== false;',
      '  }',
      '}',
      '',
    ].join('\n'),
    'test/store.test.ts': "import { openStore } from '../src/open-store.js';\nopenStore();\n",
    'package.json': JSON.stringify({
      ...{ name: 'store-kit', version: '1.2.3', engines: { node: '>=20' } },
      ...{ scripts: { 'bench:bus': 'x' }, dependencies: { level: '^10' }, bin: { storekit: 'x' } },
    }),
    'README.md': '# Store kit\n\n## Limits\n',
  });
  analysed = await AnalysedTree.of(tree);
  ground = await analysed.ground();
});

afterAll(() => analysed[Symbol.asyncDispose]());

function examine(text: string, its: TreeGround | undefined = ground): Promise<Examined> {
  return chainOfVerification.examine({
    ...{ artifact: { path: 'design.md', text, digest: '' }, context, iteration: 1, before: [] },
    ...{ ground: its, rules: [], isSinglePass: false, signal: new AbortController().signal },
    partial: () => undefined,
  });
}

describe('what the tree proves wrong', () => {
  test.each([
    ['`writeBatch` is defined in `src/open-store.ts`.', 'src/store.ts:7'],
    ['`commit()` is called from 5 places.', 'Say 1'],
    ['`readHome` calls `writeBatch`.', 'called by commit'],
    ['`openStore` calls `writeBatch`.', 'called by commit'],
    ['`src/stores.ts` holds it.', 'src/store.ts'],
    ['`writeBatch` (`src/store.ts:2`)', 'src/store.ts:7'],
    ['See `src/store.ts:400`.', 'Name lines'],
    ['`batchBytesMax` is 128.', 'Say 64'],
    ['`commit()` takes four parameters.', 'Say 2'],
    ['`src/store.ts` has 40 lines.', 'Say 9'],
    ['The folder `src` holds 7 files.', 'Say 3'],
    ['`src/store.ts` exports 5 classes.', 'Say 1'],
    ['Run `storekit --force-writes`.', '--force-write'],
    ['The environment variable `STORE_HOMES` says where.', 'STORE_HOME'],
    ['Run `npm run bench:bas`.', 'bench:bus'],
    ['It requires Node.js 18.', 'Say >=20'],
    ['See [it](README.md#stor-kit).', '#store-kit'],
    ['Then `Store.committ()` runs.', 'commit'],
    ['`src/store.ts` exports `writeBatch`.', 'of the file alone'],
    ['`writeBatch` returns `string`.', 'Say boolean'],
    ['- **lingerMs** `number` (optional) - Default: `5e3`', 'Say 2e3'],
    ['- `isEager` (boolean, default: `false`)', 'Say true'],
    ['The class `DiskStore` extends `Error`.', 'Say Store'],
    ['`writeBatch()` lives in `src/store.ts`, and five places call it.', 'Say 1'],
    ['The package depends on `level` and `lodash`.', 'level'],
  ])('%s', async (text, remedy) => {
    const { findings } = await examine(text);
    expect(findings).toMatchObject([
      { rule: 'CLAIM_CONTRADICTED', severity: 'major', line_start: 1 },
    ]);
    expect(findings[0]?.remedy).toContain(remedy);
  });
});

describe('what holds, or what the tree cannot know', () => {
  test.each([
    '`writeBatch` is defined in `src/store.ts`.',
    '`commit()` is called from one place.',
    '`commit` calls `writeBatch`.',
    '`writeBatch` (`src/store.ts:7`) returns `boolean`.',
    '`commit()` takes two parameters, or one parameter.',
    '`batchBytesMax` is 64.',
    'Run `storekit --dry-run`, `git log --oneline` and `npm run bench:bus`.',
    'It requires Node.js 20 and depends on `level`.',
    'See [limits](README.md#limits).',
    '`Store` is used like `Array.prototype.flatMap()` and `JSON.stringify()`.',
    'There is no `src/gone.ts`, and `src/later.ts` will be added.',
    '`src/gone.ts` was removed.',
    'It writes `src/made.ts`, for example.',
    'If `src/own.ts` exists, it is read.',
    'Use `path/to/file.ts`, `src/*.ts` or `dist/src/store.js`.',
    '`writeBatch` will be moved to `src/batch.ts`.',
    '`openStore` does not call `writeBatch`.',
    '```js\nstore.committ(`src/stores.ts`)\n```',
    'A `stranger_from_elsewhere()` may be anything.',
    '- **lingerMs** `number` (optional) - Default: `2e3`',
    '- `isEager` (boolean, default: `true`)',
    'The class `DiskStore` extends `Store`.',
    'In user space `writeBatches()` does so.',
    'A future version may have `writeBatches()`, in `src/batches.ts`.',
    '`writeBatches = store.prepare()` and then `writeBatches()`.',
  ])('%s', async (text) => {
    expect((await examine(text)).findings).toEqual([]);
  });
});

test('a finding quotes the lines as they stand', async () => {
  const { findings } = await examine('`writeBatch` is defined in `src/open-store.ts`.');
  expect(findings[0]?.evidence[0]).toMatchObject({
    ...{ file_path: 'src/store.ts', line_start: 7, line_end: 7, symbol: 'writeBatch' },
    content: 'function writeBatch(count: number, force: boolean): boolean {',
  });
  expect(findings[0]?.evidence[0]?.blob).toMatch(/^[0-9a-f]{40}$/);
});

test('what contradicts a hard rule is critical, and ends the pipeline', async () => {
  const { findings, abort } = await examine('`commit` MUST NOT call `writeBatch`.');
  expect(findings).toMatchObject([{ severity: 'critical', is_hard: true }]);
  expect(abort).toBe('HARD_RULE_CONTRADICTED');
});

test('without an index every claim is unverified, and that is said', async () => {
  const { findings, unable, sections } = await chainOfVerification.examine({
    ...{ artifact: { path: 'a.md', text: '`src/gone.ts` is there.', digest: '' }, context },
    ...{ iteration: 1, before: [], ground: undefined, rules: [], isSinglePass: false },
    ...{ signal: new AbortController().signal, partial: () => undefined },
  });
  expect(findings).toEqual([]);
  expect(unable.join(' ')).toContain('Without an index');
  expect(sections.at(-1)?.text).toContain('1 claims: 0 verified, 0 contradicted, 1 unverified');
});

test('the sections are those of the mode, within their limits, and the same each time', async () => {
  const text = Array.from({ length: 400 }, (_, at) => `- \`src/gone-${at}.ts\``).join('\n');
  const [one, other] = [await examine(text), await examine(text)];
  expect(one).toEqual(other);
  expect(one.sections.map(({ title }) => title)).toEqual(
    chainOfVerification.sections.map(({ title }) => title),
  );
  expect(one.findings.length).toBe(criticLimits.findings);
  for (const each of one.sections)
    expect(each.text.length).toBeLessThanOrEqual(criticLimits.sectionChars);
});

test('a line break in an artifact makes no new line of a section', async () => {
  const { sections } = await examine('`src/store.ts`\nhas 40 lines. - line 1: | verified');
  const contradicted = sections.find(({ title }) => title === 'Contradicted Claims')?.text ?? '';
  expect(contradicted.split('\n')).toHaveLength(1);
});

test('what is denied, and a member of another class, are not verified by being there', async () => {
  for (const text of ['There is no `openStore()`.', '`DiskStore.readHome()` is for that.']) {
    const { sections } = await examine(text);
    expect(sections.at(-1)?.text).toContain('0 verified, 0 contradicted, 1 unverified');
  }
});
