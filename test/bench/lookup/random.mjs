// Chance that can be repeated: everything follows from a seed.

/** 32 bits that follow from seed and text (FNV-1a, then the finaliser of MurmurHash3). */
export function hashOf(seed, text) {
  let hash = (0x811c9dc5 ^ Math.imul(seed, 0x9e3779b1)) >>> 0;
  for (let at = 0; at < text.length; at += 1)
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** Integers in `[0, below)` (mulberry32). */
export function chance(seed) {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * below);
  };
}

/**
 * A uniform sample of the different keys of a stream of unknown length: the `size` keys of which seed and key give
 * the smallest hash. Neither the order nor how often a key comes changes it.
 */
export class Sample {
  #kept = new Map();
  #limit = Infinity;

  constructor(
    seed,
    /** How many keys are wanted. */
    size,
  ) {
    this.seed = seed;
    this.size = size;
  }

  /** Whether `add` would keep this key for now: what costs much to make is made for few. */
  takes(key) {
    return hashOf(this.seed, key) < this.#limit && !this.#kept.has(key);
  }

  add(key, value = key) {
    if (!this.takes(key)) return;
    this.#kept.set(key, { hash: hashOf(this.seed, key), value });
    if (this.#kept.size >= 2 * this.size) this.#cut();
  }

  /** In the order of the draw. */
  values() {
    this.#cut();
    return [...this.#kept.values()].map(({ value }) => value);
  }

  #cut() {
    const sorted = [...this.#kept].sort(([, one], [, other]) => one.hash - other.hash);
    this.#kept = new Map(sorted.slice(0, this.size));
    if (sorted.length >= this.size) this.#limit = sorted[this.size - 1]?.[1].hash ?? Infinity;
  }
}
