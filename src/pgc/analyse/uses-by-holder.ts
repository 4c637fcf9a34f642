import type { CallRow, ShardIndex } from '../format/shard-index.js';

/** Names that are used without being called, by the symbol around them; the index has them by name. */
export class UsesByHolder {
  readonly #index: ShardIndex;
  /** Of all uses inside symbols, in the order of these, then of the text. */
  readonly #holders: Uint32Array;
  readonly #ids: Uint32Array;

  constructor(index: ShardIndex) {
    const held: [holder: number, id: number][] = [];
    for (const { id, caller } of index.uses()) if (caller >= 0) held.push([caller, id]);
    held.sort((one, other) => one[0] - other[0] || one[1] - other[1]);
    this.#index = index;
    this.#holders = Uint32Array.from(held, ([holder]) => holder);
    this.#ids = Uint32Array.from(held, ([, id]) => id);
  }

  of(symbol: number): CallRow[] {
    let low = 0;
    let high = this.#holders.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#holders[middle] ?? 0) < symbol) low = middle + 1;
      else high = middle;
    }
    const found: CallRow[] = [];
    for (let at = low; this.#holders[at] === symbol; at += 1)
      found.push(this.#index.site(this.#ids[at] ?? 0));
    return found;
  }
}
