// The questions of a public benchmark of code retrieval: short, as one types them into a search field. NDCG@10 beside plain
// BM25 and what others have published.
//
//   npm run bench:public -- --data DIR [--sources DIR] [--only NAME,NAME] [--home SIGMA_HOME] [--json FILE] [--write]
//
// README.md says what DIR must hold. The trees are fetched at their revisions unless --sources has them under their names.
// --write puts the tables into results.md; of the half `hold` nothing but figures goes into FILE.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { outputOf } from '../../oracle/sources.mjs';
import { mean, percentile, table } from '../kernel/figures.mjs';
import { temporaryFolder } from '../kernel/process.mjs';
import { load, openProduct } from '../retrieval/product.mjs';
import { Bm25, bm25OfFunctions, textsBelow } from '../retrieval/text-search.mjs';
import { filesOf, fused, ndcgOf } from './ndcg.mjs';
import { repositoriesIn, tasksOf } from './tasks.mjs';

const answerMsMax = 60_000;
const windowLines = 50;
const plainMax = 200;
const categories = ['architecture', 'semantic', 'symbol'];

const { saidRole } = await load('src/pgc/source/role.js');
const { citationsMax } = await load('src/pgc/shapes.js');
const { filesMax, Locator } = await load('src/pgc/search/locate/locate.js');

const { values: options } = parseArgs({
  options: {
    data: { type: 'string' },
    sources: { type: 'string' },
    only: { type: 'string' },
    home: { type: 'string' },
    json: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
});
if (options.data === undefined) throw new Error('--data is wanted: see README.md beside this file');
const home = path.resolve(options.home ?? temporaryFolder('public'));
const only = options.only?.split(',');
const peers = JSON.parse(readFileSync(path.join(options.data, 'peers.json'), 'utf8')).repos;
const repositories = repositoriesIn(options.data, only);

const rows = [];
for (const repository of repositories) await measure(repository);
const ways = [...new Set(rows.map(({ way }) => way))];
const published = [...new Set(repositories.flatMap(({ name }) => Object.keys(peers[name] ?? {})))];

const parts = [
  ['all', repositories],
  ...['tune', 'hold'].map((half) => [half, repositories.filter((each) => each.half === half)]),
].filter(([, its]) => its.length > 0);
const text = [...parts.map(([name, its]) => byCategory(name, its)), byRepository()].join('\n\n');
process.stdout.write(`${text}\n`);
if (options.json !== undefined) {
  const seen = rows.map(({ places, ...row }) => (row.half === 'tune' ? { ...row, places } : row));
  writeFileSync(options.json, JSON.stringify(seen, undefined, 1));
}
if (options.write) await writeResults();

async function measure(repository) {
  const { name, half } = repository;
  const { folder, below, tasks } = await tasksOf(repository, options);
  process.stderr.write(`${name}: indexing\n`);
  const product = await openProduct(folder, home);
  const searches = await searchesOf(product, folder);
  for (const { query, category, targets } of tasks) {
    const lists = {};
    for (const [way, search] of Object.entries(searches)) {
      const beganMs = performance.now();
      const found = await search(query);
      const ms = performance.now() - beganMs;
      lists[way] = found.map((each) => ({ ...each, path: path.join(below, each.path) }));
      note(way, lists[way], ms);
    }
    note('sigma ask, by file', filesOf(lists['sigma ask']));
    note('both fused', fused(lists['sigma ask'], lists['sigma locate']));
    note('BM25, functions, by file', filesOf(lists['BM25, functions']));
    note('BM25, 50 lines, by file', filesOf(lists['BM25, 50 lines']));
    function note(way, places, ms = 0) {
      const first = places.slice(0, 10);
      const row = { repo: name, half, query, category, way, ms, ndcg: ndcgOf(places, targets) };
      rows.push({ ...row, targets, places: first });
    }
  }
}

async function searchesOf(product, folder) {
  const { info } = product.shards[0].index;
  const isCode = (file) => product.definitions.in(file).length > 0 && saidRole(info, file) === '';
  const texts = textsBelow(folder).filter((each) => isCode(each.path));
  const functions = bm25OfFunctions(texts, product.definitions);
  const windows = bm25OfWindows(texts);
  const locator = await Locator.open(folder, home);
  return {
    'sigma ask': async (question) => {
      const request = { question, overlays: [], top_k: citationsMax };
      const { evidence } = await product.questions.ask(request, { deadlineMs: answerMsMax });
      return evidence.map((each) => ({
        path: each.file_path,
        lines: [each.line_start, each.line_end],
      }));
    },
    'sigma locate': async (title) => {
      const how = { limit: filesMax, isBrief: true };
      const { files } = await locator.locate({ title, description: '' }, how);
      return files.map((each) => ({ path: each.path }));
    },
    'BM25, functions': (question) => functions.search(question, plainMax),
    'BM25, 50 lines': (question) => windows.search(question, plainMax),
  };
}

/** Documents of fifty lines, without regard to what stands in them. */
function bm25OfWindows(texts) {
  const engine = new Bm25();
  for (const { path: file, text: whole } of texts) {
    const lines = whole.split('\n');
    for (let from = 0; from < lines.length; from += windowLines) {
      const shown = lines.slice(from, from + windowLines);
      engine.add({ path: file, lines: [from + 1, from + shown.length] }, shown.join('\n'));
    }
  }
  return engine;
}

/** Means over questions, and the mean of the means of repositories; a peer's figures are weighed alike. */
function byCategory(name, its) {
  const names = its.map((each) => each.name);
  const asked = rows.filter((row) => row.way === ways[0] && names.includes(row.repo));
  const show = (figures) =>
    figures.some((each) => each === undefined) ? '-' : mean(figures).toFixed(3);
  const ownRow = (way) => {
    const of = (row) => row.way === way && names.includes(row.repo);
    const ndcg = (wanted) => rows.filter((row) => of(row) && wanted(row)).map((row) => row.ndcg);
    const ms = rows.filter(of).map((row) => row.ms);
    return [
      way,
      ...categories.map((category) => show(ndcg((row) => row.category === category))),
      show(ndcg(() => true)),
      show(names.map((repo) => mean(ndcg((row) => row.repo === repo)))),
      Math.max(...ms) === 0 ? '-' : percentile(ms, 50).toFixed(0),
    ];
  };
  const peerRow = (peer) => {
    const figure = ({ repo, category }) => peers[repo]?.[peer]?.by_category?.[category];
    return [
      `${peer}, published`,
      ...categories.map((each) => show(asked.filter((row) => row.category === each).map(figure))),
      show(asked.map(figure)),
      show(names.map((repo) => peers[repo]?.[peer]?.ndcg10)),
      '-',
    ];
  };
  return [
    `${name}: ${asked.length} questions, ${names.length} repositories`,
    table([
      ['NDCG@10', ...categories, 'questions', 'repositories', 'p50 ms'],
      ...ways.map(ownRow),
      ...published.map(peerRow),
    ]),
  ].join('\n\n');
}

function byRepository() {
  const shown = ['sigma ask', 'sigma locate', 'both fused', 'BM25, functions', 'BM25, 50 lines'];
  return table([
    ['repository', 'half', ...shown, ...published],
    ...repositories.map(({ name, half }) => [
      name,
      half,
      ...shown.map((way) =>
        mean(
          rows.filter((row) => row.repo === name && row.way === way).map((row) => row.ndcg),
        ).toFixed(3),
      ),
      ...published.map((peer) => peers[name]?.[peer]?.ndcg10?.toFixed(3) ?? '-'),
    ]),
  ]);
}

async function writeResults() {
  const day = new Date().toISOString().slice(0, 10);
  const commit = await outputOf('git', ['rev-parse', '--short=8', 'HEAD'], import.meta.dirname);
  writeFileSync(
    path.join(import.meta.dirname, 'results.md'),
    `# Results\n\n${day}, commit ${commit.trim()}.\n\n\`\`\`\n${text}\n\`\`\`\n`,
  );
}
