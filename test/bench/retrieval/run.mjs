// Questions with known answers: does `sigma ask` find them, how sure is it, and what would a plain search find?
//
//   npm run bench:retrieval -- [--only self,c,py] [--without items]… [--home SIGMA_HOME] [--json FILE] [--write]
//
// Each --without adds rows for the product without these parts (with commas: without all of them at once). The trees
// are fetched when they are missing; the index of a tree that is in --home is refreshed, else built in a home of the
// run's own. --write puts the tables into results.md.
import { writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { temporaryFolder } from '../kernel/process.mjs';
import { askUnanswerable, measureSet, verifySources } from './measure.mjs';
import { openProduct } from './product.mjs';
import {
  calibration,
  describeMachine,
  heldText,
  kindsTable,
  treesTable,
  unansweredText,
  verifiedText,
  waysTable,
} from './report.mjs';
import { located, questionSet, reportSets, unanswerable } from './sets.mjs';
import { treeOf } from './trees.mjs';

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: Object.keys(reportSets).join(',') },
    without: { type: 'string', multiple: true, default: [] },
    home: { type: 'string' },
    json: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
});

const names = options.only.split(',');
const unknown = names.find((name) => !(name in reportSets));
if (unknown !== undefined) throw new Error(`no set ${unknown}: ${Object.keys(reportSets)}`);
const home = path.resolve(options.home ?? temporaryFolder('retrieval'));
const machine = await describeMachine(home);
const ablations = options.without.map((each) => each.split(','));
const shown = [];
show('Machine', machine.text);

const trees = [];
const measured = [];
const answerless = [];
const verified = [];
for (const name of names) {
  const { tree } = questionSet(reportSets[name]);
  const { root, is } = await treeOf(tree);
  const set = located(questionSet(reportSets[name]), root);
  for (const each of set.lost) process.stderr.write(`the tree no longer holds ${each}\n`);
  process.stderr.write(`${name}: indexing ${root}\n`);
  const product = await openProduct(root, home);
  trees.push({ name: tree, is, report: product.report });
  process.stderr.write(`${name}: ${set.questions.length} questions\n`);
  const found = await measureSet({ set, root, product, ablations });
  measured.push({ name, questions: set.questions.length, lost: set.lost, ...found });
  const asked = await askUnanswerable(product, unanswerable('unanswerable', [tree]));
  answerless.push(...asked);
  verified.push(await verifySources(product, [...found.sources, ...asked]));
}

const asked = measured.flatMap(({ sources }) => sources);
const calibrated = calibration([...asked, ...answerless]);
show('Trees', treesTable(trees));
show('Found', waysTable(measured));
show('Found by sigma ask, by kind of question', kindsTable(measured));
show('Sure', calibrated.text);
for (const { name, sources } of measured) show(`Sure, ${name}`, calibration(sources).text);
show('Without an answer', unansweredText(answerless));
show('True', verifiedText(verified));
show('Held', heldText(measured));
machine.figures.load_average_at_end = loadavg();
if (options.json !== undefined) {
  const report = { machine: machine.figures, measured, answerless, verified, calibrated };
  writeFileSync(options.json, `${JSON.stringify(report, null, 2)}\n`);
}
if (options.write) writeFileSync(path.join(import.meta.dirname, 'results.md'), results());

function show(title, text) {
  shown.push({ title, text });
  process.stdout.write(`\n${title}\n\n${text}\n`);
}

function results() {
  const without = options.without.map((each) => ` --without ${each}`).join('');
  const command = `npm run bench:retrieval -- --only ${options.only}${without} --write`;
  const body = shown.map(({ title, text }) => `## ${title}\n\n\`\`\`\n${text}\n\`\`\`\n`);
  return `# Questions with known answers, measured\n\nWritten by \`${command}\`. What is counted, and how the questions were made: [README.md](README.md).\n\n${body.join('\n')}`;
}
