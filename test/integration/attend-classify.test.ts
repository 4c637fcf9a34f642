import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';

/** `sigma attend --classify`, as it is typed. */

const sigma = path.resolve('services/cli/sigma.mjs');
const folder = mkdtempSync(path.join(tmpdir(), 'sigma-attend-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

interface Ran {
  status: number | null;
  stderr: string;
  rows: { id?: string; line: number; level?: string; error?: { code: string }; digest?: object }[];
}

function attend(words: string[], input = ''): Ran {
  const env = { ...process.env, SIGMA_HOME: path.join(folder, 'home') };
  const run = spawnSync(process.execPath, [sigma, 'attend', ...words], {
    ...{ input, env, encoding: 'utf8' },
  });
  const lines = run.stdout.split('\n').filter(Boolean);
  const rows = lines.map((line) => JSON.parse(line) as Ran['rows'][number]);
  return { status: run.status, stderr: run.stderr, rows };
}

const line = (id: string, ...argv: string[]): string => `${JSON.stringify({ id, argv })}\n`;

test('a file: one answer a line, and 1 where something stops', () => {
  const file = path.join(folder, 'actions.jsonl');
  writeFileSync(file, line('a', 'git', 'status') + line('b', 'git', 'push'));
  const { status, rows } = attend(['--classify', '--json', file]);
  expect(rows.map(({ id, level }) => [id, level])).toEqual([
    ['a', 'Low'],
    ['b', 'Elevated'],
  ]);
  expect(status).toBe(1);
});

test('standard input: 0 where nothing stops', () => {
  const { status, rows } = attend(['--classify'], line('a', 'ls'));
  expect(rows.map(({ level }) => level)).toEqual(['Low']);
  expect(status).toBe(0);
});

test('a line that is no action is an error of its own', () => {
  const { status, rows } = attend(['--classify', '-'], `{"argv":\n${line('b', 'ls')}`);
  expect(rows.map(({ line: at, level }) => [at, level])).toEqual([
    [1, undefined],
    [2, 'Low'],
  ]);
  expect(rows[0]?.error?.code).toMatch(/^[A-Z_]+$/);
  expect(status).toBe(1);
});

test('scripts below the root are read, and every step is said', () => {
  writeFileSync(path.join(folder, 'a.sh'), 'rm -rf data\n');
  const words = ['--classify', '--explain', '--root', folder];
  const { rows, stderr } = attend(words, line('a', 'sh', 'a.sh'));
  expect(rows[0]).toMatchObject({ level: 'Elevated', findings: [{ file: 'a.sh' }] });
  expect(stderr).toContain('1: read a.sh');
  expect(stderr).toContain('removes-files');
});

test('what is asked wrongly is refused', () => {
  expect(attend([]).status).toBe(2);
  expect(attend(['--classify', '--root', path.join(folder, 'none')]).status).toBe(2);
  writeFileSync(path.join(folder, 'own.yaml'), 'rules: 3\n');
  expect(attend(['--classify', '--policy', path.join(folder, 'own.yaml')]).status).toBe(2);
});
