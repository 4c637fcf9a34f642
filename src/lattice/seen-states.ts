/** States that are remembered: hosts take a newer index within a moment of each other. */
const statesMax = 16;

/** Of which states of a tree's index its shards have answered. */
export class SeenStates {
  /** The number of the last answer from each, the oldest first. */
  readonly #last = new Map<string, number>();
  #count = 0;

  /** Empty: the shard does not say. */
  note(state: string): void {
    if (state === '') return;
    this.#count += 1;
    this.#last.delete(state);
    this.#last.set(state, this.#count);
    const [oldest] = this.#last.keys();
    if (this.#last.size > statesMax && oldest !== undefined) this.#last.delete(oldest);
  }

  /** To be asked later: whether all answers from now on are from one state. */
  watch(): () => boolean {
    const before = this.#count;
    return () => [...this.#last.values()].filter((number) => number > before).length <= 1;
  }
}
