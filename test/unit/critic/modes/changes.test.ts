import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Mode } from '../../../../src/critic/mode.js';
import { devilsAdvocate } from '../../../../src/critic/modes/devils-advocate.js';
import { fmea } from '../../../../src/critic/modes/fmea.js';
import { inversion } from '../../../../src/critic/modes/inversion.js';
import { preMortem } from '../../../../src/critic/modes/pre-mortem.js';
import { redTeam } from '../../../../src/critic/modes/red-team.js';
import { failingTree, type FailingTree } from './failing-tree.js';

const store = [
  "import { readFile } from 'node:fs/promises';",
  '',
  'export const rowsMax = 500;',
  'export const formats = { csv: 1 };',
  '',
  'export async function load(path: string, encoding: BufferEncoding): Promise<string[]> {',
  "  if (path.includes('..')) throw new RangeError(path);",
  '  const text = await readFile(path, encoding);',
  "  return text.split(',').slice(0, rowsMax);",
  '}',
  '',
  'export function counted(rows: string[]): { count: number; longest: number } {',
  '  return { count: rows.length, longest: Math.max(...rows.map((row) => row.length)) };',
  '}',
  '',
  'export function renamed(rows: string[]): string[] {',
  '  return rows.map((row) => row.trim());',
  '}',
  '',
].join('\n');
const use = [
  "import { counted, formats, load, renamed } from './store.js';",
  '',
  'export async function all(path: string): Promise<number> {',
  "  const rows = renamed(await load(path, 'utf8'));",
  '  const { count, longest } = counted(rows);',
  '  return count + longest + formats.csv;',
  '}',
  '',
].join('\n');

const modes: readonly Mode[] = [fmea, preMortem, inversion, redTeam, devilsAdvocate];
let tree: FailingTree;
/** What each mode finds in `src/store.ts` as the tree has it. */
const rulesBefore = new Map<string, string[]>();
beforeAll(async () => {
  tree = await failingTree({ 'src/store.ts': store, 'src/use.ts': use });
  for (const mode of modes) {
    const { findings } = await tree.examine(mode, 'src/store.ts');
    const rules = findings.map(({ rule }) => rule);
    rulesBefore.set(mode.name, rules);
  }
}, 60_000);
afterAll(() => tree[Symbol.asyncDispose]());

/** What the modes find in a version of `src/store.ts` and not in that of the tree; each with its evidence. */
async function found(text: string): Promise<string[]> {
  const told: string[] = [];
  for (const mode of modes) {
    const known = rulesBefore.get(mode.name) ?? [];
    const { findings } = await tree.examine(mode, 'src/store.ts', { text });
    for (const { rule, line_start, evidence } of findings) {
      if (known.includes(rule)) continue;
      for (const { file_path, line_start: from, line_end, content } of evidence) {
        const lines = (file_path === 'src/store.ts' ? store : use).split('\n');
        expect(lines.slice(from - 1, line_end).join('\n')).toContain(content);
      }
      told.push(`${rule} ${line_start} ${evidence[0]?.file_path ?? ''}`);
    }
  }
  return told.sort();
}

test.each<[string, string, string, string[]]>([
  ['nothing', '', '', []],
  ['a blank', 'rowsMax = 500;', 'rowsMax =  500;', []],
  [
    'a name that another file calls',
    'export function renamed(',
    'export function trimmed(',
    ['PM_NAME_GONE 16 src/use.ts'],
  ],
  [
    'a name that another file imports and does not call',
    'export const formats',
    'const formats',
    ['PM_NAME_GONE 4 src/use.ts'],
  ],
  [
    'parameters that a caller does not give',
    'encoding: BufferEncoding)',
    'encoding: BufferEncoding, rows: number)',
    ['PM_ARGUMENTS_LEFT 6 src/use.ts'],
  ],
  [
    'one more that need not be given',
    'encoding: BufferEncoding)',
    'encoding: BufferEncoding, rows = 5)',
    [],
  ],
  [
    'a field that a caller takes',
    'count: rows.length, longest: Math.max(...rows.map((row) => row.length)) }',
    'count: rows.length }',
    ['PM_FIELD_GONE 13 src/use.ts'],
  ],
  [
    'a check',
    "  if (path.includes('..')) throw new RangeError(path);\n",
    '',
    ['RT_CHECK_LOST 7 src/store.ts'],
  ],
  ['a bound', '.slice(0, rowsMax)', '', ['INV_BOUND_LOST 9 src/store.ts']],
  [
    'an order',
    'readFile(path, encoding)',
    'readFile(encoding, path)',
    ['DA_ARGUMENTS_SWAPPED 8 src/store.ts'],
  ],
  [
    'an await',
    'const text = await readFile(path, encoding);',
    'const text = readFile(path, encoding);',
    ['FMEA_AWAIT_LOST 8 src/store.ts'],
  ],
])('%s', async (_name, from, to, expected) => {
  expect(await found(store.replace(from, to))).toEqual(expected);
});

test('each is told by one mode alone', async () => {
  const text = store
    .replace('.slice(0, rowsMax)', '')
    .replace('await readFile(path, encoding)', 'readFile(path, encoding)');
  const told = await found(text);
  expect(told).toHaveLength(2);
});

test('a new file is held against nothing', async () => {
  for (const mode of modes) {
    const { findings } = await tree.examine(mode, 'src/other.ts', { text: 'const a = 1;\n' });
    expect(findings).toEqual([]);
  }
});

test('what was changed in the tree itself is held against the last commit', async () => {
  await using its = await failingTree([{ 'src/store.ts': store, 'src/use.ts': use }]);
  expect((await its.examine(redTeam, 'src/store.ts')).findings).toEqual([]);
  const check = "  if (path.includes('..')) throw new RangeError(path);";
  await writeFile(path.join(its.root, 'src/store.ts'), store.replace(`${check}\n`, ''));
  const { findings } = await its.examine(redTeam, 'src/store.ts');
  expect(findings.map(({ rule }) => rule)).toEqual(['RT_CHECK_LOST']);
  expect(findings[0]?.evidence).toMatchObject([
    { file_path: 'src/store.ts', line_start: 7, content: check },
  ]);
});
