import { CallTable, type CallerPlaces, type CallSections } from './call-table.js';
import { PackedRows } from './packed-rows.js';
import type { SectionName, SectionsOf } from './container/segment-file.js';
import { SlotTable } from './slot-table.js';
import { SortedNames } from './sorted-names.js';
import { StringTable } from './string-table.js';
import { PackedTerms } from './term-index.js';

/** Columns of the tables, in this order. */
export const symbolColumn = {
  ...{ name: 0, kind: 1, flags: 2, file: 3, line: 4, rest: 5, signature: 6, container: 7, doc: 8 },
} as const;
export const typeColumn = { owner: 0, role: 1, name: 2, type: 3 } as const;
export const importColumn = { target: 0, line: 1, firstName: 2 } as const;

/** Section → number of columns. */
const rowSections = {
  importRows: Object.keys(importColumn).length,
  symbolRows: Object.keys(symbolColumn).length,
  nameSymbols: 1,
  scannedPlaces: 2,
  typeRows: Object.keys(typeColumn).length,
} as const satisfies Partial<Record<SectionName, number>>;
type RowSection = keyof typeof rowSections;
type Sections = SectionsOf<SectionName>;

type NumberSection =
  | 'fileRows'
  | 'fileSymbols'
  | 'filesByPath'
  | 'importStarts'
  | 'importNames'
  | 'typeStarts';

/** Typed views of the sections of a segment, each made when it is first needed: its section may not have been read yet. */
export class SegmentParts {
  readonly #sections: Sections;
  readonly #rows: Partial<Record<RowSection, PackedRows>> = {};
  readonly #numbers: Partial<Record<NumberSection, Uint32Array>> = {};
  readonly #place: CallerPlaces;
  #kinds?: readonly string[];
  #blobs?: Buffer;
  #names?: SortedNames;
  #scanned?: SortedNames;
  #labels?: StringTable;
  #texts?: StringTable;
  #calls?: CallTable;
  #uses?: CallTable;
  #slots?: SlotTable;
  #terms?: PackedTerms;

  constructor(sections: Sections, place: CallerPlaces) {
    this.#sections = sections;
    this.#place = place;
  }

  rows(name: RowSection): PackedRows {
    return (this.#rows[name] ??= new PackedRows(this.#sections[name], rowSections[name]));
  }

  numbers(name: NumberSection): Uint32Array {
    return (this.#numbers[name] ??= this.#sections[name].numbers());
  }

  get kinds(): readonly string[] {
    return (this.#kinds ??= this.#sections.kinds.json() as string[]);
  }

  get blobs(): Buffer {
    return (this.#blobs ??= this.#sections.fileBlobs.whole());
  }

  get names(): SortedNames {
    return (this.#names ??= sortedIn(this.#sections, 'nameBlocks', 'nameBytes'));
  }

  get scanned(): SortedNames {
    return (this.#scanned ??= sortedIn(this.#sections, 'scannedBlocks', 'scannedNames'));
  }

  get labels(): StringTable {
    return (this.#labels ??= stringsIn(this.#sections, 'labelOffsets', 'labelBytes'));
  }

  get texts(): StringTable {
    return (this.#texts ??= stringsIn(this.#sections, 'textOffsets', 'textBytes'));
  }

  get calls(): CallTable {
    return (this.#calls ??= this.#table(callsIn(this.#sections)));
  }

  get uses(): CallTable {
    return (this.#uses ??= this.#table(usesIn(this.#sections, this.calls.length)));
  }

  get slots(): SlotTable {
    return (this.#slots ??= new SlotTable(this.#sections.slotRows, this.names, this.labels));
  }

  /** Symbols that have a vector, in order. */
  get vectorSymbols(): Uint32Array {
    return this.#sections.vectorSymbols.numbers();
  }

  get vectorRows(): Int8Array {
    const { buffer, byteOffset, byteLength } = this.#sections.vectorRows.whole();
    return new Int8Array(buffer, byteOffset, byteLength);
  }

  get terms(): PackedTerms {
    return (this.#terms ??= new PackedTerms(this.#sections));
  }

  #table(sections: CallSections): CallTable {
    return new CallTable(sections, this.names, this.labels, this.#place);
  }
}

function sortedIn(sections: Sections, blocks: SectionName, bytes: SectionName): SortedNames {
  return new SortedNames(sections[blocks].numbers(), sections[bytes]);
}

function stringsIn(sections: Sections, offsets: SectionName, bytes: SectionName): StringTable {
  return new StringTable(sections[offsets], sections[bytes]);
}

function callsIn({ callRows, callExpressions, nameCalls, outsideCalls }: Sections): CallSections {
  return {
    ...{ rows: callRows, expressions: callExpressions, byName: nameCalls },
    ...{ outside: outsideCalls, firstId: 0 },
  };
}

/** Their ids follow those of the calls. */
function usesIn(
  { useRows, useExpressions, nameUses, outsideUses }: Sections,
  firstId: number,
): CallSections {
  return {
    ...{ rows: useRows, expressions: useExpressions, byName: nameUses },
    ...{ outside: outsideUses, firstId },
  };
}
