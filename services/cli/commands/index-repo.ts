import type { Command } from 'commander';
import { suggestQuestions } from '../../../src/lattice/suggestions.js';
import {
  indexFolder,
  readLeftOut,
  readShardRequest,
  type IndexReport,
} from '../../../src/pgc/index-folder.js';
import { openIndex } from '../../../src/pgc/open-index.js';
import { configOf, wholeNumber, withCommon, type CommonOptions } from '../options.js';
import { print, table } from '../output.js';
import { progressTo } from '../progress.js';

const jobsMax = 64;

export function addIndexCommand(sigma: Command): void {
  withCommon(sigma.command('index').argument('<repo>', 'root of the source tree'))
    .description('build or refresh the index of a tree, without a broker')
    .option('--shards <plan>', 'auto, a number, or a JSON file; without it the last plan is kept')
    .option('--left-out', 'also list every path that was left out, with the reason')
    .option('--jobs <n>', 'worker threads', wholeNumber(1, jobsMax))
    .action(
      async (
        repo: string,
        options: CommonOptions & { shards?: string; jobs?: number; leftOut?: boolean },
      ) => {
        const { home } = configOf(options);
        const abort = new AbortController();
        process.once('SIGINT', () => abort.abort());
        process.once('SIGTERM', () => abort.abort());
        const progress = progressTo(process.stderr);
        let report: IndexReport;
        try {
          report = await indexFolder({
            root: repo,
            home,
            ...(options.shards === undefined
              ? {}
              : { shards: await readShardRequest(options.shards) }),
            ...(options.jobs === undefined ? {} : { jobs: options.jobs }),
            onProgress: progress.onProgress,
            signal: abort.signal,
          });
        } finally {
          progress.end();
        }
        const { project, shards } = await openIndex(repo, home);
        const listed = options.leftOut === true ? await readLeftOut(repo, home) : undefined;
        const whole = {
          project,
          ...report,
          questions: suggestQuestions(shards),
          ...(listed === undefined ? {} : { left_out_paths: listed }),
        };
        const lines =
          listed?.map(({ path, reason }) => `  ${JSON.stringify(path)}  ${reason}`) ?? [];
        print({ json: options.json === true }, whole, () => [render(whole), ...lines].join('\n'));
      },
    );
}

function render(report: IndexReport): string {
  const rows = report.shards.map((shard) => [
    shard.alias,
    String(shard.files),
    String(shard.lines),
    ...['O1', 'O3'].map((overlay) => String(shard.items[overlay] ?? 0)),
    shard.scope.slice(0, 3).join(' ') + (shard.scope.length > 3 ? ' …' : ''),
  ]);
  const leftOut = Object.entries(report.left_out).map(([reason, count]) => `${count} ${reason}`);
  return [
    table([['SHARD', 'FILES', 'LINES', 'O1', 'O3', 'SCOPE'], ...rows]),
    '',
    `${report.files_total} files, ${report.lines_total} lines; ${report.files_mined} mined, ${report.files_reused} reused in ${(report.elapsed_ms / 1_000).toFixed(1)} s; ${Math.round(report.disk_bytes / 1024 / 1024)} MB on disk, ${Math.round(report.peak_rss_bytes / 1024 / 1024)} MB of memory at most`,
    ...(leftOut.length > 0 ? [`left out: ${leftOut.join(', ')}`] : []),
  ].join('\n');
}
