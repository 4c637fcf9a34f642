import { spawn } from 'node:child_process';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { fileURLToPath } from 'node:url';
import { eventually } from '../support/eventually.js';
import { chainRepository } from '../support/repository.js';
import { environment, program, sigma } from '../support/sigma.js';

const without = fileURLToPath(new URL('../support/without.mjs', import.meta.url));
/** What takes long to load, and is for few. */
const rare = ['openai', 'web-tree-sitter', '@modelcontextprotocol', 'prom-client'];

let stage: ReturnType<typeof chainRepository>;
const ends: (() => Promise<unknown>)[] = [];
beforeAll(async () => {
  stage = chainRepository();
  const { root, home, plan } = stage;
  expect((await sigma(home, ['index', root, '--shards', plan])).code).toBe(0);
});
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});
afterAll(() => stage.remove());

/** A command for which these packages are not there. */
function start(args: string[], packages: string[]) {
  const child = spawn(process.execPath, ['--import', without, program, ...args], {
    env: { ...environment(stage.home), WITHOUT: packages.join(',') },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  ends.push(() => (child.kill('SIGTERM'), ended));
  return { ended, output: () => text };
}

test.each([
  [['--version'], 0, /^\d+\.\d+\.\d+$/m],
  [['error', 'NO_BROKER'], 0, /^NO_BROKER/m],
  [['status'], 3, /NO_BROKER/],
])('sigma %j loads nothing that checks or parses', async (args, code, said) => {
  const its = start(args, [...rare, 'zod', 'yaml', 'level', 'pino', 'zeromq', 'xstate']);
  expect(await its.ended, its.output()).toBe(code);
  expect(its.output()).toMatch(said);
});

test.each([[['agents']], [['send', 'x', 'y']]])(
  '%j loads only what checks its input',
  async (args) => {
    const its = start(args, [...rare, 'yaml', 'level', 'pino', 'zeromq', 'xstate']);
    expect(await its.ended, its.output()).toBe(3);
    expect(its.output()).toMatch(/NO_BROKER/);
  },
);

test('what stays loads only what its settings ask for', async () => {
  const bus = start(['bus', '--log', 'info'], [...rare, 'zod', 'yaml']);
  const roles = [['pgc', stage.root], ['manager'], ['executor']];
  const agents = roles.map((role) => start(['agent', ...role, '--log', 'info'], rare));
  for (const its of [bus, ...agents])
    await eventually(() => expect(its.output()).toMatch(/"msg":"serving"/), 25_000);
}, 60_000);

test('a package that is loaded is missed', async () => {
  const its = start(['status'], ['commander']);
  expect(await its.ended).not.toBe(3);
  expect(its.output()).toMatch(/commander\S* is not there/);
});
