import type { SymbolRow } from './shard-index.js';

/** Longer first sentences are cut at a word. */
const sentenceCharsMax = 220;

/** Summaries often end without a full stop; these words begin the next paragraph. */
const nextParagraph =
  /(?<=[a-z)])\s(?=(?:Returns?|This|The|These|Note|Context|Description|Called|Callers?|Allocates?|Must|If|When|We|It)\b)/;

const kindWords: Record<string, string> = {
  struct: 'structure',
  type: 'type',
  macro: 'macro',
  module: 'module',
};

/** `` `cma_alloc` (function, mm/cma.c:430): Allocate pages from contiguous area. `` */
export function describe(symbol: SymbolRow, path: string): string {
  const kind = kindWords[symbol.kind] ?? symbol.kind;
  const where = `${path}:${symbol.line_start}`;
  // A number in square brackets is a source, and nothing else.
  const said = firstSentence(symbol.doc, symbol.name).replace(/\[(\d+)\]/g, '($1)');
  const member = symbol.container === '' ? '' : ` of \`${symbol.container}\``;
  return `\`${symbol.name}\` (${kind}${member}, ${where})${said === '' ? '' : `: ${said}`}`;
}

/** The first sentence of a documentation comment, without the name that kernel-doc repeats in front of it. */
export function firstSentence(doc: string, name: string): string {
  const flat = doc.replace(/\s+/g, ' ').trim();
  const head = new RegExp(
    `^(?:(?:struct|union|enum|function|class)\\s+)?${escapeRegex(name)}\\s*(?:\\(\\))?\\s*[-–—:]+\\s*`,
  );
  const said = flat.replace(head, '').replace(/^[-*:\s]+/, '');
  const beforeParameters = said.split(/\s@\w+\s*[:\s]/)[0] ?? said;
  const sentence = /^.*?[.!?](?=\s|$)/.exec(beforeParameters)?.[0] ?? beforeParameters;
  const plain = (sentence.split(nextParagraph)[0] ?? sentence).replace(/[.\s]+$/, '');
  return plain.length <= sentenceCharsMax
    ? plain
    : `${plain.slice(0, sentenceCharsMax).replace(/\s+\S*$/, '')} …`;
}

/** `a`, `a and b`, `a, b and c`. */
export function enumerate(items: string[]): string {
  if (items.length <= 1) return items[0] ?? '';
  return `${items.slice(0, -1).join(', ')} and ${items.at(-1) ?? ''}`;
}

/** Ends a clause as a sentence, with the numbers of its sources. */
export function sentence(clause: string, ...sources: number[]): string {
  const numbers = sources.map((each) => `[${each}]`).join('');
  const ended = /[.!?…]$/.test(clause) ? clause.replace(/\.$/, '') : clause;
  return `${ended}${numbers === '' ? '' : ` ${numbers}`}.`;
}

function escapeRegex(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
