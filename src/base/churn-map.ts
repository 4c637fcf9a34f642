/** Fewer removals are not worth a new table. */
const removalsMin = 256;

/**
 * A Map for entries that come and go all the time. V8 gives a Map a new table after some dozens of
 * removals, and the old table points to the new one. Once a table has grown old enough to be collected
 * rarely, that chain keeps alive every table behind it with all it held: megabytes of requests that were
 * answered long ago, copied by each collection. A fresh Map now and then cuts the chain.
 */
export class ChurnMap<K, V> {
  #map = new Map<K, V>();
  #removals = 0;

  get size(): number {
    return this.#map.size;
  }

  get(key: K): V | undefined {
    return this.#map.get(key);
  }

  set(key: K, value: V): void {
    this.#map.set(key, value);
  }

  delete(key: K): boolean {
    if (!this.#map.delete(key)) return false;
    this.#removals += 1;
    // As many removals as it copies entries, at least: a constant share of work for each.
    if (this.#removals >= Math.max(removalsMin, this.#map.size)) {
      this.#map = new Map(this.#map);
      this.#removals = 0;
    }
    return true;
  }

  /** As they are now, in the order in which they came: safe to change while it is walked. */
  entries(): [K, V][] {
    return [...this.#map];
  }

  values(): V[] {
    return [...this.#map.values()];
  }
}
