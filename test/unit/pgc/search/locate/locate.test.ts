import fc from 'fast-check';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BusError } from '../../../../../src/errors/bus-error.js';
import { indexFolder } from '../../../../../src/pgc/build/index-folder.js';
import { featureNames, type FeatureName } from '../../../../../src/pgc/search/locate/features.js';
import {
  Locator,
  treeOf,
  type LocateAnswer,
  type LocatedFile,
} from '../../../../../src/pgc/search/locate/locate.js';
import type { Report } from '../../../../../src/pgc/search/locate/report.js';
import { WordsFile } from '../../../../../src/pgc/format/word-lists/words-file.js';
import { WordsWriter } from '../../../../../src/pgc/format/word-lists/words-writer.js';
import { placeOf, readManifest } from '../../../../../src/pgc/plan/manifest.js';
import { Miner } from '../../../../../src/pgc/mine/mine.js';
import { TemporaryTree } from '../../../../support/git-tree.js';

const files = {
  'drivers/wifi/Kconfig': 'config WIFI\n\ttristate "Wireless card"\n\thelp\n\t  Radios.\n',
  'drivers/wifi/queue.c': `/* Queues of the wireless card. */
#include "wifi.h"
static const struct pci_device_id wifi_ids[] = {
	{ PCI_DEVICE(0x8086, 0x2526) },
};
int wifi_queue_restart(struct wifi *w, int queue)
{
	dev_err(w->dev, "Queue %d is stuck %d %d\\n", queue, w->read, w->write);
	return wifi_queue_flush(w);
}
int wifi_queue_flush(struct wifi *w)
{
	return 0;
}
`,
  'drivers/wifi/wifi.h': 'struct wifi { int read, write; };\n',
  'drivers/light/backlight.c': `/* Brightness of the backlight of a laptop. */
int backlight_set_brightness(int level)
{
	return level;
}
`,
  'drivers/ether/Makefile': 'obj-$(CONFIG_ETHER) += ether.o\nether-$(CONFIG_ETHER) += main.o\n',
  'drivers/ether/main.c': 'int up(void)\n{\n\treturn 1;\n}\n',
  'net/socket.c': `/* Sockets: bind, connect, listen. */
int socket_bind(int socket)
{
	return socket;
}
`,
  'net/queue-notes.md':
    '# Queues\n\nA queue that is stuck is restarted: queue stuck, queue stuck.\n',
  'docs/backlight.md': '# Backlight\n\nThe brightness of the backlight is set in levels.\n',
};

let tree: TemporaryTree;
let home: TemporaryTree;
let locator: Locator;

beforeAll(async () => {
  tree = await TemporaryTree.create(files);
  home = await TemporaryTree.create();
  const shards = ['drivers', 'net', 'docs'].map((alias) => ({ alias, paths: [alias] }));
  await indexFolder({ root: tree.root, home: home.root, jobs: 0, shards: { shards } });
  locator = await Locator.open(tree.root, home.root);
});

afterAll(async () => {
  await tree[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});

function locate(report: Partial<Report>, without: FeatureName[] = []): Promise<LocateAnswer> {
  return locator.locate(
    { title: '', description: '', ...report },
    { limit: 50, without: new Set(without) },
  );
}

async function pathsOf(report: Partial<Report>, without: FeatureName[] = []): Promise<string[]> {
  return (await locate(report, without)).files.map(({ path }) => path);
}

const stuck: Report = {
  title: 'hangs with a trace',
  description:
    'On a laptop everything stands still after some hours of music, and nothing helps.\n wifi_queue_flush+0x12/0x30 [wifi]\n',
};

describe('the order', () => {
  test('where the fault was comes before what shares words', async () => {
    expect((await pathsOf(stuck))[0]).toBe('drivers/wifi/queue.c');
    expect((await pathsOf(stuck, ['frame', 'frame_words']))[0]).toMatch(/backlight/);
  });

  test('what the title says comes before a long log', async () => {
    const lines = Array.from(
      { length: 100 },
      (_, at) => `[ ${at}.000000] wifi: socket bind connect listen error ${at}`,
    );
    const report = { title: 'backlight brightness', description: lines.join('\n') };
    expect((await pathsOf(report))[0]).toMatch(/backlight/);
  });

  test('a path that is named is its file, below whatever root', async () => {
    const description = 'The laptop hangs, see /usr/src/linux/net/socket.c:12';
    expect((await pathsOf({ title: 'fails after suspend', description }))[0]).toBe('net/socket.c');
  });

  test('a module that the log names is the files that it is built from', async () => {
    const description = '[ 1.000000] ether 0000:00:14.3: link is down';
    expect((await pathsOf({ title: 'no link', description }))[0]).toBe('drivers/ether/main.c');
  });

  test('a header that is named by its path is found before other sources', async () => {
    const description =
      'In drivers/wifi/wifi.h the sizes of queue, socket and backlight are wrong.';
    const paths = await pathsOf({ title: 'wrong sizes', description });
    expect(paths.indexOf('drivers/wifi/wifi.h')).toBeLessThan(2);
  });

  test('a word that stands in name and folder of a path tells no more than in one of them', async () => {
    const others = featureNames.filter((name) => name !== 'path_words');
    const { files: found } = await locate({ title: 'wifi', description: 'Wifi, docs.' }, others);
    const scores = new Map(found.map(({ path, score }) => [path, score]));
    expect(scores.get('drivers/wifi/wifi.h')).toBeGreaterThan(0);
    expect(scores.get('drivers/wifi/wifi.h')).toBe(scores.get('drivers/wifi/queue.c'));
    expect(scores.get('docs/backlight.md')).toBeGreaterThan(0);
    expect(found.map(({ evidence }) => evidence.length)).toEqual(found.map(() => 1));
    expect(found[0]?.evidence).toMatchObject([{ kind: 'path', text: 'wifi' }]);
    expect([...scores.keys()]).not.toContain('net/socket.c');
  });

  test('an index over several shards answers for all of them', async () => {
    const { shards, agents_asked, files: found } = await locate({ title: 'queue of a socket' });
    expect(agents_asked).toBe(3);
    expect(shards[0]).toEqual({ agent: found[0]!.agent, score: found[0]!.score });
    expect(new Set(shards.map(({ agent }) => agent))).toEqual(
      new Set(found.map(({ agent }) => agent)),
    );
  });

  test('nothing is found where no word is known', async () => {
    expect(await locate({ title: 'zebra quokka' })).toMatchObject({ files: [], shards: [] });
  });

  test('only so many files as wanted', async () => {
    const { files: found } = await locator.locate(
      { title: 'queue', description: '' },
      { limit: 1 },
    );
    expect(found).toHaveLength(1);
  });
});

describe('the evidence', () => {
  test('names the words, the frame, the message and the device, with their lines', async () => {
    const { files: found } = await locate({
      title: 'Wireless queues',
      description:
        'with 8086:2526\n[ 1.000000] wifi 0000:00:14.3: Queue 5 is stuck 12 34\n[ 1.0] wifi_queue_flush+0x12/0x30 [wifi]',
    });
    const [first] = found;
    expect(first?.path).toBe('drivers/wifi/queue.c');
    const told = first!.evidence.map(({ kind, text, line }) => [kind, text, line]);
    expect(told).toContainEqual(['frame', 'wifi_queue_flush', 11]);
    expect(told).toContainEqual(['string', 'wifi 0000:00:14.3: Queue 5 is stuck 12 34', 8]);
    expect(told).toContainEqual(['device', '8086:2526', 4]);
    const words = first!.evidence.find(({ kind }) => kind === 'words');
    expect(words?.text.split(', ')).toContain('queues');
    expect(first!.evidence.length).toBeLessThanOrEqual(6);
  });

  test('of symbols and options says where they are defined', async () => {
    const { files: found } = await locate({
      title: 'socket_bind() fails with CONFIG_WIFI',
    });
    const evidence = new Map(found.map(({ path, evidence: its }) => [path, its]));
    expect(evidence.get('net/socket.c')).toContainEqual(
      expect.objectContaining({ kind: 'symbol', text: 'socket_bind', line: 2 }),
    );
    expect(evidence.get('drivers/wifi/Kconfig')).toContainEqual(
      expect.objectContaining({ kind: 'option', text: 'CONFIG_WIFI', line: 1 }),
    );
  });

  test('of a file that has changed since says nothing that its text would have to show', async () => {
    await using other = await TemporaryTree.create(files);
    await using own = await TemporaryTree.create();
    await indexFolder({ root: other.root, home: own.root, jobs: 0 });
    await other.write({ 'drivers/wifi/queue.c': 'int nothing;\n' });
    const changed = await Locator.open(other.root, own.root);
    const { files: found } = await changed.locate(
      { title: 'Queue 5 is stuck 12 34', description: '' },
      { limit: 50 },
    );
    expect(found.flatMap(({ evidence }) => evidence.map(({ kind }) => kind))).not.toContain(
      'string',
    );
  });

  test('of a batch is left out', async () => {
    const { files: found } = await locator.locate(stuck, { limit: 50, isBrief: true });
    expect(found.every(({ evidence }) => evidence.length === 0)).toBe(true);
  });
});

describe('functions', () => {
  const ring = {
    // All words, apart from its functions.
    'lib/log.c': `/* Lines of a push. */

/* A ring of a full element, overwrite of the oldest element, push onto the ring. */

#include "log.h"

int log_line(void)
{
	return 1;
}
`,
    'lib/fifo.c': `/* Push an element onto a ring that is full: overwrite the oldest. */
int fifo_add(int *slots, int value)
{
	slots[0] = value;
	return value;
}
`,
    'lib/clock.c': 'int clock_now(void)\n{\n\treturn 1;\n}\n',
    'include/heap.h': `/* Sift an entry of the heap up to its place. */
static inline int heap_sift(int entry)
{
	return entry;
}
`,
    'lib/entry.c': 'int entry_of(int place)\n{\n\treturn place;\n}\n',
    'tests/fifo.c': `/* Push an element onto a ring that is full: overwrite the oldest. */
int test_push_element_onto_full_ring(void)
{
	return fifo_add(0, 1);
}
`,
  };
  let other: TemporaryTree;
  let own: TemporaryTree;
  let its: Locator;

  beforeAll(async () => {
    other = await TemporaryTree.create(ring);
    own = await TemporaryTree.create();
    await indexFolder({ root: other.root, home: own.root, jobs: 0 });
    its = await Locator.open(other.root, own.root);
  });

  afterAll(async () => {
    await other[Symbol.asyncDispose]();
    await own[Symbol.asyncDispose]();
  });

  const found = async (title: string, without: FeatureName[] = []): Promise<LocatedFile[]> => {
    const how = { limit: 50, without: new Set(without) };
    return (await its.locate({ title, description: '' }, how)).files;
  };
  const push = 'push an element onto a full ring, overwrite the oldest';

  test('that answer bring their file before one that has the same words apart', async () => {
    expect((await found(push)).map(({ path }) => path)[0]).toBe('lib/fifo.c');
    expect((await found(push, ['functions', 'passage']))[0]?.path).toBe('lib/log.c');
  });

  test('are named, with the line of the best', async () => {
    const [first] = await found(push);
    expect(first?.evidence).toContainEqual(
      expect.objectContaining({ kind: 'functions', text: 'fifo_add', line: 2 }),
    );
  });

  test('of a header are found', async () => {
    expect((await found('sift an entry of the heap'))[0]?.path).toBe('include/heap.h');
  });

  test('of tests come behind sources, unless the report speaks of tests', async () => {
    const sources = (await found(push)).map(({ path }) => path);
    expect(sources.indexOf('tests/fifo.c')).toBeGreaterThan(sources.indexOf('lib/fifo.c'));
    expect((await found('test: push an element onto a full ring'))[0]?.path).toBe('tests/fifo.c');
  });
});

test('an index whose words are gone is damaged', async () => {
  await using other = await TemporaryTree.create({ 'a.c': 'int a;\n' });
  await using own = await TemporaryTree.create();
  await indexFolder({ root: other.root, home: own.root, jobs: 0 });
  const place = placeOf(other.root, own.root);
  const { shards } = await readManifest(place, other.root);
  const path = join(place.segments, shards[0]!.words);
  await rm(path);
  await expect(Locator.open(other.root, own.root)).rejects.toThrow(
    new BusError('INDEX_CORRUPT', { path, detail: 'absent' }),
  );
});

const vocabulary = ['queue', 'socket', 'card', 'light', 'page', 'lock_page', 'dma_map'];

test('the order and the scores do not depend on how the tree is cut into shards', async () => {
  await using folder = await TemporaryTree.create();
  await using miner = new Miner();
  const anyText = fc.array(fc.constantFrom(...vocabulary), { minLength: 1, maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(anyText, fc.integer({ min: 0, max: 2 })), { minLength: 1, maxLength: 12 }),
      anyText,
      async (texts, words) => {
        const mined = await Promise.all(
          texts.map(async ([its, shard], at) => {
            const text = `int ${its[0] ?? ''}_${at}(void)\n{\n\t${its.join('(); ')}();\n}\n`;
            const facts = await miner.mine('c', Buffer.from(text));
            const path = `${String(at).padStart(2, '0')}-${its[0] ?? ''}.c`;
            const row = { path, language: 'c' as const, blob: '00'.repeat(20), lines: 4 };
            return { row, facts, shard };
          }),
        );
        const answerOf = async (shardOf: (shard: number) => number): Promise<LocateAnswer> => {
          const shards: WordsFile[] = [];
          for (const alias of [0, 1, 2]) {
            const writer = new WordsWriter();
            for (const { row, facts, shard } of mined)
              if (shardOf(shard) === alias) writer.add(row, facts);
            const path = join(folder.root, `${alias}.words`);
            await writer.write(path, { alias: String(alias), version: '1' });
            shards.push(await WordsFile.open(path));
          }
          const report = { title: words.join(' '), description: `${words[0] ?? ''}_0()` };
          const whole = new Locator(treeOf(shards, folder.root));
          return whole.locate(report, { limit: 50, isBrief: true });
        };
        const plain = ({ files: found }: LocateAnswer): unknown[] =>
          found.map(({ path, score }) => [path, score]);
        const cut = plain(await answerOf((shard) => shard));
        expect(plain(await answerOf(() => 0))).toEqual(cut);
        expect(plain(await answerOf((shard) => 2 - shard))).toEqual(cut);
      },
    ),
    { numRuns: 20 },
  );
});
