import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { checkIndex } from '../../../../../src/pgc/build/index-check.js';
import { indexFolder, type IndexReport } from '../../../../../src/pgc/build/index-folder.js';
import { placeOf, readManifest } from '../../../../../src/pgc/plan/manifest.js';
import { openIndex, type OpenedTree } from '../../../../../src/pgc/search/open-index.js';
import { openShards } from '../../../../../src/pgc/serve/open-shards.js';
import { refreshVectors } from '../../../../../src/pgc/search/vectors/build-vectors.js';
import { Engine, type EmbeddingSettings } from '../../../../../src/pgc/search/vectors/engine.js';
import { Semantics } from '../../../../../src/pgc/search/vectors/semantics.js';
import {
  tableFingerprint,
  tablePath,
  writeTable,
} from '../../../../../src/pgc/search/vectors/table-file.js';
import { compiled } from '../../../../support/compiled.js';
import { EmbeddingServer } from '../../../../support/embedding-server.js';
import { TemporaryTree } from '../../../../support/git-tree.js';
import { tinyTable, tinyVocabulary } from '../../../../support/tiny-table.js';

const source = {
  'net/skb.c': `#define LIMIT 4
/* Drops a packet that nobody wants. */
void put_away(struct packet *p) { drop(p); }
int open_clock(void) { return LIMIT; }
int undocumented(void);
`,
  'mm/page.c': `/* Releases the memory of a page. */
void free_page(struct page *p) { drop(p); }
struct page { int flags; };
`,
};
const plan = { shards: ['mm', 'net'].map((alias) => ({ alias, paths: [alias] })) };

let tree: TemporaryTree;
let home: TemporaryTree;
beforeEach(async () => {
  tree = await TemporaryTree.create(source);
  home = await TemporaryTree.create();
});
afterEach(async () => {
  await tree[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});

function index(settings?: EmbeddingSettings): Promise<IndexReport> {
  return indexFolder({
    ...{ root: tree.root, home: home.root, jobs: 0, shards: plan },
    ...(settings === undefined ? {} : { embedding: { settings, env: { KEY: 'k' } } }),
  });
}

async function vectorFiles(): Promise<string[]> {
  const names = await readdir(placeOf(tree.root, home.root).segments);
  return names.filter((name) => name.endsWith('.vec')).sort();
}

async function opened(
  settings: EmbeddingSettings,
  work: (semantics: Semantics, index: OpenedTree) => Promise<void>,
): Promise<void> {
  await using engine = await Engine.open({ home: home.root, settings, env: {} });
  const known = await openIndex(tree.root, home.root);
  const place = placeOf(tree.root, home.root);
  await work(await Semantics.open(place, known.manifest, known.shards, engine), known);
  for (const shard of known.shards) shard.close();
}

/** The names of what is nearest, best first. */
function nearest(
  semantics: Semantics,
  { shards }: OpenedTree,
  alias: string,
  text: string,
): string[] {
  const shard = shards.find(({ info }) => info.alias === alias)!;
  const query = semantics.vectorOf(text);
  if (query === undefined) return [];
  return semantics.search(alias, query, 2).map(({ document }) => shard.symbol(document).name);
}

const withTable = (): Promise<void> => writeTable(home.root, tinyTable(), tinyVocabulary);

test('what means much the same is found without a common word', async () => {
  await withTable();
  expect((await index('auto')).notes.filter((note) => note.includes('no table'))).toEqual([]);
  await opened('auto', async (semantics, known) => {
    await Promise.resolve();
    expect(semantics.isReady).toBe(true);
    expect(semantics.warnings).toEqual([]);
    expect(nearest(semantics, known, 'net', 'release the buffer')[0]).toBe('put_away');
    expect(nearest(semantics, known, 'net', 'start time')[0]).toBe('open_clock');
    expect(nearest(semantics, known, 'mm', 'release the buffer')[0]).toBe('free_page');
    expect(nearest(semantics, known, 'mm', 'words that it never saw')).toEqual([]);
    expect(semantics.search('elsewhere', semantics.vectorOf('free')!, 3)).toEqual([]);
    expect(semantics.search('mm', new Float32Array(3).fill(1), 3)).toEqual([]);
  });
});

test('functions and types have a vector; constants and plain declarations have none', async () => {
  await withTable();
  await index('auto');
  const { manifest } = await openIndex(tree.root, home.root);
  expect(manifest.shards.map(({ alias, vectors }) => [alias, vectors])).toEqual([
    [
      'mm',
      { ...{ fingerprint: tableFingerprint, symbols: 2, left_out: 0 }, file: expect.any(String) },
    ],
    [
      'net',
      { ...{ fingerprint: tableFingerprint, symbols: 2, left_out: 0 }, file: expect.any(String) },
    ],
  ]);
});

test('with vectors the version that is told is another one, and without them again', async () => {
  const versions = async (): Promise<string[]> =>
    (await openIndex(tree.root, home.root)).shards.map(({ info }) => info.version);
  await index('off');
  const plain = await versions();
  await withTable();
  await index('auto');
  const meant = await versions();
  expect(meant.map((each, at) => each.startsWith(`${plain[at]!}.`))).toEqual([true, true]);
  await index('off');
  expect(await versions()).toEqual(plain);
  expect(await vectorFiles()).toEqual([]);
});

test('only what has changed is made anew', async () => {
  await withTable();
  await index('auto');
  const before = await vectorFiles();
  await tree.write({ 'mm/page.c': 'void lock_page(void) { }\n' });
  await index('auto');
  const after = await vectorFiles();
  expect(after.filter((name) => before.includes(name))).toEqual(
    before.filter((name) => name.startsWith('net')),
  );
  expect(after.length).toBe(2);
});

test('those of files that stay are taken over at their new places, as a first run would make them', async () => {
  // Codes are signs, and every word has others.
  const table = tinyTable();
  table.rows.forEach((_, at) => (table.rows[at] = ((at * 7_919) % 251) - 125));
  await writeTable(home.root, table, tinyVocabulary);
  await tree.write({
    'mm/zone.c':
      '/* Frees a zone. */\nint free_zone(void) { return 1; }\nint open_zone(void) { return 2; }\nint start_packet(void) { return 3; }\n',
  });
  await index('auto');
  await tree.write({
    'mm/age.c': 'int start_clock(void) { return 1; }\nint drop_packet(void) { return 2; }\n',
    'mm/page.c': `/* Opens the memory. */\nint open_memory(void) { return 0; }\n${source['mm/page.c']}`,
  });
  await index('auto');
  const bytesIn = async (folder: string): Promise<Buffer[]> => {
    const { segments } = placeOf(tree.root, folder);
    const names = (await readdir(segments)).filter((name) => name.endsWith('.vec')).sort();
    return Promise.all(names.map((name) => readFile(path.join(segments, name))));
  };
  await using fresh = await TemporaryTree.create();
  await writeTable(fresh.root, table, tinyVocabulary);
  await indexFolder({
    ...{ root: tree.root, home: fresh.root, jobs: 0, shards: plan },
    embedding: { settings: 'auto', env: {} },
  });
  expect(await bytesIn(home.root)).toEqual(await bytesIn(fresh.root));
});

test('whoever says nothing of vectors keeps those that are there', async () => {
  await withTable();
  await index('auto');
  const before = await vectorFiles();
  await index();
  expect(await vectorFiles()).toEqual(before);
  expect((await openIndex(tree.root, home.root)).manifest.shards[0]?.vectors?.symbols).toBe(2);
});

test('a damaged file is found, searched around, and made anew', async () => {
  await withTable();
  await index('auto');
  const [name] = await vectorFiles();
  const file = path.join(placeOf(tree.root, home.root).segments, name!);
  const bytes = await readFile(file);
  bytes[bytes.length - 1] = bytes[bytes.length - 1]! ^ 1;
  await writeFile(file, bytes);
  const { files, is_sound } = await checkIndex(tree.root, home.root);
  expect(is_sound).toBe(false);
  expect(files.filter(({ problem }) => problem !== '').map(({ file: each }) => each)).toEqual([
    name,
  ]);
  await opened('auto', async (semantics, known) => {
    await Promise.resolve();
    expect(semantics.warnings.join()).toContain('mm is searched by words alone');
    expect(semantics.warningsOf('mm')).toEqual(semantics.warnings);
    expect(semantics.warningsOf('net')).toEqual([]);
    expect(nearest(semantics, known, 'net', 'release the buffer')[0]).toBe('put_away');
  });
  {
    await using engine = await Engine.open({ home: home.root, settings: 'auto', env: {} });
    const { shards } = await openShards(tree.root, home.root, engine);
    const request = { question: 'What releases the buffer?', overlays: [], top_k: 5 };
    const warned = new Map<string, string>();
    for (const shard of shards)
      warned.set(shard.index.info.alias, (await shard.ask(request)).overlay_warnings.join());
    expect(warned.get('mm')).toContain('mm is searched by words alone');
    expect(warned.get('net')).not.toContain('by words alone');
  }
  await index('auto');
  expect((await checkIndex(tree.root, home.root)).is_sound).toBe(true);
});

test('vectors of an endpoint are asked for once a text', async () => {
  await using server = await EmbeddingServer.open();
  const settings = { url: server.url, model: 'letters', keyEnv: 'KEY' };
  expect((await index(settings)).notes).toEqual([]);
  expect(server.texts.toSorted()).toEqual([
    'free page. Releases the memory of a page.',
    'open clock',
    'page',
    'put away. Drops a packet that nobody wants.',
  ]);
  expect(server.requests.every(({ authorization }) => authorization === 'Bearer k')).toBe(true);
  const asked = server.requests.length;
  await index(settings);
  expect(server.requests.length).toBe(asked);
  await tree.write({ 'mm/more.c': 'int lock_page(void) { return 0; }\n' });
  await index(settings);
  expect(server.texts.slice(4)).toEqual(['lock page']);
});

test('what looks like a credential is not sent away', async () => {
  await using server = await EmbeddingServer.open();
  const settings = { url: server.url, model: 'letters' };
  await tree.write({
    'mm/in.c': '/* Logs in with password = "hunter22x". */\nvoid log_in(void) { }\n',
  });
  await index(settings);
  await opened(settings, async (semantics) => {
    const [text, ...others] = ['compare password = "hunter22x"', 'token: "swordfish7"'];
    await semantics.embed(text);
    await semantics.rerank('who', others);
  });
  expect(server.texts.filter((text) => text.includes('[redacted]')).length).toBe(3);
  expect(server.texts.join()).not.toMatch(/hunter22x|swordfish7/);
});

test('a credential in a documentation is taken out before its parts are read as words', async () => {
  await using server = await EmbeddingServer.open();
  const settings = { url: server.url, model: 'letters' };
  const token = 'ghp_0123456789abcdefghijABCDEFGHIJ012345';
  await tree.write({ 'mm/up.c': `/* Sends with ${token} up. */\nvoid send_up(void) { }\n` });
  await index(settings);
  expect(server.texts).toContain('send up. Sends with [redacted] up.');
});

test('who asks does not wait for an endpoint that does not answer', async () => {
  await using server = await EmbeddingServer.open();
  const settings = { url: server.url, model: 'letters' };
  await index(settings);
  await using engine = await Engine.open({ home: home.root, settings, env: {} });
  const { manifest, shards } = await openIndex(tree.root, home.root);
  const place = placeOf(tree.root, home.root);
  const semantics = await Semantics.open(place, manifest, shards, engine, 50);
  const late = { code: 'EMBEDDING_UNAVAILABLE', data: { detail: 'no answer within 50 ms' } };
  server.misbehaves.push({ hangs: true }, { hangs: true });
  await expect(semantics.embed('free')).rejects.toMatchObject(late);
  await expect(semantics.rerank('free', ['page'])).rejects.toMatchObject(late);
  const gone = AbortSignal.abort(new Error('gone'));
  await expect(semantics.embed('free', gone)).rejects.toThrow('gone');
  for (const shard of shards) shard.close();
});

test('a question is answered by the endpoint that has made the vectors', async () => {
  await using server = await EmbeddingServer.open();
  const settings = { url: server.url, model: 'letters' };
  await index(settings);
  await opened(settings, async (semantics, { shards }) => {
    expect(semantics.vectorOf('open clock')).toBeUndefined();
    const query = await semantics.embed('open_clock');
    const [best] = semantics.search('net', query!, 1);
    expect(shards[1]!.symbol(best!.document).name).toBe('open_clock');
    const [same, other] = await semantics.rerank('open_clock', ['open clock', 'xyz']);
    expect(same!).toBeGreaterThan(0.99);
    expect(other!).toBeLessThan(0.5);
  });
});

test('vectors of another engine are left alone, with what to do about it', async () => {
  await using server = await EmbeddingServer.open();
  await withTable();
  await index('auto');
  await opened({ url: server.url, model: 'letters' }, async (semantics) => {
    expect(semantics.isReady).toBe(false);
    expect(await semantics.embed('free')).toBeUndefined();
    expect(semantics.warnings).toEqual([
      'The vectors of 2 shards are of another engine and were not used: run sigma index.',
    ]);
  });
  expect(server.requests).toEqual([]);
});

test('without the table that made them, vectors are left alone too', async () => {
  await withTable();
  await index('auto');
  await rm(tablePath(home.root));
  await opened('auto', async (semantics) => {
    await Promise.resolve();
    expect(semantics.isReady).toBe(false);
    expect(semantics.warnings.join()).toMatch(
      /^The vectors of 2 shards were not used: .*(?:is not installed|run sigma index)/,
    );
  });
  await opened('off', async (semantics) => {
    await Promise.resolve();
    expect(semantics.warnings).toEqual([]);
  });
});

test('an endpoint that fails leaves an index without vectors, and the next run mends it', async () => {
  await using server = await EmbeddingServer.open();
  server.misbehaves.push({ status: 404, body: 'no such model' });
  const settings = { url: server.url, model: 'letters' };
  const { notes, shards } = await index(settings);
  expect(notes.join()).toContain('no such model; the next run tries again');
  expect(shards.length).toBe(2);
  // The second shard was not tried.
  expect(server.requests.length).toBe(1);
  expect(await vectorFiles()).toEqual([]);
  expect((await index(settings)).notes).toEqual([]);
  expect((await vectorFiles()).length).toBe(2);
});

test('no more symbols are embedded than is allowed, documented ones first, and it is said', async () => {
  await using server = await EmbeddingServer.open();
  const settings = { url: server.url, model: 'letters', symbolsMax: 1 };
  const { notes } = await index(settings);
  expect(server.texts).toEqual(['free page. Releases the memory of a page.']);
  expect(notes).toEqual(['3 symbols have no vector: symbolsMax of embedding is 1']);
  expect((await index({ ...settings, symbolsMax: 100 })).notes).toEqual([]);
  expect(server.texts.length).toBe(4);
});

test('an endpoint with other dimensions than before makes all vectors anew', async () => {
  await using server = await EmbeddingServer.open();
  const settings = { url: server.url, model: 'letters' };
  await index(settings);
  server.dims = 40;
  await tree.write({ 'mm/more.c': 'int lock_page(void) { return 0; }\n' });
  expect((await index(settings)).notes).toEqual([]);
  expect((await checkIndex(tree.root, home.root)).is_sound).toBe(true);
});

/** Takes the vectors away and has them made again, by two threads first; what they are, byte by byte. */
async function againByThreads(worker: URL): Promise<{ before: Buffer[]; after: Buffer[] }> {
  const place = placeOf(tree.root, home.root);
  const files = (await vectorFiles()).map((name) => path.join(place.segments, name));
  const bytes = (): Promise<Buffer[]> => Promise.all(files.map((file) => readFile(file)));
  const before = await bytes();
  for (const file of files) await rm(file);
  const { shards } = await readManifest(place, tree.root);
  const made = await refreshVectors({
    ...{ place, shards, before: undefined, home: home.root },
    ...{ embedding: { settings: 'auto', env: {} }, progress: () => undefined },
    ...{ signal: new AbortController().signal, threads: 2, itemsPerThread: 1, worker },
  });
  expect(made).toEqual({ shards, notes: [] });
  return { before, after: await bytes() };
}

test('a thread that is lost costs no run: what it leaves is made in this one', async () => {
  await withTable();
  await index('auto');
  const heard = path.join(home.root, 'heard');
  const dying = path.join(home.root, 'dying.mjs');
  await writeFile(
    dying,
    `import { appendFileSync } from 'node:fs';
     import { parentPort } from 'node:worker_threads';
     import ${JSON.stringify(compiled('src/pgc/search/vectors/vector-worker.ts'))};
     parentPort.on('message', ({ shard }) => {
       appendFileSync(${JSON.stringify(heard)}, shard.alias + ' ');
       if (shard.alias === 'net') process.exit(3);
     });`,
  );
  const { before, after } = await againByThreads(pathToFileURL(dying));
  expect((await readFile(heard, 'utf8')).split(' ').sort()).toEqual(['', 'mm', 'net']);
  expect(after).toEqual(before);
});

test.each([
  ['are no module', new URL('file:///nowhere/worker.mjs')],
  // As where the machine has no thread left: it throws at once.
  ['cannot be begun', new URL('https://127.0.0.1/worker.mjs')],
])('threads that %s cost none either', async (_, worker) => {
  await withTable();
  await index('auto');
  const { before, after } = await againByThreads(worker);
  expect(before.length).toBe(2);
  expect(after).toEqual(before);
});
