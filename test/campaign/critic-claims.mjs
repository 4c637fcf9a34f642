// Claims of real documents about real sources, as they are and falsified by hand: what the mode chain-of-verification says
// of each, by the index that the built command makes. A corpus is a file of test/critic/claims/corpus; trees come from npm, from the
// sources of the kernel that apt has, and from a commit of this repository.
//
//   npm run campaign:critic-claims -- [--only NAME,…] [--keep FOLDER] [--list] [--json]
//
// Exits with 1 when fewer than 90 % of what is falsified in the first six documents (built, blind) are found, or more than 5 %
// of the true claims of all of them are called false. The later sets tell how far an unseen document is from that.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, cpSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { systemClock } from '../../dist/src/base/clock.js';
import { chainOfVerification } from '../../dist/src/critic/modes/chain-of-verification.js';
import { numerals } from '../../dist/src/critic/artifact/numerals.js';
import { TreeGround } from '../../dist/src/critic/artifact/tree-ground.js';
import { Lattice } from '../../dist/src/lattice/lattice.js';
import { LatticeQuestions } from '../../dist/src/lattice/questions.js';
import { TreeAnalyses } from '../../dist/src/pgc/analyse/analyses.js';
import { lazyCardOf } from '../../dist/src/pgc/search/card/card.js';
import { openIndex } from '../../dist/src/pgc/search/open-index.js';
import { openShards } from '../../dist/src/pgc/serve/open-shards.js';
import { temporaryFolder } from '../bench/kernel/process.mjs';
import { sourceArchive } from '../bench/kernel/kernel-tree.mjs';

const repository = path.resolve(import.meta.dirname, '../..');
const corpora = path.join(repository, 'test/critic/claims/corpus');
const sigma = path.join(repository, 'services/cli/sigma.mjs');
/** Of one document: far beyond what a review is given. */
const msMax = 600_000;
const goals = { of: ['built', 'blind'], found: 0.9, falseAlarms: 0.05 };

const { values: options } = parseArgs({
  options: {
    only: { type: 'string' },
    keep: { type: 'string' },
    list: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});

async function run(command, args, cwd = repository) {
  const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'inherit'] });
  let out = '';
  child.stdout.setEncoding('utf8').on('data', (text) => (out += text));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}`);
  return out.trim();
}

/** The sources of a project, unpacked; they are taken as they are where they have been unpacked before. */
async function treeOf({ project, source }, folder) {
  const root = path.join(folder, project);
  if (existsSync(path.join(root, '.complete'))) return path.join(root, 'tree');
  const tree = path.join(root, 'tree');
  mkdirSync(tree, { recursive: true });
  if (source.npm) {
    const packed = await run(
      'npm',
      ['pack', '--silent', '--pack-destination', root, source.npm],
      root,
    );
    await run('tar', [
      'xzf',
      path.join(root, packed.split('\n').at(-1)),
      '-C',
      tree,
      '--strip-components=1',
    ]);
  } else if (source.commit) {
    const archive = path.join(root, 'tree.tar');
    await run('git', ['archive', '-o', archive, source.commit, '--', ...source.paths]);
    await run('tar', ['xf', archive, '-C', tree]);
  } else await kernelInto(tree, source.kernel);
  writeFileSync(path.join(root, '.complete'), '');
  return tree;
}

/** Some folders and files of Debian's kernel; `SIGMA_KERNEL` names sources that are unpacked already. */
async function kernelInto(tree, paths) {
  const unpacked = process.env.SIGMA_KERNEL;
  if (unpacked === undefined) {
    const wanted = paths.map((each) => `linux-source-6.1/${each}`);
    await run('tar', ['xJf', await sourceArchive(), '-C', tree, '--strip-components=1', ...wanted]);
    return;
  }
  for (const each of paths)
    cpSync(path.join(unpacked, each), path.join(tree, each), { recursive: true });
}

/** Runs the mode over a text, by an index that the command has built. */
async function reviewed(root, home, artifact) {
  const { shards } = await openShards(root, home);
  try {
    const lattice = new Lattice(shards, () => shards.map(({ index }) => lazyCardOf(index)));
    const trees = shards.map(({ index }) => index.info);
    const analyses = new TreeAnalyses(() => openIndex(root, home));
    const questions = new LatticeQuestions(lattice, systemClock, trees, analyses);
    const ground = await TreeGround.open(root, questions);
    return await chainOfVerification.examine({
      ...{
        artifact: { ...artifact, digest: '' },
        context: {},
        iteration: 1,
        before: [],
        rules: [],
      },
      ...{
        ground,
        isSinglePass: false,
        signal: globalThis.AbortSignal.timeout(msMax),
        partial: () => {},
      },
    });
  } finally {
    for (const { index } of shards) index.close();
  }
}

/** The document with its supplement, and the same with every falsification. */
function textsOf(corpus, original) {
  const whole = `${original.trimEnd()}\n\n${corpus.supplement.map((each) => `- ${each}`).join('\n')}\n`;
  let falsified = whole;
  const placed = [];
  for (const each of corpus.falsified) {
    const at =
      each.line === undefined
        ? falsified.indexOf(each.from)
        : falsified.indexOf(each.from, offsetOf(falsified, each.line));
    if (at < 0) throw new Error(`${corpus.project}: "${each.from}" is not in the document`);
    falsified = falsified.slice(0, at) + each.to + falsified.slice(at + each.from.length);
    if (each.to.split('\n').length !== each.from.split('\n').length)
      throw new Error(`${corpus.project}: "${each.to}" moves lines`);
    const line = lineAt(falsified, at);
    placed.push({ ...each, line, last: lineAt(falsified, at + each.to.length) });
  }
  return { whole, falsified, placed };
}

function offsetOf(text, line) {
  let at = 0;
  for (let next = 1; next < line; next += 1) at = text.indexOf('\n', at) + 1;
  return at;
}

function lineAt(text, at) {
  return text.slice(0, at).split('\n').length;
}

/** Of the summary that the mode writes. */
function countsOf(examined) {
  const { text } = examined.sections.find(({ title }) => title === 'Verification Summary');
  const [, claims, verified, contradicted, unverified] =
    /^(\d+) claims: (\d+) verified, (\d+) contradicted, (\d+) unverified/.exec(text) ?? [];
  return {
    claims: Number(claims),
    verified: Number(verified),
    contradicted: Number(contradicted),
    unverified: Number(unverified),
  };
}

function contradictedLines(examined) {
  const { text } = examined.sections.find(({ title }) => title === 'Contradicted Claims');
  return text.split('\n').filter((each) => each.startsWith('- line '));
}

async function measured(corpus, folder) {
  const root = await treeOf(corpus, folder);
  const home = path.join(folder, `${corpus.project}-home`);
  await run(process.execPath, [sigma, 'index', root, '--home', home]);
  const original = readFileSync(path.join(root, corpus.document), 'utf8');
  const { whole, falsified, placed } = textsOf(corpus, original);
  const asIs = await reviewed(root, home, { path: corpus.document, text: whole });
  const wrong = await reviewed(root, home, { path: corpus.document, text: falsified });
  const isKnownWrong = (line) => corpus.wrong.some((each) => line.includes(each.claim));
  const alarms = contradictedLines(asIs);
  const found = placed.map((each) => ({
    ...each,
    by: findingOf(each, placed, wrong),
  }));
  return {
    ...{
      project: corpus.project,
      set: corpus.set,
      document: corpus.document,
      true: countsOf(asIs),
      found,
    },
    falseAlarms: alarms.filter((each) => !isKnownWrong(each)),
    reallyWrong: alarms.filter(isKnownWrong),
  };
}

/** Where several things of a line are falsified, each must be named in what is contradicted. */
function findingOf(each, placed, wrong) {
  const isAlone = placed.every(
    (other) => other === each || other.last < each.line || other.line > each.last,
  );
  const said = contradictedLines(wrong).filter(
    (line) => isAlone || names(each).some((name) => line.includes(name)),
  );
  return wrong.findings.find(
    ({ line_start, line_end, text, remedy }) =>
      line_start <= each.last &&
      line_end >= each.line &&
      said.some(
        (line) =>
          line.startsWith(`- line ${line_start}:`) &&
          line.includes(remedy) &&
          line.includes(text.slice(text.lastIndexOf('" – ') + 4)),
      ),
  );
}

/** What the falsified words name. */
function names({ to, from }) {
  const of = (text) => text.match(/[\w$./:@#-]*[\w$]/g) ?? [];
  const before = new Set(of(from));
  const fresh = of(to).filter(
    (name) => !before.has(name) && name.length > 2 && /[._/:#-]|[a-z][A-Z]|\d/.test(name),
  );
  const counts = to
    .toLowerCase()
    .split(/\W+/)
    .flatMap((word) =>
      numerals.includes(word)
        ? [` · ${numerals.indexOf(word)} |`]
        : /^\d+$/.test(word)
          ? [` · ${word} |`, `${word} |`]
          : [],
    );
  const folders = to.match(/[\w-]+\/(?=`)/g) ?? [];
  if (fresh.length === 0 && counts.length + folders.length > 0) return [...counts, ...folders];
  return fresh.length > 0 ? fresh : of(to).filter((name) => /[a-z][A-Z]|_|[./]/.test(name));
}

function sharesOf(results) {
  const sum = (tell) => results.reduce((all, each) => all + tell(each), 0);
  const falsified = sum((each) => each.found.length);
  const found = sum((each) => each.found.filter(({ by }) => by !== undefined).length);
  const claims = sum((each) => each.true.claims - each.reallyWrong.length);
  const alarms = sum((each) => each.falseAlarms.length);
  const decided = sum((each) => each.true.verified) + alarms;
  return {
    falsified,
    found,
    claims,
    verified: sum((each) => each.true.verified),
    unverified: sum((each) => each.true.unverified),
    alarms,
    decided,
  };
}

const percent = (part, whole) => `${((100 * part) / Math.max(1, whole)).toFixed(1)} %`;

function row(name, its) {
  return `| ${name} | ${its.falsified} | ${its.found} | ${percent(its.found, its.falsified)} | ${its.claims} | ${its.verified} | ${its.unverified} | ${its.alarms} | ${percent(its.alarms, its.claims)} | ${percent(its.alarms, its.decided)} |`;
}

function reported(results) {
  const lines = [
    '| project | falsified | found | share | true claims | verified | unverified | called false | of all | of those decided |',
    '|---|---|---|---|---|---|---|---|---|---|',
    ...results.map((each) => row(each.project, sharesOf([each]))),
  ];
  for (const set of [...new Set(results.map((each) => each.set))].sort())
    lines.push(row(`**${set}**`, sharesOf(results.filter((each) => each.set === set))));
  lines.push(row('**all**', sharesOf(results)));
  for (const each of results) {
    lines.push(
      '',
      `## ${each.project}: ${each.document}`,
      '',
      '| line | kind | falsified to | found |',
      '|---|---|---|---|',
    );
    for (const { line, kind, to, by } of each.found)
      lines.push(
        `| ${line} | ${kind} | ${cell(to)} | ${by === undefined ? '**missed**' : cell(`${by.text.slice(by.text.lastIndexOf('" – ') + 4)} ${by.remedy}`)} |`,
      );
    if (each.reallyWrong.length > 0)
      lines.push(
        '',
        'Wrong in the document as it is, as looked up by hand:',
        '',
        ...each.reallyWrong,
      );
    const alarms = each.falseAlarms.length > 0 ? each.falseAlarms : ['None.'];
    lines.push('', 'True, and called false:', '', ...alarms);
  }
  return lines.join('\n');
}

function cell(text) {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ').slice(0, 220);
}

const folder =
  options.keep === undefined ? temporaryFolder('critic-claims') : path.resolve(options.keep);
mkdirSync(folder, { recursive: true });
const wanted = options.only?.split(',');
const files = readdirSync(corpora).filter(
  (each) =>
    each.endsWith('.json') &&
    (wanted === undefined || wanted.includes(path.basename(each, '.json'))),
);
const results = [];
for (const file of files.sort())
  results.push(await measured(JSON.parse(readFileSync(path.join(corpora, file), 'utf8')), folder));
const all = sharesOf(results);
process.stdout.write(options.json ? `${JSON.stringify(results)}\n` : `${reported(results)}\n`);
const first = sharesOf(results.filter(({ set }) => goals.of.includes(set)));
const isFound = first.found >= goals.found * first.falsified;
process.exitCode = isFound && all.alarms <= goals.falseAlarms * all.claims ? 0 : 1;
