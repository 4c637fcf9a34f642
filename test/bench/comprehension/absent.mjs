// Questions about what a code base does not do: how many are answered so, and how many of those that have an answer are
// wrongly called unanswered, also as a curve over the similarity below which an answer would be withheld?
//
//   npm run bench:absent -- [--sources DIR] [--only NAME,NAME] [--home SIGMA_HOME] [--json FILE] [--write]
//
// Each question of absent.jsonl has a pattern that no source of its code base holds, which is checked first. --write puts the
// tables into results-absent.md.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { outputOf } from '../../oracle/sources.mjs';
import { percentile, table } from '../kernel/figures.mjs';
import { temporaryFolder } from '../kernel/process.mjs';
import { load } from '../retrieval/product.mjs';
import { textsBelow } from '../retrieval/text-search.mjs';
import { eachCodeBase, questionsIn, statusOf, ways } from './asking.mjs';

const thresholds = Array.from({ length: 16 }, (_, at) => 0.05 * at);
const { saidRole } = await load('src/pgc/source/role.js');

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
const absent = questionsIn('absent.jsonl', options);
const asked = [...absent, ...questionsIn('questions.jsonl', { ...options, half: 'tune' })];

const rows = [];
await eachCodeBase(asked, { sources: options.sources, home }, async (product, its, root) => {
  checkAbsent(product, its, root);
  for (const { id, repo, absent: pattern, question } of its) {
    for (const [way, ask] of Object.entries(ways)) {
      const answer = await ask(product, question);
      const { evidence, clauses, confidence } = answer;
      const best = Math.max(0, ...evidence.map(({ similarity }) => similarity));
      const isNotFound = statusOf(answer) === 'not_found';
      const clausesNotFound = clauses.filter(({ status }) => status === 'not_found').length;
      const row = { id, repo, way, isAbsent: pattern !== undefined, isNotFound, confidence, best };
      rows.push({ ...row, clauses: clauses.length, clausesNotFound });
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

/** What is there after all would make a right answer look wrong. */
function checkAbsent(product, its, root) {
  const { info } = product.shards[0].index;
  const isSource = (file) => product.definitions.in(file).length > 0 && saidRole(info, file) === '';
  const sources = textsBelow(root).filter(({ path: file }) => isSource(file));
  for (const { id, absent: pattern } of its.filter((each) => each.absent !== undefined)) {
    const words = new RegExp(pattern, 'i');
    const held = sources.find((each) => words.test(each.text));
    if (held !== undefined) throw new Error(`${id}: ${held.path} has ${words.exec(held.text)[0]}`);
  }
}

function tablesOf(way) {
  const of = (isAbsent) => rows.filter((row) => row.way === way && row.isAbsent === isAbsent);
  const [not, real] = [of(true), of(false)];
  const share = (all, is) => `${all.filter(is).length} of ${all.length}`;
  const line = (name, is) => [name, share(not, is), share(real, is)];
  const bests = (percent) =>
    [not, real].map((all) =>
      percentile(
        all.map(({ best }) => best),
        percent,
      ).toFixed(2),
    );
  return [
    way,
    table([
      ['', 'not in the code base', 'has an answer'],
      line('not found', ({ isNotFound }) => isNotFound),
      line('low confidence or not found', (row) => row.isNotFound || row.confidence === 'low'),
      ...thresholds.map((each) =>
        line(`best similarity below ${each.toFixed(2)}`, ({ best }) => best < each),
      ),
      ...[10, 50, 90].map((percent) => [`similarity, p${percent}`, ...bests(percent)]),
    ]),
  ].join('\n\n');
}
