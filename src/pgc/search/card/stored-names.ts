import { asBusError } from '../../../errors/bus-error.js';
import { bytesOf } from '../../format/bytes.js';
import { PackedRows, packRows } from '../../format/packed-rows.js';
import type { Section } from '../../format/container/section.js';
import { packSorted, SortedNames, sortByBytes } from '../../format/sorted-names.js';
import type { NameList, Wanted, WantedNames } from './name-list.js';

/** From this many names in the list for each wanted one, the list is searched and not read. */
const searchedFrom = 64;

export interface PackedList {
  blocks: Uint8Array;
  bytes: Uint8Array;
  /** Column: a number for each name; none: a column of zeros. */
  numbers: Uint8Array;
}

/** Each name once, with a number. */
export function packList(numbered: ReadonlyMap<string, number>): PackedList {
  const names = sortByBytes([...numbered.keys()]);
  const { blocks, bytes } = packSorted(names);
  const numbers = packRows([names.map((name) => numbered.get(name) ?? 0)]);
  return { blocks: bytesOf(blocks), bytes, numbers };
}

/** Reads `packList`: a question for one name reads a few blocks of its file. */
export class StoredNames implements NameList {
  readonly #sections: Record<keyof PackedList, Section>;
  readonly #remade: () => NameList;
  #names?: SortedNames;
  #numbers?: PackedRows;

  /** `remade`: what takes the place of the list where its file turns out to be damaged. */
  constructor(sections: Record<keyof PackedList, Section>, remade: () => NameList) {
    this.#sections = sections;
    this.#remade = remade;
  }

  get size(): number {
    return this.#read(
      () => this.#sorted.size,
      (list) => list.size,
    );
  }

  has(name: Wanted): boolean {
    return this.#read(
      () => this.#sorted.position(name.text) !== undefined,
      (list) => list.has(name),
    );
  }

  numberOf(name: Wanted): number {
    return this.#read(
      () => {
        const at = this.#sorted.position(name.text);
        if (at === undefined) return 0;
        return (this.#numbers ??= new PackedRows(this.#sections.numbers, 1)).at(at);
      },
      (list) => list.numberOf(name),
    );
  }

  among(wanted: WantedNames): Iterable<Wanted> {
    return this.#read(
      () => this.#among(wanted),
      (list) => list.among(wanted),
    );
  }

  #among(wanted: WantedNames): Wanted[] {
    if (wanted.size * searchedFrom < this.#sorted.size)
      return [...wanted].filter(({ text }) => this.#sorted.position(text) !== undefined);
    const all: Wanted[] = [];
    for (const [bytes, length] of this.#sorted.spelled()) {
      const found = wanted.spelled(bytes, 0, length);
      if (found !== undefined) all.push(found);
    }
    return all;
  }

  #read<Result>(stored: () => Result, remade: (list: NameList) => Result): Result {
    try {
      return stored();
    } catch (error) {
      if (asBusError(error).code !== 'INDEX_CORRUPT') throw error;
      return remade(this.#remade());
    }
  }

  get #sorted(): SortedNames {
    const { blocks, bytes } = this.#sections;
    return (this.#names ??= new SortedNames(blocks.numbers(), bytes));
  }
}
