import { JoinedTerms } from '../format/joined/joined-terms.js';
import { fileRuns, Runs } from '../format/joined/runs.js';
import type { OverlayFile, OverlayItem, OverlayItems } from './overlay-file.js';

/** The items of an overlay that lie in several files, numbered as in one. */
export class JoinedOverlay implements OverlayItems {
  readonly #parts: readonly OverlayFile[];
  readonly #files: Runs;
  readonly #items: Runs;
  #terms?: JoinedTerms;
  #info?: OverlayItems['info'];

  /** `hides`: files of earlier parts that this one replaces, or that are gone. */
  constructor(sources: readonly { file: OverlayFile; hides: ReadonlySet<string> }[]) {
    this.#parts = sources.map(({ file }) => file);
    this.#files = fileRuns(
      sources.map(({ file, hides }) => ({
        ...{ count: file.fileCount, hides },
        path: (at: number) => file.path(at),
      })),
    );
    this.#items = new Runs(
      this.#files.all().map(({ source, first, length }) => {
        const [start, end] = this.#part(source).itemSpan(first, first + length);
        return { source, first: start, length: end - start };
      }),
    );
  }

  get info(): OverlayItems['info'] {
    return (this.#info ??= { ...this.#part(0).info, rules: this.#countRules() });
  }

  get fileCount(): number {
    return this.#files.length;
  }

  get itemCount(): number {
    return this.#items.length;
  }

  get terms(): JoinedTerms {
    return (this.#terms ??= new JoinedTerms(
      this.#parts.map((file, source) => ({
        ...{ terms: file.terms, isWhole: this.#files.isWhole(source, file.fileCount) },
        joined: (item) => this.#items.of(source, item),
      })),
      this.itemCount,
      (item) => this.#items.at(item),
    ));
  }

  *items(isWanted: (rule: string) => boolean = () => true): Generator<OverlayItem> {
    for (let item = 0; item < this.itemCount; item += 1)
      if (isWanted(this.ruleOf(item))) yield this.item(item);
  }

  *subjects(): Generator<Pick<OverlayItem, 'rule' | 'subject'>> {
    for (let item = 0; item < this.itemCount; item += 1)
      yield { rule: this.ruleOf(item), subject: this.subjectOf(item) };
  }

  item(item: number): OverlayItem {
    const [part, id] = this.#itemIn(item);
    return part.item(id);
  }

  ruleOf(item: number): string {
    const [part, id] = this.#itemIn(item);
    return part.ruleOf(id);
  }

  subjectOf(item: number): string {
    const [part, id] = this.#itemIn(item);
    return part.subjectOf(id);
  }

  fileOf(item: number): number {
    const place = this.#items.at(item);
    const file = place && this.#files.of(place.source, this.#part(place.source).fileOf(place.id));
    return file ?? 0;
  }

  get places(): string[] {
    return this.#parts.flatMap(({ places }) => places);
  }

  itemsIn(file: number): number[] {
    const { source = 0, id = 0 } = this.#files.at(file) ?? {};
    return this.#part(source)
      .itemsIn(id)
      .flatMap((item) => this.#items.of(source, item) ?? []);
  }

  path(file: number): string {
    const { source = 0, id = 0 } = this.#files.at(file) ?? {};
    return this.#part(source).path(id);
  }

  itemsAt(path: string): OverlayItem[] {
    for (const [source, part] of this.#parts.entries()) {
      const file = part.fileNamed(path);
      if (file !== undefined && this.#files.of(source, file) !== undefined)
        return part.itemsAt(path);
    }
    return [];
  }

  #countRules(): Record<string, number> {
    const rules: Record<string, number> = {};
    for (const { rule } of this.subjects()) rules[rule] = (rules[rule] ?? 0) + 1;
    return rules;
  }

  #itemIn(item: number): [part: OverlayFile, item: number] {
    const place = this.#items.at(item);
    if (place === undefined) throw new RangeError(`no item ${item}`);
    return [this.#part(place.source), place.id];
  }

  #part(source: number): OverlayFile {
    return this.#parts[source] as OverlayFile;
  }
}
