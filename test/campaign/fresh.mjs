// Many small refreshes of real code: the index after them must say what a build from scratch says, and answer as it answers.
//
//   npm run campaign:fresh -- [--repo DIR] [--refreshes N] [--compare N] [--queries N] [--seed N] [--sources DIR]
//
// Each refresh follows 1 to 8 random edits, one in two is told what has changed, as by a watcher, and one in twenty comes after
// a commit where the tree is one of git. --compare: so many refreshes before everything that the index holds is compared (50).
// Without --repo: parts of seven code bases in seven languages; --sources: their work trees, else they are fetched.
// A tree of 100 000 lines takes some ten minutes. Exits with 1 when something differs.
import { cpSync, existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { placeOf } from '../bench/lookup/product.mjs';
import { runSigma, temporaryFolder } from '../bench/kernel/process.mjs';
import { chance } from '../bench/lookup/random.mjs';
import { outputOf, treeOf } from '../oracle/sources.mjs';
import { edited, filesUnder } from './edits/edit.mjs';
import { compared } from './fresh/content.mjs';
import { answered, drawn, verdictOf } from './fresh/questions.mjs';

const indexMsMax = 1_800_000;
const editsMax = 8;
/** Of answers that must be equal, the others being ties; and disk, as a multiple of what a build from scratch takes. */
const bars = { equal: 0.99, disk: 1.3 };
const toldMax = 8;

/** A language each; `part`: a folder of it. */
const sources = [
  { name: 'spf13/cobra', commit: '284f4101043c4b1faebde411caec35a7b6e36494' },
  { name: 'slackapi/bolt-js', commit: '9a45c3c9a390a4d387fb255f7ac01185a726cc07', part: 'src' },
  { name: 'marshmallow-code/marshmallow', commit: '341b927f219205704728c05cd61f04d7e9727523' },
  { name: 'google/gson', commit: '9835b6f90192f79cdf5300c528fc6212455fb6c1', part: 'gson' },
  {
    name: 'BurntSushi/ripgrep',
    commit: '3fce3b5bb0236da2df6d99672afb8a719642eca7',
    part: 'crates',
  },
  { name: 'google/leveldb', commit: '78a352f47ed6c1e9d750545e9b242289185b87e1' },
  { name: 'DaveGamble/cJSON', commit: 'a29814f285cc531c00223743ad3c55cd38c0dc56' },
];
const { values: options } = parseArgs({
  options: {
    repo: { type: 'string' },
    sources: { type: 'string' },
    refreshes: { type: 'string', default: '200' },
    compare: { type: 'string', default: '50' },
    queries: { type: 'string', default: '500' },
    seed: { type: 'string', default: '1' },
  },
});
const [refreshes, compare, queries] = [options.refreshes, options.compare, options.queries].map(
  Number,
);
const random = chance(Number(options.seed));
const work = temporaryFolder('fresh');
const [root, original, home] = ['tree', 'original', 'home'].map((name) => path.join(work, name));
await copyTree();
cpSync(root, original, { recursive: true, filter: (file) => path.basename(file) !== '.git' });
const isGit = existsSync(path.join(root, '.git'));

const tally = { equal: 0, tie: 0, different: 0 };
const spent = { whole: [], told: [] };
let unlike = 0;
let recent = [];
const touched = new Set();
await index(home);
for (let done = 1; done <= refreshes; done += 1) {
  const changed = edit();
  if (isGit && random(20) === 0) await commit(done);
  if (random(2) === 0) await index(home, [...changed]);
  else await index(home);
  if (done % compare === 0 || done === refreshes) await judge(done, done === refreshes);
}
const asked = Object.values(tally).reduce((sum, each) => sum + each, 0);
const median = (all) => all.toSorted((a, b) => a - b)[all.length >> 1] ?? 0;
say(
  `a refresh: ${(median(spent.whole) / 1_000).toFixed(1)} s, told what has changed ${(median(spent.told) / 1_000).toFixed(1)} s`,
);
const holds = unlike === 0 && tally.different === 0 && tally.equal >= bars.equal * asked;
say(
  `${tally.equal} of ${asked} equal, ${tally.tie} ties, ${tally.different} different; ${unlike} places differ`,
);
process.exitCode = holds ? 0 : 1;

async function copyTree() {
  mkdirSync(work, { recursive: true });
  if (options.repo !== undefined && existsSync(path.join(options.repo, '.git'))) {
    await outputOf('git', ['clone', '-q', '--shared', path.resolve(options.repo), root], work);
    await outputOf('git', ['config', 'user.email', 'campaign@localhost'], root);
    await outputOf('git', ['config', 'user.name', 'campaign'], root);
    return;
  }
  const parts =
    options.repo === undefined
      ? sources
      : [{ name: '.', root: path.resolve(options.repo), part: '' }];
  for (const { part = '', ...source } of parts) {
    const from = source.root ?? (await treeOf(source, options.sources)).root;
    cpSync(path.join(from, part), path.join(root, path.basename(source.name)), {
      recursive: true,
      filter: (file) => path.basename(file) !== '.git',
    });
  }
}

/** 1 to 8 edits. The paths of what has changed, as a watcher would tell them: found by comparing the stamps of all files. */
function edit() {
  const before = stampsOf();
  const wanted = 1 + random(editsMax);
  for (let made = 0; made < wanted;) {
    const said = edited(root, random, original);
    if (said === undefined) continue;
    made += 1;
    recent.push(said);
  }
  const after = stampsOf();
  const changed = new Set(
    [...before.keys(), ...after.keys()].filter((file) => before.get(file) !== after.get(file)),
  );
  for (const file of changed) touched.add(file);
  return changed;
}

function stampsOf() {
  return new Map(
    filesUnder(root).map((file) => {
      const { mtimeMs, ino, size } = statSync(file);
      return [path.relative(root, file), `${mtimeMs} ${ino} ${size}`];
    }),
  );
}

async function commit(number) {
  recent.push('commit');
  await outputOf('git', ['add', '-A'], root);
  await outputOf('git', ['commit', '-q', '--allow-empty', '-m', `edits before ${number}`], root);
}

/** `changed`: what a watcher tells. */
async function index(at, changed) {
  const args = ['index', root, '--json', ...(changed === undefined ? [] : ['--changed'])];
  const { code, stderr, stdout, wallMs } = await runSigma(args, {
    home: at,
    timeoutMs: indexMsMax,
    ...(changed === undefined ? {} : { input: changed.join('\0') }),
  });
  if (code !== 0) throw new Error(`sigma index failed: ${(stderr + stdout).slice(-500)}`);
  (changed === undefined ? spent.whole : spent.told).push(wallMs);
}

/** Everything against a build from scratch with the same plan of shards; in the end also answers and disk. */
async function judge(done, isLast) {
  const made = temporaryFolder('scratch', work);
  const [kept, fresh] = [placeOf(root, home), placeOf(root, made)];
  mkdirSync(fresh.folder, { recursive: true });
  cpSync(kept.plan, fresh.plan);
  await index(made);
  spent.whole.pop();
  const { kinds, examples, drift } = await compared(root, home, made);
  const parts = Object.entries(kinds).filter(([, its]) => its.unlike > 0);
  unlike += parts.reduce((sum, [, its]) => sum + its.unlike, 0);
  const rows = Object.values(kinds).reduce((sum, its) => sum + its.rows, 0);
  const sum = (list) => list.map(([kind, its]) => `${kind} ${its.unlike} of ${its.places}`);
  say(
    `after ${done} refreshes: ${rows} rows, ${parts.length === 0 ? 'all alike' : `differing places: ${sum(parts).join(', ')}`}; drift of words ${(100 * drift).toFixed(2)} %`,
  );
  for (const each of examples.slice(0, toldMax)) tell(each);
  if (parts.length > 0) say(recent.map((said) => `    ${said}`).join('\n'));
  recent = [];
  const problem = await checked(home);
  if (problem !== '') {
    unlike += 1;
    say(`  sigma index --check: ${problem}`);
  }
  if (!isLast) return;
  await compareAnswers(made);
  const [ours, theirs] = [kept, fresh].map(
    ({ segments, cards }) => bytesIn(segments) + bytesIn(cards),
  );
  const ratio = ours / theirs;
  say(
    `disk of what is served ${(ours / 2 ** 20).toFixed(1)} MB, from scratch ${(theirs / 2 ** 20).toFixed(1)} MB: ${ratio.toFixed(2)} times`,
  );
  const [all, anew] = [kept, fresh].map(({ folder }) => bytesIn(folder));
  say(
    `with mined facts ${(all / 2 ** 20).toFixed(1)} MB, from scratch ${(anew / 2 ** 20).toFixed(1)} MB: ${(all / anew).toFixed(2)} times`,
  );
  if (ratio > bars.disk) unlike += 1;
}

async function compareAnswers(made) {
  const files = [...touched];
  const questions = await drawn(root, made, { count: queries, random, files });
  const [ours, theirs] = [
    await answered(root, home, questions),
    await answered(root, made, questions),
  ];
  const byKind = {};
  for (const [at, question] of questions.entries()) {
    const verdict = verdictOf(ours[at], theirs[at]);
    tally[verdict] += 1;
    byKind[question.kind] ??= { equal: 0, tie: 0, different: 0 };
    byKind[question.kind][verdict] += 1;
    if (verdict === 'different' && tally.different <= toldMax)
      tell({
        kind: question.kind,
        place: JSON.stringify(question),
        kept: only(ours[at], theirs[at]),
        made: only(theirs[at], ours[at]),
      });
  }
  say(
    Object.entries(byKind)
      .map(
        ([kind, its]) => `${kind}: ${its.equal} equal, ${its.tie} ties, ${its.different} different`,
      )
      .join('; '),
  );
}

function only(one, other) {
  if (one.error !== undefined) return [one.error];
  return one.rows
    .filter((row) => !(other.rows ?? []).includes(row))
    .map((row) => `${row} ${one.scores?.[row] ?? ''}`)
    .slice(0, toldMax);
}

function tell({ kind, place, kept: ours, made: theirs }) {
  say(`  ${kind} ${place}`);
  for (const text of ours) say(`    kept only: ${text.slice(0, 400)}`);
  for (const text of theirs) say(`    made only: ${text.slice(0, 400)}`);
}

async function checked(at) {
  const { json, stderr } = await runSigma(['index', root, '--check', '--json'], { home: at });
  if (json?.is_sound === true) return json.strays.length === 0 ? '' : `strays: ${json.strays}`;
  return JSON.stringify(json?.files?.filter(({ problem }) => problem !== '') ?? stderr);
}

function bytesIn(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(path.join(entry.parentPath, entry.name)).size, 0);
}

function say(text) {
  process.stdout.write(`${text}\n`);
}
