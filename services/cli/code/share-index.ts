import { mkdir, realpath } from 'node:fs/promises';
import { FolderPlace } from '../../../src/pgc/build/share/folder-place.js';
import { publishIndex, type PublishReport } from '../../../src/pgc/build/share/publish-index.js';
import type { PublishedPlace } from '../../../src/pgc/build/share/published-place.js';
import { pullIndex, type PullReport } from '../../../src/pgc/build/share/pull-index.js';
import { WebPlace } from '../../../src/pgc/build/share/web-place.js';
import { withBusIndexes } from '../../bus-indexes.js';
import { version } from '../../version.js';
import { configOf, type CommonOptions } from '../options.js';
import { print, usage } from '../output.js';
import { progressTo } from './progress.js';

/** The place that is no folder of this name: the servers of the bus. */
const onBus = 'bus';

export interface ShareOptions extends CommonOptions {
  publish?: string;
  pull?: string;
  check?: boolean;
  asOf?: string;
  disk?: number;
}

/** `sigma index REPO --publish PLACE`, and `--pull PLACE`: moves a built index, and builds nothing. */
export async function runShare(repo: string, options: ShareOptions): Promise<void> {
  const { publish, pull } = options;
  const others = new Set(Object.keys(options));
  for (const name of ['json', 'home', 'bus', 'log']) others.delete(name);
  // Commander says true where neither --scip nor --no-scip was given.
  if ('scip' in options && options.scip === true) others.delete('scip');
  const own = publish === undefined ? ['pull', 'asOf', 'disk'] : ['publish', 'check'];
  if ([...others].some((name) => !own.includes(name)))
    throw usage('--publish goes with --check only, --pull with --as-of and --disk');
  const config = configOf(options);
  const { home } = config;
  const abort = new AbortController();
  process.once('SIGINT', () => abort.abort());
  process.once('SIGTERM', () => abort.abort());
  const { signal } = abort;
  const progress = progressTo(process.stderr);
  const common = { root: repo, home, signal, onProgress: progress.onProgress };
  const share = async (place: PublishedPlace): Promise<void> => {
    if (publish !== undefined) {
      const isChecked = options.check === true;
      const report = await publishIndex({ ...common, to: place, sigma: version, isChecked });
      progress.end();
      return print(options, report, () => renderPublished(report));
    }
    const report = await pullIndex({
      ...{ ...common, from: place },
      ...(options.asOf === undefined ? {} : { asOf: options.asOf }),
      ...(options.disk === undefined ? {} : { diskBytes: options.disk }),
    });
    progress.end();
    print(options, report, () => renderPulled(report, repo));
  };
  const where = publish ?? pull ?? '';
  try {
    if (where === onBus) await withBusIndexes(config, { signal }, share);
    else await share(await placeAt(where, signal, publish !== undefined));
  } finally {
    progress.end();
  }
}

/** Throws USAGE. */
async function placeAt(text: string, signal: AbortSignal, isNew: boolean): Promise<PublishedPlace> {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) {
    if (!/^https?:/i.test(text))
      throw usage('the place must be a folder, `bus`, or begin with https:// or http://');
    return new WebPlace(text, { token: process.env.SIGMA_INDEX_TOKEN ?? '', signal });
  }
  try {
    if (isNew) await mkdir(text, { recursive: true });
    return new FolderPlace(await realpath(text));
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    throw usage(`${text} cannot be used as a folder (${code})`);
  }
}

function renderPublished(report: PublishReport): string {
  const { place, commit, files, bytes, sent_objects, sent_bytes, elapsed_ms, notes } = report;
  return [
    `the index of commit ${commit.slice(0, 12)} is published at ${place}: ${files} files, ${megabytes(bytes)}`,
    `${sent_objects} objects sent, ${megabytes(sent_bytes)}, in ${seconds(elapsed_ms)}; all others were there`,
    ...notes.map((note) => `note: ${note}`),
  ].join('\n');
}

function renderPulled(report: PullReport, repo: string): string {
  const { commit, published, files, bytes, shards, moved_objects, moved_bytes } = report;
  return [
    `the index of commit ${commit.slice(0, 12)}, published ${published}, is served: ${shards} shards, ${files} files, ${megabytes(bytes)}`,
    `${moved_objects} objects moved, ${megabytes(moved_bytes)}, in ${seconds(report.elapsed_ms)}; all others were here`,
    distanceIn(report, repo),
  ].join('\n');
}

function distanceIn({ distance }: PullReport, repo: string): string {
  const next = `\`sigma index ${repo}\` reads what differs`;
  if (distance === null)
    return `how far this tree is from that commit is not known, as git here does not have it; ${next}`;
  const { ahead, behind, files } = distance;
  if (ahead + behind === 0)
    return `this tree is at that commit; ${next}, such as what is not committed`;
  const parts = [
    ...(ahead === 0 ? [] : [`${ahead} commits further`]),
    ...(behind === 0 ? [] : [`${behind} commits behind`]),
  ];
  return `this tree is ${parts.join(' and ')}, ${files} files differ; ${next}`;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
