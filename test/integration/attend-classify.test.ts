import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { sigma } from '../support/sigma.js';
import { temporaryFolder } from '../support/temporary.js';

/** `sigma attend --classify`, as it is typed. */

const folder = temporaryFolder();
afterAll(() => folder.remove());

interface Row {
  id?: string;
  line: number;
  level?: string;
  error?: { code: string };
  findings?: object[];
}

async function attend(
  words: string[],
  input = '',
): Promise<{ code: number; stderr: string; rows: Row[] }> {
  const { code, stdout, stderr } = await sigma(
    path.join(folder.path, 'home'),
    ['attend', ...words],
    {
      input,
    },
  );
  if (words.includes('--json'))
    return { code, stderr, rows: (JSON.parse(stdout) as { actions: Row[] }).actions };
  const lines = stdout.split('\n').filter(Boolean);
  return { code, stderr, rows: lines.map((each) => JSON.parse(each) as Row) };
}

const line = (id: string, ...argv: string[]): string => `${JSON.stringify({ id, argv })}\n`;

test('a file: one document with all answers, and 1 where something stops', async () => {
  const file = path.join(folder.path, 'actions.jsonl');
  writeFileSync(file, line('a', 'ls') + line('b', 'git', 'push'));
  const { code, rows } = await attend(['--classify', '--json', file]);
  expect(rows.map(({ id, level }) => [id, level])).toEqual([
    ['a', 'Low'],
    ['b', 'Elevated'],
  ]);
  expect(code).toBe(1);
});

test('standard input: 0 where nothing stops', async () => {
  const { code, rows } = await attend(['--classify'], line('a', 'ls'));
  expect(rows.map(({ level }) => level)).toEqual(['Low']);
  expect(code).toBe(0);
});

test('a line that is no action is an error of its own', async () => {
  const { code, rows } = await attend(['--classify', '-'], `{"argv":\n${line('b', 'ls')}`);
  expect(rows.map(({ line: at, level }) => [at, level])).toEqual([
    [1, undefined],
    [2, 'Low'],
  ]);
  expect(rows[0]?.error?.code).toMatch(/^[A-Z_]+$/);
  expect(code).toBe(1);
});

test('a script below the root is asked about, bound to its content, and every step is shown', async () => {
  writeFileSync(path.join(folder.path, 'a.sh'), 'rm -rf data\n');
  const words = ['--classify', '--explain', '--root', folder.path];
  const { rows, stderr } = await attend(words, line('a', 'sh', 'a.sh'));
  expect(rows[0]).toMatchObject({ level: 'Elevated', findings: [{ file: 'a.sh' }] });
  expect(stderr).toContain('1: bound to the content');
  expect(stderr).toContain('a.sh');
});

test('without a root nothing of the tree is trusted: its programs, its scripts, its git settings', async () => {
  const input = [['./deploy.sh'], ['node', 'script.js'], ['make'], ['git', 'status'], ['ls']]
    .map((argv) => line(argv[0] ?? '', ...argv))
    .join('');
  const { rows } = await attend(['--classify', '-'], input);
  expect(rows.map(({ level }) => level)).toEqual([...Array<string>(4).fill('Elevated'), 'Low']);
});

test('with --json there is one document, also where there is nothing to read', async () => {
  const none = path.join(folder.path, 'none.jsonl');
  const missing = await sigma(path.join(folder.path, 'home'), [
    'attend',
    '--classify',
    none,
    '--json',
  ]);
  expect([missing.code, missing.json.error.code]).toEqual([2, 'USAGE']);
  expect((await attend(['--classify', '--json', '-'], '\n')).rows).toEqual([]);
});

test('what is asked wrongly is refused', async () => {
  expect((await attend([])).code).toBe(2);
  expect((await attend(['--classify', '--root', path.join(folder.path, 'none')])).code).toBe(2);
  writeFileSync(path.join(folder.path, 'own.yaml'), 'rules: 3\n');
  expect((await attend(['--classify', '--policy', path.join(folder.path, 'own.yaml')])).code).toBe(
    2,
  );
});
