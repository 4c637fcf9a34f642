// Looks up the claims of real documents in the indexes of their sources: of the documents as they are, and falsified by hand.
// A corpus is a file of test/critic/claims/corpus. Its tree is a package of npm, a part of the kernel (apt, or SIGMA_KERNEL), or a
// commit of this repository. Prints, by kind of look-up, what is found and what is called false.
//
//   npm run campaign:critic-claims -- [--only NAME,…] [--keep FOLDER] [--json]
//
// Exits with 1 when more than 1 % of the true claims are called false.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, cpSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { systemClock } from '../../dist/src/base/clock.js';
import { extractClaims } from '../../dist/src/critic/claims/extract.js';
import { Tree } from '../../dist/src/critic/claims/tree.js';
import { verifyClaims } from '../../dist/src/critic/claims/verify.js';
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
const documentMsMax = 600_000;
const calledFalseMax = 0.01;

const { values: options } = parseArgs({
  options: {
    only: { type: 'string' },
    keep: { type: 'string' },
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

/** Looks up every claim of a text, in an index that the command has built. */
async function lookedUp(root, home, { path: file, text }) {
  const { shards } = await openShards(root, home);
  try {
    const lattice = new Lattice(shards, () => shards.map(({ index }) => lazyCardOf(index)));
    const trees = shards.map(({ index }) => index.info);
    const analyses = new TreeAnalyses(() => openIndex(root, home));
    const ground = await TreeGround.open(
      root,
      new LatticeQuestions(lattice, systemClock, trees),
      analyses,
    );
    const tree = await Tree.open(ground, file, globalThis.AbortSignal.timeout(documentMsMax));
    const { claims, read } = extractClaims(file, text);
    return await verifyClaims(claims, read, tree);
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

async function measured(corpus, folder) {
  const root = await treeOf(corpus, folder);
  const home = path.join(folder, `${corpus.project}-home`);
  await run(process.execPath, [sigma, 'index', root, '--home', home]);
  const original = readFileSync(path.join(root, corpus.document), 'utf8');
  const { whole, falsified, placed } = textsOf(corpus, original);
  const asIs = await lookedUp(root, home, { path: corpus.document, text: whole });
  const changed = await lookedUp(root, home, { path: corpus.document, text: falsified });
  const before = asIs.filter(isWrong);
  const known = new Set(before.map(keyOf));
  const fresh = changed.filter((each) => isWrong(each) && !known.has(keyOf(each)));
  const found = placed.map((each) => ({ ...each, by: lookUpOf(each, placed, fresh) }));
  const isReallyWrong = ({ claim, reason }) =>
    corpus.wrong.some((each) => `${claim.text} ${reason}`.includes(each.claim));
  return {
    ...{ project: corpus.project, set: corpus.set, document: corpus.document, found },
    claims: asIs.map(({ claim, status }) => ({ kind: claim.statement.kind, status })),
    calledFalse: before.filter((each) => !isReallyWrong(each)).map(shown),
    reallyWrong: before.filter(isReallyWrong).map(shown),
  };
}

function isWrong({ status }) {
  return status === 'wrong';
}

function keyOf({ claim }) {
  return `${claim.line_start} ${JSON.stringify(claim.statement)}`;
}

function shown({ claim, reason, remedy }) {
  return { kind: claim.statement.kind, text: `line ${claim.line_start}: ${reason} ${remedy}` };
}

/** Where a line has several falsifications, the claim must name this one. */
function lookUpOf(each, placed, wrong) {
  const isAlone = placed.every(
    (other) => other === each || other.last < each.line || other.line > each.last,
  );
  const by = wrong.find(
    ({ claim }) =>
      claim.line_start <= each.last &&
      claim.line_end >= each.line &&
      (isAlone || names(each).some((name) => JSON.stringify(claim.statement).includes(name))),
  );
  return by && shown(by);
}

/** What the falsified words name and the true ones do not. */
function names({ to, from }) {
  const of = (text) => text.match(/[\w$./:@#-]*[\w$]/g) ?? [];
  const before = new Set(of(from));
  return of(to)
    .filter((name) => !before.has(name))
    .flatMap((name) => name.split(/[:#]|\.(?=\w+$)/));
}

const percent = (part, whole) => `${((100 * part) / Math.max(1, whole)).toFixed(1)} %`;

function table(head, rows) {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
}

function counted(all, key) {
  return [...new Set(all.map(key))]
    .sort()
    .map((name) => [name, all.filter((each) => key(each) === name)]);
}

function bySet(results) {
  const rows = [...counted(results, ({ set }) => set), ['all', results]].map(([set, some]) => {
    const falsified = some.flatMap(({ found }) => found);
    const found = falsified.filter(({ by }) => by !== undefined).length;
    const claims = some.flatMap((each) => each.claims);
    const calledFalse = some.flatMap((each) => each.calledFalse).length;
    const share = percent(found, falsified.length);
    return [
      set,
      some.length,
      falsified.length,
      found,
      share,
      claims.length,
      calledFalse,
      percent(calledFalse, claims.length),
    ];
  });
  return table(
    ['set', 'documents', 'falsified', 'found', 'share', 'true claims', 'called false', 'share'],
    rows,
  );
}

function byLookUp(results) {
  const found = results.flatMap((each) => each.found);
  const calledFalse = results.flatMap((each) => each.calledFalse);
  const rows = counted(
    results.flatMap(({ claims }) => claims),
    ({ kind }) => kind,
  ).map(([kind, claims]) => [
    ...[kind, claims.length],
    ...['holds', 'not found', 'not checked'].map(
      (wanted) => claims.filter(({ status }) => status === wanted).length,
    ),
    calledFalse.filter((each) => each.kind === kind).length,
    found.filter(({ by }) => by?.kind === kind).length,
  ]);
  return table(
    [
      'look-up',
      'true claims',
      'hold',
      'not found',
      'not checked',
      'called false',
      'falsified and found',
    ],
    rows,
  );
}

function byKind(results) {
  const rows = counted(
    results.flatMap(({ found }) => found),
    ({ kind }) => kind,
  ).map(([kind, all]) => {
    const found = all.filter(({ by }) => by !== undefined).length;
    return [kind, all.length, found, percent(found, all.length)];
  });
  return table(['what is falsified', 'falsified', 'found', 'share'], rows);
}

function reported(results) {
  const listed = (title, some) => ['', title, '', ...(some.length > 0 ? some : ['None.'])];
  const lines = (of) =>
    results.flatMap((each) =>
      of(each).map((text) => `- ${each.project}, ${text.replaceAll('\n', ' ')}`),
    );
  return [
    ...[...bySet(results), '', ...byLookUp(results), '', ...byKind(results)],
    ...listed(
      'Called false:',
      lines((each) => each.calledFalse.map(({ kind, text }) => `${kind}, ${text}`)),
    ),
    ...listed(
      'Wrong in the document as it is:',
      lines((each) => each.reallyWrong.map(({ text }) => text)),
    ),
    ...listed(
      'Missed:',
      lines(({ found }) =>
        found
          .filter(({ by }) => by === undefined)
          .map(({ kind, line, to }) => `${kind}, line ${line}: ${to}`),
      ),
    ),
  ].join('\n');
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
process.stdout.write(options.json ? `${JSON.stringify(results)}\n` : `${reported(results)}\n`);
const claims = results.flatMap((each) => each.claims).length;
const calledFalse = results.flatMap((each) => each.calledFalse).length;
process.exitCode = calledFalse <= calledFalseMax * claims ? 0 : 1;
