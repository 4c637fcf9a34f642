// The product as its command line uses it in one process; every path of it is named here.
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const dist = path.resolve(import.meta.dirname, '../../../dist');
const load = (file) => import(pathToFileURL(path.join(dist, file)).href);

export const { openIndex } = await load('src/pgc/search/open-index.js');
export const { placeOf, readManifest } = await load('src/pgc/plan/manifest.js');
export const { Segment } = await load('src/pgc/format/segment.js');
export const { callersOf } = await load('src/pgc/bind/call-sites.js');
export const { citeCall, citeDocument } = await load('src/pgc/answer/citation.js');
const { Shard } = await load('src/pgc/serve/shard.js');
const { Excerpts } = await load('src/pgc/source/excerpt.js');
const { Lattice } = await load('src/lattice/lattice.js');
const { LatticeQuestions } = await load('src/lattice/questions.js');
const { systemClock } = await load('src/base/clock.js');

/** All shards of a built index, and the questions that `--repo` of the command line answers from them. */
export async function openProduct({ root, home }) {
  const tree = await openIndex(root, home);
  const excerpts = new Excerpts(tree.root);
  const ports = tree.shards.map(
    (index) => new Shard(index, tree.overlaysIn(index.info.alias), excerpts),
  );
  const cards = await Promise.all(ports.map((port) => port.card()));
  const questions = new LatticeQuestions(new Lattice(ports, cards), systemClock);
  return { tree, excerpts, ports, questions };
}

/** Of all shards, as `sigma callers` prints them above the call sites. */
export async function definitionsOf(ports, name) {
  return (await Promise.all(ports.map((port) => port.definitions([name])))).flat();
}
