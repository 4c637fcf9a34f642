// Questions as they also come: with typos, in other languages, of one word, of 10 000 characters, of nonsense. A line each
// says what it gets, and how much of that is right beside the question that it was made from.
//
//   npm run bench:odd -- [--sources DIR] [--only NAME,NAME] [--home SIGMA_HOME] [--write]
//
// A question of odd.jsonl is `of` one of questions.jsonl, whose keys score it, or `in` a code base, and has no answer there.
// --write puts the table into results-odd.md.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { outputOf } from '../../oracle/sources.mjs';
import { mean, table } from '../kernel/figures.mjs';
import { temporaryFolder } from '../kernel/process.mjs';
import { placeOf, verifiedAmong } from '../retrieval/product.mjs';
import { eachCodeBase, questionsIn, statusOf, ways } from './asking.mjs';
import { scoreOf } from './score.mjs';

const shownMax = 3;

const { values: options } = parseArgs({
  options: {
    sources: { type: 'string' },
    only: { type: 'string' },
    home: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
});
const home = path.resolve(options.home ?? temporaryFolder('odd'));
const originals = questionsIn('questions.jsonl', { ...options, half: 'tune' });
const odd = readFileSync(path.join(import.meta.dirname, 'odd.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .flatMap((line) => madeFrom(JSON.parse(line)));

const rows = [];
await eachCodeBase(odd, { sources: options.sources, home }, async (product, its) => {
  for (const { id, kind, question, original } of its) {
    const answer = await ways['sigma ask'](product, question);
    const valid = await verifiedAmong(product, answer.evidence);
    if (valid !== answer.evidence.length) throw new Error(`${id}: a citation is not true`);
    const before = original && (await ways['sigma ask'](product, original.question));
    const places = (each) => each.evidence.map((one) => placeOf(product, one));
    const right = (each) => original && scoreOf(original, places(each))['essential@10'];
    rows.push({
      id,
      kind,
      status: statusOf(answer),
      confidence: answer.confidence,
      count: answer.evidence.length,
      right: right(answer),
      rightBefore: right(before),
      first: places(answer).slice(0, shownMax),
    });
  }
});

const show = (share) => (share === undefined ? '-' : share.toFixed(2));
const kinds = [...new Set(rows.map(({ kind }) => kind))];
const text = [
  table([
    ['', 'questions', 'not found', 'essential@10', 'of the original'],
    ...kinds.map((kind) => {
      const its = rows.filter((row) => row.kind === kind);
      const scored = its.filter(({ right }) => right !== undefined);
      const of = (what) => (scored.length === 0 ? '-' : show(mean(scored.map(what))));
      const none = its.filter(({ status }) => status === 'not_found').length;
      return [kind, its.length, none, of((row) => row.right), of((row) => row.rightBefore)];
    }),
  ]),
  table([
    ['', 'kind', 'clauses', 'confidence', 'pieces', 'ess@10', 'original', 'first places'],
    ...rows.map(({ id, kind, status, confidence, count, right, rightBefore, first }) => [
      ...[id, kind, status, confidence, count, show(right), show(rightBefore)],
      first.map((each) => `${each.path}:${each.lines[0]} ${each.symbols[0] ?? ''}`).join(', '),
    ]),
  ]),
].join('\n\n');
process.stdout.write(`${text}\n`);
if (options.write) {
  const day = new Date().toISOString().slice(0, 10);
  const commit = await outputOf('git', ['rev-parse', '--short=8', 'HEAD'], import.meta.dirname);
  writeFileSync(
    path.join(import.meta.dirname, 'results-odd.md'),
    `# Odd questions\n\n${day}, commit ${commit.trim()}.\n\n\`\`\`\n${text}\n\`\`\`\n`,
  );
}

/** With the code base, the question that it was made from, and its whole text. */
function madeFrom({ of: from, in: within, kind, question, before = '', chars = 0 }) {
  const near = originals.find(({ id }) => id === from || id.startsWith(`${within}-`));
  if (near === undefined) return [];
  const original = from === undefined ? undefined : near;
  const said = question ?? original.question;
  const times = Math.ceil(Math.max(0, chars - said.length) / Math.max(1, before.length));
  const whole = `${before.repeat(times)}${said}`;
  return [
    { repo: near.repo, commit: near.commit, id: from ?? within, kind, question: whole, original },
  ];
}
