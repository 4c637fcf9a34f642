import { spawn, type ChildProcess } from 'node:child_process';
import type { Config } from '../../src/config/config.js';
import type { Logger } from '../../src/observe/log.js';
import { program } from '../cli/index-process.js';
import { argumentsOf } from '../cli/options.js';

/** A task waits so long for overlays that are made for it. */
const waitMsMax = 120_000;
const pollMs = 500;
/** Processes at once; a task that would need one more goes without. */
const worksMax = 4;
/** One that has ended is not begun again so soon: a host takes a while to notice, and what failed would fail again. */
const restMs = 120_000;
/** Of what a failed one says. */
const saidCharsMax = 300;

interface Work {
  child?: ChildProcess;
  /** Why it failed; empty: it did not. Undefined while it runs. */
  failed: string | undefined;
  /** By the monotonic clock. */
  endedMs: number;
}

const noRoom: Work = { failed: 'too many overlays are being made', endedMs: 0 };

/** Makes overlays that tasks hint at and nobody has made: each once, in a process of its own, by `sigma overlay generate`. */
export class OverlayWorks implements Disposable {
  readonly #config: Config;
  readonly #log: Logger;
  readonly #restMs: number;
  readonly #works = new Map<string, Work>();

  constructor(config: Config, log: Logger, rest = restMs) {
    this.#config = config;
    this.#log = log;
    this.#restMs = rest;
  }

  /** Resolves when they are ready, when no work goes on that could make them, or after two minutes. Says what hindered. */
  async make({
    roots,
    overlays,
    isReady,
    signal,
  }: {
    roots: readonly string[];
    overlays: readonly string[];
    isReady: () => Promise<boolean>;
    signal: AbortSignal;
  }): Promise<string[]> {
    const works = roots.map((root) => this.#begun(root, overlays));
    const endMs = performance.now() + waitMsMax;
    while (performance.now() < endMs && !signal.aborted) {
      if (await isReady()) return [];
      // Ended in order, and not ready: the host has not taken it over yet.
      if (works.every(({ failed }) => failed !== undefined && failed !== '')) break;
      await new Promise((resolve) => setTimeout(resolve, pollMs));
    }
    return works.map(({ failed }) => failed ?? 'it is still being made').filter(Boolean);
  }

  [Symbol.dispose](): void {
    for (const { child, failed } of this.#works.values()) if (failed === undefined) child?.kill();
  }

  #begun(root: string, overlays: readonly string[]): Work {
    const layers = [...overlays].sort().join(',');
    const key = `${root}\0${layers}`;
    this.#forget();
    const known = this.#works.get(key);
    if (known !== undefined) return known;
    const running = [...this.#works.values()].filter(({ failed }) => failed === undefined);
    if (running.length >= worksMax) return noRoom;
    const work = this.#start(root, layers);
    this.#works.set(key, work);
    return work;
  }

  #forget(): void {
    const nowMs = performance.now();
    for (const [key, { failed, endedMs }] of this.#works)
      if (failed !== undefined && nowMs - endedMs >= this.#restMs) this.#works.delete(key);
  }

  #start(root: string, layers: string): Work {
    this.#log.info({ path: root, layers }, 'making overlays');
    const args = ['overlay', 'generate', '--repo', root, '--layers', layers];
    const child = spawn(process.execPath, [program, ...args, ...argumentsOf(this.#config)], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const work: Work = { child, failed: undefined, endedMs: 0 };
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => {
      said = (said + chunk.toString()).slice(-saidCharsMax);
    });
    child.once('error', (error) => (work.failed = error.message));
    child.once('close', (code) => {
      work.endedMs = performance.now();
      work.failed ??= code === 0 ? '' : `making it failed: ${said.trim() || `exit code ${code}`}`;
      this.#log.info({ path: root, layers, code }, 'overlays made');
    });
    return work;
  }
}
