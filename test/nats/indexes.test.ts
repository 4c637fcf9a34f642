import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { jetstreamManager } from '@nats-io/jetstream';
import { Objm } from '@nats-io/obj';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Scope } from '../../src/base/scope.js';
import { loadConfig } from '../../src/config/config.js';
import { connectNats } from '../../src/nats/connect.js';
import { ObjectBucket } from '../../src/nats/object-bucket.js';
import { natsAccess } from '../../src/remote/identity.js';
import { pullMissingIndex } from '../../services/bus-indexes.js';
import { TemporaryTree } from '../support/git-tree.js';
import { eventually } from '../support/eventually.js';
import { startCluster, startNats, type NatsServer } from '../support/nats-server.js';
import { servedFiles } from '../support/served-files.js';
import { sigma, startSigma } from '../support/sigma.js';
import { temporaryFolder } from '../support/temporary.js';
import { sideOf } from '../unit/pgc/build/share/share.js';

const folder = temporaryFolder();
const at = (name: string): string => path.join(folder.path, name);
const keys = at('keys');
const scope = new Scope();
const stream = 'OBJ_sigma_main_indexes';
const mib = 1024 * 1024;
let server: NatsServer;
let tree: TemporaryTree;

const configFor = (agent: string, home: string) =>
  loadConfig({ SIGMA_HOME: home, SIGMA_IDENTITY: at(`${agent}.json`), SIGMA_BUS: server.url }, {});

async function add(agent: string, role: string, bus = server.url): Promise<void> {
  const where = ['--bus', bus, '--out', at(`${agent}.json`)];
  expect((await sigma(keys, ['keys', 'add', agent, '--role', role, ...where])).code).toBe(0);
}

/** `sigma index` of the tree, as this agent. */
async function indexed(agent: string, home: string, ...args: string[]) {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const env = { SIGMA_IDENTITY: at(`${agent}.json`), SIGMA_BUS: server.url };
  const command = startSigma(home, ['index', tree.root, ...args, '--json'], env);
  const code = await command.ended;
  // The progress is not JSON.
  const text = command.output();
  return { code, text, json: JSON.parse(text.slice(text.indexOf('{'))) as Record<string, unknown> };
}

interface Opened {
  bucket: ObjectBucket;
  manager: Awaited<ReturnType<typeof jetstreamManager>>;
  connection: Awaited<ReturnType<typeof connectNats>>;
}

/** With the rights of this agent. */
async function open(
  agent: string,
  more: { url?: string; bytesMax?: number; signal?: AbortSignal } = {},
): Promise<Opened> {
  const { url = server.url, ...parts } = more;
  const access = natsAccess({ ...configFor(agent, at('none')), bus: url });
  const connection = await connectNats(access, { isLasting: true });
  scope.defer(() => connection.close());
  const bucket = await ObjectBucket.open({ connection, access, ...parts });
  return { bucket, connection, manager: await jetstreamManager(connection, { checkAPI: false }) };
}

/** Of a server that lets all in. */
async function openPlain(url: string, bytesMax?: number): Promise<Opened> {
  const address = url.replace('nats://', '');
  const access = { servers: [address], isTls: false, bus: 'main', text: url, agent: 'ci' };
  const connection = await connectNats(access, { isLasting: true });
  scope.defer(() => connection.close());
  const parts = { connection, access, ...(bytesMax !== undefined && { bytesMax }) };
  return {
    connection,
    bucket: await ObjectBucket.open(parts),
    manager: await jetstreamManager(connection, { checkAPI: false }),
  };
}

const filled = (bytes: number, byte: number): Buffer => Buffer.alloc(bytes, byte);
/** Compared at once: byte by byte takes a minute. */
const same = (one: Uint8Array | undefined, other: Buffer): boolean =>
  one !== undefined && other.equals(one);
const coded = (code: string, text = ''): Error =>
  expect.objectContaining({ code, message: expect.stringContaining(text) as string });

async function writeUsers(...options: string[]): Promise<void> {
  const command = ['keys', 'nats', '--out', at('sigma-agents.conf'), ...options];
  expect((await sigma(keys, command)).code).toBe(0);
}

beforeAll(async () => {
  mkdirSync(keys, { mode: 0o700 });
  await writeUsers('--hosts-pull');
  server = scope.own(
    await startNats(
      `include "../${path.basename(folder.path)}/sigma-agents.conf"\nauthorization { users: $sigma_agents }`,
    ),
  );
  await add('ci', 'operator');
  await add('pgc', 'pgc');
  await add('ann', 'client');
  await add('chief', 'manager');
  await writeUsers('--hosts-pull');
  server.reload();
  await eventually(async () => void (await open('ann')));
  tree = scope.own(
    await TemporaryTree.create({
      'mm/slab.c': 'void *kmalloc(int size)\n{\n\treturn alloc_pages(size);\n}\n',
      'mm/pages.c': 'void *alloc_pages(int order)\n{\n\treturn 0;\n}\n',
      'net/dev.c': 'int netif_rx(void)\n{\n\treturn kmalloc(1) != 0;\n}\n',
    }),
  );
  tree.commit('first');
});
afterAll(async () => {
  await scope[Symbol.asyncDispose]();
  folder.remove();
});

describe('an index on the bus', () => {
  test('is missing before one is published, and then pulled by a home that has none, once', async () => {
    const config = configFor('pgc', at('first'));
    expect(await pullMissingIndex(config, tree.root, {})).toBe(false);
    expect(await indexed('pgc', at('first'), '--pull', 'bus')).toMatchObject({
      ...{ code: 1, json: { error: { code: 'PUBLISHED_MISSING' } } },
    });

    expect((await indexed('ci', at('home'), '--shards', '2')).code).toBe(0);
    const published = await indexed('ci', at('home'), '--publish', 'bus');
    expect(published).toMatchObject({ code: 0, json: { place: `the bus at ${server.url}` } });
    expect(published.json.sent_objects).toBeGreaterThan(5);
    const again = await indexed('ci', at('home'), '--publish', 'bus');
    // The heads are written anew; where they were their pieces are gone.
    expect(again.json.sent_objects).toBeLessThan(published.json.sent_objects as number);

    expect(await pullMissingIndex(config, tree.root, {})).toBe(true);
    expect(await pullMissingIndex(config, tree.root, {})).toBe(false);
    expect(await servedFiles(tree.root, at('first'))).toEqual(
      await servedFiles(tree.root, at('home')),
    );
    const pulled = await indexed('pgc', at('second'), '--pull', 'bus');
    expect(pulled).toMatchObject({ code: 0, json: { distance: { files: 0 } } });
    expect(await servedFiles(tree.root, at('second'))).toEqual(
      await servedFiles(tree.root, at('home')),
    );
  });

  test('is told to be damaged when pieces of it are gone, and is repaired by a check', async () => {
    const { manager } = await open('ci');
    await manager.streams.purge(stream, { filter: '$O.sigma_main_indexes.C.>' });
    const damaged = { code: 1, json: { error: { code: 'PUBLISHED_DAMAGED' } } };
    expect(await indexed('pgc', at('third'), '--pull', 'bus')).toMatchObject(damaged);
    const repaired = await indexed('ci', at('home'), '--publish', 'bus', '--check');
    expect(repaired.code).toBe(0);
    expect((await indexed('pgc', at('third'), '--pull', 'bus')).code).toBe(0);
    expect(await servedFiles(tree.root, at('third'))).toEqual(
      await servedFiles(tree.root, at('home')),
    );
  });

  test.each(['ann', 'chief'])('is for hosts of shards and operators, not for %s', async (agent) => {
    const refused = { code: 1, json: { error: { code: 'PUBLISHED_REFUSED' } } };
    expect(await indexed(agent, at('home'), '--publish', 'bus')).toMatchObject(refused);
    expect(await indexed(agent, at(agent), '--pull', 'bus')).toMatchObject(refused);
    const { bucket, connection, manager } = await open(agent);
    const refusal = coded('PUBLISHED_REFUSED', `do not let ${agent}`);
    await expect(bucket.lengthOf('x')).rejects.toThrow(refusal);
    await expect(bucket.put('x', filled(1, 1))).rejects.toThrow(refusal);
    await expect(manager.streams.purge(stream)).rejects.toThrow(/permissions violation/i);
    await expect(connection.request(`$O.sigma_main_indexes.M.eA==`, '{}')).rejects.toThrow(
      /permissions violation/i,
    );
  });

  test('is for hosts of shards only where an operator lets them', async () => {
    const lengthOf = async (): Promise<unknown> => (await open('pgc')).bucket.lengthOf('x');
    await writeUsers();
    server.reload();
    await eventually(() =>
      expect(lengthOf()).rejects.toThrow(coded('PUBLISHED_REFUSED', 'do not let pgc')),
    );
    await writeUsers('--hosts-pull');
    server.reload();
    await eventually(async () => expect(await lengthOf()).toBeUndefined());
  });

  test('needs a bus on NATS', async () => {
    const env = { SIGMA_BUS: '' };
    const command = startSigma(at('home'), ['index', tree.root, '--publish', 'bus'], env);
    expect(await command.ended).toBe(2);
    expect(command.output()).toMatch(/on NATS only.*name a folder or an https:\/\/ address/);
    const config = loadConfig({ SIGMA_HOME: at('fourth') }, {});
    expect(await pullMissingIndex(config, tree.root, {})).toBe(false);
  });
});

describe('a bucket of objects', () => {
  test('is one that the tools of NATS know, and that knows theirs', async () => {
    await using plain = await startNats();
    const { bucket, connection } = await openPlain(plain.url);
    const large = filled(3 * mib + 7, 3);
    await bucket.put('a/large', large);
    await bucket.put('a/none', Buffer.alloc(0));
    const theirs = await new Objm(connection).open('sigma_main_indexes');
    expect(same((await theirs.getBlob('a/large')) ?? undefined, large)).toBe(true);
    expect(await theirs.info('a/large')).toMatchObject({ size: large.length, chunks: 7 });
    expect(same(await bucket.get('a/none', 0), Buffer.alloc(0))).toBe(true);
    await theirs.putBlob(
      { name: 'theirs', options: { max_chunk_size: 1_000 } },
      large.subarray(0, 9_500),
    );
    expect(same(await bucket.get('theirs', mib), large.subarray(0, 9_500))).toBe(true);
    await theirs.delete('theirs');
    expect(await bucket.get('theirs', mib)).toBeUndefined();
    await bucket.put('theirs', filled(3, 1));
    expect(same(await bucket.get('theirs', mib), filled(3, 1))).toBe(true);
  });

  test('gives no more than was asked for, and nothing that differs from what was put', async () => {
    await using plain = await startNats();
    const { bucket, connection } = await openPlain(plain.url);
    await bucket.put('x', filled(1_000, 1));
    expect(await bucket.lengthOf('x')).toBe(1_000);
    expect(await bucket.lengthOf('y')).toBeUndefined();
    expect(same(await bucket.get('x', 1_000), filled(1_000, 1))).toBe(true);
    await expect(bucket.get('x', 999)).rejects.toThrow(coded('PUBLISHED_DAMAGED', '999'));
    const { nuid } =
      (await (await new Objm(connection).open('sigma_main_indexes')).info('x')) ?? {};
    const other = { ...JSON.parse('{"name":"y","size":1000}'), nuid, digest: 'SHA-256=other=' };
    for (const [name, text] of [
      ['y', JSON.stringify(other)],
      ['z', 'no JSON'],
    ] as const) {
      const key = Buffer.from(name).toString('base64').replaceAll('+', '-');
      await connection.request(`$O.sigma_main_indexes.M.${key}`, text);
      await expect(bucket.get(name, mib)).rejects.toThrow(coded('PUBLISHED_DAMAGED', name));
      await bucket.put(name, filled(3, 3));
      expect(same(await bucket.get(name, mib), filled(3, 3))).toBe(true);
    }
  });

  test('refuses what is more than it may hold, and keeps what it has', async () => {
    await using plain = await startNats();
    const { bucket, manager } = await openPlain(plain.url, 2 * mib);
    await bucket.put('x', filled(mib, 1));
    const full = coded('PUBLISHED_REFUSED', 'is full');
    await expect(bucket.put('y', filled(2 * mib, 2))).rejects.toThrow(full);
    await expect(bucket.put('x', filled(2 * mib, 2))).rejects.toThrow(full);
    expect(same(await bucket.get('x', mib), filled(mib, 1))).toBe(true);
    expect(await bucket.get('y', mib)).toBeUndefined();
    // Nothing is left of what was refused.
    const { state } = await manager.streams.info(stream);
    expect(state.messages).toBe(3);
    await manager.streams.purge(stream);
    await bucket.put('y', filled(mib, 2));
    expect(await bucket.lengthOf('y')).toBe(mib);
  });

  test('is refused by servers without room for it', async () => {
    await using plain = await startNats();
    const { bucket } = await openPlain(plain.url, 300 * 1024 * mib);
    await expect(bucket.put('x', filled(1, 1))).rejects.toThrow(
      coded('PUBLISHED_REFUSED', 'no room'),
    );
  });

  test('shows readers all of an object or nothing, while two write it in turn', async () => {
    await using plain = await startNats();
    const { url } = plain;
    const [one, two, reader] = [await openPlain(url), await openPlain(url), await openPlain(url)];
    const written = [filled(mib + 1, 1), filled(2 * mib, 2)];
    let isOver = false;
    const seen = new Set<number>();
    const reading = (async () => {
      while (!isOver) {
        const bytes = await reader.bucket.get('x', 4 * mib).catch((error: unknown) => {
          // It was replaced each time; that is no damage.
          expect(error).toMatchObject({ code: 'PUBLISHED_UNREACHABLE' });
        });
        if (bytes === undefined) continue;
        expect(written.some((each) => same(bytes, each))).toBe(true);
        seen.add(bytes.length);
      }
    })();
    for (let turn = 0; turn < 8; turn += 1)
      for (const [which, { bucket }] of [one, two].entries())
        await bucket.put('x', written[which] as Buffer);
    isOver = true;
    await reading;
    expect(seen.size).toBeGreaterThan(0);
    // One object, and nothing of those that it has replaced.
    const { state } = await one.manager.streams.info(stream);
    const last = (await reader.bucket.lengthOf('x')) ?? 0;
    expect(state.messages).toBe(Math.ceil(last / (512 * 1024)) + 1);
  });

  test('puts an object through the end of its server', async () => {
    await using plain = await startNats();
    const { bucket, connection } = await openPlain(plain.url);
    await bucket.put('x', filled(10, 1));
    const large = filled(16 * mib, 2);
    const putting = bucket.put('x', large);
    putting.catch(() => undefined);
    await plain.kill();
    await plain.start();
    await putting;
    expect(same(await bucket.get('x', large.length), large)).toBe(true);
    await connection.close();
    const away = coded('PUBLISHED_UNREACHABLE');
    await expect(bucket.get('x', large.length)).rejects.toThrow(away);
    await expect(bucket.put('x', large)).rejects.toThrow(away);
  });

  test('ends when it is interrupted', async () => {
    const over = new AbortController();
    const { bucket } = await open('ci', { signal: over.signal });
    over.abort();
    await expect(bucket.get('x', 1)).rejects.toThrow(coded('INTERRUPTED'));
    await expect(bucket.put('x', filled(1, 1))).rejects.toThrow(coded('INTERRUPTED'));
  });

  test('has a copy on each of three servers, and outlives one', async () => {
    const servers = await startCluster(3);
    for (const each of servers) scope.own(each);
    const { bucket, manager } = await openPlain((servers[1] as NatsServer).url);
    const side = sideOf(tree, at('sixth'));
    await side.index();
    // Its own streams are a moment away.
    await eventually(async () => void (await manager.getAccountInfo()));
    await side.publish(bucket);
    expect((await manager.streams.info(stream)).config.num_replicas).toBe(3);
    await (servers[0] as NatsServer).kill();
    await sideOf(tree, at('fifth')).pull(bucket);
    expect(await servedFiles(tree.root, at('fifth'))).toEqual(
      await servedFiles(tree.root, at('sixth')),
    );
  });
});
