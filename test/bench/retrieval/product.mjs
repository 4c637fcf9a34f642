// The product as its command line uses it in one process; every path of it is named here.
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { runSigma } from '../kernel/process.mjs';

const indexMsMax = 1_800_000;
const answerMsMax = 60_000;
export const topK = 5;

const dist = path.resolve(import.meta.dirname, '../../../dist');
export const load = (file) => import(pathToFileURL(path.join(dist, file)).href);

const { openShards } = await load('src/pgc/serve/open-shards.js');
const { hitsPerSource } = await load('src/pgc/answer/searched.js');
const { searchParts } = await load('src/pgc/search/search.js');
const { overlayNames } = await load('src/pgc/shapes.js');
const { analyse } = await load('src/pgc/search/question/question.js');
const { Lattice } = await load('src/lattice/lattice.js');
const { LatticeQuestions } = await load('src/lattice/questions.js');
const { systemClock } = await load('src/base/clock.js');

/** What `sigma index` reports of a tree that it has indexed, or brought up to date. `shards`: how to split it. */
export async function indexed(root, home, shards) {
  const plan = shards === undefined ? [] : ['--shards', shards];
  const built = await runSigma(['index', root, '--json', ...plan], { home, timeoutMs: indexMsMax });
  if (built.code !== 0)
    throw new Error(`sigma index failed: ${(built.stderr + built.stdout).slice(-500)}`);
  return built.json;
}

/**
 * A tree as the product knows it: indexed as `sigma index` does by default, opened, and ready to be asked, also
 * without parts of the search (see `searchParts`).
 */
export async function openProduct(root, home, { isIndexed = false, plan } = {}) {
  const report = isIndexed ? undefined : await indexed(root, home, plan);
  // Packed, as a process holds them that answers over the bus.
  const { shards, cards: packed } = await openShards(root, home);
  const cards = packed();
  const known = new Map();
  const questionsWithout = async (without) => {
    const key = without.join();
    if (!known.has(key)) {
      const unknown = without.find((part) => !searchParts.includes(part));
      if (unknown !== undefined) throw new Error(`no part ${unknown}: ${searchParts}`);
      const parts = (await openShards(root, home, new Set(without))).shards;
      known.set(key, new LatticeQuestions(new Lattice(parts, cards), systemClock));
    }
    return known.get(key);
  };
  return {
    report,
    questions: await questionsWithout([]),
    questionsWithout,
    shards,
    definitions: new Definitions(shards.map(({ index }) => index)),
  };
}

/** What the index calls definitions, by file. */
class Definitions {
  #indexes;
  #byFile;

  constructor(indexes) {
    this.#indexes = indexes;
  }

  in(file) {
    this.#byFile ??= this.#read();
    return this.#byFile.get(file) ?? [];
  }

  /** Where it is first asked for: of a large tree they are gigabytes, which no time or memory of the product is. */
  #read() {
    const byFile = new Map();
    for (const index of this.#indexes) {
      for (let symbol = 0; symbol < index.symbolCount; symbol += 1) {
        const row = index.symbol(symbol);
        if (row.declaration) continue;
        const { path: file } = index.file(row.file);
        const rows = byFile.get(file);
        if (rows === undefined) byFile.set(file, [row]);
        else rows.push(row);
      }
    }
    return byFile;
  }

  /** The name of the innermost definition around these lines; undefined outside all of them. */
  around(file, from, to) {
    const outer = this.in(file).filter((row) => row.line_start <= from && to <= row.line_end);
    return outer.sort((a, b) => a.line_end - a.line_start - (b.line_end - b.line_start))[0]?.name;
  }
}

/** Where a source is: in its symbol, and in the definition around its lines: a call is cited by what it calls. */
export function placeOf({ definitions }, { file_path, line_start, line_end, symbol }) {
  const around = definitions.around(file_path, line_start, line_end);
  const symbols = [symbol, around].filter((each) => (each ?? '') !== '');
  return { path: file_path, symbols, lines: [line_start, line_end] };
}

/** An answer of the product; `without`: parts of the search that are left out. */
export async function askProduct({ questionsWithout }, question, without = []) {
  const request = { question, overlays: [], top_k: topK };
  return (await questionsWithout(without)).ask(request, { deadlineMs: answerMsMax });
}

/** What `ask` may cite for a question, shard by shard: hits with their features, and where they are. */
export class Searches {
  #shards;

  constructor({ shards }) {
    this.#shards = shards.map(({ index, overlays, search }) => ({
      index,
      search,
      wanted: new Set(overlayNames.filter((name) => overlays.state(name) !== 'missing')),
    }));
  }

  async hitsOf(text) {
    const question = analyse(text);
    const hits = [];
    for (const { index, search, wanted } of this.#shards) {
      const { found } = await search.find(question, wanted, hitsPerSource * topK);
      hits.push(...found.map((hit) => ({ hit, place: placeOfHit(index, hit) })));
    }
    return hits;
  }
}

function placeOfHit(index, { kind, item, file, symbol }) {
  if (kind === 'symbol' && symbol === undefined) return { path: index.file(file).path };
  const { line_start, line_end } = kind === 'item' ? item : index.symbol(symbol);
  const path = kind === 'item' ? item.file_path : index.file(file).path;
  const name = kind === 'item' ? item.symbol : index.symbol(symbol).name;
  return { path, symbols: name === '' ? [] : [name], lines: [line_start, line_end] };
}

/** How many of these sources are true of the tree, as the product's own check decides. */
export async function verifiedAmong({ questions }, sources) {
  const verdicts = [];
  for (let from = 0; from < sources.length; from += 500)
    verdicts.push(
      ...(
        await questions.verify(
          { citations: sources.slice(from, from + 500) },
          { deadlineMs: answerMsMax },
        )
      ).results,
    );
  return verdicts.filter(({ status }) => status === 'valid').length;
}
