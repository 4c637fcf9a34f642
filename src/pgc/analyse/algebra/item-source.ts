import type { OverlayItems, OverlayItem } from '../../overlay/overlay-file.js';
import type { OverlayName } from '../../shapes.js';
import { AnchorSet } from './anchor-set.js';
import type { Anchors } from './anchors.js';
import type { Filter } from './filter.js';
import type { Put, Source } from './source.js';
import { bearersOf, spokenNames } from './spoken-names.js';

/** The item of a symbol that says itself what it is for. */
const docRule = 'doc';
/** Elsewhere the subject is a word (`getrusage` of a system call), or what is called. */
const rulesOfSubjects: ReadonlySet<string> = new Set([
  'surface-ioctl',
  'surface-netlink',
  'surface-file-write',
  'surface-sockopt',
  'surface-parameter',
  'module-parameter',
  'parameter',
  'undocumented',
]);
/** Of them those that stand in the comment above the symbol. */
const rulesOfComments: ReadonlySet<string> = new Set(['parameter', 'undocumented']);
/** What a table or a macro may name. */
const namedKinds: ReadonlySet<string> = new Set(['function', 'macro', 'variable', 'constant']);
/** Its text is names of people and folders. */
const maintainerRule = 'maintainer';

/**
 * O2 and O4 to O7, whose items have files of their own. An item is at the anchor of its file and of the
 * innermost symbol around it; `path#` when there is none. Beyond that:
 *
 * - Where the subject is a symbol of the same file, also at that one: the handler that a table names, the
 *   variable of a parameter, the function whose documentation is wrong (`rulesOfSubjects`).
 * - O4: also at every symbol that its text speaks of by name (`spokenNames`), in whichever file; and a
 *   symbol with a doc comment is there, with the rule `doc`.
 */
export class ItemSource implements Source {
  readonly rules: ReadonlySet<string>;
  readonly #overlay: OverlayName;
  readonly #anchors: Anchors;
  readonly #files: readonly OverlayItems[];

  constructor(overlay: OverlayName, anchors: Anchors, files: readonly OverlayItems[]) {
    this.#overlay = overlay;
    this.#anchors = anchors;
    this.#files = files;
    const rules = files.flatMap((file) => Object.keys(file.info.rules));
    this.rules = new Set(overlay === 'O4' ? [...rules, docRule] : rules);
  }

  select(filter: Filter): AnchorSet {
    const set = new AnchorSet(this.#anchors.symbolCount);
    this.#visit(filter, (anchor) => {
      if (!set.has(anchor) && this.#anchors.admits(filter, anchor)) set.add(anchor);
    });
    if (this.#overlay !== 'O4') return set;
    if (filter.isOpen) return set.union(this.#anchors.documented);
    this.#visitDocumented(filter, this.#anchors.documented, (anchor) => {
      set.add(anchor);
    });
    return set;
  }

  ground(filter: Filter, only: AnchorSet, put: Put): void {
    this.#visit(filter, (anchor, item) => {
      if (!only.has(anchor)) return;
      const { rule, file_path, line_start: line, text } = item;
      put(anchor, { overlay: this.#overlay, rule, file_path, line, text });
    });
    if (this.#overlay === 'O4')
      this.#visitDocumented(filter, this.#anchors.documented.intersection(only), put);
  }

  /** Every anchor of every item that passes by itself; whether the anchor does is not looked at. */
  #visit(filter: Filter, visit: (anchor: number, item: OverlayItem) => void): void {
    const spoken: { item: OverlayItem; names: Set<string> }[] = [];
    const allNames = new Set<string>();
    for (const item of this.#items(filter)) {
      const { file_path, symbol, subject, line_start: line } = item;
      visit(this.#anchors.ofPlace(file_path, symbol, line), item);
      if (subject !== symbol && rulesOfSubjects.has(item.rule))
        for (const named of this.#subjectsOf(item)) visit(named, item);
      if (this.#overlay !== 'O4' || item.rule === maintainerRule) continue;
      const names = spokenNames(item.text);
      for (const name of names) allNames.add(name);
      if (names.size > 0) spoken.push({ item, names });
    }
    const bearers = bearersOf(this.#anchors, allNames);
    for (const { item, names } of spoken)
      for (const name of names) for (const anchor of bearers.get(name) ?? []) visit(anchor, item);
  }

  /** The symbol that a comment belongs to, or all that a name alone may mean in its file. */
  #subjectsOf({ file_path, rule, subject, line_start: line }: OverlayItem): Set<number> {
    const named = this.#anchors.namedIn(file_path, subject);
    const meant = rulesOfComments.has(rule)
      ? named.filter(({ row }) => row.line_start >= line).slice(0, 1)
      : named.filter(({ row }) => row.container === '' && namedKinds.has(row.kind));
    return new Set(meant.map(({ shard, symbol }) => this.#anchors.ofSymbol(shard, symbol)));
  }

  *#items(filter: Filter): Generator<OverlayItem> {
    for (const file of this.#files)
      for (const item of file.items(filter.mayBeOfRule)) if (filter.item(item)) yield item;
  }

  #visitDocumented(filter: Filter, among: AnchorSet, put: Put): void {
    for (const id of among.ids()) {
      if (!this.#anchors.admits(filter, id)) continue;
      const { file_path } = this.#anchors.row(id);
      for (const { row } of this.#anchors.symbolsOf(id)) {
        const { doc: text, name: subject, line_start: line } = row;
        if (text === '' || !filter.item({ rule: docRule, text, subject })) continue;
        put(id, { overlay: 'O4', rule: docRule, file_path, line, text });
      }
    }
  }
}
