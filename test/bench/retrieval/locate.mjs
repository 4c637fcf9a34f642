// How well `sigma locate` finds the files that reports are about, and what each of its features is worth.
//
//   node test/bench/retrieval/locate.mjs --repo DIR --reports FILE [--home SIGMA_HOME] [--ablate] [--routed N,N] [--json FILE]
//
// `--routed 5,16`: as the running lattice answers, which asks so many shards (all in this process, without a bus).
//
// FILE has `{ "title", "description", "paths" }` a line. `--ablate` adds a row for each group of features that is left out;
// nothing is fitted anew for it.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { mean, percentile, table } from '../kernel/figures.mjs';
import { temporaryFolder } from '../kernel/process.mjs';
import { reciprocalRank } from './metrics.mjs';
import { indexed, load } from './product.mjs';
import { reportsIn } from './reports.mjs';

const depths = [1, 5, 10, 50];
const rankMax = 10;
const groups = {
  title: ['title_names', 'title_text', 'title_file_share', 'title_folder_share'],
  description: ['prose_names', 'prose_text', 'prose_cover', 'prose_folder'],
  definitions: ['title_names', 'prose_names', 'log_names'],
  'words of paths': ['title_file_share', 'title_folder_share', 'prose_folder', 'path_words'],
  frames: ['frame', 'frame_words'],
  log: ['log_names', 'log_text'],
  'named symbols, paths, stems': ['symbol', 'path', 'file', 'stem'],
  'modules, options': ['module', 'option'],
  'best passage': ['passage'],
  functions: ['functions'],
  'sources, headers, asides in this order': ['source', 'header', 'aside'],
};

const { values: options } = parseArgs({
  options: {
    repo: { type: 'string' },
    reports: { type: 'string' },
    home: { type: 'string' },
    ablate: { type: 'boolean', default: false },
    routed: { type: 'string' },
    json: { type: 'string' },
  },
});
if (options.repo === undefined || options.reports === undefined)
  throw new Error('--repo and --reports are wanted');
const { Locator, openTree } = await load('src/pgc/search/locate/locate.js');
const { Lattice } = await load('src/lattice/lattice.js');
const { locate } = await load('src/lattice/route/locate.js');
const { systemClock } = await load('src/base/clock.js');

const root = path.resolve(options.repo);
const home = path.resolve(options.home ?? temporaryFolder('locate'));
await indexed(root, home);
const reports = reportsIn(options.reports);
const locator = await Locator.open(root, home);

const ways = [['sigma locate', {}]];
if (options.ablate)
  for (const [name, features] of Object.entries(groups))
    ways.push([`- ${name}`, { without: new Set(features) }]);

const measured = [];
for (const [name, how] of ways) measured.push({ name, rows: await located(how) });
for (const asked of (options.routed ?? '').split(',').filter(Boolean).map(Number)) {
  measured.push({ name: `${asked} shards asked`, rows: await located({}, await routed(asked)) });
}
console.log(
  table([
    ['WAY', ...depths.map((depth) => `R@${depth}`), 'MRR', 'P50 MS', 'P95 MS'],
    ...measured.map(({ name, rows }) => [
      name,
      ...depths.map((depth) => mean(rows.map((row) => recallAt(row, depth))).toFixed(3)),
      mean(
        rows.map(({ paths, files }) => reciprocalRank({ right: rightIn(files, paths) })),
      ).toFixed(3),
      ...[50, 95].map((percent) =>
        percentile(
          rows.map(({ ms }) => ms),
          percent,
        ).toFixed(0),
      ),
    ]),
  ]),
);
console.log(`${reports.length} reports`);
if (options.json !== undefined) writeFileSync(options.json, JSON.stringify(measured));

/** A report that cannot be read, or that nothing is about, has no files. */
async function located(how, by = (report, wanted) => locator.locate(report, wanted)) {
  const rows = [];
  for (const { title, description, paths } of reports) {
    const beganMs = performance.now();
    const wanted = { limit: Math.max(...depths), isBrief: true, ...how };
    const found = await by({ title, description }, wanted).catch(() => undefined);
    const files = found?.files.map((file) => file.path) ?? [];
    rows.push({ paths, files, ms: performance.now() - beganMs });
  }
  return rows;
}

/** What asks so many shards as agents of a lattice, which knows of the others only their vocabularies. */
async function routed(askedMax) {
  const { ports } = await openTree(root, home);
  const lattice = new Lattice(
    ports,
    ports.map(({ agent }) => ({ agent, index_version: '' })),
  );
  const limits = { clock: systemClock, deadlineMs: 60_000, askedMax };
  return async ({ title, description }, { limit, isBrief }) => {
    const answer = await locate(lattice, { title, text: description, limit, isBrief }, limits);
    if (answer.errors.length > 0) throw new Error(JSON.stringify(answer.errors[0]));
    return answer;
  };
}

function recallAt({ paths, files }, depth) {
  const best = files.slice(0, depth);
  return paths.filter((each) => best.includes(each)).length / paths.length;
}

function rightIn(files, paths) {
  return files.slice(0, rankMax).map((each) => paths.includes(each));
}
