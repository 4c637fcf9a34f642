/** Chance that can be repeated: mulberry32 (Tommy Ettinger, 2017), 32 bits of state. */
export class Chance {
  #state;

  constructor(seed) {
    this.#state = seed >>> 0;
  }

  /** From 0, below 1. */
  next() {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from `low` to `high`, both included. */
  between(low, high) {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  pick(items) {
    return items[this.between(0, items.length - 1)];
  }

  /** A new list in another order (Fisher and Yates). */
  shuffled(items) {
    const list = [...items];
    for (let at = list.length - 1; at > 0; at -= 1) {
      const other = this.between(0, at);
      [list[at], list[other]] = [list[other], list[at]];
    }
    return list;
  }
}
