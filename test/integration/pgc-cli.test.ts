import { readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { placeOf } from '../../src/pgc/plan/manifest.js';
import { realRoot } from '../../src/pgc/source/source-tree.js';
import { factsLayout } from '../../src/store/layouts.js';
import { TemporaryTree } from '../support/git-tree.js';
import { sigma, type Ran } from '../support/sigma.js';
import { openTestStore } from '../support/store.js';

/** Longer than a run takes to find the index held. */
const heldMs = 300;

const rules = {
  rules: [
    {
      ...{ id: 'raw-copy', languages: ['c'], calls: ['nic_copy'], severity: 'critical' },
      ...{ cwe: 'CWE-120', text: 'copies as the card says' },
    },
  ],
  off: ['unbounded-format'],
};
const files = {
  'drivers/nic.c': `/* A driver for a card that is not there. */
#include "ring.h"

static long nic_ioctl(struct file *f, unsigned int cmd, unsigned long arg)
{
	char name[8];
	copy_from_user(name, (void *)arg, cmd);
	nic_copy(name, f);
	sprintf(name, "%d", cmd);
	return ring_push(cmd);
}

const struct file_operations nic_fops = { .unlocked_ioctl = nic_ioctl };
`,
  'lib/ring.h': 'int ring_push(int value);\n',
  'lib/ring.c': `#include "ring.h"
/* Adds a value to the ring. */
int ring_push(int value)
{
	BUG_ON(value < 0);
	return value;
}
`,
  'README.md': '# Ring\n\nValues are handed on by `ring_push` in the order of their arrival.\n',
  '.sigma/layers.json': JSON.stringify({
    layers: [
      { name: 'drivers', paths: ['drivers'] },
      { name: 'lib', paths: ['lib'] },
    ],
    allowed: [],
  }),
  '.sigma/security.json': JSON.stringify(rules),
};

let tree: TemporaryTree;
let home: TemporaryTree;
let indexed: Ran;
beforeAll(async () => {
  tree = await TemporaryTree.create(files);
  tree.commit('ring: begin', { author: 'Ann', date: '2026-01-02T00:00:00Z' });
  home = await TemporaryTree.create();
  indexed = await sigma(home.root, ['index', tree.root, '--shards', '1', '--jobs', '1', '--json']);
});
afterAll(async () => {
  await tree[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});

const repo = (...args: string[]): Promise<Ran> => sigma(home.root, [...args, '--repo', tree.root]);
const both = (...args: string[]): Promise<[json: Ran, text: Ran]> =>
  Promise.all([repo(...args, '--json'), repo(...args)]);

/** Its exit code, one coded error on stdout, never a stack trace. */
function expectFailure(ran: Ran, exit: number, code: string): void {
  expect([ran.code, ran.json?.error?.code], ran.stderr).toEqual([exit, code]);
  expect(ran.stdout + ran.stderr).not.toMatch(/\n\s+at .*:\d+:\d+/);
}

describe('algebra', () => {
  test('finds what the overlays say, in words and as JSON', async () => {
    const [{ json, code }, text] = await both('algebra', 'O2[raw-copy] & O3[slot]');
    expect(code).toBe(0);
    expect(json).toMatchObject({ count: 1, warnings: [], errors: [] });
    expect(json.anchors).toMatchObject([
      { file_path: 'drivers/nic.c', symbol: 'nic_ioctl', line: 4, kind: 'function' },
    ]);
    expect(json.anchors[0].items[0]).toEqual({
      ...{ overlay: 'O2', rule: 'raw-copy', file_path: 'drivers/nic.c', line: 8 },
      text: 'nic_copy copies as the card says',
    });
    expect(text.stdout).toMatch(
      /^drivers\/nic\.c:4 nic_ioctl \(function\) {2}O2 raw-copy, O3 slot\n1 anchor\n\nState: \S+, work tree at [0-9a-f]{9}, up to date\n$/,
    );
  });

  test('knows who wrote what', async () => {
    const { json } = await repo('algebra', 'O1[function] & O3[author=Ann, since=2026]', '--json');
    expect(json.anchors.map((each: { file_path: string }) => each.file_path)).toEqual([
      ...['drivers/nic.c', 'lib/ring.c', 'lib/ring.h'],
    ]);
  });

  test('refuses what it cannot read, with the column', async () => {
    const ran = await repo('algebra', 'O1 & (O2', '--json');
    expectFailure(ran, 2, 'USAGE');
    expect(ran.json.error.text).toMatch(/^column 9: /);
  });
});

describe('blast radius', () => {
  test('of a symbol', async () => {
    const [{ json, code }, text] = await both('blast-radius', 'ring_push');
    expect(code).toBe(0);
    expect(json.metrics).toMatchObject({ direct_consumers: 1 });
    expect(json.consumers[0]).toMatchObject({ id: 'drivers/nic.c#nic_ioctl' });
    expect(text.stdout).toContain('2 consumers (1 direct, 0 in tests)');
    expect(text.stdout).toContain('drivers/nic.c#nic_ioctl');
  });

  test('for security', async () => {
    const [{ json, code }, text] = await both('security', 'blast-radius', 'nic_ioctl');
    expect(code).toBe(0);
    expect(json.risk_assessment.severity).toBe('critical');
    expect(JSON.stringify(json.security_threats)).toContain('raw-copy');
    expect(text.stdout).toContain('risk critical: ');
  });

  test('of nothing', async () => {
    const [plain, security] = await Promise.all([
      repo('blast-radius', 'ring_pull', '--json'),
      repo('security', 'blast-radius', 'ring_pull', '--json'),
    ]);
    expectFailure(plain, 1, 'NO_SUCH_SYMBOL');
    expectFailure(security, 1, 'NO_SUCH_SYMBOL');
  });
});

test('patterns name what goes against the layers, and need a filter', async () => {
  const [[{ json, code }, text], unnamed] = await Promise.all([
    both('patterns', '--filter', 'dependencies'),
    repo('patterns', '--json'),
  ]);
  expect(code).toBe(0);
  expect(json.violations).toHaveLength(1);
  expect(JSON.stringify(json.violations[0])).toContain('drivers/nic.c');
  expect(text.stdout).toContain('drivers/nic.c');
  expectFailure(unnamed, 2, 'USAGE');
});

describe('overlay', () => {
  test('list tells state, generator, version and counts', async () => {
    const [{ json, code }, text] = await both('overlay', 'list');
    expect(code).toBe(0);
    expect(json.overlays.map((each: { overlay: string }) => each.overlay)).toEqual([
      ...['O1', 'O2', 'O3', 'O4', 'O5', 'O6', 'O7'],
    ]);
    const [, security] = json.overlays;
    expect(security).toMatchObject({ name: 'security', items: 3 });
    expect(security.shards).toMatchObject([
      { state: 'ready', generator: 'security', items: 3, reason: '' },
    ]);
    // The tree has rules of its own.
    expect(security.shards[0].version).toMatch(/^miner-\d+\+[0-9a-f]{8}$/);
    expect(text.stdout).toMatch(/^OVERLAY +NAME +STATE/);
    expect(text.stdout).toMatch(/^O2 +security +ready +miner-\d+\+[0-9a-f]{8} +3 /m);
  });

  test('list says what another process makes anew', async () => {
    const [folder = ''] = readdirSync(path.join(home.root, 'pgc'));
    const stat = readFileSync(`/proc/${process.pid}/stat`, 'latin1');
    const began = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
    const alias = indexed.json.shards[0].alias as string;
    const notice = { pid: process.pid, began, overlays: { [alias]: ['O4'] } };
    const file = path.join(home.root, 'pgc', folder, 'building.json');
    writeFileSync(file, JSON.stringify(notice));
    const { json } = await repo('overlay', 'list', '--json');
    const states = json.overlays.map(
      (each: { shards: { state: string }[] }) => each.shards[0]?.state,
    );
    expect(states).toEqual(['ready', 'ready', 'ready', 'building', 'ready', 'ready', 'ready']);
    expect(json.overlays[3].shards[0].items).toBeGreaterThan(0);
    writeFileSync(file, '');
  });

  test('generate makes some anew', async () => {
    const ran = await repo('overlay', 'generate', '--layers', 'O2,O4', '--json');
    expect([ran.code, ran.json.overlays[1].items], ran.stderr).toEqual([0, 3]);
    expectFailure(await repo('overlay', 'generate', '--layers', 'O9', '--json'), 2, 'USAGE');
  });

  test('rules lists what is in force, and whence', async () => {
    const [{ json, code }, text] = await both('overlay', 'rules');
    expect(code).toBe(0);
    const byId = (id: string) => json.rules.filter((rule: { id: string }) => rule.id === id);
    expect(byId('raw-copy')).toEqual([
      {
        ...{ id: 'raw-copy', languages: ['c'], calls: 1, cwe: 'CWE-120', severity: 'critical' },
        from: '.sigma/security.json',
      },
    ]);
    expect(byId('unbounded-format')).toEqual([]);
    expect(byId('secret')[0]).toMatchObject({ calls: 0, cwe: 'CWE-798', from: 'shipped' });
    expect(text.stdout).toMatch(/^raw-copy +critical +CWE-120 +1 +\.sigma\/security\.json +c$/m);
  });
});

describe('index', () => {
  test('as of a revision, and back', async () => {
    const before = tree.git('rev-parse', 'HEAD').trim();
    await tree.write({ 'lib/late.c': 'int late_push(void)\n{\n\treturn 1;\n}\n' });
    const index = (...args: string[]): Promise<Ran> =>
      sigma(home.root, ['index', tree.root, '--jobs', '1', '--json', ...args]);
    expect((await index()).json.files_total).toBe(5);
    const old = await index('--as-of', before);
    expect([old.code, old.json.files_total, old.json.files_mined], old.stderr).toEqual([0, 4, 0]);
    expectFailure(await repo('callers', 'late_push', '--json'), 1, 'NO_SUCH_SYMBOL');
    expectFailure(await index('--as-of', 'no-such-tag'), 2, 'USAGE');
    // What only the work tree has is forgotten when it is asked to.
    expect((await index('--as-of', before, '--gc')).json.facts_collected).toBe(1);
  });

  test('refuses a wrong rule file before it begins', async () => {
    await tree.write({ '.sigma/security.json': '{"rules": [{"id": "X"}]}' });
    const ran = await sigma(home.root, ['index', tree.root, '--json']);
    expectFailure(ran, 2, 'CONFIG_INVALID');
    expect(ran.json.error.text).toContain('.sigma/security.json: rules[0].id: ');
    await tree.write({ '.sigma/security.json': JSON.stringify(rules) });
  });

  test('waits, when told so, for the run that holds the index', async () => {
    const place = placeOf(await realRoot(tree.root), home.root);
    const held = await openTestStore(place.facts, factsLayout);
    const index = ['index', tree.root, '--jobs', '1', '--json'];
    expectFailure(await sigma(home.root, index), 1, 'INDEX_BUILDING');
    const waiting = sigma(home.root, [...index, '--wait']);
    const isWaiting = delay(heldMs, 'waiting');
    expect(await Promise.race([waiting, isWaiting])).toBe('waiting');
    await held[Symbol.asyncDispose]();
    expect((await waiting).code).toBe(0);
  });

  test('check tells whether what is served is whole', async () => {
    const check = (...more: string[]): Promise<Ran> =>
      sigma(home.root, ['index', tree.root, '--check', ...more]);
    const [sound, text] = await Promise.all([check('--json'), check()]);
    expect([sound.code, sound.json.is_sound]).toEqual([0, true]);
    expect(text.stdout).toMatch(/^\d+ files, all whole\n$/);
    const [folder = ''] = readdirSync(path.join(home.root, 'pgc'));
    const segments = path.join(home.root, 'pgc', folder, 'segments');
    const [overlay = ''] = readdirSync(segments).filter((name) => name.endsWith('.O4.ovl'));
    truncateSync(path.join(segments, overlay), 40);
    const damaged = await check('--json');
    expect([damaged.code, damaged.json.is_sound]).toEqual([1, false]);
    const problems = damaged.json.files.filter((file: { problem: string }) => file.problem !== '');
    expect(problems).toEqual([{ file: overlay, problem: expect.stringContaining('damaged') }]);
    const absent = await sigma(home.root, ['index', home.root, '--check', '--json']);
    expectFailure(absent, 1, 'INDEX_MISSING');
  });
});
