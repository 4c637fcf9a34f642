// Judges callers, callees and traces by what compilers say.
//
//   npm run oracle -- [--sources DIR] [--home SIGMA_HOME] [--only NAME,…] [--half tune|hold] [--seed N]
//                     [--json FILE] [--chains] [--verbose] [--write]
//
// --sources: work trees by their short names; what is missing there is fetched. --home: keeps the indexes.
// --chains: nothing but chains, which takes less time. --json, --verbose: every missed and every invented site of the half that may be studied. --write puts the tables into results.md.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { temporaryFolder } from '../bench/kernel/process.mjs';
import { measureCallees } from './measure-callees.mjs';
import { measureCallers } from './measure-callers.mjs';
import { measureApart, measureChains } from './measure-chains.mjs';
import { measureReferences } from './measure-references.mjs';
import { openProduct } from './product.mjs';
import { reportOf } from './report.mjs';
import { drawApart, drawChains, drawNamed, drawSymbols } from './sample.mjs';
import { outputOf, repositories, treeOf } from './sources.mjs';
import { Truth } from './truth.mjs';

const chainsPerCodeBase = 50;
const pairsPerCodeBase = 25;

const { values: options } = parseArgs({
  options: {
    sources: { type: 'string' },
    home: { type: 'string' },
    only: { type: 'string' },
    half: { type: 'string' },
    seed: { type: 'string', default: '1' },
    json: { type: 'string' },
    chains: { type: 'boolean', default: false },
    verbose: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
});

const seed = Number(options.seed);
const only = options.only?.split(',');
const wanted = repositories()
  .filter(({ name }) => only === undefined || only.some((each) => path.basename(name) === each))
  .filter(({ half }) => options.half === undefined || options.half === half);
const home = options.home === undefined ? temporaryFolder('oracle') : path.resolve(options.home);
const runs = [];
for (const repository of wanted) runs.push(await measured(repository));
const text = reportOf(runs);
process.stdout.write(`${text}\n`);
if (options.json !== undefined) {
  const studied = runs.filter(({ half }) => half === 'tune');
  writeFileSync(options.json, `${JSON.stringify({ seed, runs: studied }, null, 1)}\n`);
}
if (options.write) writeFileSync(path.join(import.meta.dirname, 'results.md'), await results());

async function measured(repository) {
  process.stderr.write(`${repository.name} …\n`);
  const { root, commit } = await treeOf(repository, options.sources);
  const { factsOf } = await import(`./${repository.language}/facts.mjs`);
  const truth = new Truth(await factsOf(root));
  const product = await openProduct(root, home);
  const symbols = options.chains ? [] : drawSymbols(truth, seed);
  const named = options.chains ? [] : drawNamed(truth, seed);
  const pairs = drawApart(truth, { seed, count: pairsPerCodeBase });
  const chains = drawChains(truth, { seed, count: chainsPerCodeBase });
  const run = {
    ...{ ...repository, commit, lines: product.lines, indexMs: product.indexMs },
    ...{ definitions: truth.definitions.size, missing: truth.summary.missing },
    callers: await measureCallers({ truth, product, symbols }),
    references: await measureReferences({ truth, product, symbols: named }),
    callees: await measureCallees({ truth, product, symbols }),
    chains: await measureChains({ truth, product, chains }),
    apart: await measureApart({ truth, product, pairs }),
  };
  if (options.verbose && run.half === 'tune')
    for (const line of disagreements(run)) process.stderr.write(`${line}\n`);
  return run;
}

function disagreements({ callers, references, chains, apart }) {
  return [
    ...references.flatMap(({ asked, missed, invented }) => [
      ...missed.map((site) => `  unused    ${asked}  ${site}`),
      ...invented.map((site) => `  invented  ${asked}  ${site}  no use`),
    ]),
    ...callers
      .filter(({ how }) => how === 'scoped')
      .flatMap(({ asked, missed, invented }) => [
        ...missed.map(({ site, via, form }) => `  missed    ${asked}  ${site}  ${via}, ${form}`),
        ...invented.map(({ site, says }) => `  invented  ${asked}  ${site}  ${says}`),
      ]),
    ...chains
      .filter(({ isFound }) => !isFound)
      .map(({ from, to, true: places }) => `  no way    ${from} -> ${to}  ${places.join(' -> ')}`),
    ...[...chains, ...apart].flatMap(({ invented }) =>
      invented.map(({ site, to }) => `  invented  link  ${site} -> ${to}`),
    ),
  ];
}

async function results() {
  const product = (
    await outputOf('git', ['rev-parse', '--short', 'HEAD'], import.meta.dirname)
  ).trim();
  const date = new Date().toISOString().slice(0, 10);
  return `# Callers, callees and chains beside compilers\n\nWritten by \`npm run oracle -- --write\` on ${date} at commit ${product}, seed ${seed}. README.md says what the columns mean.\n\n${text}\n`;
}
