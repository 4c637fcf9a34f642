/** Chance that can be had again: the same seed draws the same numbers. mulberry32 by T. Ettinger (public domain). */
export class SeededRandom {
  #state: number;

  constructor(seed: number | string) {
    this.#state = typeof seed === 'number' ? mixed(seed >>> 0) : hashed(seed);
  }

  /** In [0, 1). */
  readonly next = (): number => {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };

  /** A whole number in [from, to]. */
  int(from: number, to: number): number {
    return from + Math.floor(this.next() * (to - from + 1));
  }

  between(from: number, to: number): number {
    return from + this.next() * (to - from);
  }

  chance(share: number): boolean {
    return this.next() < share;
  }

  pick<T>(items: readonly T[]): T {
    const item = items[Math.floor(this.next() * items.length)];
    if (item === undefined) throw new Error('nothing to pick from');
    return item;
  }

  bytes(length: number): Buffer {
    const out = Buffer.allocUnsafe(length);
    for (let at = 0; at < length; at += 1) out[at] = Math.floor(this.next() * 256);
    return out;
  }

  /** Draws of its own, so that one part of a run does not disturb the chances of another. */
  fork(name: string): SeededRandom {
    return new SeededRandom(`${this.#state}/${name}`);
  }
}

function mixed(seed: number): number {
  return Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ (seed >>> 13);
}

/** FNV-1a. */
function hashed(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1)
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return mixed(hash >>> 0);
}
