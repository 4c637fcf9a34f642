// The tables.
import { execFileSync } from 'node:child_process';
import { cpus, loadavg, totalmem } from 'node:os';
import { megabytes, table } from '../kernel/figures.mjs';
import { runSigma } from '../kernel/process.mjs';
import { reliability } from './metrics.mjs';
import { ripgrepVersion } from './text-search.mjs';

/** Limits of a confidence that is high, and of one that is at least medium; see src/lattice/confidence.ts. */
const highAbove = 0.85;
const mediumFrom = 0.7;

const share = (value) => (Number.isNaN(value) ? '-' : value.toFixed(3));
const percent = (part, whole) =>
  whole === 0 ? '-' : `${part} of ${whole} (${((100 * part) / whole).toFixed(0)} %)`;

/** On what, and of what, the figures are. */
export async function describeMachine(home) {
  const processors = cpus();
  const figures = {
    date: new Date().toISOString(),
    node: process.version,
    cpu: processors[0]?.model.trim() ?? '',
    cores: processors.length,
    memory_bytes: totalmem(),
    load_average: loadavg(),
    sigma: (await runSigma(['--version'], { home, timeoutMs: 20_000 })).stdout.trim(),
    commit: commitOf(),
    ripgrep: await ripgrepVersion(),
  };
  const text = table([
    ['date', figures.date],
    ['node', figures.node],
    ['cpu', `${figures.cpu}, ${figures.cores} cores`],
    ['memory', megabytes(figures.memory_bytes)],
    ['load', figures.load_average.map((each) => each.toFixed(2)).join(' ')],
    ['sigma', `${figures.sigma}, commit ${figures.commit}`],
    ['rg', figures.ripgrep],
  ]);
  return { figures, text };
}

/** With a mark when sources differ from the commit. */
function commitOf() {
  const git = (...args) =>
    execFileSync('git', args, {
      cwd: import.meta.dirname,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  try {
    const isChanged = git('status', '--porcelain', '--', ':/src', ':/services').trim() !== '';
    return `${git('rev-parse', '--short', 'HEAD').trim()}${isChanged ? ' and changes' : ''}`;
  } catch {
    return 'unknown';
  }
}

export function treesTable(trees) {
  return table([
    ['TREE', 'FILES', 'LINES', 'SHARDS', 'WHAT'],
    ...trees.map(({ name, is, report }) => [
      name,
      report.files_total,
      report.lines_total,
      report.shards.length,
      is,
    ]),
  ]);
}

export function waysTable(measured) {
  const head = ['SET', 'WAY', 'RIGHT BY', 'R@1', 'R@5', 'MRR', 'nDCG@5', 'MEDIAN MS'];
  const rows = measured.flatMap(({ name, questions, ways }) =>
    ways.map(({ name: way, level, figures }) => [
      `${name} (${questions})`,
      way,
      level,
      share(figures.recall_at_1),
      share(figures.recall_at_5),
      share(figures.mrr),
      share(figures.ndcg_at_5),
      figures.median_ms.toFixed(1),
    ]),
  );
  return table([head, ...rows]);
}

/** How often the product finds a right place, by kind of question. */
export function kindsTable(measured) {
  const kinds = new Map();
  for (const row of measured.flatMap(({ ways }) => ways[0].rows))
    kinds.set(row.kind, [...(kinds.get(row.kind) ?? []), row.first]);
  const within = (ranks, k) =>
    share(ranks.filter((rank) => rank > 0 && rank <= k).length / ranks.length);
  return table([
    ['KIND', 'QUESTIONS', 'R@1', 'R@5'],
    ...[...kinds].map(([kind, ranks]) => [kind, ranks.length, within(ranks, 1), within(ranks, 5)]),
  ]);
}

/** Stated and true, by tenths; sources of questions without an answer are all wrong. */
export function calibration(asked) {
  const sources = asked.flatMap((each) => each.sources);
  const levels = { place: ratedBy(sources, 'place'), file: ratedBy(sources, 'file') };
  const head = ['SIMILARITY', 'SOURCES', 'STATED', 'RIGHT PLACE', 'RIGHT FILE'];
  const rows = levels.place.tenths.map(({ count, stated, right }, at) => [
    `${(at / 10).toFixed(1)}–${((at + 1) / 10).toFixed(1)}`,
    count,
    share(stated),
    share(right),
    share(levels.file.tenths[at].right),
  ]);
  const text = [
    table([head, ...rows]),
    ...Object.entries(levels).map(
      ([level, { count, error, brier }]) =>
        `by ${level}: ${count} sources, expected calibration error ${share(error)}, Brier score ${share(brier)}`,
    ),
    ...bestOf(asked),
  ].join('\n');
  return { figures: levels, text };
}

function ratedBy(sources, level) {
  return reliability(sources.map((each) => ({ stated: each.stated, right: each[level] })));
}

/** How sure the best source of an answer is, where its file is right and where it is wrong. */
function bestOf(asked) {
  const best = asked.flatMap(({ sources }) =>
    [...sources].sort((one, other) => other.stated - one.stated).slice(0, 1),
  );
  const right = best.filter((each) => each.file);
  const wrong = best.filter((each) => !each.file);
  const sure = right.filter(({ stated }) => stated >= mediumFrom).length;
  const tooSure = wrong.filter(({ stated }) => stated > highAbove).length;
  return [
    `answers whose best source is right, with similarity ≥ ${mediumFrom}: ${percent(sure, right.length)}`,
    `answers whose best source is wrong, with similarity > ${highAbove}: ${percent(tooSure, wrong.length)}`,
  ];
}

export function unansweredText(asked) {
  const answered = asked.filter(({ sources }) => sources.length > 0);
  const reaching = (limit) =>
    answered.filter(({ sources }) => sources.some(({ stated }) => stated >= limit)).length;
  return [
    `questions without an answer that got one: ${percent(answered.length, asked.length)}`,
    `… with a source of similarity ≥ ${mediumFrom}: ${reaching(mediumFrom)}, ≥ .5: ${reaching(0.5)}`,
    `… which: ${answered.map(({ id }) => id).join(', ') || 'none'}`,
  ].join('\n');
}

export function verifiedText(verified) {
  const count = verified.reduce((sum, each) => sum + each.count, 0);
  const valid = verified.reduce((sum, each) => sum + each.valid, 0);
  return `sources that sigma verify finds true: ${valid} of ${count}`;
}

/** `measured`: what answers say of their evidence, with what it lacks. */
export function heldText(measured) {
  const all = measured.flatMap(({ sentences }) => sentences);
  const lacking = all.filter(({ missing }) => missing.length > 0);
  return [
    `evidence that holds every word that is said of it: ${all.length - lacking.length} of ${all.length}`,
    ...lacking.slice(0, 10).map(({ id, missing }) => `… not so: ${id}, ${missing.join(' ')}`),
  ].join('\n');
}
