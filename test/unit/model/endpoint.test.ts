import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock, type Clock } from '../../../src/base/clock.js';
import { dot } from '../../../src/model/embedder.js';
import { EndpointEmbedder } from '../../../src/model/endpoint.js';
import { EmbeddingServer } from '../../support/embedding-server.js';

/** A hundred times as fast, so that a patient client is soon done. */
const fast: Clock = { ...systemClock, after: (ms, fn) => systemClock.after(ms / 100, fn) };
const env = { MY_KEY: 'sk-very-secret' };
let server: EmbeddingServer;

beforeEach(async () => {
  server = await EmbeddingServer.open();
});
afterEach(() => server[Symbol.asyncDispose]());

function embedder(more: { keyEnv?: string; requestMs?: number } = {}): EndpointEmbedder {
  const { requestMs, ...settings } = more;
  return new EndpointEmbedder(
    { url: server.url, model: 'letters', ...settings },
    { env, clock: fast, random: () => 0.5, ...(requestMs === undefined ? {} : { requestMs }) },
  );
}

test('vectors come in the order of the texts, of length 1', async () => {
  const its = embedder();
  expect(its.dims).toBe(0);
  const [one, other, again] = await its.embed(['aaa', 'bbb', 'aaaa']);
  expect(its.dims).toBe(26);
  expect(dot(one!, one!)).toBeCloseTo(1, 5);
  expect(dot(one!, again!)).toBeGreaterThan(0.99);
  expect(dot(one!, other!)).toBeLessThan(0.1);
  expect(server.requests).toMatchObject([{ path: '/v1/embeddings', model: 'letters' }]);
});

test('a slash at the end of the address changes nothing', async () => {
  const its = new EndpointEmbedder({ url: `${server.url}/`, model: 'letters' }, { env });
  await its.embed(['a']);
  expect(server.requests[0]?.path).toBe('/v1/embeddings');
  expect(its.fingerprint).toBe(embedder().fingerprint);
});

test('many texts go in several requests, and none without texts', async () => {
  const texts = Array.from({ length: 130 }, (_, at) => `text ${at}`);
  expect((await embedder().embed(texts)).length).toBe(130);
  expect(server.requests.map(({ input }) => input.length)).toEqual([64, 64, 2]);
  expect(await embedder().embed([])).toEqual([]);
  expect(server.requests.length).toBe(3);
});

test('an empty text is sent as something, a long one in part', async () => {
  await embedder().embed(['', 'x'.repeat(20_000)]);
  expect(server.texts.map(({ length }) => length)).toEqual([1, 8_192]);
});

test('the key goes with each request, and nowhere else', async () => {
  const its = embedder({ keyEnv: 'MY_KEY' });
  await its.embed(['a']);
  expect(server.requests[0]?.authorization).toBe('Bearer sk-very-secret');
  expect(inspect(its, { depth: 9, showHidden: true })).not.toContain('sk-very');
  expect(its.fingerprint).not.toContain('sk-very');
  server.misbehaves.push({ status: 401, body: 'no such key: sk-very-secret' });
  const error = await its.embed(['a']).catch((each: unknown) => each);
  expect(error).toMatchObject({ code: 'EMBEDDING_REFUSED' });
  expect(inspect(error, { depth: 9 })).not.toContain('sk-very');
});

test('without a key there is no header, and a key that is not set is said', async () => {
  await embedder().embed(['a']);
  expect(server.requests[0]?.authorization).toBeUndefined();
  await expect(embedder({ keyEnv: 'NO_KEY' }).embed(['a'])).rejects.toMatchObject({
    code: 'EMBEDDING_REFUSED',
    message: expect.stringContaining('NO_KEY is not set') as string,
  });
  expect(server.requests.length).toBe(1);
});

test('what is asked too often, and what fails over there, is asked again', async () => {
  server.misbehaves.push(
    { status: 429, headers: { 'retry-after': '1' } },
    { status: 503, body: 'starting' },
  );
  expect((await embedder().embed(['a'])).length).toBe(1);
  expect(server.requests.length).toBe(3);
});

test('after four attempts it is unavailable', async () => {
  for (let at = 0; at < 9; at += 1) server.misbehaves.push({ status: 500, body: 'oh no' });
  await expect(embedder().embed(['a'])).rejects.toMatchObject({
    code: 'EMBEDDING_UNAVAILABLE',
    retryable: true,
    message: expect.stringContaining('status 500: oh no') as string,
  });
  expect(server.requests.length).toBe(4);
});

test.each([400, 403, 404])('status %i is not tried again', async (status) => {
  server.misbehaves.push({ status, body: 'no such model' });
  await expect(embedder().embed(['a'])).rejects.toMatchObject({ code: 'EMBEDDING_REFUSED' });
  expect(server.requests.length).toBe(1);
});

test('one that hangs is given up in time', async () => {
  for (let at = 0; at < 4; at += 1) server.misbehaves.push({ hangs: true });
  await expect(embedder({ requestMs: 2_000 }).embed(['a'])).rejects.toMatchObject({
    code: 'EMBEDDING_UNAVAILABLE',
    message: expect.stringContaining('no answer within 2000 ms') as string,
  });
});

test('one that is not there is unavailable', async () => {
  const its = embedder();
  await server[Symbol.asyncDispose]();
  await expect(its.embed(['a'])).rejects.toMatchObject({ code: 'EMBEDDING_UNAVAILABLE' });
});

test('whoever wants no more is not kept waiting', async () => {
  server.misbehaves.push({ hangs: true });
  const abort = new AbortController();
  const waiting = embedder().embed(['a'], abort.signal);
  const why = new Error('enough');
  setImmediate(() => abort.abort(why));
  await expect(waiting).rejects.toBe(why);
});

test.each([302, 307])(
  'an address that leads elsewhere (%i) is not followed: the key is not meant for it',
  async (status) => {
    const reached: string[] = [];
    const other = createServer((request, response) => {
      reached.push(`${request.method} ${request.headers.authorization}`);
      response.end();
    });
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as AddressInfo;
    // Here too a header with a key would be sent along.
    for (const location of [`http://127.0.0.1:${port}/v1/embeddings`, '/elsewhere']) {
      const moved = { status, headers: { location } };
      server.misbehaves.splice(0, Infinity, moved, moved, moved, moved);
      await expect(embedder({ keyEnv: 'MY_KEY' }).embed(['a'])).rejects.toMatchObject({
        code: 'EMBEDDING_UNAVAILABLE',
      });
    }
    other.closeAllConnections();
    await new Promise((resolve) => other.close(resolve));
    expect(reached).toEqual([]);
    expect(server.requests.map(({ path }) => path)).toEqual(Array(8).fill('/v1/embeddings'));
  },
);

const row = (index: number, embedding: unknown): object => ({ index, embedding });
test.each([
  ['not JSON', 'hello', 'not JSON'],
  ['no data', '{"vectors":[]}', 'expected array'],
  ['too few', JSON.stringify({ data: [] }), '0 vectors for 1 texts'],
  ['too many', JSON.stringify({ data: [row(0, [1]), row(1, [1])] }), 'index 1'],
  ['the same twice', JSON.stringify({ data: [row(0, [1]), row(0, [1])] }), 'index 0'],
  ['no numbers', JSON.stringify({ data: [row(0, ['a'])] }), 'expected number'],
  ['nothing in it', JSON.stringify({ data: [row(0, [])] }), 'Too small'],
  ['infinite', '{"data":[{"index":0,"embedding":[1e999]}]}', 'nfinity'],
])('an answer that is %s is refused', async (_, raw, detail) => {
  server.misbehaves.push({ raw });
  await expect(embedder().embed(['a'])).rejects.toMatchObject({
    code: 'EMBEDDING_INVALID',
    message: expect.stringContaining(detail) as string,
  });
  expect(server.requests.length).toBe(1);
});

test('vectors of other dimensions than before are refused', async () => {
  const its = embedder();
  await its.embed(['a']);
  server.dims = 13;
  await expect(its.embed(['a'])).rejects.toMatchObject({
    code: 'EMBEDDING_INVALID',
    message: expect.stringContaining('13 numbers, not 26') as string,
  });
});

test('an answer without an end is cut off', async () => {
  server.misbehaves.push({ raw: `{"data":"${'x'.repeat(17 * 1024 * 1024)}"}` });
  await expect(embedder({ requestMs: 3_000_000 }).embed(['a'])).rejects.toMatchObject({
    code: 'EMBEDDING_INVALID',
    message: expect.stringContaining('more than 16777216 bytes') as string,
  });
});
