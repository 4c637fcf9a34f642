import { expect, test } from 'vitest';
import { callersOf } from '../../../../src/pgc/bind/call-sites.js';
import { definitionsOf } from '../../../../src/pgc/bind/definitions.js';
import { indexFolder } from '../../../../src/pgc/build/index-folder.js';
import { openIndex } from '../../../../src/pgc/search/open-index.js';
import { TemporaryTree } from '../../../support/git-tree.js';

const driver = `static int e1000_open(struct net_device *dev) { return 0; }
static void e1000_tick(void) { log_it(); (void)note(); return use((int)e1000_open(0)); }
static const struct net_device_ops e1000_ops = {
	.ndo_open = e1000_open,
	.ndo_stop = &shared_stop,
	.name = DRIVER_NAME,
};
void setup(struct hw *hw)
{
	hw->ops.tick = e1000_tick;
	hw->size = limit;
}
`;

test('a function in a structure of operations has a site of its own kind, also in another file', async () => {
  await using tree = await TemporaryTree.create({
    'drivers/e1000.c': driver,
    'net/core.c': 'int shared_stop(struct net_device *dev) { return 0; }\nint limit;\n',
    'net/other.c': 'static int e1000_open(int other) { return 1; }\n',
  });
  await using home = await TemporaryTree.create();
  const request = { root: tree.root, home: home.root, jobs: 0, shards: 1 } as const;
  await indexFolder(request);
  const [index] = (await openIndex(tree.root, home.root)).shards;
  const sites = (symbol: string) =>
    callersOf(index!, [symbol]).map((each) => `${each.kind} ${each.symbol} :${each.line}`);
  expect(sites('drivers/e1000.c#e1000_open')).toEqual([
    'direct e1000_tick :2',
    'slot net_device_ops.ndo_open :4',
  ]);
  expect(sites('net/other.c#e1000_open')).toEqual([]);
  expect(sites('shared_stop')).toEqual(['slot net_device_ops.ndo_stop :5']);
  expect(sites('e1000_tick')).toEqual(['slot setup :10']);
  // A number that is put into a field is no function.
  expect(sites('limit')).toEqual([]);
  const calls = index!.callsFrom(index!.symbolsNamed('e1000_tick')[0]!);
  expect(calls.map(({ callee, unused }) => [callee, unused])).toEqual([
    ['log_it', true],
    ['note', true],
    ['use', false],
    ['e1000_open', false],
  ]);
});

test('a name of a list that was only scanned is found, with its place and nothing else', async () => {
  const list = (prefix: string) =>
    Array.from({ length: 2_100 }, (_, at) => `#define ${prefix}${at} ${at}\n`).join('');
  await using tree = await TemporaryTree.create({
    'a.h': list('regA_'),
    'b.h': list('regB_') + '#define regA_7 8\n',
    'c.c': 'int f(void) { return regA_7; }\n',
  });
  await using home = await TemporaryTree.create();
  const report = await indexFolder({ root: tree.root, home: home.root, jobs: 0, shards: 1 });
  expect(report.shards[0]?.items.O1).toBe(4_202);
  const [index] = (await openIndex(tree.root, home.root)).shards;
  expect(index!.symbolCount).toBe(1);
  const places = (symbol: string) =>
    definitionsOf(index!, [symbol]).map((each) => `${each.kind} ${each.file_path}:${each.line}`);
  expect(places('regA_7')).toEqual(['macro a.h:8', 'macro b.h:2101']);
  expect(places('b.h#regA_7')).toEqual(['macro b.h:2101']);
  expect(places('regC_1')).toEqual([]);
});
