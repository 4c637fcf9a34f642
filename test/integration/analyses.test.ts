import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { chainRepository } from '../support/repository.js';
import { sigma } from '../support/sigma.js';
import { Stack } from '../support/stack.js';

let repository: ReturnType<typeof chainRepository>;
let stack: Stack;

beforeAll(async () => {
  repository = chainRepository();
  mkdirSync(path.join(repository.root, '.sigma'));
  writeFileSync(
    path.join(repository.root, '.sigma/layers.json'),
    JSON.stringify({
      layers: ['drivers', 'kernel', 'mm', 'include'].map((name) => ({ name, paths: [name] })),
      allowed: [['drivers', 'include']],
    }),
  );
  stack = await Stack.open(repository.home, ['manager'], repository);
}, 60_000);
afterAll(async () => {
  await stack[Symbol.asyncDispose]();
  repository.remove();
});

const questions = [
  ['blast-radius', 'dma_alloc_mapped'],
  ['blast-radius', 'dma_alloc_mapped', '--direction', 'up', '--max-depth', '1'],
  ['security', 'blast-radius', 'dma_alloc_mapped'],
  ['patterns', '--filter', 'dependencies'],
  ['algebra', 'O1[kind=function] & O3', '--limit', '3'],
];

test.each(questions)(
  'the running lattice answers %s %s as the index does',
  async (...args) => {
    const given = args.filter((each) => typeof each === 'string');
    const viaBus = await sigma(repository.home, [...given, '--json']);
    const direct = await sigma(repository.home, [...given, '--repo', repository.root, '--json']);
    expect(viaBus.code).toBe(0);
    expect(viaBus.json).toEqual(direct.json);
  },
  30_000,
);

test('what the index does not know is told with its code over the bus as well', async () => {
  const unknown = await sigma(repository.home, ['blast-radius', 'no_such_name', '--json']);
  expect(unknown.json.error.code).toBe('NO_SUCH_SYMBOL');
  const wrong = await sigma(repository.home, ['algebra', 'O9', '--json']);
  expect(wrong.code).not.toBe(0);
});

test('without a broker the commands say so, and how to do without', async () => {
  const home = path.join(repository.home, 'elsewhere');
  for (const args of questions) {
    const told = await sigma(home, [...args, '--json']);
    expect(told.code).toBe(3);
    expect(told.json.error.code).toBe('NO_BROKER');
    expect(told.json.error.next).toContain('--repo');
  }
}, 60_000);

test('the topology is told of one agent, as a drawing, and as JSON with the size of each shard', async () => {
  const asked = ['lattice', 'topology', '--agent', 'drivers'];
  const [text, dot, json] = await Promise.all([
    sigma(repository.home, asked),
    sigma(repository.home, ['lattice', 'topology', '--dot']),
    sigma(repository.home, ['lattice', 'topology', '--json']),
  ]);
  expect(text.stdout).toMatch(/^drivers depends on \d+ shards/);
  expect(dot.stdout).toMatch(/^digraph "topology [0-9a-f]+" \{\n/);
  expect(json.json.nodes).toHaveLength(4);
  expect(json.json.nodes[0].lines).toBeGreaterThan(0);
});

test('a plan by CODEOWNERS is shown as a tree, and a bad line is told', async () => {
  const owners = path.join(repository.root, 'CODEOWNERS');
  writeFileSync(owners, '* @all\n/drivers/ @drivers\n');
  const asked = ['lattice', 'plan', repository.root, '--shards', 'codeowners'];
  const tree = await sigma(repository.home, [...asked, '--tree']);
  expect(tree.stdout).toMatch(/^FOLDER\s+SHARD\s+FILES\s+LINES\n\.\s/);
  writeFileSync(owners, '* @all\n!b @c\n');
  const bad = await sigma(repository.home, [...asked, '--json']);
  expect(bad.code).toBe(2);
  expect(bad.json.error.text).toContain('CODEOWNERS line 2');
});
