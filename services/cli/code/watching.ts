import { access } from 'node:fs/promises';
import { systemClock } from '../../../src/base/clock.js';
import type { Config } from '../../../src/config/config.js';
import { asBusError, BusError } from '../../../src/errors/bus-error.js';
import { openLog, type Logger } from '../../../src/observe/log.js';
import { placeOf } from '../../../src/pgc/plan/manifest.js';
import { realRoot } from '../../../src/pgc/source/source-tree.js';
import { Refresher, type Changed } from '../../../src/pgc/build/watch/refresher.js';
import { TreeWatch } from '../../../src/pgc/build/watch/tree-watch.js';
import { WatchNotice } from '../../../src/pgc/build/watch/watch-notice.js';
import { untilStopped } from '../../process.js';
import { reportReady } from '../../systemd.js';
import { index } from '../index-process.js';

export interface WatchOptions {
  shards?: string | undefined;
  kind?: 'poll';
}

/**
 * `sigma index REPO --watch`: keeps the index in step with its tree until a signal stops it. Each refresh is a process of its
 * own, whose memory is given back; hosts notice the new manifest. Throws REPO_UNREADABLE, ALREADY_WATCHED, and what the
 * first run throws.
 */
export async function runWatch(config: Config, repo: string, options: WatchOptions): Promise<void> {
  const log = openLog(config, { service: 'watch' });
  const stopped = untilStopped();
  const over = new AbortController();
  void stopped.then(() => over.abort());
  const root = await realRoot(repo);
  const watching = new Watching(config, root, log, over.signal);
  try {
    await watching.begin(options);
    await reportReady();
    await stopped;
  } catch (error) {
    if (!over.signal.aborted) throw error;
  } finally {
    await watching[Symbol.asyncDispose]();
  }
}

/** One tree that is watched. */
class Watching implements AsyncDisposable {
  readonly #config: Config;
  readonly #root: string;
  readonly #log: Logger;
  readonly #signal: AbortSignal;
  #notice: WatchNotice | undefined;
  #watch: TreeWatch | undefined;
  #refresher: Refresher | undefined;
  /** The tree could not be read: its watch may be dead. */
  #isLost = false;
  #kind: 'poll' | undefined;
  /** Of what the watcher lacks, for as long as it does; else empty. */
  #lack = '';

  constructor(config: Config, root: string, log: Logger, signal: AbortSignal) {
    this.#config = config;
    this.#root = root;
    this.#log = log;
    this.#signal = signal;
  }

  async begin({ shards, kind }: WatchOptions): Promise<void> {
    this.#kind = kind;
    const place = placeOf(this.#root, this.#config.home);
    const isIndexed = await access(place.manifest).then(
      () => true,
      () => false,
    );
    // Errors of the tree end this command; changes during this run are seen by the next.
    if (!isIndexed || shards !== undefined)
      await index(this.#root, this.#config, shards, this.#signal, { waits: true });
    this.#notice = await WatchNotice.begin(place, this.#root);
    this.#refresher = new Refresher({
      clock: systemClock,
      random: Math.random,
      refresh: (changed) => this.#refresh(changed),
      onFailure: (error, retryMs) => this.#onFailure(error, retryMs),
    });
    await this.#open();
    // Changes before now were not watched.
    this.#refresher.onChange(undefined);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // First: a refresh that goes on may open another watch.
    await this.#refresher?.[Symbol.asyncDispose]();
    await this.#watch?.[Symbol.asyncDispose]();
    await this.#notice?.[Symbol.asyncDispose]();
  }

  async #open(): Promise<void> {
    await this.#watch?.[Symbol.asyncDispose]();
    this.#lack = '';
    this.#watch = await TreeWatch.open({
      root: this.#root,
      clock: systemClock,
      onChange: (paths) => this.#refresher?.onChange(paths),
      onWarning: ({ code, message }) => {
        this.#lack = code;
        this.#log.warn({ code, root: this.#root }, message);
      },
      ...(this.#kind === undefined ? {} : { kind: this.#kind }),
    });
    const { kind } = this.#watch;
    this.#log.info({ root: this.#root, kind }, 'watching');
    await this.#tell({ kind, state: 'watching', code: this.#lack });
  }

  async #refresh(changed: Changed): Promise<void> {
    await this.#tell({ state: 'refreshing' });
    const startedMs = performance.now();
    const report = await index(this.#root, this.#config, undefined, this.#signal, { changed });
    if (this.#isLost) await this.#open();
    this.#isLost = false;
    const elapsed_ms = Math.round(performance.now() - startedMs);
    const { files_mined } = report;
    const told = changed?.size ?? 'unknown';
    this.#log.info({ root: this.#root, elapsed_ms, files_mined, changed: told }, 'refreshed');
    const { refreshes = 0 } = this.#notice?.watched ?? {};
    await this.#tell({
      ...{ state: 'watching', refreshed_ms: Date.now(), elapsed_ms, files_mined },
      ...{ refreshes: refreshes + 1, code: this.#lack },
      kind: this.#watch?.kind ?? 'poll',
    });
  }

  #onFailure(error: BusError, retryMs: number): void {
    if (this.#signal.aborted) return;
    const { code, message } = error;
    this.#isLost ||= code === 'REPO_UNREADABLE' || code === 'REPO_EMPTY';
    this.#log.warn({ code, root: this.#root, retry_ms: Math.round(retryMs) }, message);
    const { failures = 0 } = this.#notice?.watched ?? {};
    void this.#tell({ state: 'failed', failures: failures + 1, code });
  }

  /** Without it `sigma status` is wrong, and nothing else. */
  async #tell(news: Parameters<WatchNotice['update']>[0]): Promise<void> {
    await this.#notice?.update(news).catch((error: unknown) => {
      this.#log.warn(
        { code: asBusError(error).code },
        'the state of the watcher cannot be written',
      );
    });
  }
}
