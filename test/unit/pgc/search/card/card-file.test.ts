import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CardNames } from '../../../../../src/lattice/topology/card-names.js';
import { Directory } from '../../../../../src/lattice/topology/directory.js';
import { cardOf } from '../../../../../src/pgc/search/card/card.js';
import {
  makeCard,
  openCard,
  readCard,
  writeCard,
} from '../../../../../src/pgc/search/card/card-file.js';
import { OpenFiles } from '../../../../../src/pgc/format/container/section-file.js';
import type { ShardIndex } from '../../../../../src/pgc/format/shard-index.js';
import type { Card } from '../../../../../src/pgc/shapes.js';
import { indexedTree, type IndexedTree } from '../../../../support/indexed-tree.js';

const file = `#include "far.h"
/* Wakes the queue of a device. */
int wake_queue(struct device *dev) { return far_away(dev) + near_by(dev); }
int near_by(struct device *dev) { return 1; }
`;
let tree: IndexedTree;
let index: ShardIndex;
let path: string;
beforeAll(async () => {
  tree = await indexedTree({ 'net/queue.c': file }, ['net']);
  index = tree.shards[0]?.index ?? expect.fail('no shard');
  path = join(tree.root, 'some.card');
  await writeCard(path, makeCard(index));
});
afterAll(() => tree[Symbol.asyncDispose]());

const opened = (): Card => openCard(path, index, new OpenFiles()) ?? expect.fail('no card');
const found = (card: Card): unknown[] => {
  const names = new CardNames([card]);
  return [
    ...[['queue', 'devic', 'absent'].map((term) => names.documentsWith(term))],
    ...[['wake_queue', 'far_away'].map((name) => names.holdersOf(name).real)],
    ...[names.placesOf('queue'), names.placesOf('nowhere')],
    [...(new Directory([card]).whoCalls(['far_away', 'wake_queue'])(card.agent) ?? [])],
  ];
};

test('a stored card says what it was made of, and finds the same', () => {
  const made = cardOf(index);
  expect({ ...opened() }).toEqual({ ...made });
  expect(found(opened())).toEqual(found(made).with(-1, ['far_away']));
  expect(readCard(path)?.length).toBeGreaterThan(0);
});

test('what is damaged in a card is made again', async () => {
  const whole = await readFile(path);
  for (let at = 0; at < whole.length; at += 11) {
    const damaged = Buffer.from(whole);
    damaged[at] = (damaged[at] ?? 0) ^ 0x10;
    await writeFile(path, damaged);
    const card = openCard(path, index, new OpenFiles());
    if (card !== undefined)
      expect(found(card)).toEqual(found(cardOf(index)).with(-1, ['far_away']));
  }
  await writeFile(path, whole.subarray(0, -1));
  expect([openCard(path, index, new OpenFiles()), readCard(path)]).toEqual([undefined, undefined]);
});
