import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chainAliases, chainRepository } from '../support/repository.js';
import { sigma, type Ran } from '../support/sigma.js';
import { temporaryFolder } from '../support/temporary.js';

let repository: ReturnType<typeof chainRepository>;
let indexed: Ran;

beforeAll(async () => {
  repository = chainRepository();
  indexed = await sigma(repository.home, [
    'index',
    repository.root,
    '--shards',
    repository.plan,
    '--json',
  ]);
});
afterAll(() => repository.remove());

const local = (...args: string[]): Promise<Ran> =>
  sigma(repository.home, [...args, '--repo', repository.root, '--json']);

/** Every failure: its exit code, one coded error on stdout, words on stderr, never a stack trace. */
function expectFailure(ran: Ran, exit: number, code: string): void {
  expect([ran.code, ran.json?.error?.code], ran.stderr).toEqual([exit, code]);
  expect(typeof ran.json.error.text).toBe('string');
  expect(ran.stdout + ran.stderr).not.toMatch(/\n\s+at .*:\d+:\d+/);
}

describe('what a built index answers without a broker', () => {
  test('index reports its shards and reuses what it has mined', async () => {
    expect(indexed.code, indexed.stderr).toBe(0);
    expect(indexed.json.shards.map((shard: { alias: string }) => shard.alias)).toEqual(
      chainAliases,
    );
    expect(indexed.json).toMatchObject({
      files_total: 8,
      files_mined: 8,
      files_reused: 0,
      project: 'tree',
    });
    const again = await sigma(repository.home, ['index', repository.root, '--json']);
    expect(again.json).toMatchObject({ files_total: 8, files_mined: 0, files_reused: 8 });
    expect(again.json.shards.map((shard: { alias: string }) => shard.alias)).toEqual(chainAliases);
  });

  test('ask answers with sources that verify, in the documented shape', async () => {
    const { json, code } = await local('ask', 'How does the driver allocate the descriptor ring?');
    expect(code).toBe(0);
    expect(Object.keys(json)).toEqual(
      expect.arrayContaining([
        'question',
        'clauses',
        'evidence',
        'flow',
        'query_intent',
        'overlay_warnings',
        'errors',
        'metadata',
      ]),
    );
    expect(json.evidence.length).toBeGreaterThan(0);
    expect(json.evidence.map((source: { symbol: string }) => source.symbol)).toContain(
      'nic_setup_rx_ring',
    );
    for (const source of json.evidence) {
      expect(source).toMatchObject({
        overlay: expect.stringMatching(/^O[13]$/),
        blob: expect.stringMatching(/^[0-9a-f]{40}$/),
      });
      expect(source.similarity).toBeGreaterThanOrEqual(0);
      expect(source.similarity).toBeLessThanOrEqual(1);
      expect(source.content.length).toBeLessThanOrEqual(500);
    }
    const ids = json.evidence.map(({ id }: { id: number }) => id);
    expect(ids).toEqual(json.evidence.map((_: unknown, at: number) => at + 1));
    for (const edge of json.flow) expect(ids).toContain(edge.evidence);
    const verified = await sigma(
      repository.home,
      ['verify', '-', '--repo', repository.root, '--json'],
      { input: JSON.stringify(json) },
    );
    expect(verified.json.results.map((verdict: { status: string }) => verdict.status)).toEqual(
      json.evidence.map(() => 'valid'),
    );
  });

  test('a question that nothing answers is answered so, and fails', async () => {
    const ran = await local('ask', 'Where is the flux capacitor calibrated?');
    expect(ran.json.evidence).toEqual([]);
    expectFailure(ran, 1, 'NOT_FOUND');
  });

  test('only the wanted overlays are consulted', async () => {
    const { json } = await local('ask', 'nic_setup_rx_ring', '--overlays', 'O1,O4');
    expect(new Set(json.evidence.map((source: { overlay: string }) => source.overlay))).toEqual(
      new Set(['O1']),
    );
    expect(json.errors).toEqual([]);
    expect(json.metadata.engine).toBe('extractive');
  });

  test('a question of - is read from standard input, as far as a question may be long', async () => {
    const log = `who calls nic_log?\n${'nothing of note happened here\n'.repeat(2_000)}`;
    const asked = ['ask', '-', '--repo', repository.root, '--json'];
    const { json, code } = await sigma(repository.home, asked, { input: log });
    expect(code).toBe(0);
    expect(json.overlay_warnings.join()).toContain('cut to its first 20000 characters');
    expect(json.evidence.length).toBeGreaterThan(0);
    const binary = await sigma(repository.home, asked, {
      input: '\u0000\u0001\u0002x'.repeat(100),
    });
    expectFailure(binary, 2, 'QUESTION_UNREADABLE');
    expectFailure(await sigma(repository.home, asked, { input: ' \n' }), 2, 'EMPTY_QUESTION');
  });

  test('callers and callees name every site', async () => {
    const callers = await local('callers', 'nic_log');
    expect(callers.json.definitions).toMatchObject([
      { file_path: 'drivers/nic/nic_log.c', line: 3 },
    ]);
    expect(
      callers.json.callers.map(
        (site: { symbol: string; file_path: string; line: number }) =>
          `${site.symbol} ${site.file_path}:${site.line}`,
      ),
    ).toEqual([
      'nic_setup_rx_ring drivers/nic/nic_main.c:12',
      'nic_open drivers/nic/nic_main.c:20',
      'nic_reset drivers/nic/nic_main.c:26',
    ]);
    const callees = await local('callees', 'nic_setup_rx_ring');
    expect(callees.json.callees.map((site: { symbol: string }) => site.symbol)).toEqual([
      'nic_log',
      'dma_alloc_ring',
    ]);
  });

  test('trace crosses shards with a call site for each edge', async () => {
    const { json, code } = await local('trace', 'nic_open', 'alloc_pages_near');
    expect(code).toBe(0);
    expect(
      json.path.map(
        (step: { symbol: string; agent: string; call_site: string }) =>
          `${step.agent} ${step.symbol} ${step.call_site}`,
      ),
    ).toEqual([
      'drivers nic_open ',
      'drivers nic_setup_rx_ring drivers/nic/nic_main.c:21',
      'include dma_alloc_ring drivers/nic/nic_main.c:13',
      'kernel dma_alloc_mapped include/linux/dma.h:8',
      'kernel dma_pool_get kernel/dma/mapping.c:12',
      'mm alloc_pages_near kernel/dma/mapping.c:6',
    ]);
    expectFailure(await local('trace', 'alloc_pages_near', 'nic_open'), 1, 'NO_ROUTE');
  });

  test('a lattice query hops along true links within its budget', async () => {
    const { json, code } = await local(
      'lattice',
      'query',
      'How does the nic driver allocate its ring for received frames?',
    );
    expect(code).toBe(0);
    expect(json.query_path.slice(0, 2)).toEqual(['drivers', 'kernel']);
    expect(json.hops[0].via).toBeNull();
    expect(json.hops[1].via).toMatchObject({
      symbol: 'dma_alloc_mapped',
      from: 'include/linux/dma.h:8',
      to: 'kernel/dma/mapping.c:10',
    });
    expect(json.hops[1].via.chain.map((step: { symbol: string }) => step.symbol)).toEqual([
      'nic_setup_rx_ring',
      'dma_alloc_ring',
    ]);
    expect(json.safety).toMatchObject({ max_hops: 6, actual_hops: json.hops.length });
    expect(new Set(json.query_path).size).toBe(json.query_path.length);
    const short = await local(
      'lattice',
      'query',
      'How does the nic driver allocate its ring for received frames?',
      '--max-hops',
      '2',
    );
    expect(short.json.query_path).toEqual(['drivers', 'kernel']);
  });

  test('the topology and its routes are computed from the code', async () => {
    const topology = await local('lattice', 'topology');
    const edges = topology.json.edges.map(
      (edge: { from: string; to: string }) => `${edge.from} ${edge.to}`,
    );
    expect(edges).toEqual(
      expect.arrayContaining(['drivers include', 'include kernel', 'kernel mm']),
    );
    expect(edges).not.toContain('mm kernel');
    expect((await local('lattice', 'path', 'drivers', 'mm')).json.path.at(-1)).toBe('mm');
    expectFailure(await local('lattice', 'path', 'mm', 'drivers'), 1, 'NO_ROUTE');
    expectFailure(
      await local('lattice', 'path', 'drivers', 'mm', '--max-hops', '1'),
      1,
      'MAX_HOPS_EXCEEDED',
    );
  });

  test('plan shows the cut without writing', async () => {
    const { json } = await sigma(repository.home, [
      'lattice',
      'plan',
      repository.root,
      '--shards',
      '2',
      '--json',
    ]);
    expect(json.shards).toHaveLength(2);
    expect(json.files_total).toBe(8);
  });
});

describe('verify', () => {
  test('tells valid, stale and false apart', async () => {
    const own = chainRepository();
    try {
      await sigma(own.home, ['index', own.root, '--shards', own.plan]);
      const run = async (citations: object): Promise<Ran> =>
        sigma(own.home, ['verify', '--repo', own.root, '--json'], {
          input: JSON.stringify(citations),
        });
      const { json } = await sigma(own.home, [
        'ask',
        'dma_alloc_ring',
        '--repo',
        own.root,
        '--json',
      ]);
      const [citation] = json.evidence;
      const invented = { ...citation, file_path: 'mm/dma-mapping.c', symbol: '__dma_alloc' };
      const moved = {
        ...citation,
        line_start: citation.line_start + 1,
        line_end: citation.line_end + 1,
      };
      const before = await run([citation, invented, moved]);
      expect(before.json.results.map((verdict: { status: string }) => verdict.status)).toEqual([
        'valid',
        'false',
        'false',
      ]);
      expect(before.code).toBe(1);
      const file = path.join(own.root, citation.file_path);
      writeFileSync(
        file,
        `/* a new first line */\n${(await import('node:fs')).readFileSync(file, 'utf8')}`,
      );
      const after = await run(citation);
      expect(after.json.results).toMatchObject([
        { status: 'stale', now_at: `${citation.file_path}:${citation.line_start + 1}` },
      ]);
    } finally {
      own.remove();
    }
  });

  test('what is no citation has a verdict of its own, and spoils no other', async () => {
    const content = '/* nothing */';
    const input = JSON.stringify([
      { file_path: 'nowhere.c', line_start: 1, line_end: 1, content },
      { file_path: 'mm/dma.c', line_start: 'first', content },
      ...[1, {}, null],
    ]);
    const { json, code } = await sigma(
      repository.home,
      ['verify', '--repo', repository.root, '--json'],
      { input },
    );
    expect(code).toBe(1);
    expect(json.results.map(({ status }: { status: string }) => status)).toEqual([
      'false',
      ...Array.from({ length: 4 }, () => 'malformed'),
    ]);
    expect(json.results[1].reason).toMatch(/^line_start and line_end are line numbers/);
  });

  test('input that is not JSON is refused', async () => {
    const args = ['verify', '--repo', repository.root, '--json'];
    const ran = await sigma(repository.home, args, { input: 'not json' });
    expectFailure(ran, 2, 'CITATION_MALFORMED');
  });

  test('where there is no citation, nothing was shown to be true', async () => {
    const args = ['verify', '--repo', repository.root];
    const { code, stdout } = await sigma(repository.home, args, { input: '[]' });
    expect([code, stdout]).toEqual([1, 'there is no citation: nothing was checked\n']);
  });

  test('a citation never leads out of the tree', async () => {
    for (const file_path of ['/etc/passwd', '../plan.json', 'drivers/../../plan.json']) {
      const input = JSON.stringify({
        file_path,
        line_start: 1,
        line_end: 1,
        content: 'root:x:0:0',
      });
      const { json } = await sigma(
        repository.home,
        ['verify', '--repo', repository.root, '--json'],
        { input },
      );
      expect(json.results[0].status, file_path).toBe('false');
    }
  });
});

describe('bad input', () => {
  test.each([
    [['index', '/nowhere/at/all'], 1, 'REPO_UNREADABLE'],
    [['index', '/etc/hostname'], 1, 'REPO_UNREADABLE'],
    [['index', '.', '--shards', '0'], 2, 'SHARD_PLAN_INVALID'],
    [['index', '.', '--shards', '/nowhere.json'], 2, 'SHARD_PLAN_INVALID'],
    [['index', '.', '--jobs', 'many'], 2, 'USAGE'],
    [['ask'], 2, 'USAGE'],
    [['ask', 'x', '--top-k', '99'], 2, 'USAGE'],
    [['ask', 'x', '--deadline', 'soon'], 2, 'USAGE'],
    [['ask', ' '], 2, 'EMPTY_QUESTION'],
    [['ask', 'x', '--overlays', 'O9'], 2, 'USAGE'],
    [['ask', 'x'], 3, 'NO_BROKER'],
    [['agents'], 3, 'NO_BROKER'],
    [['status'], 3, 'NO_BROKER'],
    [['query', 'mm', 'x'], 3, 'NO_BROKER'],
    [['lattice', 'query', 'x'], 3, 'NO_BROKER'],
    [['callers', 'x'], 3, 'NO_BROKER'],
    [['lattice'], 2, 'USAGE'],
    [['frobnicate'], 2, 'USAGE'],
    [['status', '--nonsense'], 2, 'USAGE'],
    [['agent', 'pilot'], 2, 'USAGE'],
    [['error', 'NO_SUCH_CODE'], 2, 'UNKNOWN_ERROR_CODE'],
    [['status', '--bus', 'tcp://0.0.0.0:1'], 2, 'KEYS_MISSING'],
    [['send', 'x', 'y'], 3, 'NO_BROKER'],
    [['check'], 3, 'NO_BROKER'],
    [['dead', 'list'], 3, 'NO_BROKER'],
    [['dead', 'purge'], 2, 'USAGE'],
    [['dead', 'requeue', '5', '--all'], 2, 'USAGE'],
    [['send', 'x', 'y', '--delay', 'never'], 2, 'USAGE'],
    [['bus', '--bus', `ipc:///tmp/${'x'.repeat(120)}`], 2, 'SOCKET_PATH'],
    [['verify', '/nowhere.json'], 2, 'USAGE'],
  ])('sigma %j', async (args, exit, code) => {
    expectFailure(await sigma(repository.home, [...args, '--json']), exit, code);
  });

  test('an index that was never built', async () => {
    const folder = temporaryFolder();
    try {
      expectFailure(
        await sigma(repository.home, ['ask', 'x', '--repo', folder.path, '--json']),
        1,
        'INDEX_MISSING',
      );
      expectFailure(
        await sigma(repository.home, ['agent', 'pgc', folder.path, '--json']),
        1,
        'INDEX_MISSING',
      );
    } finally {
      folder.remove();
    }
  });

  test('a symbol that does not exist, at either end', async () => {
    for (const args of [
      ['callers', 'no_such'],
      ['callees', 'no_such'],
      ['trace', 'no_such', 'nic_open'],
      ['trace', 'nic_open', 'no_such'],
    ]) {
      expectFailure(await local(...args), 1, 'NO_SUCH_SYMBOL');
    }
  });

  test('an unknown shard', async () => {
    expectFailure(await local('ask', 'x', '--agent', 'nobody'), 3, 'UNKNOWN_AGENT');
    expectFailure(
      await local('lattice', 'query', 'nic_open', '--from', 'nobody'),
      3,
      'UNKNOWN_AGENT',
    );
  });

  test('folders with nothing to index, and files that cannot be: coded, counted, the rest indexed', async () => {
    const folder = temporaryFolder();
    try {
      expectFailure(
        await sigma(repository.home, ['index', folder.path, '--json']),
        1,
        'REPO_EMPTY',
      );
      const root = path.join(folder.path, 'mixed');
      mkdirSync(root);
      writeFileSync(path.join(root, 'good.c'), 'int good(void) { return 1; }\n');
      writeFileSync(path.join(root, 'binary.c'), Buffer.from([0, 1, 2, 3]));
      writeFileSync(path.join(root, 'enormous.c'), Buffer.alloc(33 * 1024 * 1024, 'x\n'));
      writeFileSync(
        path.join(root, 'invalid-utf8.c'),
        Buffer.from([0x69, 0x6e, 0x74, 0x20, 0xff, 0xfe, 0x3b, 0x0a]),
      );
      writeFileSync(path.join(root, 'empty.py'), '');
      symlinkSync('/etc', path.join(root, 'etc'));
      const { json, code } = await sigma(repository.home, ['index', root, '--left-out', '--json']);
      expect(code).toBe(0);
      expect(json.files_total).toBe(3);
      expect(json.left_out_paths.map((each: { path: string }) => each.path).sort()).toEqual([
        'binary.c',
        'enormous.c',
        'etc',
      ]);
      expect(
        Object.values(json.left_out as Record<string, number>).reduce((a, b) => a + b, 0),
      ).toBe(3);
      const outside = path.join(folder.path, 'plan.json');
      writeFileSync(outside, JSON.stringify({ shards: [{ alias: 'x', paths: ['../..'] }] }));
      expectFailure(
        await sigma(repository.home, ['index', root, '--shards', outside, '--json']),
        2,
        'PATH_OUTSIDE_ROOT',
      );
    } finally {
      folder.remove();
    }
  });

  test('a corrupt index file', async () => {
    const own = chainRepository();
    try {
      await sigma(own.home, ['index', own.root]);
      const { readdirSync, readFileSync } = await import('node:fs');
      const place = path.join(
        own.home,
        'pgc',
        readdirSync(path.join(own.home, 'pgc'))[0]!,
        'segments',
      );
      const file = path.join(
        place,
        readdirSync(place).find((name) => name.endsWith('.seg'))!,
      );
      const bytes = readFileSync(file);
      bytes[bytes.length >> 1]! ^= 0xff;
      writeFileSync(file, bytes);
      expectFailure(
        await sigma(own.home, ['ask', 'nic_open', '--repo', own.root, '--json']),
        1,
        'INDEX_CORRUPT',
      );
    } finally {
      own.remove();
    }
  });

  test('a socket folder that others may enter', async () => {
    const folder = temporaryFolder();
    try {
      chmodSync(folder.path, 0o755);
      expectFailure(
        await sigma(repository.home, ['bus', '--bus', `ipc://${folder.path}/bus.sock`, '--json']),
        2,
        'SOCKET_PATH',
      );
    } finally {
      folder.remove();
    }
  });
});

test('every error code is explained', async () => {
  const { json } = await sigma(repository.home, ['error', 'no_broker', '--json']);
  expect(json).toMatchObject({ code: 'NO_BROKER', retryable: true, exit: 3 });
  const all = await sigma(repository.home, ['error']);
  expect(all.stdout.split('\n').length).toBeGreaterThan(40);
});
