import { beginningWithout } from '../mine/items/redaction.js';

/** Longer first sentences are cut at a word. */
const sentenceCharsMax = 220;

/** `i.e.` ends no sentence. */
const sentenceOf = /^.*?(?<!\b(?:i\.e|e\.g|cf|vs))[.!?](?=\s|$)/;

/** Summaries often end without a full stop; these words begin the next paragraph. */
const nextParagraph =
  /(?<=[a-z)])\s(?=(?:Returns?|This|The|These|Note|Context|Description|Called|Callers?|Allocates?|Must|If|When|We|It)\b)/;

/** The first sentence of a documentation comment, as far as `shown`, what is cited for it, has it; else nothing. */
export function documented(doc: string, name: string, shown: string): string {
  const said = firstSentence(doc, name);
  return holds(shown, said) ? said : '';
}

/** Whether every word of a sentence stands in a text, apart from line breaks and punctuation. */
function holds(text: string, said: string): boolean {
  const words = (of: string): string[] => of.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
  const known = new Set(words(text));
  return said !== '' && words(said).every((word) => known.has(word));
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
  return short(plain);
}

/** Without credentials, which go before the text is cut. */
export function short(text: string): string {
  const shown = beginningWithout(text, 2 * sentenceCharsMax).trim();
  return shown.length <= sentenceCharsMax
    ? shown
    : `${shown.slice(0, sentenceCharsMax).replace(/\s+\S*$/, '')} …`;
}

function escapeRegex(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
