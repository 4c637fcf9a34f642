import { rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Excerpts } from '../../../../src/pgc/source/excerpt.js';
import { indexFolder } from '../../../../src/pgc/build/index-folder.js';
import { placeOf, readManifest, type Manifest } from '../../../../src/pgc/plan/manifest.js';
import { openShards } from '../../../../src/pgc/serve/open-shards.js';
import { Shard } from '../../../../src/pgc/serve/shard.js';
import { ShardOverlays } from '../../../../src/pgc/overlay/shard-overlays.js';
import type { Answer } from '../../../../src/pgc/shapes.js';
import { verify } from '../../../../src/pgc/answer/verify.js';
import { TemporaryTree } from '../../../support/git-tree.js';

const files = {
  'README.md': `# Ferry

Ferry carries parcels over the river. It was made because bridges are slow.

## Install

Copy the folder to the quay.

## Start the engine

Set \`FERRY_PORT\` to the number of the quay first.

Then start it with:

    make sail

The engine warms up for a minute before the ferry leaves.
`,
  'engine.c': `/**
 * warm_up - heat the boiler until steam rises
 * @boiler: the boiler
 *
 * The caller must hold the boiler lock.
 */
int warm_up(struct boiler *boiler)
{
	lockdep_assert_held(&boiler->lock);
	return strcpy(boiler->name, "steam") != 0;
}

int check_boiler(struct boiler *boiler)
{
	if (boiler->pressure > 12)
		log_line("boiler %d: pressure is %d bar, opening the valve\\n", boiler->number, boiler->pressure);
	return 0;
}
`,
  Makefile: 'sail:\n\t./ferry --port $(FERRY_PORT)\n',
  'keys.ts': 'export const token = "ghp_0123456789abcdefghijABCDEFGHIJ012345";\n',
};

let tree: TemporaryTree;
let home: TemporaryTree;
let shard: Shard;
let manifest: Manifest;

beforeAll(async () => {
  tree = await TemporaryTree.create(files);
  home = await TemporaryTree.create();
  await indexFolder({ root: tree.root, home: home.root, jobs: 0 });
  ({
    shards: [shard],
  } = (await openShards(tree.root, home.root)) as unknown as { shards: [Shard] });
  manifest = await readManifest(placeOf(tree.root, home.root), tree.root);
});
afterAll(async () => {
  await tree[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});

const ask = (question: string, overlays: string[] = []): Promise<Answer> =>
  shard.ask({ question, overlays, top_k: 5 });
const codes = (answer: Answer): string[] => answer.errors.map((each) => each.code);

test('a question about running it is answered from its documents, with the sentence that says it', async () => {
  const answer = await ask('How do I start the engine of the ferry?');
  expect(answer.evidence[0]).toMatchObject({ overlay: 'O5', file_path: 'README.md' });
  expect(answer.evidence[0]).toMatchObject({ name: 'Start the engine' });
  expect(answer.evidence[0]?.said).toContain('make sail');
  for (const source of answer.evidence)
    expect(await verify(source, tree.root)).toMatchObject({ status: 'valid' });
});

test('a question why is answered from what a document says it is for', async () => {
  const answer = await ask('Why was the ferry made?');
  expect(answer.evidence[0]).toMatchObject({ overlay: 'O4', file_path: 'README.md' });
  expect(answer.evidence[0]?.said).toContain('made because bridges are slow');
});

test('a message is found where it is printed, whatever was filled in', async () => {
  const question = 'Where does "boiler 3: pressure is 14 bar, opening the valve" come from?';
  const answer = await ask(question);
  expect(answer.evidence[0]).toMatchObject({ file_path: 'engine.c', line_start: 16, line_end: 16 });
  expect(answer.evidence[0]).toMatchObject({ kind: 'message', container: 'check_boiler' });
  expect(answer.evidence[0]?.excerpt.find(({ decides }) => decides)).toMatchObject({ line: 16 });
  const log = await ask(
    `The ferry stopped.\n[ 12.3] boiler 3: pressure is 14 bar, opening the valve\n`,
  );
  expect(log.evidence[0]).toMatchObject({ file_path: 'engine.c', line_start: 16 });
});

test('only the wanted overlays answer', async () => {
  const rules = await ask('Which lock must be held to warm up the boiler?', ['O6']);
  expect(rules.evidence.map((each) => each.overlay)).not.toContain('O1');
  expect(rules.evidence[0]).toMatchObject({ overlay: 'O6', file_path: 'engine.c' });
  const security = await ask('unbounded copy in warm_up', ['o2']);
  expect(security.evidence.map((each) => each.overlay)).toEqual(['O2']);
});

test('a finding of a secret is not quoted', async () => {
  const answer = await ask('Which secret token is in keys?', ['O2']);
  expect(answer.evidence).toEqual([]);
  expect(JSON.stringify(answer)).not.toContain('ghp_0123');
});

test('a comment that is told is cited with what it documents', async () => {
  const answer = await ask('What heats the boiler until steam rises?');
  const cited = answer.evidence.find((each) => each.symbol === 'warm_up');
  expect(cited).toMatchObject({ kind: 'function', said: 'heat the boiler until steam rises' });
  expect(cited?.content).toContain('heat the boiler until steam rises');
  expect(cited?.content).toContain('int warm_up(');
  expect(cited?.excerpt[0]).toMatchObject({ line: 7, text: expect.stringContaining('warm_up(') });
});

test('an overlay that is missing, failed or damaged is told, and the others answer', async () => {
  const place = placeOf(tree.root, home.root);
  const [{ alias, overlays }] = manifest.shards as [Manifest['shards'][0]];
  const { O4, ...others } = overlays;
  const over = (its: Manifest['shards'][0]['overlays']): Shard =>
    new Shard(
      shard.index,
      new ShardOverlays(place, { alias, overlays: its }),
      new Excerpts(tree.root),
    );
  const question = 'warm up the boiler of the ferry';
  const named = { question, overlays: ['O1', 'O4'], top_k: 5 };
  const missing = await over(others).ask(named);
  expect(codes(missing)).toEqual(['OVERLAY_MISSING']);
  expect(missing.left_out).toEqual([{ overlay: 'O4', why: expect.stringContaining('O4') }]);
  expect(missing.evidence.length).toBeGreaterThan(0);
  // Nobody asked for it by name, and nobody ever made it.
  const silent = await over(others).ask({ ...named, overlays: [] });
  expect(codes(silent)).toEqual([]);
  expect(silent.left_out).toEqual([]);

  const failed = over({ ...others, O4: { ...O4!, state: 'failed', reason: 'it threw' } });
  expect(codes(await failed.ask(named))).toEqual(['OVERLAY_FAILED']);
  const warned = await failed.ask({ ...named, overlays: [] });
  expect(codes(warned)).toEqual([]);
  expect(warned.left_out).toEqual([{ overlay: 'O4', why: expect.stringContaining('it threw') }]);

  const damaged = `damaged.O4.ovl`;
  await writeFile(path.join(place.segments, damaged), 'no overlay');
  const broken = over({ ...others, O4: { ...O4!, file: damaged } });
  const told = await broken.ask(named);
  expect(codes(told)).toEqual(['INDEX_CORRUPT']);
  expect(told.left_out).toMatchObject([{ overlay: 'O4' }]);
  // A run has replaced the file, and whoever serves has not yet noticed.
  const replaced = over({ ...others, O4: { ...O4!, file: 'replaced.O4.ovl' } });
  expect((await replaced.ask(named)).errors).toEqual([
    expect.objectContaining({ code: 'OVERLAY_BUILDING', retryable: true }),
  ]);
  // It is served, but somebody has taken it away: nothing will come of waiting.
  const served = path.join(place.segments, O4!.file);
  await rename(served, `${served}.away`);
  const lost = await over(overlays).ask(named);
  await rename(`${served}.away`, served);
  expect(lost.errors).toEqual([expect.objectContaining({ code: 'INDEX_CORRUPT' })]);
  expect(lost.left_out).toEqual([{ overlay: 'O4', why: expect.stringContaining('(it is gone)') }]);
});

test('answers are cached by question, overlays and index, and bring their evidence', async () => {
  const first = await ask('What heats the boiler until steam rises?', ['O1']);
  const again = await ask('What heats the boiler until steam rises?', ['O1']);
  expect(again.metadata.cached).toBe(true);
  expect(again.evidence).toEqual(first.evidence);
  const other = await ask('What heats the boiler until steam rises?', ['O1', 'O6']);
  expect(other.metadata.cached).toBe(false);
});
