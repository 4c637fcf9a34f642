import { existsSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { megabytes, seconds, table } from './figures.mjs';
import { planFile } from './kernel-tree.mjs';
import { runSigma, temporaryFolder } from './process.mjs';

const indexMsMax = 1_800_000;

/** Builds the index in `home` when there is none yet. */
export async function ensureIndex({ root, home }) {
  await index(root, home);
}

/** Time, memory and disk of a first index, then of one of an unchanged tree. */
export async function measureIndex({ root, home, check }) {
  // A home that is kept has an index already: the cold one is then built elsewhere and thrown away.
  const isKept = existsSync(path.join(home, 'pgc'));
  const coldHome = isKept ? temporaryFolder('sigma-cold') : home;
  const cold = await index(root, coldHome);
  const diskBytes = bytesBelow(coldHome);
  const unchanged = await index(root, coldHome);
  check(
    'index: every source of a first run is read, none of an unchanged one',
    cold.report.files_mined > 0 && unchanged.report.files_mined === 0,
    `${cold.report.files_mined} of ${cold.report.files_total}, then ${unchanged.report.files_mined} mined`,
  );
  if (isKept) await ensureIndex({ root, home });
  const row = ({ wallMs, peakRssBytes, report }) => ({
    wall_ms: wallMs,
    elapsed_ms: report.elapsed_ms,
    peak_rss_bytes: peakRssBytes,
    peak_rss_bytes_reported: report.peak_rss_bytes,
    files_mined: report.files_mined,
    files_reused: report.files_reused,
  });
  const { files_total, lines_total, shards, left_out } = cold.report;
  const figures = {
    files_total,
    lines_total,
    lines_per_second: lines_total / (cold.wallMs / 1_000),
    disk_bytes: diskBytes,
    disk_bytes_reported: cold.report.disk_bytes,
    cold: row(cold),
    unchanged: row(unchanged),
    shards,
    left_out,
  };
  return { figures, text: render(figures) };
}

async function index(root, home) {
  const args = ['index', root, '--shards', planFile, '--json'];
  const result = await runSigma(args, { home, timeoutMs: indexMsMax });
  if (result.code !== 0 || result.json === undefined)
    throw new Error(`sigma index failed (${result.code}): ${result.stderr.slice(-500)}`);
  return { ...result, report: result.json };
}

function render(figures) {
  const row = (name, its) => [
    name,
    seconds(its.wall_ms),
    its.files_mined,
    its.files_reused,
    megabytes(its.peak_rss_bytes),
  ];
  return [
    table([
      ['INDEX', 'TIME', 'MINED', 'REUSED', 'PEAK RSS'],
      row('cold', figures.cold),
      row('unchanged', figures.unchanged),
    ]),
    `${figures.files_total} files, ${figures.lines_total} lines, ${Math.round(figures.lines_per_second)} lines/s, ${megabytes(figures.disk_bytes)} on disk`,
    '',
    table([
      ['SHARD', 'FILES', 'LINES', 'O1', 'O3'],
      ...figures.shards.map((each) => [
        each.alias,
        each.files,
        each.lines,
        each.items.O1,
        each.items.O3,
      ]),
    ]),
  ].join('\n');
}

function bytesBelow(folder) {
  return readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    const full = path.join(folder, entry.name);
    if (entry.isDirectory()) return sum + bytesBelow(full);
    return sum + (entry.isFile() ? statSync(full).size : 0);
  }, 0);
}
