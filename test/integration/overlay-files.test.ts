import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { placeOf } from '../../src/pgc/plan/manifest.js';
import { realRoot } from '../../src/pgc/source/source-tree.js';
import { factsLayout } from '../../src/store/layouts.js';
import { Desk } from '../support/desk.js';
import { eventually } from '../support/eventually.js';
import { chainRepository } from '../support/repository.js';
import { sigma, type Running } from '../support/sigma.js';
import { Stack } from '../support/stack.js';
import { openTestStore } from '../support/store.js';

let stage: ReturnType<typeof chainRepository>;
let desk: Desk;
let stack: Stack;
let host: Running;
let executor: Running;

beforeAll(async () => {
  stage = chainRepository();
  const { home, root } = stage;
  stack = await Stack.open(home, ['manager']);
  expect((await sigma(home, ['index', root, '--shards', stage.plan])).code).toBe(0);
  host = await stack.start(['agent', 'pgc', root]);
  executor = await stack.start(['agent', 'executor', '--runners', 'answer']);
  desk = await Desk.open(home);
  await eventually(async () => {
    const { json } = await sigma(home, ['callers', 'nic_log', '--json']);
    expect(json.callers).toHaveLength(3);
    const agents = await desk.client.agents({ role: 'executor' });
    expect(agents.map(({ state }) => state)).toEqual(['online']);
  }, 50_000);
}, 90_000);

afterAll(async () => {
  await desk[Symbol.asyncDispose]();
  await stack[Symbol.asyncDispose]();
  stage.remove();
});

/** Files of an overlay, of all shards. */
function filesOf(overlay: string): string[] {
  const folder = path.join(stage.home, 'pgc');
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((each) => each.endsWith(`.${overlay}.ovl`))
    .map((each) => path.join(folder, each))
    .sort();
}

async function registered(overlay: string): Promise<(string | undefined)[]> {
  const agents = await desk.client.agents({ role: 'pgc' });
  return agents.map(({ record }) => record.overlays[overlay]?.state);
}

const task = (overlay: string, more = {}) => ({
  task: 'How is a ring allocated?',
  grounding: { strategy: 'pgc_first', overlay_hints: ['O1', overlay], ...more },
});

/** What is said of overlays; a small tree hardly answers clearly. */
const overlaysIn = (warnings: readonly string[]): string[] =>
  warnings.filter((each) => /overlay|\bO\d\b/.test(each));

const begun = (): number => executor.output().match(/making overlays/g)?.length ?? 0;

test('where the file of one shard is taken away under whoever serves it, it is made once for all, and consulted', async () => {
  const files = filesOf('O4');
  expect(files).toHaveLength(4);
  rmSync(files[1]!);
  // What the index was made with says nothing of what is there.
  const listed = await sigma(stage.home, ['overlay', 'list', '--repo', stage.root]);
  expect(listed.stdout).toMatch(/^O4 .*1 failed, 3 ready/m);
  expect(listed.stdout).toMatch(
    /^O4 of \w+ failed: its file is gone\n {2}sigma overlay generate --layers O4 /m,
  );
  expect(await registered('O4')).toEqual(Array(4).fill('ready'));
  const both = await Promise.all([
    desk.done({ id: 'gone-1', ...task('O4') }),
    desk.done({ id: 'gone-2', ...task('O4') }),
  ]);
  for (const { status, errors, grounding_evidence: evidence } of both) {
    expect([status, errors, overlaysIn(evidence!.overlay_warnings)]).toEqual(['completed', [], []]);
    expect(evidence!.overlays_consulted).toEqual(['O1', 'O4']);
  }
  expect(begun()).toBe(1);
  expect(filesOf('O4')).toEqual(files);
}, 90_000);

test('where it is damaged it is made anew, and consulted; also the same one twice in a row', async () => {
  const before = begun();
  const [file] = filesOf('O6');
  const bytes = readFileSync(file!);
  for (const id of ['damaged-1', 'damaged-2']) {
    writeFileSync(
      file!,
      bytes.map((byte, at) => (at === bytes.length >> 1 ? byte ^ 255 : byte)),
    );
    await reopened();
    const { status, grounding_evidence: evidence } = await desk.done({ id, ...task('O6') });
    expect([status, overlaysIn(evidence!.overlay_warnings)]).toEqual(['completed', []]);
    expect(evidence!.overlays_consulted).toEqual(['O1', 'O6']);
    expect(readFileSync(file!)).toEqual(bytes);
  }
  expect(begun()).toBe(before + 2);
}, 120_000);

/** What is open is served out of memory: another host opens it anew. */
async function reopened(): Promise<void> {
  await stack.stop(host);
  host = await stack.start(['agent', 'pgc', stage.root]);
  await eventually(async () => {
    const { json } = await sigma(stage.home, ['callers', 'nic_log', '--json']);
    expect(json.callers).toHaveLength(3);
  }, 30_000);
}

test('while another run has the index, it is waited for', async () => {
  for (const each of filesOf('O7')) rmSync(each);
  const { guard } = placeOf(await realRoot(stage.root), stage.home);
  let done: ReturnType<Desk['done']>;
  {
    await using _held = await openTestStore(guard, factsLayout);
    done = desk.done({ id: 'busy', ...task('O7') });
    await eventually(() => expect(executor.output()).toContain('"INDEX_BUILDING"'), 20_000);
  }
  const { status, grounding_evidence: evidence } = await done;
  expect([status, overlaysIn(evidence!.overlay_warnings)]).toEqual(['completed', []]);
  expect(evidence!.overlays_consulted).toEqual(['O1', 'O7']);
}, 60_000);

test('what is gone when the tree is registered is not told to be ready', async () => {
  const [file] = filesOf('O6');
  rmSync(file!);
  await reopened();
  await eventually(async () =>
    expect((await registered('O6')).sort()).toEqual(['ready', 'ready', 'ready', undefined]),
  );
}, 60_000);

test('what cannot be made is done without, and said; where evidence is required and nothing is there, it blocks', async () => {
  // Nothing can be indexed by these rules.
  mkdirSync(path.join(stage.root, '.sigma'), { recursive: true });
  writeFileSync(path.join(stage.root, '.sigma/security.json'), '{');
  const [file] = filesOf('O5');
  rmSync(file!);
  await reopened();
  const { status, grounding_evidence: evidence } = await desk.done({
    ...{ id: 'without', ...task('O5', { evidence_required: true }) },
  });
  expect(status).toBe('completed');
  expect(evidence!.overlay_warnings.join('\n')).toMatch(
    /^O5 is missing \(making it failed: .*security\.json.*\); O1 was consulted instead\.$/ms,
  );
  for (const each of filesOf('O5')) rmSync(each);
  await reopened();
  const nothing = await desk.done({
    id: 'nothing',
    task: 'How is a ring allocated?',
    grounding: { strategy: 'pgc_first', overlay_hints: ['O5'], evidence_required: true },
  });
  expect(nothing).toMatchObject({ status: 'blocked', reason: 'OVERLAYS_MISSING' });
}, 120_000);
