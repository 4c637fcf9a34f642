const wordBits = 32;

/** A set of anchors, one bit each: three million symbols are 375 KB. Ids beyond its end are not in it. */
export class AnchorSet {
  #words: Uint32Array;

  constructor(capacity = 0) {
    this.#words = new Uint32Array(Math.ceil(capacity / wordBits));
  }

  /** All ids below `end`. */
  static below(end: number): AnchorSet {
    const set = new AnchorSet(end);
    set.#words.fill(0xffff_ffff);
    if (end % wordBits > 0) set.#words[set.#words.length - 1] = 2 ** (end % wordBits) - 1;
    return set;
  }

  add(id: number): void {
    const word = id >>> 5;
    if (word >= this.#words.length) {
      const wider = new Uint32Array(Math.max(word + 1, this.#words.length * 2));
      wider.set(this.#words);
      this.#words = wider;
    }
    this.#words[word] = (this.#words[word] ?? 0) | (1 << (id & 31));
  }

  has(id: number): boolean {
    return ((this.#words[id >>> 5] ?? 0) & (1 << (id & 31))) !== 0;
  }

  get count(): number {
    let count = 0;
    for (let bits of this.#words) {
      bits -= (bits >>> 1) & 0x5555_5555;
      bits = (bits & 0x3333_3333) + ((bits >>> 2) & 0x3333_3333);
      count += Math.imul((bits + (bits >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24;
    }
    return count;
  }

  union(other: AnchorSet): AnchorSet {
    return this.#with(other, (mine, its) => mine | its);
  }

  intersection(other: AnchorSet): AnchorSet {
    return this.#with(other, (mine, its) => mine & its);
  }

  difference(other: AnchorSet): AnchorSet {
    return this.#with(other, (mine, its) => mine & ~its);
  }

  /** In ascending order, from `from` to below `end`. */
  *ids(from = 0, end = this.#words.length * wordBits): Generator<number> {
    for (let id = from; id < end; id += 1) {
      // A word without a bit is passed over at once.
      if ((this.#words[id >>> 5] ?? 0) === 0) id |= 31;
      else if (this.has(id)) yield id;
    }
  }

  #with(other: AnchorSet, combine: (mine: number, its: number) => number): AnchorSet {
    const words = Math.max(this.#words.length, other.#words.length);
    const set = new AnchorSet(words * wordBits);
    for (let word = 0; word < words; word += 1)
      set.#words[word] = combine(this.#words[word] ?? 0, other.#words[word] ?? 0);
    return set;
  }
}
