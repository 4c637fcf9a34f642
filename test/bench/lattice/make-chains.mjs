// Chains of calls that are in the tree, drawn by chance: chains.json, which the traces are asked from.
//
//   node test/bench/lattice/make-chains.mjs [--repo DIR] [--home SIGMA_HOME] [--seed N] [--count N] [--cache DIR]
//
// Random walks over cscope's "functions called by this function", from random functions. Every function of a chain has
// a name that nothing else in the tree has, by ctags and by cscope; every call is one by its text. Of the product only
// the plan is used: a chain touches two shards at least.
import { writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { chance } from '../lookup/random.mjs';
import { ensureIndex, Peers, wholeKernel } from '../lookup/sources.mjs';
import { Oracle } from './oracle.mjs';
import { planOf } from './product.mjs';

const functionsMin = 3;
const functionsMax = 6;
const startsPerChain = 60;

const { values: options } = parseArgs({
  options: {
    repo: { type: 'string' },
    home: { type: 'string' },
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '200' },
    cache: { type: 'string', default: '/tmp/sigma-bench-lookup' },
  },
});
const seed = Number(options.seed);
const count = Number(options.count);
const home = path.resolve(options.home ?? process.env.SIGMA_HOME ?? path.join(homedir(), '.sigma'));
const root = await wholeKernel(options.repo);
await ensureIndex({ root, home });
const plan = await planOf({ root, home });
const oracle = await Oracle.open(new Peers({ root, cache: options.cache }), root);
const below = chance(seed);
const chains = [];
const ends = new Set();
for (const start of await oracle.functions(seed + 2, count * startsPerChain)) {
  if (chains.length === count) break;
  const chain = oracle.once.has(start.name) ? await walk(start) : [];
  const shards = new Set(chain.map(({ file }) => plan.aliasOf(file)));
  const key = `${chain[0]?.name} ${chain.at(-1)?.name}`;
  if (chain.length < functionsMin || shards.size < 2 || ends.has(key)) continue;
  ends.add(key);
  const functions = chain.map(({ name, file, line, call }) =>
    `${name} ${file}:${line} ${call}`.trim(),
  );
  chains.push({ shards: shards.size, functions });
}
oracle.close();
if (chains.length < count) throw new Error(`only ${chains.length} chains; more starts are needed`);
const head = { tree: path.basename(root), seed, chains };
const file = path.join(import.meta.dirname, 'chains.json');
writeFileSync(file, `${JSON.stringify(head, null, 2)}\n`);

/** As far as chance has it and there is a way on; what cannot go on is what it is. */
async function walk(start) {
  const wanted = functionsMin + below(functionsMax - functionsMin + 1);
  const chain = [{ name: start.name, file: start.file, line: start.line, call: '' }];
  while (chain.length < wanted) {
    const at = chain.at(-1);
    const calls = await oracle.callsOf(at);
    let next;
    while (next === undefined && calls.length > 0) {
      const [call] = calls.splice(below(calls.length), 1);
      const isNew = chain.every(({ name }) => name !== call.name);
      if (
        isNew &&
        oracle.doubt(at, call) === undefined &&
        (await oracle.isOnce(call.name, call.to))
      )
        next = { name: call.name, ...call.to, call: `${call.file}:${call.line}` };
    }
    if (next === undefined) return chain;
    chain.push(next);
  }
  return chain;
}
