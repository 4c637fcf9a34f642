// Questions about what a code base does not do: how many are answered so, and how many of those that have an answer are
// wrongly called unanswered? How sure are those that are answered, and what would another threshold of the likelihood give?
//
//   npm run bench:absent -- [--sources DIR] [--only NAME,NAME] [--home SIGMA_HOME] [--json FILE] [--write]
//
// Each question of absent.jsonl has a pattern that no source of its code base holds, which is checked first. Nothing was fitted on it or
// on the half `hold`. --write puts the tables into results-absent.md.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { outputOf } from '../../oracle/sources.mjs';
import { table } from '../kernel/figures.mjs';
import { temporaryFolder } from '../kernel/process.mjs';
import { load, placeOf } from '../retrieval/product.mjs';
import { checkAbsent, eachCodeBase, questionsIn, statusOf, ways } from './asking.mjs';
import { isHit } from './score.mjs';

const thresholds = Array.from({ length: 16 }, (_, at) => 0.05 * (at + 1));
const { topKDefault } = await load('src/pgc/answer/ask.js');

const { values: options } = parseArgs({
  options: {
    sources: { type: 'string' },
    only: { type: 'string' },
    home: { type: 'string' },
    json: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
});
const home = path.resolve(options.home ?? temporaryFolder('absent'));
const columns = ['absent', 'hold', 'tune, fitted'];
const [absent, hold, tune] = columns;
const set = (file, name, half) =>
  questionsIn(file, { ...options, half }).map((each) => ({ ...each, set: name }));
const asked = [
  ...set('absent.jsonl', absent),
  ...set('questions.jsonl', hold, 'hold'),
  ...set('questions.jsonl', tune, 'tune'),
];

const rows = [];
await eachCodeBase(asked, { sources: options.sources, home }, async (product, its, root) => {
  checkAbsent(product, its, root);
  for (const { id, repo, set: column, keys = [], question } of its) {
    for (const [way, ask] of Object.entries(ways)) {
      const answer = await ask(product, question);
      const { evidence, unsure, confidence, likelihood } = answer;
      const isNotFound = statusOf(answer) === 'not_found';
      const isWeak = unsure.some(({ kind }) => kind === 'weak');
      const first = evidence.slice(0, topKDefault).map((each) => placeOf(product, each));
      const isRight = keys.some((key) => isHit(key, first));
      const row = { id, repo, way, column, isNotFound, isWeak, isRight, confidence, likelihood };
      rows.push(row);
    }
  }
});

const text = Object.keys(ways).map(tablesOf).join('\n\n');
process.stdout.write(`${text}\n`);
if (options.json !== undefined) writeFileSync(options.json, JSON.stringify(rows, undefined, 1));
if (options.write) {
  const day = new Date().toISOString().slice(0, 10);
  const commit = await outputOf('git', ['rev-parse', '--short=8', 'HEAD'], import.meta.dirname);
  writeFileSync(
    path.join(import.meta.dirname, 'results-absent.md'),
    `# What is not in the code base\n\n${day}, commit ${commit.trim()}.\n\n\`\`\`\n${text}\n\`\`\`\n`,
  );
}

function tablesOf(way) {
  const of = (column) => rows.filter((row) => row.way === way && row.column === column);
  const used = columns.filter((each) => of(each).length > 0);
  const line = (name, is, among = () => true) => [
    name,
    ...used.map((each) => {
      const all = of(each).filter(among);
      return `${all.filter(is).length} of ${all.length}`;
    }),
  ];
  return [
    way,
    table([
      ['', ...used],
      line('not found', ({ isNotFound }) => isNotFound),
      line('not found, or said not to answer clearly', (row) => row.isNotFound || row.isWeak),
      ...['low', 'medium', 'high'].map((each) =>
        line(`confidence ${each}`, (row) => !row.isNotFound && row.confidence === each),
      ),
      ...['low', 'medium', 'high'].map((each) =>
        line(
          `right, of those with confidence ${each}`,
          ({ isRight }) => isRight,
          (row) => !row.isNotFound && row.confidence === each,
        ),
      ),
      ...thresholds.map((each) =>
        line(`likelihood below ${each.toFixed(2)}`, ({ likelihood }) => likelihood < each),
      ),
    ]),
  ].join('\n\n');
}
