import { BusError } from '../errors/bus-error.js';
import type { Logger } from '../observe/log.js';

/** Missing overlays that take longer are done without. */
const generateMsMax = 120_000;

interface Run {
  ended: Promise<boolean>;
  abort: AbortController;
  waiting: number;
}

/** Makes overlays of one tree; resolves with whether it succeeded, once nothing of it runs any more. */
export type MakeOverlays = (root: string, layers: string, signal: AbortSignal) => Promise<boolean>;

export interface OverlayMakerParts {
  /** Roots of the trees that are served here. */
  roots: () => Promise<string[]>;
  log: Logger;
  make: MakeOverlays;
}

/** Makes missing overlays: each set once, however many tasks wait for it, and only as long as one waits. */
export class OverlayMaker implements AsyncDisposable {
  readonly #parts: OverlayMakerParts;
  /** By the names of the overlays. */
  readonly #runs = new Map<string, Run>();
  #isClosed = false;

  constructor(parts: OverlayMakerParts) {
    this.#parts = parts;
  }

  /** Resolves when they are there. Throws OVERLAYS_MISSING; CANCELLED when the signal is given or this is closed. */
  async generate(overlays: readonly string[], signal: AbortSignal): Promise<void> {
    if (overlays.length === 0) return;
    if (signal.aborted || this.#hasClosed()) throw new BusError('CANCELLED');
    const layers = [...new Set(overlays)].sort().join(',');
    const run = this.#runs.get(layers) ?? this.#begin(layers);
    run.waiting += 1;
    let leave: (() => void) | undefined;
    const left = new Promise<'left'>((resolve) => {
      leave = () => resolve('left');
      signal.addEventListener('abort', leave, { once: true });
    });
    const end = await Promise.race([run.ended, left]);
    if (leave !== undefined) signal.removeEventListener('abort', leave);
    run.waiting -= 1;
    if (run.waiting === 0) this.#stop(layers, run);
    if (end === 'left' || this.#hasClosed()) throw new BusError('CANCELLED');
    if (!end) throw new BusError('OVERLAYS_MISSING', { overlays: layers });
  }

  /** No child of it is left. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    const runs = [...this.#runs];
    for (const [layers, run] of runs) this.#stop(layers, run);
    await Promise.all(runs.map(([, { ended }]) => ended));
  }

  /** A call: it may change during a wait. */
  #hasClosed(): boolean {
    return this.#isClosed;
  }

  #begin(layers: string): Run {
    const abort = new AbortController();
    const signal = AbortSignal.any([abort.signal, AbortSignal.timeout(generateMsMax)]);
    const run: Run = { ended: this.#all(layers, signal), abort, waiting: 0 };
    this.#runs.set(layers, run);
    void run.ended.then(() => this.#stop(layers, run));
    return run;
  }

  /** A request from now on begins a new run. */
  #stop(layers: string, run: Run): void {
    if (this.#runs.get(layers) === run && !this.#isClosed) this.#runs.delete(layers);
    run.abort.abort();
  }

  async #all(layers: string, signal: AbortSignal): Promise<boolean> {
    const { roots, make, log } = this.#parts;
    try {
      for (const root of await roots()) {
        const isMade = !signal.aborted && (await make(root, layers, signal));
        log.info({ root, layers, isMade }, 'overlays generated');
        if (!isMade) return false;
      }
      return true;
    } catch {
      return false;
    }
  }
}
