// What open shards cost in memory. node --expose-gc open-all.mjs ROOT HOME NAME…
import { statSync } from 'node:fs';
import path from 'node:path';
import { callersOf, openIndex, placeOf } from './product.mjs';

const [root, home, ...names] = process.argv.slice(2);
const beforeBytes = residentBytes();
const tree = await openIndex(root, home);
const openedBytes = residentBytes() - beforeBytes;
for (const name of names) for (const index of tree.shards) callersOf(index, [name]);
const usedBytes = residentBytes() - beforeBytes;
const { segments } = placeOf(tree.root, home);
const files = tree.manifest.shards.map(
  ({ segment }) => statSync(path.join(segments, segment)).size,
);
const fileBytes = files.reduce((sum, each) => sum + each, 0);
const { length: shards } = tree.shards;
process.stdout.write(
  JSON.stringify({ shards, openedBytes, usedBytes, fileBytes, names: names.length }),
);

function residentBytes() {
  globalThis.gc();
  return process.memoryUsage.rss();
}
