import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../../../../src/base/clock.js';
import { Lattice } from '../../../../../src/lattice/lattice.js';
import { query } from '../../../../../src/lattice/query/query.js';
import { indexFolder } from '../../../../../src/pgc/build/index-folder.js';
import { Locator } from '../../../../../src/pgc/search/locate/locate.js';
import { openShards, type OpenedShards } from '../../../../../src/pgc/serve/open-shards.js';
import type { Answer } from '../../../../../src/pgc/shapes.js';
import { Engine } from '../../../../../src/pgc/search/vectors/engine.js';
import { judgeOf } from '../../../../../src/pgc/search/vectors/judge.js';
import { textCharsMax } from '../../../../../src/model/word-piece.js';
import { EmbeddingServer } from '../../../../support/embedding-server.js';
import { TemporaryTree } from '../../../../support/git-tree.js';

const key = 'AKIAIOSFODNN7EXAMPLE';
const password = 'Tr0ub4dorAndThree';

let tree: TemporaryTree;
let home: TemporaryTree;
let server: EmbeddingServer;
beforeEach(async () => {
  tree = await TemporaryTree.create({
    'page.c': '/* Releases the memory of a page. */\nvoid free_page(struct page *p) { drop(p); }\n',
  });
  home = await TemporaryTree.create();
  server = await EmbeddingServer.open();
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
  await tree[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});

const engineOf = (model: string): Promise<Engine> =>
  Engine.open({ home: home.root, settings: { url: server.url, model }, env: {} });

async function opened(engine: Engine): Promise<OpenedShards> {
  await using indexer = await EmbeddingServer.open();
  const settings = { url: indexer.url, model: 'letters' };
  await indexFolder({
    root: tree.root,
    home: home.root,
    jobs: 0,
    embedding: { settings, env: {} },
  });
  return await openShards(tree.root, home.root, engine);
}

function ask({ shards }: OpenedShards, question: string): Promise<Answer> {
  return shards[0]!.ask({ question, overlays: [], top_k: 5 });
}

test('no credential of a report or of a file is sent to an endpoint, however it is spelt', async () => {
  await using engine = await engineOf('letters');
  const texts = [`the api_key="${key}" of the card`, `db_password = '${password}'`, 'page'];
  const scores = await judgeOf(engine)!.scores(
    `login fails with --password ${password}`,
    texts,
    1e6,
  );
  expect(scores).toHaveLength(3);
  expect(scores.every((each) => each !== undefined)).toBe(true);
  const sent = server.texts.join('\n').replace(/\s/g, '');
  expect(sent).toContain('loginfails');
  expect(sent).toContain('ofthecard');
  expect(sent).not.toContain(key);
  expect(sent).not.toContain(password);
});

test('no part of a credential is sent that stands where a text is cut', async () => {
  await using engine = await engineOf('letters');
  // So many characters of it stand before the cut; and what is taken out before it moves more of the text there.
  for (let shown = 1; shown <= password.length; shown += 1) {
    const head = `${'so '.repeat(textCharsMax).slice(0, textCharsMax - shown - 11)} password="`;
    await judgeOf(engine)!.scores('question', [`${head}${password}"`], 1e6);
  }
  const long = `authorization: Bearer ${'0a'.repeat(2 * textCharsMax - 19)} password="${password}"`;
  await judgeOf(engine)!.scores('question', [long], 1e6);
  const sent = server.texts.join('\n').replace(/\s/g, '');
  expect(sent).toContain('sososo');
  expect(sent).not.toContain('Tr0');
});

test('no part of a credential is sent that stands where a report or a file is cut', async () => {
  const token = 'ghp_0123456789abcdefghijABCDEFGHIJ012345';
  const so = (chars: number): string => 'so '.repeat(chars).slice(0, chars);
  await tree.write({ 'gate.c': `/* ${so(140)} ${token} */\nint gate_open(void) { return 1; }\n` });
  await using engine = await engineOf('letters');
  await opened(engine);
  const locator = await Locator.open(tree.root, home.root);
  const description = `the gate stays shut ${so(360)} ${token}`;
  const title = `gate ${so(380)} ${token}`;
  const reranker = judgeOf(engine)!;
  await locator.locate({ title, description }, { limit: 5, reranker });
  await locator.locate({ title: 'gate', description }, { limit: 5, reranker });
  const sent = server.texts.join('\n').replace(/\s/g, '');
  expect(sent).toContain('thegatestaysshut');
  expect(sent).toContain('gate.so');
  expect(sent).not.toContain('ghp');
});

test('no credential of a question is sent to an endpoint', async () => {
  await using engine = await engineOf('letters');
  const shards = await opened(engine);
  await ask(shards, `who frees a page when the db_password="${password}" is set?`);
  const sent = server.texts.join('\n').replace(/\s/g, '');
  expect(sent).toContain('whofreesapage');
  expect(sent).not.toContain(password);
});

test('an answer is the same however long the model takes', async () => {
  await using engine = await engineOf('letters');
  await using other = await engineOf('letters');
  const question = 'Who releases the memory of a page?';
  const [soon, late] = [await opened(engine), await opened(other)];
  const { evidence } = await ask(soon, question);
  expect(evidence[0]?.symbol).toBe('free_page');
  server.delayMs = 300;
  expect((await ask(late, question)).evidence).toEqual(evidence);
});

test('vectors of another engine are not used, and the answer says so', async () => {
  await using engine = await engineOf('others');
  const { overlay_warnings, evidence } = await ask(await opened(engine), 'Who releases a page?');
  expect(evidence[0]?.symbol).toBe('free_page');
  expect(overlay_warnings).toEqual([
    'The vectors of 1 shard are of another engine and were not used: run sigma index.',
  ]);
});

test('no credential of what is judged is sent to an endpoint', async () => {
  const token = 'ghp_0123456789abcdefghijABCDEFGHIJ012345';
  await tree.write({ 'page.c': `/* Frees by ${token}. */\nvoid free_page(int p) { drop(p); }\n` });
  await using engine = await engineOf('letters');
  await ask(await opened(engine), 'who frees a page?');
  expect(server.texts).toContain('free page. Frees by [redacted]. page.c');
});

test('an endpoint that fails is asked once a question, and the words answer', async () => {
  const settings = { url: server.url, model: 'letters' };
  const embedding = { settings, env: {} };
  await indexFolder({ root: tree.root, home: home.root, jobs: 0, embedding });
  await using engine = await engineOf('letters');
  const shards = await openShards(tree.root, home.root, engine);
  const asked = server.requests.length;
  server.misbehaves.push({ status: 404 }, { status: 404 });
  const { overlay_warnings, evidence } = await ask(shards, 'who releases a page?');
  expect(evidence[0]?.symbol).toBe('free_page');
  expect(overlay_warnings).toHaveLength(1);
  expect(server.requests.length).toBe(asked + 1);
});

test('a query over shards that had to do without says so', async () => {
  await using engine = await engineOf('letters');
  const { shards } = await opened(engine);
  const lattice = new Lattice(shards, await Promise.all(shards.map((each) => each.card())));
  const request = { question: 'Who releases a page?', from: '', max_hops: 0, top_k: 5 };
  const limits = { clock: systemClock, deadlineMs: 20_000 };
  server.misbehaves.push({ status: 400, body: 'no such model' });
  const answer = await query(lattice, request, limits);
  expect(answer.evidence[0]?.symbol).toBe('free_page');
  expect(answer).toMatchObject({
    partial: true,
    errors: [{ code: 'EMBEDDING_REFUSED', agent: shards[0]!.agent }],
  });
  expect(await query(lattice, request, limits)).toMatchObject({ partial: false, errors: [] });
});
