import { systemClock } from '../../base/clock.js';
import { BusError } from '../../errors/bus-error.js';
import type { AskingOptions } from '../../lattice/questions.js';
import { impactLimits } from './impact.js';

/** Questions to an index within one time. What it cannot answer is counted and not thrown. */
export class Asking {
  readonly #errors = new Map<string, number>();
  readonly #endMs = systemClock.monotonicMs() + impactLimits.gatherMs;
  #skipped = 0;

  constructor(readonly signal: AbortSignal) {}

  isCut(): boolean {
    return this.signal.aborted;
  }

  /** Undefined: there is no answer, or no time for the question. */
  readonly ask = async <T>(
    work: (options: AskingOptions) => Promise<T>,
  ): Promise<T | undefined> => {
    if (this.isCut() || systemClock.monotonicMs() >= this.#endMs) {
      this.#skipped += 1;
      return undefined;
    }
    try {
      return await work({ deadlineMs: impactLimits.questionMs, signal: this.signal });
    } catch (error) {
      const code = error instanceof BusError ? error.code : undefined;
      if (code === undefined && !this.isCut()) throw error;
      const name = code ?? 'CANCELLED';
      this.#errors.set(name, (this.#errors.get(name) ?? 0) + 1);
      return undefined;
    }
  };

  unable(): string[] {
    const said: string[] = [];
    if (this.#skipped > 0)
      said.push(`to ask ${this.#skipped} more questions of the index: the time was up`);
    for (const [code, count] of this.#errors)
      if (code !== 'NO_SUCH_SYMBOL') said.push(`to get ${count} answers of the index: ${code}`);
    return said;
  }
}
