/* global AbortSignal */
// Modes of the critic over real artifacts and a real index: prints each finding with its evidence, and holds every piece of
// evidence against the tree.
//
//   npm run campaign:critic-modes -- --repo DIR --home DIR --artifact PATH [--artifact PATH …] [--mode NAME …] [--sections] [--json]
//
// PATH is a file of the tree, from its root. Every mode of `src/critic/modes.ts` is run, without a model. Exits with 1 when a
// finding quotes what is not there, or a required section is missing.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { systemClock } from '../../dist/src/base/clock.js';
import { bounded } from '../../dist/src/critic/finding.js';
import { modes } from '../../dist/src/critic/modes.js';
import { qualityGate } from '../../dist/src/critic/shapes.js';
import { TreeGround } from '../../dist/src/critic/tree-ground.js';
import { Lattice } from '../../dist/src/lattice/lattice.js';
import { LatticeQuestions } from '../../dist/src/lattice/questions.js';
import { TreeAnalyses } from '../../dist/src/pgc/analysis/analyses.js';
import { lazyCardOf } from '../../dist/src/pgc/card.js';
import { openIndex } from '../../dist/src/pgc/open-index.js';
import { openShards } from '../../dist/src/pgc/open-shards.js';

const context = {
  ...{ criticality: 'C3', phase: 'PH-DESIGN', target_type: 'TGT-ARCH', maturity: 'MAT-DRAFT' },
  ...{ team: 'TEAM-MULTI', enforcement: 'ENF-PORT', platform: 'PLAT-GENERIC' },
  token_budget: 'TOK-CONST',
};

const { values } = parseArgs({
  options: {
    repo: { type: 'string' },
    home: { type: 'string' },
    artifact: { type: 'string', multiple: true, default: [] },
    mode: { type: 'string', multiple: true, default: [...modes.keys()] },
    sections: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});
const { repo, home } = values;
if (repo === undefined || home === undefined || values.artifact.length === 0) {
  console.error('needs --repo, --home and --artifact');
  process.exit(2);
}

const ground = await openGround();
let faults = 0;
for (const artifact of values.artifact) for (const mode of values.mode) await run(artifact, mode);
process.exit(faults > 0 ? 1 : 0);

/** The index is opened once: opening takes seconds in a large tree. */
async function openGround() {
  const { shards } = await openShards(repo, home);
  const lattice = new Lattice(shards, () => shards.map(({ index }) => lazyCardOf(index)));
  let opened;
  const analyses = new TreeAnalyses(() => (opened ??= openIndex(repo, home)));
  const trees = shards.map(({ index }) => index.info);
  return TreeGround.open(repo, new LatticeQuestions(lattice, systemClock, trees, analyses));
}

async function run(artifactPath, name) {
  const mode = modes.get(name);
  if (mode === undefined) throw new Error(`no mode is called ${name}`);
  const text = readFileSync(path.join(repo, artifactPath), 'utf8');
  const digest = createHash('sha256').update(text).digest('hex');
  const began = performance.now();
  const examined = bounded(
    await mode.examine({
      artifact: { path: artifactPath, text, digest },
      ...{ context, iteration: 2, before: [], ground, rules: [], isSinglePass: false },
      signal: AbortSignal.timeout(qualityGate.modeMs),
      partial: () => undefined,
    }),
  );
  const missing = mode.sections
    .filter(
      ({ isRequired, title }) =>
        isRequired && !examined.sections.some((each) => each.title === title),
    )
    .map(({ title }) => `section ${title} is missing`);
  const false_ = (await Promise.all(examined.findings.map(notThere))).flat();
  faults += missing.length + false_.length;
  if (values.json) console.log(JSON.stringify({ mode: name, artifact: artifactPath, ...examined }));
  else print(name, artifactPath, examined, performance.now() - began);
  for (const fault of [...missing, ...false_]) console.log(`FAULT ${fault}`);
}

/** Evidence that the tree does not hold. */
async function notThere({ id, evidence }) {
  const wrong = [];
  for (const { file_path, line_start, line_end, content } of evidence) {
    const lines = ((await ground.read(file_path)) ?? '').replaceAll('\r', '').split('\n');
    const there = lines.slice(line_start - 1, line_end).join('\n');
    if (!there.startsWith(content))
      wrong.push(`${id} quotes what is not at ${file_path}:${line_start}`);
  }
  return wrong;
}

function print(name, artifactPath, { findings, unable, sections }, ms) {
  console.log(`\n## ${name} on ${artifactPath}: ${findings.length} findings, ${Math.round(ms)} ms`);
  for (const { severity, rule, line_start, text, evidence } of findings) {
    console.log(`- ${severity} ${rule} line ${line_start}: ${text}`);
    for (const each of evidence)
      console.log(
        `    ${each.file_path}:${each.line_start}-${each.line_end} ${JSON.stringify(each.content.slice(0, 160))}`,
      );
  }
  for (const each of unable) console.log(`  unable ${each}`);
  if (values.sections)
    for (const { title, text } of sections) console.log(`\n### ${title}\n${text}`);
}
