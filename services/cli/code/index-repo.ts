import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Option, type Command } from 'commander';
import { asBusError, BusError } from '../../../src/errors/bus-error.js';
import { suggestQuestions } from '../../../src/lattice/suggestions.js';
import { checkIndex } from '../../../src/pgc/build/index-check.js';
import {
  indexFolder,
  type IndexReport,
  type IndexRequest,
} from '../../../src/pgc/build/index-folder.js';
import { readLeftOut } from '../../../src/pgc/build/left-out-files.js';
import { readShardRequest } from '../../../src/pgc/plan/shard-request.js';
import type { LanguageCount } from '../../../src/pgc/plan/manifest.js';
import { jobsMax } from '../../../src/pgc/build/source-mining.js';
import { overlayNames } from '../../../src/pgc/shapes.js';
import { openIndex } from '../../../src/pgc/search/open-index.js';
import { wholeOf } from '../input.js';
import {
  configOf,
  gathered,
  size,
  wholeNumber,
  withCommon,
  type CommonOptions,
} from '../options.js';
import { table, printable } from '../../../src/render/terminal.js';
import { FailureWith, print, usage } from '../output.js';
import { withMiners } from './miners.js';
import { progressTo } from './progress.js';

/** Questions are suggested out of this many shards; all of a kernel take a minute to look through. */
const questionShardsMax = 4;

/** A thousand paths, each as long as a path may be. */
const changedBytesMax = 8 * 1024 * 1024;

/** Most refreshes take less. */
const busyPollMs = 500;

const memoryHint =
  'Give more with --memory, or cut smaller shards with --shards. What was mined is kept.';

interface IndexOptions extends CommonOptions {
  shards?: string;
  jobs?: number;
  leftOut?: boolean;
  check?: boolean;
  gc?: boolean;
  asOf?: string;
  memory?: number;
  disk?: number;
  wait?: boolean;
  spread?: boolean;
  watch?: boolean;
  changed?: boolean;
  questions?: boolean;
  publish?: string;
  pull?: string;
  /** False: --no-scip. */
  scip?: string[] | false;
}

export function addIndexCommand(sigma: Command): void {
  withCommon(sigma.command('index').argument('<repo>', 'root of the source tree'))
    .description('build or refresh the index of a tree, without a broker')
    .option(
      '--shards <plan>',
      'how to split the tree: auto, a number, maintainers, codeowners, or a JSON file (default: as before)',
    )
    .option('--left-out', 'list the paths that were left out, with the reasons')
    .option('--check', 'verify the present index; build nothing')
    .option('--as-of <rev>', 'read this revision of git instead of the work tree')
    .option(
      '--scip <file>',
      'let this SCIP index decide what is called, now and in each refresh; may be given several times',
      gathered,
    )
    .option('--no-scip', 'forget the SCIP indexes of earlier runs')
    .option('--gc', 'also delete cached results of old file contents')
    .option('--jobs <n>', 'worker threads', wholeNumber(1, jobsMax))
    .option('--memory <size>', 'memory limit, like 800m or 2g (default: half of the machine)', size)
    .option('--disk <size>', 'disk limit of the index (default: what is free)', size)
    .option(
      '--publish <place>',
      'copy the present index to a folder, a web server, or a `bus` on NATS, for others; with --check also replace what is damaged there',
    )
    .option(
      '--pull <place>',
      'take over the index of this commit, or of the nearest one, from there; with --as-of that of this revision alone',
    )
    .option('--spread', 'let miners on the bus (`sigma agent miner`) do a part of the work')
    .option('--wait', 'wait while another process builds the index of this tree')
    .option('--watch', 'keep running, and refresh the index when files change')
    .addOption(
      new Option(
        '--changed',
        'read from stdin what may have changed, separated by zero bytes',
      ).hideHelp(),
    )
    .addOption(new Option('--questions', 'suggest questions in the JSON document').hideHelp())
    .action(async (repo: string, options: IndexOptions) => {
      if (options.publish !== undefined || options.pull !== undefined) {
        const { runShare } = await import('./share-index.js');
        return runShare(repo, options);
      }
      const config = configOf(options);
      const { home } = config;
      if (options.watch === true) {
        checkWatch(options);
        const { runWatch } = await import('./watching.js');
        return runWatch(configOf({ log: 'info', ...options }), repo, { shards: options.shards });
      }
      const changed = options.changed === true ? await changedFromStdin() : undefined;
      if (options.check === true) return check(repo, home, options);
      const abort = new AbortController();
      process.once('SIGINT', () => abort.abort());
      process.once('SIGTERM', () => abort.abort());
      const progress = progressTo(process.stderr);
      let report: IndexReport;
      try {
        const request: IndexRequest = {
          root: repo,
          home,
          ...(options.shards === undefined
            ? {}
            : { shards: await readShardRequest(options.shards, repo) }),
          ...(options.jobs === undefined ? {} : { jobs: options.jobs }),
          ...(options.memory === undefined ? {} : { memoryBytes: options.memory }),
          ...(options.disk === undefined ? {} : { diskBytes: options.disk }),
          ...(changed === undefined ? {} : { changed }),
          collects: options.gc === true,
          ...(options.asOf === undefined ? {} : { asOf: options.asOf }),
          ...scipOf(options),
          onProgress: progress.onProgress,
          signal: abort.signal,
        };
        const waits = options.wait === true;
        report =
          options.spread === true
            ? await withMiners(config, (far) => indexed(waits, { ...request, far }))
            : await indexed(waits, request);
      } catch (error) {
        const isMemory = error instanceof BusError && error.code === 'TOO_LARGE';
        throw isMemory ? new FailureWith(error, {}, memoryHint) : error;
      } finally {
        progress.end();
      }
      const listed = options.leftOut === true ? await readLeftOut(repo, home) : undefined;
      // They take longer than a refresh that finds nothing new.
      using tree =
        options.questions === true ? await openIndex(repo, home, questionShardsMax) : undefined;
      const whole = {
        ...report,
        questions: tree === undefined ? [] : suggestQuestions(tree.shards),
        ...(listed === undefined ? {} : { left_out_paths: listed }),
      };
      const lines =
        listed?.map(({ path, reason }) => `  ${printable(JSON.stringify(path))}  ${reason}`) ?? [];
      print(options, whole, () => [render(whole), ...lines].join('\n'));
    });
}

/** Throws INDEX_BUILDING where it does not wait, and what `indexFolder` throws. */
async function indexed(waits: boolean, request: IndexRequest): Promise<IndexReport> {
  for (;;)
    try {
      return await indexFolder(request);
    } catch (error) {
      if (!waits || asBusError(error).code !== 'INDEX_BUILDING') throw error;
      // An interrupted wait ends with INTERRUPTED in the next round.
      await delay(busyPollMs, undefined, { signal: request.signal }).catch(() => undefined);
    }
}

/** Commander says true where neither option was given. */
function scipOf({ scip }: IndexOptions): Pick<IndexRequest, 'scip'> {
  if (scip === false) return { scip: 'none' };
  return Array.isArray(scip) ? { scip: scip.map((each) => resolve(each)) } : {};
}

/** What a refresh by itself would not know how to repeat. */
function checkWatch({
  asOf,
  leftOut,
  check: checks,
  gc,
  json,
  jobs,
  memory,
  disk,
  scip,
}: IndexOptions): void {
  if (Array.isArray(scip) || scip === false) throw usage('--watch goes with --shards only');
  if ([asOf, leftOut, checks, gc, json, jobs, memory, disk].some((each) => each !== undefined))
    throw usage('--watch goes with --shards only');
}

async function changedFromStdin(): Promise<ReadonlySet<string>> {
  const text = (await wholeOf('-', changedBytesMax, 'a list of changed paths')).toString();
  return new Set(text.split('\0').filter((path) => path !== ''));
}

async function check(repo: string, home: string, options: IndexOptions): Promise<void> {
  const report = await checkIndex(repo, home);
  print(options, report, () =>
    [
      ...report.files.flatMap(({ file, problem }) =>
        problem === '' ? [] : [`${file}: ${problem}`],
      ),
      ...report.strays.map((file) => `${file}: named by nothing; the next run removes it`),
      report.is_sound
        ? `${report.files.length} files, all whole`
        : 'the index is damaged; run sigma index without --check',
    ].join('\n'),
  );
  if (!report.is_sound) process.exitCode = 1;
}

const cuts: Record<string, string> = {
  shallow: 'the clone is shallow',
  commits: 'there are more than are read',
  bytes: 'there is more than is read',
  time: 'git took too long',
  broken: 'git fails on its objects',
};

function historyOf({ history: { commits, why } }: IndexReport): string {
  return `${commits} commits, not all (${cuts[why] ?? why})`;
}

function layerLines({ documents, left_out, ...its }: NonNullable<IndexReport['scip']>): string[] {
  return [
    `SCIP: ${documents} documents, ${its.stale} of them of files that have changed since; ${its.added} edges added, ${its.corrected} corrected, ${its.denied} denied, ${its.same} the same, ${its.settled} names without an edge settled, ${its.implementations} implementations added`,
    ...left_out.map(
      ({ reason, documents: count, such_as }) =>
        `SCIP: ${count} documents left out: ${reason}, such as ${printable(JSON.stringify(such_as))}`,
    ),
  ];
}

function unread({ bytes, error_bytes, files, scanned }: LanguageCount): string {
  const lists = `${scanned} of ${files} files with lists of which names and lines are kept`;
  const share = `${((100 * error_bytes) / Math.max(1, bytes)).toFixed(2)} % of the text not understood`;
  return scanned === 0 ? share : `${share}, ${lists}`;
}

function render(report: IndexReport): string {
  const rows = report.shards.map((shard) => [
    shard.alias,
    String(shard.files),
    String(shard.lines),
    ...overlayNames.map((overlay) => String(shard.items[overlay] ?? 0)),
    printable(shard.scope.slice(0, 3).join(' ')) + (shard.scope.length > 3 ? ' …' : ''),
  ]);
  const leftOut = Object.entries(report.left_out).map(([reason, count]) => `${count} ${reason}`);
  return [
    table([['SHARD', 'FILES', 'LINES', ...overlayNames, 'SCOPE'], ...rows]),
    '',
    `${report.files_total} files, ${report.lines_total} lines; ${report.files_mined} mined, ${report.files_reused} reused in ${(report.elapsed_ms / 1_000).toFixed(1)} s; ${Math.round(report.disk_bytes / 1024 / 1024)} MB on disk, ${Math.round(report.peak_rss_bytes / 1024 / 1024)} MB of memory at most`,
    ...Object.entries(report.languages)
      .sort(([, one], [, other]) => other.lines - one.lines)
      .filter(([, { error_bytes, scanned }]) => error_bytes + scanned > 0)
      .map(([name, its]) => `${name}: ${unread(its)}`),
    ...(leftOut.length > 0 ? [`left out: ${leftOut.join(', ')}`] : []),
    ...(report.scip === undefined ? [] : layerLines(report.scip)),
    ...(report.history.is_complete ? [] : [`history of git: ${historyOf(report)}`]),
    ...report.notes.map((note) => `note: ${note}`),
  ].join('\n');
}
