import type { FactsLanguage, ItemFact } from '../../format/facts.js';
import type { Draft } from '../draft.js';
import { withoutCredentials } from './redaction.js';

export const itemTextCharsMax = 240;
/** More of one rule in one text say nothing new; a table of ten thousand lines is one thing. */
export const itemsPerRuleMax = 2_000;
/** Of the rules that define names: a definition that is left out would make O7 call the name unknown. */
const answersPerRuleMax = 200_000;
const answers: ReadonlySet<string> = new Set(['option', 'made']);
/** Characters of a text that patterns are run over. */
const rawCharsMax = 8 * itemTextCharsMax;
/** Characters before an offset that are searched for the start of its line. */
const lineHeadCharsMax = 400;

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
    if (count >= (answers.has(rule) ? answersPerRuleMax : itemsPerRuleMax)) return;
    this.#perRule.set(rule, count + 1);
    const { draft } = this.source;
    const { subject = '', severity = '', cwe = '' } = more;
    this.found.push({
      ...{ overlay: this.overlay, rule, text: oneLine(text) },
      line_start: draft.lineOf(from),
      line_end: draft.lineOf(Math.max(from, to - 1)),
      ...{ subject: oneLine(subject), severity, cwe },
    });
  }
}

/** Folded and cut to `itemTextCharsMax`; no credential in it. */
export function oneLine(text: string): string {
  const cut = text.trimStart().slice(0, rawCharsMax);
  const folded = withoutCredentials(cut.replace(/\s+/g, ' ').trim());
  return folded.length <= itemTextCharsMax ? folded : `${folded.slice(0, itemTextCharsMax - 1)}…`;
}

/** The text before an offset in its line; undefined when the line begins too far before it. */
export function lineHead(text: string, at: number): string | undefined {
  const from = Math.max(0, at - lineHeadCharsMax);
  const head = text.slice(from, at);
  const line = head.lastIndexOf('\n') + 1;
  return line === 0 && from > 0 ? undefined : head.slice(line);
}

/** Rust begins statements with `*p`, which a line of a comment does not. */
const slashComment = /^\s*(?:\/\*|\*[\s*/])|(?:^|\s)\/\//;
const hashComment = /(?:^|\s)#/;

/** Whether a comment begins before an offset in its line. */
export function isCommented({ text, language }: ItemSource, at: number): boolean {
  const comment = language === 'python' ? hashComment : slashComment;
  return comment.test(lineHead(text, at) ?? '');
}
