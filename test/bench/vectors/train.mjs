// Learns the vectors of src/pgc/format/vectors/words.bin from the commits and comments of the repositories in repositories.json.
//
//   node test/bench/vectors/train.mjs [--out FILE] [--home SIGMA_HOME] [--sources DIR] [--mirrors DIR]
//                                     [--only NAME,…] [--without NAME,…] [--dims 160] [--steps 4500] [--seed 1]
//
// `--sources` holds work trees by short name, `--mirrors` bare repositories as OWNER+NAME/repo; what is missing is fetched.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { temporaryFolder } from '../kernel/process.mjs';
import { cacheFolder, outputOf, treeOf } from '../../oracle/sources.mjs';
import { load, openProduct } from '../retrieval/product.mjs';
import { commentTexts, commitTexts, functionsOf } from './examples.mjs';
import { learnVectors } from './learn.mjs';

/** Words that fewer functions or repositories have are left out. */
const functionsMin = 8;
const repositoriesMin = 2;
const wordCharsMax = 24;
/** A repository with fewer texts is no contrast. */
const textsMin = 40;
const functionWordsMin = 6;

const { values: options } = parseArgs({
  options: {
    out: {
      type: 'string',
      default: path.resolve(import.meta.dirname, '../../../src/pgc/format/vectors/words.bin'),
    },
    home: { type: 'string' },
    sources: { type: 'string' },
    mirrors: { type: 'string' },
    only: { type: 'string' },
    without: { type: 'string', default: '' },
    dims: { type: 'string', default: '160' },
    steps: { type: 'string', default: '4500' },
    seed: { type: 'string', default: '1' },
  },
});
const { writeWordVectors } = await load('src/pgc/format/vectors/word-vectors.js');
const home = path.resolve(options.home ?? temporaryFolder('vectors'));
const listed = JSON.parse(
  readFileSync(path.join(import.meta.dirname, 'repositories.json'), 'utf8'),
).filter(
  ({ name }) =>
    (options.only?.split(',').includes(name) ?? true) && !options.without.split(',').includes(name),
);

const numbers = new Map();
const spellings = [];
const numberOf = (word) => {
  let number = numbers.get(word);
  if (number === undefined) {
    number = spellings.push(word) - 1;
    numbers.set(word, number);
  }
  return number;
};

const repositories = [];
for (const repository of listed) {
  const examples = await examplesOf(repository);
  if (examples.texts.length >= textsMin) repositories.push(examples);
  process.stderr.write(
    `${repository.name}: ${examples.functions.length} functions, ${examples.texts.length} texts\n`,
  );
}
const { words, rarity } = restrict(repositories);
process.stderr.write(`${words.length} words\n`);
const dims = Number(options.dims);
const learned = learnVectors(repositories, rarity, {
  dims,
  steps: Number(options.steps),
  seed: Number(options.seed),
  report: (step, loss) => process.stderr.write(`step ${step}: loss ${loss.toFixed(3)}\n`),
});
await writeWordVectors(path.resolve(options.out), { words, dims, ...learned });

async function examplesOf(repository) {
  const { root } = await treeOf(repository, options.sources);
  const product = await openProduct(root, home);
  const found = functionsOf(product, root);
  const texts = [
    ...commentTexts(found.functions),
    ...(await commitTexts(found, await mirrorOf(repository), repository.commit)),
  ];
  await product.close();
  return {
    functions: found.functions.map(({ head, comments, body }) => ({
      told: bagOf([...head, ...comments, ...body]),
      untold: bagOf([...head, ...body]),
    })),
    texts: texts.map((each) => ({ ...each, words: each.words.map(numberOf) })),
  };
}

function bagOf(words) {
  const counts = new Map();
  for (const word of words) {
    const number = numberOf(word);
    counts.set(number, (counts.get(number) ?? 0) + 1);
  }
  return { words: [...counts.keys()], counts: [...counts.values()] };
}

/** The whole history up to a commit. */
async function mirrorOf({ name, commit }) {
  const given = options.mirrors && path.join(options.mirrors, name.replace('/', '+'), 'repo');
  if (given && existsSync(given)) return given;
  const folder = cacheFolder('histories', name.replace('/', '+'));
  const git = (...args) => outputOf('git', args, folder);
  if (!existsSync(path.join(folder, 'HEAD'))) await git('init', '-q', '--bare');
  await git('fetch', '-q', `https://github.com/${name}`, commit);
  return folder;
}

/** Leaves the words that are learned, and numbers them anew. */
function restrict(all) {
  const having = new Uint32Array(spellings.length);
  const reach = new Uint32Array(spellings.length);
  const last = new Int32Array(spellings.length).fill(-1);
  let functionCount = 0;
  all.forEach(({ functions, texts }, at) => {
    functionCount += functions.length;
    for (const { words: own } of [...functions.map(({ told }) => told), ...texts])
      for (const word of own) {
        having[word] += 1;
        if (last[word] !== at) reach[word] += 1;
        last[word] = at;
      }
  });
  const kept = new Map();
  spellings.forEach((word, number) => {
    if (
      having[number] >= functionsMin &&
      reach[number] >= repositoriesMin &&
      word.length <= wordCharsMax
    )
      kept.set(number, kept.size);
  });
  const fit = ({ words: own, counts }) => {
    const places = own.flatMap((word, at) => (kept.has(word) ? [at] : []));
    return {
      words: Uint32Array.from(places, (at) => kept.get(own[at])),
      counts: counts && Uint16Array.from(places, (at) => Math.min(counts[at], 65_535)),
    };
  };
  for (const each of all) {
    const moved = new Map();
    each.functions = each.functions.flatMap(({ told, untold }, at) => {
      const fitted = { told: fit(told), untold: fit(untold) };
      if (fitted.untold.words.length < functionWordsMin) return [];
      moved.set(at, moved.size);
      return [fitted];
    });
    each.texts = each.texts.flatMap((text) => {
      const about = text.about.flatMap(({ function: at, share }) =>
        moved.has(at) ? [{ function: moved.get(at), share }] : [],
      );
      const own = [...fit({ words: text.words }).words];
      return about.length === 0 || own.length < 2 ? [] : [{ ...text, words: own, about }];
    });
  }
  const words = [...kept.keys()].map((number) => spellings[number]);
  const rarity = [...kept.keys()].map((number) =>
    Math.log(1 + functionCount / (having[number] + 5)),
  );
  return { words, rarity };
}
