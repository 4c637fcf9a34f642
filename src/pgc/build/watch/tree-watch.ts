import { lstatSync } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';
import type { Clock } from '../../../base/clock.js';
import { asBusError, BusError } from '../../../errors/bus-error.js';
import { runGit } from '../../source/git/run-git.js';
import { languageOf } from '../../source/language.js';
import { SourceTree } from '../../source/source-tree.js';

/** Polling, where the system reports no changes, takes at most a tenth of the time. */
const pollMsMin = 2_000;
const pollShare = 10;
/** How often HEAD is checked: the git folder may be outside the tree. */
const headPollMs = 1_000;
/** Concurrent file checks while polling. */
const statsAtOnce = 64;
/** Never read, even if git tracks it. The refresh itself finds out what else is ignored. */
const neverRead = /(?:^|\/)(?:\.git|node_modules|__pycache__)(?:\/|$)/;

const rules = /(?:^|\/)(?:\.gitignore|\.gitattributes|pom\.xml|CACHEDIR\.TAG)$|^\.sigma\//;

interface TreeWatchParts {
  /** Absolute, without links. */
  root: string;
  clock: Clock;
  /** Relative paths of files and folders; undefined: HEAD has moved, or it is not known what has changed. */
  onChange: (paths: string[] | undefined) => void;
  /** WATCH_LIMITED: the tree is polled from now on. */
  onWarning: (warning: BusError) => void;
  /** `poll`: do not use the system's file events. */
  kind?: 'poll';
}

/** File stamps by path; undefined: the tree could not be read. */
type Stamps = Map<string, string> | undefined;

interface WatcherEvent {
  path: string;
}
interface WatcherModule {
  subscribe(
    folder: string,
    onEvents: (error: Error | null, events: WatcherEvent[]) => void,
    options: { ignore: string[] },
  ): Promise<{ unsubscribe(): Promise<void> }>;
}

/** Reports changes of a tree's files and HEAD until it is disposed of. */
export class TreeWatch implements AsyncDisposable {
  readonly #parts: TreeWatchParts;
  readonly #stop = new AbortController();
  #unsubscribe: (() => Promise<void>) | undefined;
  #kind: 'events' | 'poll' = 'poll';

  private constructor(parts: TreeWatchParts) {
    this.#parts = parts;
  }

  /** Changes after this has resolved are reported. */
  static async open(parts: TreeWatchParts): Promise<TreeWatch> {
    const watch = new TreeWatch(parts);
    if (parts.kind !== 'poll') await watch.#subscribe();
    const head = await watch.#head();
    if (watch.#kind === 'poll') void watch.#poll(await watch.#stamps());
    void watch.#followHead(head);
    return watch;
  }

  /** `events`: file events of the system. `poll`: repeated checks of all files. */
  get kind(): 'events' | 'poll' {
    return this.#kind;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    // The tree may be gone, and with it the subscription.
    await this.#unsubscribe?.().catch(() => undefined);
  }

  async #subscribe(): Promise<void> {
    const { root, onWarning } = this.#parts;
    try {
      const name = '@parcel/watcher';
      const found = (await import(name)) as { default: WatcherModule };
      const ignore = ['.git', '**/node_modules', '**/__pycache__'];
      const subscription = await found.default.subscribe(
        root,
        (error, events) => this.#onEvents(error, events),
        { ignore },
      );
      this.#unsubscribe = () => subscription.unsubscribe();
      this.#kind = 'events';
    } catch (error) {
      onWarning(limited(root, error));
    }
  }

  #onEvents(error: Error | null, events: WatcherEvent[]): void {
    if (this.#stop.signal.aborted) return;
    if (error !== null) {
      this.#parts.onWarning(limited(this.#parts.root, error));
      if (this.#kind === 'poll') this.#parts.onChange(undefined);
      else void this.#switchToPolling();
      this.#kind = 'poll';
      return;
    }
    const { root } = this.#parts;
    const paths = events.map(({ path }) => relative(root, path).split(sep).join('/'));
    const relevant = paths.filter((path) => isRelevant(root, path));
    // An event of the root itself: it was removed or created again.
    if (relevant.includes('')) this.#parts.onChange(undefined);
    else if (relevant.length > 0) this.#parts.onChange(relevant);
  }

  /** Switches to polling. Changes before the first complete check are lost, so everything counts as changed. */
  async #switchToPolling(): Promise<void> {
    const stamps = await this.#stamps();
    if (this.#stop.signal.aborted) return;
    this.#parts.onChange(undefined);
    await this.#poll(stamps);
  }

  async #poll(from: Stamps): Promise<void> {
    let before = from;
    let tookMs = 0;
    while (await this.#pause(Math.max(pollMsMin, tookMs * pollShare))) {
      const startedMs = this.#parts.clock.monotonicMs();
      const now = await this.#stamps();
      tookMs = this.#parts.clock.monotonicMs() - startedMs;
      if (this.#stop.signal.aborted) return;
      const changed =
        now === undefined || before === undefined ? undefined : difference(before, now);
      // A tree that stays unreadable is reported once.
      if (changed === undefined ? now !== before : changed.length > 0)
        this.#parts.onChange(changed);
      before = now;
    }
  }

  /** The stamps of all listed files; undefined when the tree cannot be read. */
  async #stamps(): Promise<Stamps> {
    try {
      const tree = await SourceTree.open(this.#parts.root);
      const { files } = await tree.list();
      const stamps = new Map<string, string>();
      const queue = files.values();
      const work = async (): Promise<void> => {
        for (const { path } of queue) stamps.set(path, await stampOf(join(tree.root, path)));
      };
      await Promise.all(Array.from({ length: statsAtOnce }, work));
      return stamps;
    } catch {
      return undefined;
    }
  }

  async #followHead(from: string): Promise<void> {
    let before = from;
    while (await this.#pause(headPollMs)) {
      const now = await this.#head();
      if (now !== before) this.#parts.onChange(undefined);
      before = now;
    }
  }

  #gitFolder: string | undefined;

  /** Changes with every commit, checkout and reset; empty without git. */
  async #head(): Promise<string> {
    const { root } = this.#parts;
    if (this.#gitFolder === undefined) {
      const found = await runGit(root, ['rev-parse', '--git-dir']);
      this.#gitFolder = found === undefined ? '' : resolve(root, found.toString().trim());
    }
    if (this.#gitFolder === '') return '';
    const files = ['HEAD', 'logs/HEAD', 'packed-refs'].map((file) =>
      join(this.#gitFolder ?? '', file),
    );
    return (await Promise.all(files.map(stampOf))).join(' ');
  }

  /** Resolves with false when the watch has stopped. */
  #pause(ms: number): Promise<boolean> {
    const { signal } = this.#stop;
    return new Promise((resolvePause) => {
      if (signal.aborted) return resolvePause(false);
      const onAbort = (): void => {
        timer[Symbol.dispose]();
        resolvePause(false);
      };
      const timer = this.#parts.clock.after(ms, () => {
        signal.removeEventListener('abort', onAbort);
        resolvePause(true);
      });
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }
}

/**
 * A build writes thousands of files that are never read. A path that is gone may have been a folder. Ignore files and
 * settings are no source, but decide what is.
 */
function isRelevant(root: string, path: string): boolean {
  if (neverRead.test(path)) return false;
  if (languageOf(path) !== undefined || rules.test(path)) return true;
  try {
    return lstatSync(join(root, path), { throwIfNoEntry: false })?.isFile() !== true;
  } catch {
    // Not accessible: the refresh finds out what that means.
    return true;
  }
}

function limited(path: string, error: unknown): BusError {
  const text = error instanceof Error ? error.message : asBusError(error).message;
  const isFull = /no space left|ENOSPC/i.test(text);
  const detail = isFull ? 'fs.inotify.max_user_watches is too low for it' : text.split('\n')[0];
  return new BusError('WATCH_LIMITED', { path, detail: detail ?? '' }, { cause: error });
}

async function stampOf(path: string): Promise<string> {
  return lstat(path).then(
    ({ ino, size, mtimeMs, ctimeMs }) => `${ino} ${size} ${mtimeMs} ${ctimeMs}`,
    () => '',
  );
}

function difference(before: Map<string, string>, now: Map<string, string>): string[] {
  const changed = [...now].filter(([path, stamp]) => before.get(path) !== stamp);
  const gone = [...before.keys()].filter((path) => !now.has(path));
  return [...changed.map(([path]) => path), ...gone];
}
