// SIGKILL at random points of `sigma index --publish` and `--pull`, over a folder and over HTTP.
//
//   npm run campaign:publish -- [--runs N] [--seed S]
//
// The tree is a part of this repository, at two commits. After each kill: every published head names objects that are whole; the
// index that was served is served, whole; the next run finishes, and its index is that of the publisher. Exits with 1 otherwise.
import { cpSync, existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { pathToFileURL } from 'node:url';
import { temporaryFolder } from '../bench/kernel/process.mjs';
import { chance } from '../bench/lookup/random.mjs';

const { values: options } = parseArgs({
  options: { runs: { type: 'string', default: '40' }, seed: { type: 'string', default: '1' } },
});
const [runs, random] = [Number(options.runs), chance(Number(options.seed))];
const repository = path.resolve(import.meta.dirname, '../..');
const sigma = path.join(repository, 'services/cli/sigma.mjs');
const load = (file) => import(pathToFileURL(path.join(repository, 'dist/src/pgc', file)).href);
const { placeOf } = await load('plan/manifest.js');
const { checkIndex } = await load('build/index-check.js');
const { openIndex } = await load('search/open-index.js');
const { FolderPlace } = await load('build/share/folder-place.js');
const { getObject } = await load('build/share/published-place.js');
const { parseHead, parseList } = await load('build/share/published.js');
/** Of what a run takes, nothing happens in the first part but that a process starts. */
const startShare = 0.3;
const editedFiles = 10;

const [tree, home, published] = ['tree', 'home', 'published'].map((name) =>
  temporaryFolder(`publish-${name}`),
);
for (const part of ['pgc', 'broker', 'lattice'])
  cpSync(path.join(repository, 'src', part), path.join(tree, part), { recursive: true });
git(tree, 'init', '-q', '-b', 'main');
const commits = [committed('first')];
await done(['index', tree], home);
await done(['index', tree, '--publish', published], home);
const before = temporaryFolder('publish-before');
cpSync(published, before, { recursive: true });
const graphs = new Map([[commits[0], await graphOf(tree, home)]]);
const files = git(tree, 'ls-files', '*.ts').trim().split('\n');
for (let at = 0; at < editedFiles; at += 1) {
  const file = path.join(tree, files[random(files.length)]);
  writeFileSync(
    file,
    `${readFileSync(file)}\nexport function added${at}() {\n  return ${at};\n}\n`,
  );
}
commits.push(committed('second'));
await done(['index', tree], home);
const times = { publish: await timed(['index', tree, '--publish', published], home) };
graphs.set(commits[1], await graphOf(tree, home));

const clone = temporaryFolder('publish-clone');
git(clone, 'clone', '-q', tree, '.');
const guest = temporaryFolder('publish-guest');
times.pull = await timed(['index', clone, '--pull', published], guest);
const place = placeOf(clone, guest);

const counts = { killed: 0, ended: 0, swapped: 0, failures: 0 };
for (let at = 0; at < runs; at += 1) {
  const [what, isWeb] = [at % 2 === 0 ? 'publish' : 'pull', at % 4 >= 2];
  const folder = what === 'publish' ? temporaryFolder('publish-to') : published;
  if (what === 'publish') cpSync(before, folder, { recursive: true });
  const web = await served(folder);
  const to = isWeb ? web.address : folder;
  const said = await (what === 'publish' ? killedPublish(folder, to) : killedPull(to)).catch(
    (error) => error.message,
  );
  await web.close();
  if (what === 'publish') rmSync(folder, { recursive: true });
  if (said !== '') counts.failures += 1;
  process.stdout.write(
    `${at + 1}: ${what} ${isWeb ? 'over HTTP' : 'to a folder'}: ${said || 'as it should be'}\n`,
  );
}
process.stdout.write(
  `${runs} runs, ${counts.killed} killed, ${counts.ended} had ended before, ${counts.swapped} pulls had swapped; ${counts.failures} failures\n`,
);
process.exit(counts.failures > 0 ? 1 : 0);

/** Resolves with what is wrong; empty: nothing. */
async function killedPublish(folder, to) {
  const args = ['index', tree, '--publish', to];
  await killed(args, home, 'publish');
  const torn = await unsound(folder);
  if (torn !== '') return torn;
  const { sent_objects } = await done(args, home);
  const report = await done([...args, '--check'], home);
  // The heads: of the commit, the latest of the repository and of all, each for this version and for all.
  if (report.sent_objects > 5) return `--check sent ${report.sent_objects} objects again`;
  return sent_objects >= 3 ? '' : 'no head was sent';
}

async function killedPull(from) {
  rmSync(place.incoming, { recursive: true, force: true });
  await done(['index', clone, '--pull', before, '--as-of', commits[0]], guest);
  const args = ['index', clone, '--pull', from];
  await killed(args, guest, 'pull');
  const { is_sound } = await checkIndex(clone, guest);
  if (!is_sound) return 'the index is not whole';
  const graph = await graphOf(clone, guest);
  if (graph === graphs.get(commits[1])) counts.swapped += 1;
  else if (graph !== graphs.get(commits[0])) return 'the index is neither the old nor the new one';
  const { commit } = await done(args, guest);
  if (commit !== commits[1]) return `the next run pulled ${commit}`;
  if ((await graphOf(clone, guest)) !== graphs.get(commit))
    return 'the next run gives other answers';
  const { strays } = await checkIndex(clone, guest);
  return strays.length === 0 && !existsSync(place.incoming)
    ? ''
    : 'the next run leaves files behind';
}

/** Which head names what is not there, or not whole. */
async function unsound(folder) {
  const from = new FolderPlace(folder);
  const heads = readdirSync(path.join(folder, 'heads'), { recursive: true }).filter((name) =>
    name.endsWith('.json'),
  );
  for (const name of heads)
    try {
      const { list } = parseHead(await readFile(path.join(folder, 'heads', name)), folder, name);
      const { content } = await getObject(from, list);
      for (const file of parseList(content, folder, name).files) await getObject(from, file);
    } catch (error) {
      return `${name}: ${error.message}`;
    }
  return '';
}

/** All symbols and calls of an index, as a digest. */
async function graphOf(root, at) {
  const { shards } = await openIndex(root, at);
  const digest = createHash('sha256');
  for (const index of shards)
    for (let symbol = 0; symbol < index.symbolCount; symbol += 1) {
      const row = index.symbol(symbol);
      digest.update(JSON.stringify([index.info.alias, row, index.callsTo(row.name).length]));
    }
  return digest.digest('hex');
}

async function killed(args, at, what) {
  const child = started(args, at);
  const startedMs = performance.now();
  const ended = new Promise((resolve) => child.once('exit', (code) => resolve(code ?? 'killed')));
  const ms = times[what] * (startShare + ((1 - startShare) * random(1_000)) / 1_000);
  const over = new AbortController();
  void wait(ms, undefined, { signal: over.signal }).then(
    () => child.kill('SIGKILL'),
    () => undefined,
  );
  if ((await ended) === 'killed') {
    counts.killed += 1;
    return;
  }
  over.abort();
  counts.ended += 1;
  // The machine was busier when the time was taken.
  times[what] = Math.min(times[what], performance.now() - startedMs);
}

async function timed(args, at) {
  const startedMs = performance.now();
  await done(args, at);
  return performance.now() - startedMs;
}

async function done(args, at) {
  const child = started(args, at);
  let text = '';
  for await (const chunk of child.stdout.setEncoding('utf8')) text += chunk;
  if (text === '') throw new Error(`sigma ${args.join(' ')} does not start`);
  const report = JSON.parse(text);
  if (report.error !== undefined) throw new Error(`sigma ${args.join(' ')}: ${report.error.text}`);
  return report;
}

function started(args, at) {
  return spawn(process.execPath, [sigma, ...args, '--json', '--home', at], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
}

function git(folder, ...args) {
  const who = ['-c', 'user.name=campaign', '-c', 'user.email=campaign@example.org'];
  return execFileSync('git', [...who, ...args], { cwd: folder, encoding: 'utf8' });
}

function committed(subject) {
  git(tree, 'add', '-A');
  git(tree, 'commit', '-qm', subject);
  return git(tree, 'rev-parse', 'HEAD').trim();
}

/** A static server that takes PUT, and shows a file when it has all of it. */
async function served(folder) {
  let count = 0;
  const server = createServer((request, response) => {
    void answer(request, response).catch(() => response.destroy());
  });
  const answer = async (request, response) => {
    const file = path.join(folder, new URL(request.url, 'http://localhost').pathname);
    if (request.method === 'PUT') {
      const chunks = [];
      for await (const chunk of request) chunks.push(chunk);
      if (!request.complete) return;
      await mkdir(path.dirname(file), { recursive: true });
      const temporary = `${file}.${(count += 1)}.tmp`;
      await writeFile(temporary, Buffer.concat(chunks));
      await rename(temporary, file);
      response.writeHead(201).end();
      return;
    }
    const bytes = await readFile(file).catch(() => undefined);
    if (bytes === undefined) response.writeHead(404).end();
    else
      response
        .writeHead(200, { 'content-length': bytes.length })
        .end(request.method === 'HEAD' ? undefined : bytes);
  };
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    address: `http://127.0.0.1:${server.address().port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
