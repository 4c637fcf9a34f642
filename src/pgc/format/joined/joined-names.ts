import type { Segment } from '../segment.js';
import { compareBytes, sortedByBytes } from './joined-terms.js';

/** The names of several segments in one order. */
export class JoinedNames {
  readonly all: readonly string[];
  /** By source: the number here of each of its names. */
  readonly #numbers: readonly Uint32Array[];

  constructor(segments: readonly Segment[]) {
    const lists = segments.map((segment) => [...segment.names()]);
    this.all = sortedByBytes(new Set(lists.flat()), (name) => name);
    const numbers = new Map(this.all.map((name, at) => [name, at]));
    this.#numbers = lists.map((names) => Uint32Array.from(names, (name) => numbers.get(name) ?? 0));
  }

  of(source: number, name: number): number {
    return this.#numbers[source]?.[name] ?? 0;
  }
}

/** Merges what several segments have by name, each in order of the names: with the number of the segment. */
export function* mergedByName<Value>(
  segments: readonly Segment[],
  listed: (segment: Segment) => Iterable<[name: string, value: Value]>,
): Generator<[name: string, values: [source: number, value: Value][]]> {
  const open = segments.map((segment) => listed(segment)[Symbol.iterator]());
  const heads = open.map((each) => each.next());
  for (;;) {
    let least: string | undefined;
    for (const head of heads)
      if (head.done !== true && (least === undefined || compareBytes(head.value[0], least) < 0))
        least = head.value[0];
    if (least === undefined) return;
    const values: [number, Value][] = [];
    for (const [source, head] of heads.entries()) {
      if (head.done === true || head.value[0] !== least) continue;
      values.push([source, head.value[1]]);
      heads[source] = open[source]?.next() ?? { done: true, value: undefined };
    }
    yield [least, values];
  }
}
