// Fits the logistic map of src/pgc/similarity.ts on known-item questions, and prints the reliability table on
// shards that the fit did not see. The indexes must be built (`sigma index`).
//
//   node test/bench/similarity/fit.mjs --home SIGMA_HOME \
//     --train /linux=mm,net-core --train .=src --test /linux=kernel-dma,intel [--dist dist]
//
// A question is the first sentence of a symbol's documentation, or its name; the relevant answer is that symbol,
// searched without its documentation, and its copies: other definitions documented in the same words, or so named.
// A shard that does not hold it has no relevant answer.
import { parseArgs } from 'node:util';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const questionsPerShard = 500;
const ownHits = 5;
const foreignHits = 2;
const wordsMin = 4;
/** Jaccard overlap from which two sentences say the same. */
const copyOverlap = 0.75;
/** Every so many-th question asks by name, as people do who know it; every other one of them with more words. */
const nameEvery = 5;
const features = ['coverage', 'lead', 'exact'];

const { values } = parseArgs({
  options: {
    home: { type: 'string' },
    dist: { type: 'string', default: path.resolve(import.meta.dirname, '../../../dist') },
    train: { type: 'string', multiple: true, default: [] },
    test: { type: 'string', multiple: true, default: [] },
  },
});
const load = (file) => import(pathToFileURL(path.resolve(values.dist, 'src/pgc', file)).href);
const { openIndex } = await load('open-index.js');
const { Retriever } = await load('retrieve.js');
const { analyse } = await load('question.js');
const { firstSentence } = await load('compose.js');
const { wordsOf } = await load('miners/words.js');
const { similarityModel, similarityOf } = await load('similarity.js');

const train = await shardsOf(values.train);
const test = await shardsOf(values.test);
const rows = collect(train);
const model = fit(rows);
const held = collect(test);
console.log(`train: ${rows.length} hits of ${train.map((each) => each.name).join(', ')}`);
console.log(`test:  ${held.length} hits of ${test.map((each) => each.name).join(', ')}`);
console.log('fitted:   ', JSON.stringify(rounded(model)));
console.log('committed:', JSON.stringify(similarityModel));
for (const [name, set] of [
  ['train', rows],
  ['test', held],
]) {
  console.log(`\n${name}, with the committed coefficients`);
  report(set, similarityModel);
}
console.log('\ntest, with the fitted coefficients');
report(held, model);

async function shardsOf(wanted) {
  const found = [];
  for (const each of wanted) {
    const [root, aliases = ''] = each.split('=');
    const { shards } = await openIndex(root, values.home);
    for (const index of shards) {
      if (aliases !== '' && !aliases.split(',').includes(index.info.alias)) continue;
      found.push({ name: index.info.alias, index, retriever: new Retriever(index) });
    }
  }
  return found;
}

function collect(shards) {
  const collected = [];
  for (const home of shards) {
    for (const { text, symbol, byName } of questionsOf(home.index)) {
      const question = analyse(text);
      for (const shard of shards) {
        const isOwn = shard === home;
        const options = isOwn ? { limit: ownHits, withoutDocOf: symbol } : { limit: foreignHits };
        for (const hit of shard.retriever.search(question, options)) {
          collected.push({
            ...hit,
            relevant:
              isOwn &&
              (byName
                ? isNamed(home.index, symbol, hit.symbol)
                : isSame(home.index, symbol, hit.symbol)),
          });
        }
      }
    }
  }
  return collected;
}

/** Evenly spread over the shard, so that no part of it decides alone. */
function questionsOf(index) {
  const documented = [];
  for (let symbol = 0; symbol < index.symbolCount; symbol += 1) {
    const row = index.symbol(symbol);
    if (
      row.declaration ||
      !['function', 'method', 'class', 'struct', 'interface'].includes(row.kind)
    )
      continue;
    const text = firstSentence(row.doc, row.name);
    if (text.split(/\s+/).length >= wordsMin) documented.push({ text, symbol, name: row.name });
  }
  const stride = Math.max(1, documented.length / questionsPerShard);
  return Array.from({ length: Math.min(documented.length, questionsPerShard) }, (_, at) => {
    const each = documented[Math.floor(at * stride)];
    return at % nameEvery === 0
      ? { ...each, text: namedQuestion(each, at / nameEvery), byName: true }
      : each;
  });
}

function namedQuestion({ name, text }, at) {
  return at % 2 === 0 ? `What does ${name} do?` : `How does \`${name}\` ${text}?`;
}

function isNamed(index, symbol, hit) {
  return hit !== undefined && index.symbol(hit).name === index.symbol(symbol).name;
}

/** The symbol, or a copy of it: driver families repeat functions, documented in (nearly) the same words. */
function isSame(index, symbol, hit) {
  if (hit === symbol) return true;
  if (hit === undefined) return false;
  const [one, other] = [index.symbol(symbol), index.symbol(hit)];
  if (other.declaration) return one.name === other.name;
  const [words, others] = [one, other].map(
    (row) => new Set(wordsOf(firstSentence(row.doc, row.name))),
  );
  const shared = [...words].filter((word) => others.has(word)).length;
  return shared / (words.size + others.size - shared) >= copyOverlap;
}

/** Maximum likelihood by Newton's method, with a touch of ridge because exact names hardly ever miss. */
function fit(set) {
  const size = features.length + 1;
  const weights = new Array(size).fill(0);
  const ridge = 1e-2;
  for (let round = 0; round < 50; round += 1) {
    const gradient = weights.map((weight, at) => (at === 0 ? 0 : -ridge * weight));
    const hessian = weights.map((_, i) => weights.map((_, j) => (i === j && i > 0 ? ridge : 0)));
    for (const row of set) {
      const x = [1, ...features.map((name) => row[name])];
      const p = 1 / (1 + Math.exp(-x.reduce((sum, value, at) => sum + value * weights[at], 0)));
      const error = (row.relevant ? 1 : 0) - p;
      for (let i = 0; i < size; i += 1) {
        gradient[i] += error * x[i];
        for (let j = 0; j < size; j += 1) hessian[i][j] += p * (1 - p) * x[i] * x[j];
      }
    }
    const change = solve(hessian, gradient);
    change.forEach((each, at) => (weights[at] += each));
    if (Math.max(...change.map(Math.abs)) < 1e-7) break;
  }
  return {
    intercept: weights[0],
    ...Object.fromEntries(features.map((name, at) => [name, weights[at + 1]])),
  };
}

/** Gauss elimination with pivoting. */
function solve(matrix, vector) {
  const rowsOf = matrix.map((row, at) => [...row, vector[at]]);
  for (let i = 0; i < rowsOf.length; i += 1) {
    const pivot = rowsOf
      .slice(i)
      .reduce((best, row, at) => (Math.abs(row[i]) > Math.abs(rowsOf[best][i]) ? i + at : best), i);
    [rowsOf[i], rowsOf[pivot]] = [rowsOf[pivot], rowsOf[i]];
    for (let k = 0; k < rowsOf.length; k += 1) {
      if (k === i) continue;
      const factor = rowsOf[k][i] / rowsOf[i][i];
      for (let j = i; j < rowsOf[k].length; j += 1) rowsOf[k][j] -= factor * rowsOf[i][j];
    }
  }
  return rowsOf.map((row, at) => row.at(-1) / row[at]);
}

function report(set, coefficients) {
  const bins = Array.from({ length: 10 }, () => ({ count: 0, stated: 0, relevant: 0 }));
  let squared = 0;
  for (const row of set) {
    const s = similarityOf(row, coefficients);
    const bin = bins[Math.min(9, Math.floor(s * 10))];
    bin.count += 1;
    bin.stated += s;
    bin.relevant += row.relevant ? 1 : 0;
    squared += (s - (row.relevant ? 1 : 0)) ** 2;
  }
  let error = 0;
  console.log('| similarity | hits | stated | relevant |\n|---|---|---|---|');
  bins.forEach(({ count, stated, relevant }, at) => {
    if (count > 0) error += Math.abs(stated - relevant);
    const share = (sum) => (count === 0 ? '–' : (sum / count).toFixed(2));
    console.log(
      `| ${(at / 10).toFixed(1)}–${((at + 1) / 10).toFixed(1)} | ${count} | ${share(stated)} | ${share(relevant)} |`,
    );
  });
  console.log(
    `expected calibration error ${(error / set.length).toFixed(3)}, Brier score ${(squared / set.length).toFixed(3)}`,
  );
}

function rounded(coefficients) {
  return Object.fromEntries(
    Object.entries(coefficients).map(([name, value]) => [name, Number(value.toFixed(2))]),
  );
}
