import { expect, test } from 'vitest';
import { PathIndex, stemOf } from '../../../../../src/pgc/search/locate/path-index.js';

const paths = [
  'drivers/net/wifi/queue-run.c',
  'drivers/net/wifi/queue_run.h',
  'drivers/net/ether.c',
  'net/wifi/core.c',
  'README.md',
];
const index = new PathIndex(paths);
const named = (files: Iterable<number>): (string | undefined)[] =>
  [...files].map((file) => paths[file]);

test('a word is found in names of files and in names of folders', () => {
  expect(named(index.word('queue')!.inName)).toEqual(paths.slice(0, 2));
  expect(named(index.word('wifi')!.inFolder)).toEqual([paths[0], paths[1], paths[3]]);
  expect(index.word('zebra')).toBeUndefined();
});

test('what all words of a name are worth is the sum of each', () => {
  const [queue, run] = [index.word('queue')!.worth, index.word('run')!.worth];
  expect(index.nameMass[0]).toBe(queue + run);
  expect(index.folderMass[4]).toBe(0);
});

test('a file is found by its name without ending, whatever it is joined with', () => {
  expect(stemOf('Queue-Run.c')).toBe('queue_run');
  expect(named(index.filesOfStem('queue_run'))).toEqual(paths.slice(0, 2));
  expect(named(index.filesOfStem('readme'))).toEqual(['README.md']);
  expect(named(index.filesOfStem('zebra'))).toEqual([]);
});

test('files of a folder are its own', () => {
  const folder = index.folderCalled('drivers/net')!;
  expect(named(index.filesIn(folder))).toEqual(['drivers/net/ether.c']);
});
