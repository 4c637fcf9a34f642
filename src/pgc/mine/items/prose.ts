/** A first sentence of fewer words names something and tells nothing. */
const sentenceWordsMin = 2;
/** Words of an overview beside the name of its file. */
const overviewWordsMin = 3;
/** Lists, code and fields that begin this near are not introduced by a sentence. */
const listCharsMax = 60;

/** Headings above what to do (which O5 knows), lists of what there is, and what is said of the text itself. */
const howTo = [
  /^(?:table of )?contents?$|^(?:index|toc|list of \w+)$/i,
  /\b(?:references?|see also|links?|resources|further reading|bibliography|literature|urls?|mailing lists?)\b/i,
  /\b(?:licen[cs]e|licensing|copyrights?|authors?|credits?|acknowledge?ments?|thanks|contacts?|feedback|contributors?|maintainers?|copying)\b/i,
  /\b(?:change ?logs?|changes|release notes?|revision history|history of|to-?do|versions?|status|what now|updates?)\b/i,
  /\b(?:examples?|sample (?:code|output)|usage|synopsis|how to|how do|howto|howtos|quick ?start|getting started|tutorial|walk-?through|instructions|steps?|recipes?|faq)\b/i,
  /\b(?:install\w*|build(?:ing)?|compil\w+|configur\w+|set-?up|setting\w*|enabl\w+|loading|download\w*|testing|running|debugging|troubleshooting|requirements?|prerequisites|dependencies|using)\b/i,
  /^(?:verifying|checking|creating|generating|moving|adding|getting|selecting|writing|preparing|submitting|sending|applying|changing|updating|reporting|proposing)\b/i,
  /\b(?:options?|parameters?|param\[?\d*\]?|arguments?|attributes?|propert(?:y|ies)|members|fields?|return values?|returns|errors?|files|sysfs|entries|mappings?|commands?|name|names|enum|values?|definitions?|registers?|tables?|supported \w+|devices?)$/i,
];

/** Lines of a comment about its author, or about the text as a file. */
const aside =
  /\S@[^\s@]+\.\w|-\*-|pylint|@file\b|\b[A-Z]{2},? \d{5}\b|^\s*(?:#!|!|\/usr\/bin)|^\s*(?:contact|authors?|maintainers?|e-?mail|created|date|version|modified)\b[^.]{0,60}(?::|$)|^\s*(?:\w+ )?(?:written|created|developed|ported|maintained|updated|modified|improved|fixed|tested|added|rewritten|contributed)(?: and \w+)? by\b/i;
/** From the first line of a paragraph that holds it the paragraph is a licence. */
const legal =
  /licen[cs]e|\bL?GPL|redistribut|free software|\bCOPYING\b|copyri?gh?t|copyrigh\b|\(c\)\s*\d|©|SPDX|all rights reserved|warrant(?:y|ies)|merchantab|as is["\u201d]|permission (?:is hereby|notice|to use, copy)|substantial portions|\bliab(?:le|ility)\b|released under|distributed under|(?<!in )terms (?:of (?:the|use|this)|and conditions)|subject to the|in the hope that|\bGNU\b|software is provided|funded by|contact information|please include|\b(?:software|program|file) (?:is|may be) (?:available to|distributed|provided ["a])/i;
/** Paragraphs that tell what was done to the text. */
const record =
  /^\s*(?:change(?:s|log|d)?|history|revisions?|to-?do|authors?|credits|bugs|fixes|thanks|contacts?)\b\s*(?::|-|$)/i;
/** Sentences that say where a text is from, not what it is for. */
const origin =
  /^(?:(?:this|the|some|parts?|portions?|most|bits|large|heavily|loosely|originally|code|partly|largely)\b[^.]{0,60}\b)?(?:based (?:up)?on|derived from|inspired by|adapted from|taken from|copied from|ported from|borrowed from|moved (?:over )?from|stolen from|from linux\/|is part of|from)\b/i;
const instruction =
  /^(?:please|in general, please|you (?:will )?(?:also )?(?:want|need|have to|must|should)\b|if you (?:want|need|wish|would|have|are|do)|(?:now|first|then|do|go|see|try|check|set|add|write|create|insert|enter|choose|click|copy|start|run|use|type|execute|load|install|edit|select|make sure)\b(?! (?:of|is|are|as)\b)|to \w+[^.]{0,120}\b(?:run|execute|type|use|enable|select|you (?:can|need|have to|must|should)|do the following)\b)/i;
const fileName = /^[\w./+-]+\.(?:[chsS]|h[hx]|cc|cpp|py|js|ts|go|rs|java)\b[\s:,.–—-]*/;

/** Whether a heading announces what to do, or a list, instead of saying what something is and why. */
export function isHowTo(title: string): boolean {
  return howTo.some((pattern) => pattern.test(title.trim().replace(/[:.]+$/, '')));
}

/** Whether the first sentences of a section tell something: a sentence first, and no list of things to do. */
export function isTelling(doc: string): boolean {
  const text = doc.replace(/^[\s:]+/, '');
  // Languages without spaces between words end their sentences in their own way.
  if (/[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/.test(text))
    return !/^(?:[-*•]|\d+\.)\s/.test(text) && /[。！？]/.test(text);
  const [sentence = ''] = /^.*?[.!?](?=\s|["')\]]|$)/.exec(text) ?? [];
  if (sentence.split(' ').length < sentenceWordsMin || !/^["'(*_]?[\p{L}\d]/u.test(sentence))
    return false;
  if (aside.test(sentence) || legal.test(sentence) || instruction.test(sentence)) return false;
  const head = sentence.slice(0, listCharsMax);
  return !/\s(?:[-*•+]|\d\.)\s|::|={3}|^\s*(?:\d+[.)]|[a-z][.)])\s|^\w+(?: \w+)?:\s/.test(head);
}

/** What the comment at the beginning of a file says that the file is; empty when it does not. */
export function overviewOf(comment: string): string {
  const paragraphs = comment
    .replace(/^[ \t]*(?:\/\*+|\*+\/?|\/\/+[!/]?|#+!?|[rRuU]?"""|''')/gm, '')
    .replace(/"""|'''|\*\/\s*$/g, '')
    .split(/\n\s*\n/)
    .filter((paragraph) => !record.test(paragraph))
    .map((paragraph) => withoutOrigin(tellingLines(paragraph)))
    .filter((paragraph) => /[a-z]{3}/i.test(paragraph));
  const prose = paragraphs.join(' ');
  const words = prose.replace(fileName, '').split(/\s+/).filter(Boolean);
  return words.length >= overviewWordsMin ? prose : '';
}

function tellingLines(paragraph: string): string {
  const lines = paragraph.split('\n');
  const end = lines.findIndex((line) => legal.test(line));
  const kept = lines.slice(0, end < 0 ? lines.length : end).filter((line) => !aside.test(line));
  return kept.join(' ').replace(/\s+/g, ' ').trim();
}

function withoutOrigin(paragraph: string): string {
  const name = fileName.exec(paragraph)?.[0] ?? '';
  const sentences = paragraph.slice(name.length).split(/(?<=[.!?])\s+(?=[A-Z])/);
  const kept = sentences.filter((sentence) => !origin.test(sentence));
  return kept.length === 0 ? '' : name + kept.join(' ');
}
