/** Items by due time: a binary min-heap. The caller drops items it no longer wants. */
export class Schedule<T> {
  readonly #heap: { atMs: number; item: T }[] = [];

  get size(): number {
    return this.#heap.length;
  }

  add(atMs: number, item: T): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push({ atMs, item });
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (this.#at(parent) <= atMs) break;
      this.#swap(at, parent);
      at = parent;
    }
  }

  /** The earliest item whose time has come, or undefined. */
  take(nowMs: number): T | undefined {
    const first = this.#heap[0];
    if (first === undefined || first.atMs > nowMs) return undefined;
    const last = this.#heap.pop();
    if (last !== undefined && last !== first) {
      this.#heap[0] = last;
      this.#sink();
    }
    return first.item;
  }

  /** Drops what is not wanted any more. */
  prune(isWanted: (item: T) => boolean): void {
    const wanted = this.#heap.filter(({ item }) => isWanted(item));
    this.#heap.length = 0;
    for (const { atMs, item } of wanted) this.add(atMs, item);
  }

  #sink(): void {
    const size = this.#heap.length;
    for (let at = 0; ;) {
      const left = 2 * at + 1;
      const right = left + 1;
      let least = at;
      if (left < size && this.#at(left) < this.#at(least)) least = left;
      if (right < size && this.#at(right) < this.#at(least)) least = right;
      if (least === at) return;
      this.#swap(at, least);
      at = least;
    }
  }

  #at(index: number): number {
    return this.#heap[index]?.atMs ?? Infinity;
  }

  #swap(a: number, b: number): void {
    const [one, other] = [this.#heap[a], this.#heap[b]];
    if (one === undefined || other === undefined) return;
    this.#heap[a] = other;
    this.#heap[b] = one;
  }
}
