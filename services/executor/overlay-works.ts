import { spawn, type ChildProcess } from 'node:child_process';
import { systemClock } from '../../src/base/clock.js';
import { pause } from '../../src/base/pause.js';
import type { Config } from '../../src/config/config.js';
import { parseJson } from '../../src/delegation/task/json.js';
import type { Failure } from '../../src/errors/bus-error.js';
import type { Logger } from '../../src/observe/log.js';
import { program } from '../cli/index-process.js';
import { argumentsOf } from '../cli/options.js';

/** A task waits so long for overlays that are made for it. */
const waitMsMax = 120_000;
/** Whoever serves the tree takes over what was made within this; until then it is looked for. */
const takeOverMsMax = 10_000;
const lookEveryMs = 500;
/** Processes at once; a task that would need one more goes without. */
const worksMax = 4;
/** One that came to nothing is not begun again so soon: it would fail again. */
const restMsDefault = 120_000;
/** While another run has the index, ours is begun again this often. */
const busyPauseMs = 1_000;
/** Of what one says: a failure is short. */
const saidCharsMax = 16_384;
const reasonCharsMax = 300;

interface Work {
  child?: ChildProcess;
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

export interface OverlayWorksOptions {
  restMs?: number;
}

/** Makes overlays that tasks hint at and that are not there: each once, in a process of its own, by `sigma overlay generate`. */
export class OverlayWorks implements Disposable {
  readonly #config: Config;
  readonly #log: Logger;
  readonly #restMs: number;
  readonly #works = new Map<string, Work>();

  constructor(config: Config, log: Logger, options: OverlayWorksOptions = {}) {
    this.#config = config;
    this.#log = log;
    this.#restMs = options.restMs ?? restMsDefault;
  }

  /**
   * Resolves when `isThere` says that they are, when no work goes on that could make them, after two minutes, or after
   * `forMs`. It is asked when the works have ended, every half second for ten seconds at most. Says what hindered.
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
    for (const { child, failed } of this.#works.values()) if (failed === undefined) child?.kill();
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
    const args = ['overlay', 'generate', '--repo', root, '--layers', layers, '--json'];
    const child = spawn(process.execPath, [program, ...args, ...argumentsOf(this.#config)], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let end: (() => void) | undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    const work: Work = { child, failed: undefined, isBusy: false, ended, endedMs: 0 };
    let said = '';
    child.stdout.on('data', (chunk: Buffer) => {
      if (said.length < saidCharsMax) said += chunk.toString();
    });
    const over = (failed: string): void => {
      work.endedMs = performance.now();
      work.failed ??= failed;
      end?.();
    };
    child.once('error', (error) => over(error.message));
    child.once('close', (code) => {
      const failure = code === 0 ? undefined : failureIn(said);
      work.isBusy = failure?.code === 'INDEX_BUILDING';
      const reason = (failure?.text ?? `exit code ${code}`).slice(0, reasonCharsMax);
      over(code === 0 ? '' : `making it failed: ${reason}`);
      this.#log.info({ path: root, layers, exit: code, code: failure?.code }, 'overlays made');
    });
    return work;
  }
}

/** Of the document that a command prints which has failed. */
function failureIn(said: string): Failure | undefined {
  const document = parseJson(said) as { error?: Failure } | null;
  return document?.error;
}
