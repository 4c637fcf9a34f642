// Asks questions as people ask them, and compares each answer with a list that was made by reading, before anything was asked.
//
//   node test/oracle/questions.mjs --sources DIR [--home SIGMA_HOME] [--only NAME,…] [--json FILE]
//
// questions/*.json: `true` is the list, `path:line symbol`, or for a blast radius the symbols, each with the names it may have;
// `allowed` may be listed, and need not be.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { temporaryFolder } from '../bench/kernel/process.mjs';
import { openProduct } from './product.mjs';
import { treeOf } from './sources.mjs';

const folder = path.join(import.meta.dirname, 'questions');
const { values: options } = parseArgs({
  options: {
    sources: { type: 'string' },
    home: { type: 'string' },
    only: { type: 'string' },
    json: { type: 'string' },
  },
});
const only = options.only?.split(',');
const home = options.home === undefined ? temporaryFolder('questions') : path.resolve(options.home);
const scored = [];
for (const file of readdirSync(folder).sort()) {
  if (path.extname(file) !== '.json') continue;
  if (only !== undefined && !only.includes(path.basename(file, '.json'))) continue;
  const { repository, commit, questions } = JSON.parse(
    readFileSync(path.join(folder, file), 'utf8'),
  );
  const { root } = await treeOf({ name: repository, commit }, options.sources);
  const product = await openProduct(root, home);
  for (const each of questions)
    scored.push({ repository, ...each, ...compared(each, await asked(product, each.command)) });
}
process.stdout.write(`${scored.map(lineOf).join('\n')}\n`);
if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(scored, null, 1)}\n`);
process.exitCode = scored.some(({ missed, invented }) => missed.length + invented.length > 0)
  ? 1
  : 0;

/** The rows of an answer by their names in the lists, those that are only possible apart. */
async function asked(product, [command, symbol, depth]) {
  if (command === 'blast-radius') {
    const { answer } = await product.blastRadius(symbol, Number(depth));
    return { rows: answer.consumers.map(({ id }) => id), possible: [] };
  }
  const { answer } = await product[command](symbol);
  const rows = answer[command] ?? answer.callers;
  return { rows: rows.map(placeOf), possible: (answer.possible ?? []).map(placeOf) };
}

function placeOf({ file_path, line }) {
  return `${file_path}:${line}`;
}

function compared({ true: wanted, allowed = [] }, { rows, possible }) {
  const alternatives = wanted.map((each) => (Array.isArray(each) ? each : [each.split(' ')[0]]));
  const known = new Set([...alternatives.flat(), ...allowed]);
  const missed = alternatives.filter((names) => !names.some((name) => rows.includes(name)));
  return {
    wanted: wanted.length,
    missed: missed.map(([name]) => name),
    missedPossible: missed.filter((names) => names.some((name) => possible.includes(name))).length,
    invented: [...new Set(rows)].filter((row) => !known.has(row)),
    possible: possible.length,
  };
}

function lineOf({ repository, command, wanted, missed, invented, missedPossible, possible }) {
  const found = `${wanted - missed.length} of ${wanted}, ${invented.length} invented, ${possible} possible`;
  const rows = [
    ...missed.map((each) => `    missed    ${each}`),
    ...invented.map((each) => `    invented  ${each}`),
  ];
  const note = missedPossible > 0 ? `, ${missedPossible} of those missed are possible` : '';
  return [`${repository}  ${command.join(' ')}: ${found}${note}`, ...rows].join('\n');
}
