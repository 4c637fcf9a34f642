import type { SymbolRow } from '../../format/shard-index.js';
import { AnchorSet } from './anchor-set.js';
import type { Anchors } from './anchors.js';
import type { Filter, ItemFields } from './filter.js';
import type { Put, Source } from './source.js';

/**
 * O1: every symbol that the shards hold, defined or only declared in its file. Its rule is its kind,
 * so that `O1[function]` are the functions; its text the signature, its subject its name.
 */
export class StructureSource implements Source {
  readonly rules = undefined;
  readonly #anchors: Anchors;

  constructor(anchors: Anchors) {
    this.#anchors = anchors;
  }

  select(filter: Filter): AnchorSet {
    if (filter.isOpen) return AnchorSet.below(this.#anchors.symbolCount);
    const set = new AnchorSet(this.#anchors.symbolCount);
    for (const { shard, file, path } of this.#anchors.files) {
      if (!filter.path(path)) continue;
      for (const symbol of shard.symbolsOf(file)) {
        const outline = shard.outline(symbol);
        if (!filter.symbol(outline) || !filter.mayBeOfRule(outline.kind)) continue;
        // Only what is left is worth reading.
        const isIn = !filter.asksTexts || passes(filter, shard.symbol(symbol));
        if (isIn) set.add(this.#anchors.ofSymbol(shard, symbol));
      }
    }
    return set;
  }

  ground(filter: Filter, only: AnchorSet, put: Put): void {
    for (const id of only.ids(0, this.#anchors.symbolCount)) {
      const { file_path } = this.#anchors.row(id);
      for (const { row } of this.#anchors.symbolsOf(id)) {
        if (!passes(filter, row)) continue;
        const { kind: rule, line_start: line, signature: text } = row;
        put(id, { overlay: 'O1', rule, file_path, line, text });
      }
    }
  }
}

function passes(filter: Filter, row: SymbolRow): boolean {
  return filter.name(row.name) && filter.symbol(row) && filter.item(itemOf(row));
}

function itemOf({ kind, signature, name }: SymbolRow): ItemFields {
  return { rule: kind, text: signature, subject: name };
}
