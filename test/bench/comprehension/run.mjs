// Questions as people ask them who do not know the names in the code: how many of the functions that a right answer must
// name are among its first sources? Beside plain BM25 over functions.
//
//   npm run bench:comprehension -- [--sources DIR] [--questions FILE] [--only NAME,NAME] [--half tune|hold] [--shards N] [--misspell N [--seed N]] [--home SIGMA_HOME] [--json FILE] [--write]
//
// The code bases are fetched at the commits of the questions unless --sources has them under their short names. Those of the
// half `hold` are there to report on: nobody looks at single questions of them. --write puts the tables into results.md.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { mean, percentile, table } from '../kernel/figures.mjs';
import { temporaryFolder } from '../kernel/process.mjs';
import { load, placeOf } from '../retrieval/product.mjs';
import { bm25OfFunctions, textsBelow } from '../retrieval/text-search.mjs';
import { eachCodeBase, questionsIn, ways } from './asking.mjs';
import { misspelt } from './misspell.mjs';
import { scoreOf } from './score.mjs';

const { saidRole } = await load('src/pgc/source/role.js');

const { values: options } = parseArgs({
  options: {
    sources: { type: 'string' },
    questions: {
      type: 'string',
      default: 'questions.jsonl',
    },
    only: { type: 'string' },
    half: { type: 'string' },
    shards: { type: 'string' },
    misspell: { type: 'string', default: '0' },
    seed: { type: 'string', default: '1' },
    home: { type: 'string' },
    json: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
});
const home = path.resolve(options.home ?? temporaryFolder('comprehension'));
const slips = Number(options.misspell);
const questions = questionsIn(options.questions, options).map((each) => ({
  ...each,
  question: misspelt(each.question, slips, Number(options.seed)),
}));

const rows = [];
const { sources, shards } = options;
await eachCodeBase(questions, { sources, home, shards }, async (product, its, root) => {
  const { info } = product.shards[0].index;
  const isSource = (file) => saidRole(info, file) === '';
  const isAside = (file) => !/^(?:document)?$/.test(saidRole(info, file));
  const floor = bm25OfFunctions(
    textsBelow(root).filter(
      (each) => product.definitions.in(each.path).length > 0 && isSource(each.path),
    ),
    product.definitions,
  );
  for (const question of its) {
    note(question, 'BM25, functions', 0, floor.search(question.question, 20), isAside);
    for (const [way, ask] of Object.entries(ways)) {
      const beganMs = performance.now();
      const { evidence, metadata } = await ask(product, question.question);
      const ms = performance.now() - beganMs;
      const places = evidence.map((each) => placeOf(product, each));
      note(question, way, ms, places, isAside, metadata.agents_asked);
    }
  }
});
const text = ['tune', 'hold']
  .filter((half) => rows.some((row) => row.half === half))
  .map(tableOf)
  .join('\n\n');
process.stdout.write(`${text}\n`);
if (options.json !== undefined) writeFileSync(options.json, JSON.stringify(rows, undefined, 1));
if (options.write) {
  const day = new Date().toISOString().slice(0, 10);
  writeFileSync(
    path.join(import.meta.dirname, 'results.md'),
    `# Comprehension questions\n\n${day}, ${questions.length} questions.\n\n\`\`\`\n${text}\n\`\`\`\n`,
  );
}

function note({ id, repo, kind, half, keys }, way, ms, places, isAside, asked = 0) {
  const asides = places.slice(0, 3).filter((each) => isAside(each.path)).length;
  const paths = places.map(
    ({ path: file, symbols = [], lines = [] }) => `${file}:${lines[0]} ${symbols.join(' ')}`,
  );
  rows.push({
    id,
    repo,
    kind,
    half,
    way,
    ms,
    asked,
    asides,
    ...scoreOf({ keys }, places),
    places: paths,
  });
}

function tableOf(half) {
  const measures = Object.keys(
    scoreOf({ keys: [{ essential: true, file: '', line: 0, symbol: '' }] }, []),
  );
  const names = [...new Set(rows.map(({ way }) => way))];
  const of = (way, kind) =>
    rows.filter((row) => row.half === half && row.way === way && (kind ?? row.kind) === row.kind);
  const kinds = [...new Set(rows.map(({ kind }) => kind))].sort();
  const share = (all, what) => mean(all.map((row) => row[what])).toFixed(3);
  return [
    `${half}: ${of(names[0]).length} questions`,
    table([
      ['', ...measures, 'tests and copies in 3', 'agents', 'p50 ms'],
      ...names.map((way) => {
        const all = of(way);
        const asides = (mean(all.map((row) => row.asides)) / 3).toFixed(3);
        return [
          way,
          ...measures.map((what) => share(all, what)),
          asides,
          mean(all.map((row) => row.asked)).toFixed(1),
          percentile(
            all.map(({ ms }) => ms),
            50,
          ).toFixed(0),
        ];
      }),
    ]),
    'essential@10 by kind',
    table([
      ['', ...kinds],
      ...names.map((way) => [way, ...kinds.map((kind) => share(of(way, kind), 'essential@10'))]),
    ]),
  ].join('\n\n');
}
