// Files change while the lattice runs: how long until answers say so, and how much was read again? On a clone of this
// repository, or with `whole` on a copy of the whole tree; `sigma up --watch` refreshes by itself, and where there is
// no such option `sigma index` is called once after the change.
import { execFile } from 'node:child_process';
import { cpSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { percentile, seconds, table } from '../kernel/figures.mjs';
import { runSigma, temporaryFolder } from '../kernel/process.mjs';
import { Sample } from '../lookup/random.mjs';
import { running } from './product.mjs';

const changedCount = 50;
const deadlineMs = 60_000;
const reflectedMsMax = 300_000;
const pollMs = 100;
const toldMsMax = 10_000;
const shards = '8';
const self = path.resolve(import.meta.dirname, '../../..');
const wayOf = { '.c': (name) => `int ${name}(void)\n{\n\treturn 1;\n}\n` };
const wayDefault = (name) => `export function ${name}() {\n  return 1;\n}\n`;

export async function measureWatch({ root, seed, isWhole }) {
  const folder = temporaryFolder('sigma-watch');
  const tree = path.join(folder, 'tree');
  const home = path.join(folder, 'home');
  if (isWhole) cpSync(root, tree, { recursive: true });
  else await promisify(execFile)('git', ['clone', '-q', '--no-hardlinks', self, tree]);
  const files = drawn(tree, seed, isWhole ? /\.c$/ : /\.(?:ts|mjs)$/);
  const args = isWhole ? [] : ['--shards', shards];
  const isWatched = (await runSigma(['up', '--help'], { home })).stdout.includes('--watch');
  const at = { root: tree, home, log: 'info', args: isWatched ? [...args, '--watch'] : args };
  const figures = await running(at, async (questions, lattice) => {
    const refresh = isWatched ? () => undefined : () => indexed(tree, home);
    const work = { questions, lattice, files, tree, refresh };
    return { added: await changed(work, true), removed: await changed(work, false) };
  });
  const all = {
    how: isWatched ? 'sigma up --watch' : 'sigma index',
    files: files.length,
    ...figures,
  };
  return { figures: all, text: render(all) };
}

/** Files to change, each with a name that is nowhere yet and its text as it is. */
function drawn(tree, seed, wanted) {
  const sample = new Sample(seed, changedCount);
  for (const entry of readdirSync(tree, { recursive: true, withFileTypes: true })) {
    const file = path.relative(tree, path.join(entry.parentPath ?? entry.path, entry.name));
    if (entry.isFile() && wanted.test(file) && !file.startsWith('.git')) sample.add(file);
  }
  return sample.values().map((file, at) => ({
    file,
    name: `watched_${seed}_${at}`,
    text: readFileSync(path.join(tree, file), 'utf8'),
  }));
}

/** Every file gets a new function at its end, or loses it; until every answer knows. */
async function changed({ questions, lattice, files, tree, refresh }, isAdded) {
  const logged = lattice.log().length;
  const startedMs = performance.now();
  for (const { file, name, text } of files) {
    const more = (wayOf[path.extname(file)] ?? wayDefault)(name);
    writeFileSync(path.join(tree, file), isAdded ? `${text}\n${more}` : text);
  }
  const report = await refresh();
  const reflectedMs = new Map();
  while (reflectedMs.size < files.length) {
    for (const { file, name } of files) {
      if (reflectedMs.has(name) || (await isKnown(questions, file, name)) !== isAdded) continue;
      reflectedMs.set(name, performance.now() - startedMs);
    }
    if (performance.now() - startedMs > reflectedMsMax) break;
    await wait(pollMs);
  }
  const told = await refreshesOf(() => lattice.log().slice(logged), report === undefined);
  return {
    reflected: reflectedMs.size,
    first_ms: Math.min(...reflectedMs.values()),
    p50_ms: percentile([...reflectedMs.values()], 50),
    last_ms: Math.max(...reflectedMs.values()),
    mined: report?.files_mined ?? told.reduce((sum, { files_mined }) => sum + files_mined, 0),
    reused: report?.files_reused ?? null,
    told,
  };
}

/** An answer may know before the log says so. */
async function refreshesOf(log, isExpected) {
  const untilMs = performance.now() + toldMsMax;
  while (isExpected && refreshesIn(log()).length === 0 && performance.now() < untilMs)
    await wait(pollMs);
  return refreshesIn(log());
}

/** One line of the log for each refresh: how long it took and how many files it read. */
function refreshesIn(log) {
  return log.split('\n').flatMap((line) => {
    if (!line.includes('"msg":"refreshed"')) return [];
    const { elapsed_ms, files_mined } = JSON.parse(line);
    return [{ elapsed_ms, files_mined }];
  });
}

async function isKnown(questions, file, name) {
  const { definitions } = await questions.callers({ symbol: name }, { deadlineMs });
  return definitions.some(({ file_path }) => file_path === file);
}

async function indexed(tree, home) {
  const { json, stderr } = await runSigma(['index', tree, '--json'], {
    home,
    timeoutMs: deadlineMs,
  });
  if (json === undefined) throw new Error(`sigma index failed: ${stderr.slice(-500)}`);
  return json;
}

function render({ how, files, added, removed }) {
  const row = (name, each) => [
    ...[name, `${each.reflected}/${files}`],
    ...[each.first_ms, each.p50_ms, each.last_ms].map(seconds),
    ...[each.mined ?? '', each.reused ?? ''],
  ];
  return [
    table([
      [`${files} FILES CHANGED`, 'REFLECTED', 'FIRST', 'P50', 'LAST', 'READ', 'REUSED'],
      row('a function is added', added),
      row('it is removed', removed),
    ]),
    `refreshed by ${how}`,
    ...[...added.told, ...removed.told].map(
      ({ elapsed_ms, files_mined }) =>
        `  a refresh of ${seconds(elapsed_ms)}, ${files_mined} files read`,
    ),
  ].join('\n');
}
