import { systemClock } from '../base/clock.js';
import { pause } from '../base/pause.js';
import type { Failure } from '../errors/bus-error.js';
import type { Logger } from '../observe/log.js';

/** A task waits so long for overlays that are made for it. */
const waitMsMax = 120_000;
/** The host of the tree serves new overlays within this; until then they are looked for. */
const takeOverMsMax = 10_000;
const lookEveryMs = 500;
/** Processes at once; a task that would need one more goes without. */
const worksMax = 4;
/** One that failed is not tried again sooner. */
const restMsDefault = 120_000;
/** While another run has the index, ours is begun again this often. */
const busyPauseMs = 1_000;
const reasonCharsMax = 300;

interface Work {
  /** Why it failed; empty: it did not. Undefined while it runs. */
  failed: string | undefined;
  /** It failed because another run has the index. */
  isBusy: boolean;
  ended: Promise<void>;
  /** By the monotonic clock. */
  endedMs: number;
}

const noRoom: Work = {
  failed: 'too many overlays are being made',
  isBusy: false,
  ended: Promise.resolve(),
  endedMs: 0,
};

/** Makes overlays of one tree; resolves with what it failed of, once nothing of it runs any more. */
export type GenerateOverlays = (
  root: string,
  layers: string,
  signal: AbortSignal,
) => Promise<Failure | undefined>;

export interface OverlayWorksOptions {
  restMs?: number;
}

/** Makes overlays that tasks hint at and that are missing: each set once. */
export class OverlayWorks implements Disposable {
  readonly #generate: GenerateOverlays;
  readonly #log: Logger;
  readonly #restMs: number;
  readonly #works = new Map<string, Work>();
  readonly #closing = new AbortController();

  constructor(generate: GenerateOverlays, log: Logger, options: OverlayWorksOptions = {}) {
    this.#generate = generate;
    this.#log = log;
    this.#restMs = options.restMs ?? restMsDefault;
  }

  /**
   * Resolves when `isThere` says that they are, when no work goes on that could make them, after two minutes, or after
   * `forMs`. Asks it once the works have ended, every half second for ten seconds at most. Resolves with what failed.
   */
  async make({
    roots,
    overlays,
    isThere,
    signal,
    forMs = Infinity,
  }: {
    roots: readonly string[];
    overlays: readonly string[];
    isThere: () => Promise<boolean>;
    signal: AbortSignal;
    forMs?: number;
  }): Promise<string[]> {
    const endMs = performance.now() + Math.min(waitMsMax, forMs);
    const works = await this.#ended(roots, overlays, endMs, signal);
    const lastMs = Math.min(endMs, performance.now() + takeOverMsMax);
    while (!signal.aborted) {
      if (await isThere()) {
        this.#forget((work) => works.includes(work) && work.failed !== undefined);
        return [];
      }
      const isOver = performance.now() + lookEveryMs > lastMs;
      if (isOver || works.every(({ failed }) => failed !== '')) break;
      await pause(systemClock, lookEveryMs, signal);
    }
    return works.map(({ failed }) =>
      failed === '' ? 'it was made, and is not served yet' : (failed ?? 'it is still being made'),
    );
  }

  [Symbol.dispose](): void {
    this.#closing.abort();
  }

  /** As they stand when all have ended, or when the time is over. */
  async #ended(
    roots: readonly string[],
    overlays: readonly string[],
    endMs: number,
    signal: AbortSignal,
  ): Promise<Work[]> {
    for (;;) {
      const works = roots.map((root) => this.#begun(root, overlays));
      const ended = new AbortController();
      void Promise.all(works.map((work) => work.ended)).then(() => ended.abort());
      await pause(systemClock, endMs - performance.now(), AbortSignal.any([signal, ended.signal]));
      const isLate = performance.now() + busyPauseMs >= endMs;
      if (isLate || signal.aborted || !works.some(({ isBusy }) => isBusy)) return works;
      await pause(systemClock, busyPauseMs, signal);
      this.#forget((work) => works.includes(work) && work.isBusy);
    }
  }

  #begun(root: string, overlays: readonly string[]): Work {
    const layers = [...overlays].sort().join(',');
    const key = `${root}\0${layers}`;
    this.#forget(
      ({ failed, endedMs }) => failed !== undefined && performance.now() - endedMs >= this.#restMs,
    );
    const known = this.#works.get(key);
    if (known !== undefined) return known;
    const running = [...this.#works.values()].filter(({ failed }) => failed === undefined);
    if (running.length >= worksMax) return noRoom;
    const work = this.#start(root, layers);
    this.#works.set(key, work);
    return work;
  }

  #forget(which: (work: Work) => boolean): void {
    for (const [key, work] of this.#works) if (which(work)) this.#works.delete(key);
  }

  #start(root: string, layers: string): Work {
    this.#log.info({ path: root, layers }, 'making overlays');
    const work: Work = { failed: undefined, isBusy: false, ended: Promise.resolve(), endedMs: 0 };
    work.ended = this.#generate(root, layers, this.#closing.signal).then((failure) => {
      work.endedMs = performance.now();
      work.isBusy = failure?.code === 'INDEX_BUILDING';
      const reason = failure?.text.slice(0, reasonCharsMax);
      work.failed = failure === undefined ? '' : `making it failed: ${reason}`;
      this.#log.info({ path: root, layers, code: failure?.code }, 'overlays made');
    });
    return work;
  }
}
