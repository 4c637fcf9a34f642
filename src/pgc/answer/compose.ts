import { beginningWithout, withoutCredentials } from '../mine/items/redaction.js';
import type { OverlayItem } from '../overlay/overlay-file.js';
import type { SymbolRow } from '../format/shard-index.js';

/** Longer first sentences are cut at a word. */
const sentenceCharsMax = 220;

/** `i.e.` ends no sentence. */
const sentenceOf = /^.*?(?<!\b(?:i\.e|e\.g|cf|vs))[.!?](?=\s|$)/;

/** Summaries often end without a full stop; these words begin the next paragraph. */
const nextParagraph =
  /(?<=[a-z)])\s(?=(?:Returns?|This|The|These|Note|Context|Description|Called|Callers?|Allocates?|Must|If|When|We|It)\b)/;

const kindWords: Record<string, string> = {
  struct: 'structure',
  type: 'type',
  macro: 'macro',
  module: 'module',
};

/**
 * `` `cma_alloc` (function, mm/cma.c:430): Allocate pages from contiguous area ``. Its documentation is told as far
 * as `shown`, what is cited for it, has it.
 */
export function describe(symbol: SymbolRow, path: string, shown: string): string {
  const kind = kindWords[symbol.kind] ?? symbol.kind;
  const where = `${path}:${symbol.line_start}`;
  const said = firstSentence(symbol.doc, symbol.name);
  const told = holds(shown, said) ? `: ${withoutNumbers(said)}` : '';
  const member = symbol.container === '' ? '' : ` of \`${symbol.container}\``;
  return `\`${symbol.name}\` (${kind}${member}, ${where})${told}`;
}

/** `` `README.md:12` (section): Run the tests with npm test ``; `passage`: what of its lines answers. */
export function describeItem(item: OverlayItem, passage: string | undefined): string {
  const what = item.rule.replaceAll('-', ' ');
  const inside = item.symbol === '' || item.overlay === 'O4' ? '' : ` ${placeIn(item.symbol)}`;
  const weight = item.severity === '' ? '' : `, ${item.severity}`;
  const weakness = item.cwe === '' ? '' : `, ${item.cwe}`;
  const said = withoutNumbers(cut((passage ?? item.text).trim()));
  return `\`${item.file_path}:${item.line_start}\` (${what}${inside}${weight}${weakness})${said === '' ? '' : `: ${said}`}`;
}

/** In a function, or under a title. */
function placeIn(symbol: string): string {
  return /^[\w$]+$/.test(symbol) ? `in \`${symbol}\`` : `under “${withoutNumbers(cut(symbol))}”`;
}

/** Whether every word of a sentence stands in a text, apart from line breaks and punctuation. */
function holds(text: string, said: string): boolean {
  const words = (of: string): string[] => of.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
  const known = new Set(words(text));
  return said !== '' && words(said).every((word) => known.has(word));
}

/** A number in square brackets is a source, and nothing else. */
function withoutNumbers(text: string): string {
  return text.replace(/\[(\d+)\]/g, '($1)');
}

/** The first sentence of a documentation comment, without the name that kernel-doc repeats in front of it. */
export function firstSentence(doc: string, name: string): string {
  const flat = doc.replace(/\s+/g, ' ').trim();
  const head = new RegExp(
    `^(?:(?:struct|union|enum|function|class)\\s+)?${escapeRegex(name)}\\s*(?:\\(\\))?\\s*[-–—:]+\\s*`,
  );
  const said = flat.replace(head, '').replace(/^[-*:\s]+/, '');
  const beforeParameters = said.split(/\s@\w+\s*[:\s]/)[0] ?? said;
  const sentence = sentenceOf.exec(beforeParameters)?.[0] ?? beforeParameters;
  const plain = (sentence.split(nextParagraph)[0] ?? sentence).replace(/[.\s]+$/, '');
  return cut(plain);
}

/** Without credentials, which go before the text is cut. */
function cut(text: string): string {
  const shown = beginningWithout(text, 2 * sentenceCharsMax);
  return shown.length <= sentenceCharsMax
    ? shown
    : `${shown.slice(0, sentenceCharsMax).replace(/\s+\S*$/, '')} …`;
}

/** `a`, `a and b`, `a, b and c`. */
export function enumerate(items: string[]): string {
  if (items.length <= 1) return items[0] ?? '';
  return `${items.slice(0, -1).join(', ')} and ${items.at(-1) ?? ''}`;
}

/** Ends a clause as a sentence, with the numbers of its sources; without credentials, wherever it has its words from. */
export function sentence(clause: string, ...sources: number[]): string {
  const numbers = sources.map((each) => `[${each}]`).join('');
  const ended = withoutCredentials(clause).replace(/\.$/, '');
  return `${ended}${numbers === '' ? '' : ` ${numbers}`}.`;
}

function escapeRegex(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
