import { NumberColumn } from './bytes.js';

/** Pairs of numbers, in two columns. */
export class Pairs {
  readonly #first = new NumberColumn();
  readonly #second = new NumberColumn();

  push(first: number, second: number): void {
    this.#first.push(first);
    this.#second.push(second);
  }

  /** Each once, by other numbers. */
  sorted(
    firstOf: (id: number) => number = (id) => id,
    secondOf: (id: number) => number = (id) => id,
  ): [Uint32Array, Uint32Array] {
    const first = this.#first.values().map(firstOf);
    const second = this.#second.values().map(secondOf);
    const compared = (one: number, other: number): number =>
      (first[one] ?? 0) - (first[other] ?? 0) || (second[one] ?? 0) - (second[other] ?? 0);
    const all = Uint32Array.from(first, (_, at) => at);
    // After a small change most of them come in order.
    if (all.some((_, at) => at > 0 && compared(at - 1, at) > 0)) all.sort(compared);
    const order = all.filter((at, place) => {
      const last = all[place - 1] ?? -1;
      return place === 0 || first[at] !== first[last] || second[at] !== second[last];
    });
    return [order.map((at) => first[at] ?? 0), order.map((at) => second[at] ?? 0)];
  }
}

/** Rows in order of their values, equal ones as they come. */
export function orderOf(values: Uint32Array): Uint32Array {
  return Uint32Array.from(values.keys()).sort(
    (one, other) => (values[one] ?? 0) - (values[other] ?? 0) || one - other,
  );
}
