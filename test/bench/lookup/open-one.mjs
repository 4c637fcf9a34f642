// A fresh process: opens one shard and looks up one name. node open-one.mjs SEGMENT ALIAS NAME
import { statSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { callersOf, Segment } from './product.mjs';

const [file, alias, name] = process.argv.slice(2);
const startedMs = performance.now();
const shard = { agent: alias, alias, scope: [], project: '', root: '' };
const index = await Segment.open(file, shard);
const openedMs = performance.now();
const sites = callersOf(index, [name]).length;
const endedMs = performance.now();
const figures = {
  ...{ openMs: openedMs - startedMs, lookupMs: endedMs - openedMs, bothMs: endedMs - startedMs },
  ...{ sites, bytes: statSync(file).size },
};
process.stdout.write(JSON.stringify(figures));
