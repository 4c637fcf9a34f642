// Fits the map of src/lattice/query/link-trust.ts on generated chains, and prints the reliability table on shards that the
// fit did not see. The index must be built (`sigma index`) with two shards or more.
//
//   node test/bench/similarity/fit-links.mjs --home SIGMA_HOME --tree /linux --test intel,mm [--dist dist]
//
// A question names a function and says, in the words of its documentation, what a function of another shard does that
// the first one calls: "How does F <do what G does>?". A link of the answer is true when it leads to G, or carries on
// from there. The entry is given by name, so what is fitted is how far a link can be trusted when the entry is right.
import path from 'node:path';
import { parseArgs } from 'node:util';
import { pathToFileURL } from 'node:url';

const questionsPerShard = 80;
const triesMax = 20_000;
const wordsMin = 4;
const deadlineMs = 30_000;
const bins = [0, 0.2, 0.4, 0.6, 0.8, 0.9, 1.01];

const { values } = parseArgs({
  options: {
    home: { type: 'string' },
    tree: { type: 'string' },
    test: { type: 'string', default: '' },
    dist: { type: 'string', default: path.resolve(import.meta.dirname, '../../../dist') },
  },
});
const load = (file) => import(pathToFileURL(path.resolve(values.dist, 'src', file)).href);
const { openShards } = await load('pgc/open-shards.js');
const { firstSentence } = await load('pgc/compose.js');
const { systemClock } = await load('base/clock.js');
const { Lattice } = await load('lattice/lattice.js');
const { query } = await load('lattice/query/query.js');
const { linkTrust, linkTrustModel } = await load('lattice/query/link-trust.js');

const { shards } = await openShards(values.tree, values.home);
const lattice = new Lattice(shards, await Promise.all(shards.map((shard) => shard.card())));
const random = generator(7);
const held = new Set(values.test.split(','));
const rows = { train: [], test: [] };
for (const shard of shards) {
  const set = held.has(shard.index.info.alias) ? 'test' : 'train';
  for (const chain of chainsOf(shard)) rows[set].push(...(await linksOf(chain)));
}
const fitted = fit(rows.train);
console.log(`train: ${rows.train.length} links, test: ${rows.test.length} links`);
console.log('fitted:   ', JSON.stringify(fitted));
console.log('committed:', JSON.stringify(linkTrustModel));
for (const set of ['train', 'test']) {
  console.log(`\n${set}, with the committed coefficients`);
  report(rows[set]);
}
process.exit(0);

function* chainsOf({ agent, index }) {
  let found = 0;
  for (let tries = 0; tries < triesMax && found < questionsPerShard; tries += 1) {
    const symbol = Math.floor(random() * index.symbolCount);
    const row = index.symbol(symbol);
    if (row.declaration || row.kind !== 'function') continue;
    const calls = index.callsFrom(symbol).filter((call) => call.kind === 'direct');
    const call = calls[Math.floor(random() * calls.length)];
    const target = call === undefined ? undefined : targetOf(agent, index, call.callee);
    if (target === undefined) continue;
    const said = firstSentence(target.doc, target.name);
    if (said.split(/\s+/).length < wordsMin || said.includes(target.name)) continue;
    found += 1;
    // People do not ask in the words of the documentation: every other question keeps half of them.
    const words = said.split(/\s+/).filter(() => found % 2 === 0 || random() < 0.5);
    const question = `How does ${row.name} ${words.join(' ').toLowerCase()}?`;
    yield { agent, question, callee: call.callee };
  }
}

/** The documented definition in the one other shard that has it. */
function targetOf(agent, index, name) {
  const agents = lattice.directory.find({ name, path: '' }, agent);
  const isOwn = index.symbolsNamed(name).some((each) => !index.symbol(each).declaration);
  if (agents.length !== 1 || isOwn) return undefined;
  const far = shards.find((shard) => shard.agent === agents[0]).index;
  return far
    .symbolsNamed(name)
    .map((each) => far.symbol(each))
    .find((each) => !each.declaration && each.doc !== '');
}

/** The links of an answer: what they were worth, and whether they are the ones that the question was made of. */
async function linksOf({ agent, question, callee }) {
  const request = { question, from: '', max_hops: 6, top_k: 5 };
  const { hops } = await query(lattice, request, { clock: systemClock, deadlineMs });
  const isGoal = (via) => via?.symbol === callee && via.from_agent === agent;
  if (hops[0]?.agent !== agent) return [];
  return hops.slice(1).map(({ via }) => {
    const before = hops.find((hop) => hop.agent === via.from_agent);
    const isOnward = isGoal(before?.via) && via.chain[0]?.symbol === callee;
    return { reach: via.relevance, isTrue: isGoal(via) || isOnward };
  });
}

/** Logistic regression on the logarithm of the relevance, by gradient descent. */
function fit(links) {
  let [intercept, slope] = [0, 1];
  for (let round = 0; round < 20_000; round += 1) {
    let [down, across] = [0, 0];
    for (const { reach, isTrue } of links) {
      const at = Math.log(Math.max(reach, 1e-3));
      const off = 1 / (1 + Math.exp(-(intercept + slope * at))) - Number(isTrue);
      down += off / links.length;
      across += (off * at) / links.length;
    }
    intercept -= 0.2 * down;
    slope -= 0.2 * across;
  }
  return { intercept: Number(intercept.toFixed(2)), slope: Number(slope.toFixed(2)) };
}

function report(links) {
  console.log('trust        links   said  true');
  for (const [at, from] of bins.slice(0, -1).entries()) {
    const inside = links
      .map((link) => ({ ...link, trust: linkTrust(link.reach) }))
      .filter(({ trust }) => trust >= from && trust < bins[at + 1]);
    if (inside.length === 0) continue;
    const mean = (numberOf) =>
      inside.reduce((sum, each) => sum + numberOf(each), 0) / inside.length;
    const said = mean((each) => each.trust).toFixed(2);
    const isTrue = mean((each) => Number(each.isTrue)).toFixed(2);
    console.log(
      `${from.toFixed(1)} to ${Math.min(1, bins[at + 1]).toFixed(1)}  ${String(inside.length).padStart(7)}   ${said}  ${isTrue}`,
    );
  }
}

function generator(seed) {
  let state = seed;
  return () => (state = (state * 1_103_515_245 + 12_345) % 2_147_483_648) / 2_147_483_648;
}
