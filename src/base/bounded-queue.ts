/** First in, first out, never longer than `limit`. Amortised O(1); no array shifting. */
export class BoundedQueue<T> {
  #items: T[] = [];
  #head = 0;

  constructor(readonly limit: number) {}

  get size(): number {
    return this.#items.length - this.#head;
  }

  /** False when full; the caller answers with a code. */
  offer(item: T): boolean {
    if (this.size >= this.limit) return false;
    this.#items.push(item);
    return true;
  }

  take(): T | undefined {
    if (this.size === 0) return undefined;
    const item = this.#items[this.#head];
    this.#head += 1;
    if (this.#head > 64 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }

  takeAll(): T[] {
    const all = this.#items.slice(this.#head);
    this.#items = [];
    this.#head = 0;
    return all;
  }
}
