/** Keeps the best `limit` without sorting all: a common word stands in most documents. A document has the same score whenever it is offered. */
export class Ranking<T extends { document: number; score: number }> {
  #kept: T[] = [];
  #floor = 0;

  constructor(readonly limit: number) {}

  admits(score: number): boolean {
    return score > this.#floor;
  }

  offer(item: T): void {
    if (!this.admits(item.score)) return;
    this.#kept.push(item);
    if (this.#kept.length >= 4 * this.limit + 64) this.#trim();
  }

  best(): T[] {
    this.#trim();
    return this.#kept;
  }

  #trim(): void {
    // What was offered twice has one score: it lies side by side.
    this.#kept = this.#kept
      .sort((one, other) => other.score - one.score || one.document - other.document)
      .filter(({ document }, at, all) => all[at - 1]?.document !== document);
    this.#kept.length = Math.min(this.#kept.length, this.limit);
    if (this.#kept.length === this.limit) this.#floor = this.#kept.at(-1)?.score ?? 0;
  }
}
