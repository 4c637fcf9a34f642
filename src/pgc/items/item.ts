import type { FactsLanguage, ItemFact } from '../facts.js';
import type { Draft } from '../miners/draft.js';

export const itemTextCharsMax = 240;
/** More of one rule in one text say nothing new; a table of ten thousand lines is one thing. */
export const itemsPerRuleMax = 2_000;

/** A text to be looked at, with what its miner found in it. */
export interface ItemSource {
  language: FactsLanguage;
  text: string;
  draft: Draft;
}

/** Collects items of one text, each rule within its bound. */
export class Items {
  readonly found: ItemFact[] = [];
  readonly #perRule = new Map<string, number>();

  constructor(
    readonly source: ItemSource,
    readonly overlay: number,
  ) {}

  /** `[from, to)` are offsets into the text. */
  add(
    rule: string,
    from: number,
    to: number,
    text: string,
    more: Partial<Pick<ItemFact, 'subject' | 'severity' | 'cwe'>> = {},
  ): void {
    const count = this.#perRule.get(rule) ?? 0;
    if (count >= itemsPerRuleMax) return;
    this.#perRule.set(rule, count + 1);
    const { draft } = this.source;
    this.found.push({
      ...{ overlay: this.overlay, rule, text: oneLine(text) },
      line_start: draft.lineOf(from),
      line_end: draft.lineOf(Math.max(from, to - 1)),
      ...{ subject: '', severity: '', cwe: '', ...more },
    });
  }
}

export function oneLine(text: string): string {
  const folded = text.replace(/\s+/g, ' ').trim();
  return folded.length <= itemTextCharsMax ? folded : `${folded.slice(0, itemTextCharsMax - 1)}…`;
}
