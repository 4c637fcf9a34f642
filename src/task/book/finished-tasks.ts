/** Finished tasks in the order in which they ended: the oldest are found without a look at the others. */
export class FinishedTasks {
  readonly #endedMs = new Map<string, number>();
  readonly #max: number;
  readonly #msMax: number;

  constructor(limits: { finishedTasks: number; finishedMs: number }) {
    this.#max = limits.finishedTasks;
    this.#msMax = limits.finishedMs;
  }

  /** Takes tasks in any order. */
  load(ended: readonly { id: string; finished_ms: number }[]): void {
    this.#endedMs.clear();
    for (const { id, finished_ms } of [...ended].sort((a, b) => a.finished_ms - b.finished_ms))
      this.#endedMs.set(id, finished_ms);
  }

  add(id: string, finishedMs: number): void {
    if (!this.#endedMs.has(id)) this.#endedMs.set(id, finishedMs);
  }

  /** Removes and returns those that are too old or too many, except those still needed. */
  take(nowMs: number, isNeeded: (id: string) => boolean): string[] {
    let surplus = this.#endedMs.size - this.#max;
    const taken: string[] = [];
    for (const [id, endedMs] of this.#endedMs) {
      if (surplus <= 0 && endedMs >= nowMs - this.#msMax) break;
      surplus -= 1;
      if (!isNeeded(id)) taken.push(id);
    }
    for (const id of taken) this.#endedMs.delete(id);
    return taken;
  }
}
