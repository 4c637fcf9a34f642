import { between, boundsOf } from './bytes.js';
import { PackedRows } from './packed-rows.js';
import type { Section } from './container/section.js';
import type { SlotRow } from './shard-index.js';
import type { SortedNames } from './sorted-names.js';
import type { StringTable } from './string-table.js';

/** Columns, in this order. */
const slotColumn = { name: 0, caller: 1, file: 2, line: 3, receiver: 4, expression: 5 } as const;

/** The functions in the structures of operations of a segment, by name. */
export class SlotTable {
  readonly #rows: PackedRows;
  readonly #names: SortedNames;
  readonly #labels: StringTable;
  /** By file, in their order. */
  #inFiles?: ReadonlyMap<number, readonly number[]>;

  constructor(rows: Section, names: SortedNames, labels: StringTable) {
    this.#rows = new PackedRows(rows, Object.keys(slotColumn).length);
    this.#names = names;
    this.#labels = labels;
  }

  of(name: string): SlotRow[] {
    const id = this.#names.position(name);
    if (id === undefined) return [];
    const nameAt = (slot: number): number => this.#rows.at(slot, slotColumn.name);
    return between(boundsOf(id, this.#rows.length, nameAt)).map((slot) => this.#slot(slot, name));
  }

  /** Those in one file, in order of the names. */
  inFile(file: number): SlotRow[] {
    const slots = this.#byFile().get(file) ?? [];
    return slots.map((slot) =>
      this.#slot(slot, this.#names.at(this.#rows.at(slot, slotColumn.name))),
    );
  }

  countIn(file: number): number {
    return this.#byFile().get(file)?.length ?? 0;
  }

  #byFile(): ReadonlyMap<number, readonly number[]> {
    if (this.#inFiles !== undefined) return this.#inFiles;
    const found = new Map<number, number[]>();
    for (let slot = 0; slot < this.#rows.length; slot += 1) {
      const file = this.#rows.at(slot, slotColumn.file);
      const known = found.get(file);
      if (known === undefined) found.set(file, [slot]);
      else known.push(slot);
    }
    return (this.#inFiles = found);
  }

  /** In order of the names. `isWanted`: of a name. */
  *all(isWanted: (name: string) => boolean): Generator<SlotRow> {
    let known = { id: -1, name: '', isWanted: false };
    for (let slot = 0; slot < this.#rows.length; slot += 1) {
      const id = this.#rows.at(slot, slotColumn.name);
      if (id !== known.id) {
        const name = this.#names.at(id);
        known = { id, name, isWanted: isWanted(name) };
      }
      if (known.isWanted) yield this.#slot(slot, known.name);
    }
  }

  #slot(slot: number, callee: string): SlotRow {
    const rows = this.#rows;
    return {
      id: -1,
      callee,
      caller: rows.at(slot, slotColumn.caller) - 1,
      file: rows.at(slot, slotColumn.file),
      line: rows.at(slot, slotColumn.line),
      kind: 'slot',
      unused: false,
      receiver: this.#labels.at(rows.at(slot, slotColumn.receiver)),
      expression: this.#labels.at(rows.at(slot, slotColumn.expression)),
    };
  }
}
