import { changeOf } from '../../overlay/history-items.js';
import type { OverlayItems, OverlayItem } from '../../overlay/overlay-file.js';
import { AnchorSet } from './anchor-set.js';
import type { Anchors } from './anchors.js';
import type { Filter, ItemFields } from './filter.js';
import type { Put, Source } from './source.js';

/** Rules of items that git tells of whole files. */
export const historyRules: ReadonlySet<string> = new Set(['history', 'author', 'co-change']);

/**
 * O3 as git tells it. An item of a file is at the file itself (`path#`) and at every symbol in it, so that
 * `O1[function] & O3[author=Ann]` are functions in files of hers. It is asked for by `author`, `since` and
 * `until`, or by its rule; without these O3 are the calls.
 *
 * - `history`: one of each file. `author` is who changed it last, `since` and `until` look at that day.
 * - `author`: one of those who changed it most often, at most five.
 * - `co-change`: a path that changes with it, which is its subject.
 */
export class HistorySource implements Source {
  readonly rules = historyRules;
  readonly #anchors: Anchors;
  readonly #files: readonly OverlayItems[];

  constructor(anchors: Anchors, files: readonly OverlayItems[]) {
    this.#anchors = anchors;
    this.#files = files;
  }

  select(filter: Filter): AnchorSet {
    const set = new AnchorSet(this.#anchors.symbolCount);
    let last = '';
    for (const { file_path } of this.#items(filter)) {
      if (file_path === last) continue;
      last = file_path;
      for (const id of this.#anchorsOf(file_path))
        if (this.#anchors.admits(filter, id)) set.add(id);
    }
    return set;
  }

  ground(filter: Filter, only: AnchorSet, put: Put): void {
    for (const { file_path, rule, line_start: line, text } of this.#items(filter))
      for (const id of this.#anchorsOf(file_path))
        if (only.has(id)) put(id, { overlay: 'O3', rule, file_path, line, text });
  }

  *#items(filter: Filter): Generator<OverlayItem> {
    for (const file of this.#files)
      for (const item of file.items(filter.mayBeOfRule))
        if (filter.path(item.file_path) && filter.item(fieldsOf(item))) yield item;
  }

  *#anchorsOf(path: string): Generator<number> {
    yield this.#anchors.ofPlace(path, '', 0);
    const file = this.#anchors.fileAt(path);
    for (let id = file?.first ?? 0; id < (file?.end ?? 0); id += 1) yield id;
  }
}

function fieldsOf({ rule, text, subject }: OverlayItem): ItemFields {
  const fields = { rule, text, subject };
  if (rule === 'author') return { ...fields, author: subject };
  if (rule !== 'history') return fields;
  const day = changeOf(text);
  return { ...fields, author: subject, ...(day !== undefined && { day }) };
}
