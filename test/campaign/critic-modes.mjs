// Modes of the critic over real artifacts and a real index: prints each finding with its evidence, and holds every piece of
// evidence against the tree.
//
//   npm run campaign:critic-modes -- --repo DIR --home DIR --artifact PATH [--artifact PATH …] [--mode NAME …] [--sections] [--json]
//   npm run campaign:critic-modes -- --faults test/critic/modes/faults --tree PROJECT=DIR=HOME [--tree …] [--only NAME …] [--list]
//   npm run campaign:critic-modes -- --mends test/critic/modes/mends.yaml --repo DIR --home DIR [--list]
//
// PATH is a file of the tree, from its root. Every mode of `src/critic/modes.ts` is run, without a model. With `--faults`
// each artifact of the folder is reviewed as it is and with its faults, against the index of the tree as it is; a corpus
// whose project has no `--tree` is left out. With `--mends` each commit of the list is reviewed both ways: the file before it
// as a change of the file after it, and the file after it as a change of the one before. Exits with 1 when a finding quotes what is not there, or a required section is
// missing.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { modes } from '../../dist/src/critic/modes.js';
import { examine, faultsOf, openGround } from './critic-review.mjs';
import { mendsOf, measure, readCorpora, tables } from './seeded-faults.mjs';

const { values } = parseArgs({
  options: {
    repo: { type: 'string' },
    home: { type: 'string' },
    artifact: { type: 'string', multiple: true, default: [] },
    mode: { type: 'string', multiple: true, default: [...modes.keys()] },
    sections: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    faults: { type: 'string' },
    mends: { type: 'string' },
    tree: { type: 'string', multiple: true, default: [] },
    only: { type: 'string', multiple: true, default: [] },
    list: { type: 'boolean', default: false },
  },
});
const { repo, home } = values;
const isSeeded = values.faults !== undefined && values.tree.length > 0;
const isMends = values.mends !== undefined;
const hasTree = repo !== undefined && home !== undefined;
if (!isSeeded && !(hasTree && (isMends || values.artifact.length > 0))) {
  console.error('needs --repo, --home and --artifact or --mends, or --faults and --tree');
  process.exit(2);
}

let faults = 0;
if (isSeeded) await runSeeded();
else if (isMends) await runMends();
else {
  const ground = await openGround(repo, home);
  for (const artifact of values.artifact)
    for (const mode of values.mode) await run(ground, artifact, mode);
}
process.exit(faults > 0 ? 1 : 0);

async function run(ground, artifactPath, name) {
  const text = readFileSync(path.join(repo, artifactPath), 'utf8');
  const began = performance.now();
  const examined = await examine(ground, artifactPath, text, name);
  if (values.json) console.log(JSON.stringify({ mode: name, artifact: artifactPath, ...examined }));
  else print(name, artifactPath, examined, performance.now() - began);
  tell(await faultsOf(ground, name, examined));
}

function tell(broken) {
  faults += broken.length;
  for (const each of broken) console.log(`FAULT ${each}`);
}

async function runSeeded() {
  const trees = new Map(
    values.tree.map((each) => {
      const [project, root, itsHome] = each.split('=');
      return [project, { root, home: itsHome }];
    }),
  );
  const grounds = new Map();
  const measured = [];
  for (const corpus of readCorpora(values.faults)) {
    const tree = trees.get(corpus.project);
    const isLeftOut = values.only.length > 0 && !values.only.includes(corpus.name);
    if (tree === undefined || isLeftOut) continue;
    if (!grounds.has(corpus.project))
      grounds.set(corpus.project, await openGround(tree.root, tree.home));
    const result = await measure(grounds.get(corpus.project), corpus);
    measured.push(result);
    if (values.list) list(result);
    tell(result.broken);
  }
  console.log(`\n${tables(measured)}`);
}

async function runMends() {
  const ground = await openGround(repo, home);
  let noticed = 0;
  let forward = 0;
  for (const { commit, path: file, set, mend, takenBack, made } of await mendsOf(
    ground,
    values.mends,
  )) {
    if (takenBack.length > 0) noticed += 1;
    forward += made.length;
    console.log(`\n## ${commit} (${set}) ${file}: ${mend}`);
    for (const each of takenBack) console.log(`taken back: ${said(each)}`);
    for (const each of made) console.log(`made: ${said(each)}`);
  }
  console.log(
    `\n${noticed} taken back with a finding, ${forward} findings of those that made them`,
  );
}

function said({ mode, rule, severity, line_start, line_end, text }) {
  return `${mode} ${severity} ${rule} ${line_start}-${line_end}: ${text}`;
}

function list({ name, faults: seeded, wrong, sound }) {
  console.log(`\n## ${name}`);
  for (const { kind, line_start, line_end, by } of seeded) {
    console.log(`${by.length > 0 ? 'FOUND ' : 'missed'} ${kind}, ${line_start}-${line_end}`);
    for (const each of by) console.log(`    ${said(each)}`);
  }
  for (const each of wrong) console.log(`WRONG ${said(each)}`);
  for (const each of sound) console.log(`original ${said(each)}`);
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
