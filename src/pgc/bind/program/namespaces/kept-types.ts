import type { SourceText } from '../source-text.js';
import type { InsideType } from '../values.js';

/** In all texts together. */
const keptMax = 500_000;

type Kept = Map<string, { type: InsideType | undefined }>;

/** What names of namespaces and types mean in a text: it asks for the same few, and many texts open or announce them. */
export class KeptTypes {
  readonly #kept = new Map<SourceText, Kept>();
  #count = 0;

  as(key: string, file: SourceText, find: () => InsideType | undefined): InsideType | undefined {
    if (this.#count >= keptMax) {
      this.#kept.clear();
      this.#count = 0;
    }
    const kept = this.#kept.get(file) ?? (new Map() as Kept);
    this.#kept.set(file, kept);
    let found = kept.get(key);
    if (found === undefined) {
      kept.set(key, (found = { type: find() }));
      this.#count += 1;
    }
    return found.type;
  }
}
