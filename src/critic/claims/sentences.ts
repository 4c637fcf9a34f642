import type { Stance } from './claim.js';

/** A part of a passage, with where it begins there. */
export interface Sentence {
  text: string;
  at: number;
}

const abbreviation = /(?:\be\.g|\bi\.e|\betc|\bvs|\bcf|\bno|\bfig|\bapprox)\.$/i;

/** At full stops, question marks and the bars of a table, but not within a code span. */
export function sentencesOf(text: string): Sentence[] {
  const found: Sentence[] = [];
  let begin = 0;
  let isSpan = false;
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at] ?? '';
    if (sign === '`') isSpan = !isSpan && text.indexOf('`', at + 1) >= 0;
    if (isSpan || !isEnd(text, at, begin)) continue;
    found.push({ text: text.slice(begin, at + 1), at: begin });
    begin = at + 1;
  }
  found.push({ text: text.slice(begin), at: begin });
  return found.filter((each) => /[\p{L}\p{N}]/u.test(each.text));
}

function isEnd(text: string, at: number, begin: number): boolean {
  const sign = text[at] ?? '';
  if (sign === '|') return text[at + 1] === ' ' && text[at - 1] === ' ';
  if (!'.!?'.includes(sign) || text[at + 1] !== ' ') return false;
  if (!/[\p{Lu}`"'([*_<#]/u.test(text[at + 2] ?? '`')) return false;
  return !abbreviation.test(text.slice(Math.max(begin, at - 8), at + 1));
}

const making =
  'add|introduc|creat|mov|renam|implement|expos|replac|liv|provid|support|becom|land|ship|export|tak|remov|drop|split|extract|grow|gain|offer|writ|com|defin|hold|get|contain';
const futureMaking = new RegExp(
  `\\b(?:will|shall|would|could|might|going to|is to|are to)\\s(?:\\w{1,15}\\s){0,3}?(?:${making})(?:e|es|ed|ing|ten|s|t)?\\b`,
  'gi',
);
const future = new RegExp(
  `\\b(?:planned|not yet|to be (?:added|written|implemented|done|created|introduced|decided)|TODO|FIXME|(?<!point )in the (?:near )?future|upcoming|propos(?:e|es|ed|al)|roadmap|someday|one day|(?:later|next|future|coming) (?:version|release)s?)\\b`,
  'i',
);
const futureOfDoing = /\b(?:will|shall|going to|would|could|might)\b/i;
const past =
  /\b(?:was|were|has been|have been|had been|been|got|is|are|being)\s(?:\w{1,15}\s){0,2}?(?:removed|deleted|renamed|moved|dropped|replaced|superseded|retired|deprecated|gone)\b|(?:\b(?:it|this|that|there|they|we|which|who|code|version)|[\x60)]) used to\b|\bno longer\b|\bformerly\b|\bpreviously\b|\b(?:removed|dropped) (?:in|from|with|since)\b|\bin (?:earlier|older|previous|former) (?:versions?|releases?)\b|\b(?:older|earlier|former|previous) (?:name|version|file)\b|\b(?:before|until|prior to) v?\d|\brenamed (?:from|to)\b/i;
const absent =
  /\bthere (?:is|are|was|were) (?:no|not|neither)\b|\b(?:does|do|did|is|are)(?: not|n't)(?: \w{1,15})? (?:exist|present|available|exported|defined|implemented|included|found|have|has|provided|supported|any more|part)\b|\b(?:has|have|with|knows?|contains?) no\b|\black(?:s|ing)?\b|\bmissing\b|\bwithout\b|\bnonexist|\bnon-exist|\binstead of\b|\brather than\b|\bunlike\b|\bno such\b|\bnot (?:a|an|called|named)\b/gi;
const conditional =
  /\b(?:may exist|suppose|supposing|imagine|assume|assuming|hypothetical|were to)\b/i;
const existing = /\b(?:exists?|is (?:there|present|found|available|defined|missing)|were|had)\b/i;
const conditionalHead =
  /^\W{0,4}(?:if|when|unless|should|once|in case|provided|assuming)\b[^,]{0,300}/i;
const conditionalTail = /(?<!\bas )\b(?:if|unless|in case|provided that)\s/i;
const example =
  /\b(?:example(?!s?[:.,])|say,|let's|let us|you can (?:create|add|write|name|define)|create (?:a|an|the)|named? (?:it|like)|imaginary|placeholder|something like)(?!\w)/i;
/** What follows these is an example; what stands before them is not. */
const exampleFrom =
  /\b(?:e\.g\.|such as|like(?= [\x60*'"(])|for example|for instance|examples?[:.,]|your(?! (?:app|application|code|project|program|own)\b))(?!\w)/i;
const negation =
  /\b(?:not|never|no|nor|neither|cannot|nothing|none|nobody|hardly)\b|n't\b|\bwithout\b/i;

/** Of something that stands at `at` in a sentence. */
export function stanceAt(sentence: string, at: number): Stance {
  if (past.test(sentence)) return 'past';
  if (future.test(sentence) || isToCome(sentence, at)) return 'future';
  if (isDenied(sentence, at)) return 'negated';
  if (isConditional(sentence, at)) return 'conditional';
  const from = exampleFrom.exec(sentence);
  return example.test(sentence) || (from !== null && at > from.index) ? 'example' : 'asserted';
}

/** Of what a sentence says that something does: said of the future, it is not said of the code as it is. */
export function stanceOfRelation(sentence: string, at: number, words: string): Stance {
  const stance = stanceAt(sentence, at);
  if (stance !== 'asserted' && stance !== 'negated') return stance;
  if (futureOfDoing.test(words)) return 'future';
  return negation.test(words) ? 'negated' : 'asserted';
}

const toCome = /\bbe\b|\b(?:to|not)\b|\b(?:liv|land|ship|becom|com)(?:e|es)?$/i;

/** What will be made stands behind the words for it, or is their subject; of what another clause names nothing is said. */
function isToCome(sentence: string, at: number): boolean {
  for (const match of sentence.matchAll(futureMaking)) {
    const between = sentence.slice(at, match.index).replaceAll(/`[^`]{0,200}`?/g, '');
    // What something will do when it is called is not to come.
    if (at < match.index && !toCome.test(match[0])) continue;
    if (at >= match.index || !/[,;:]\s|\s(?:and|but|which|so|then|because|while)\s/.test(between))
      return true;
  }
  return false;
}

/** Further from the words that deny something, something else is denied. */
const deniedChars = 40;

function isDenied(sentence: string, at: number): boolean {
  for (const match of sentence.matchAll(absent)) {
    const end = match.index + match[0].length;
    // Another clause speaks of something else.
    if (/;/.test(sentence.slice(Math.min(at, end), Math.max(at, match.index)))) continue;
    if (at < end ? match.index - at <= 2 * deniedChars : at - end <= deniedChars) return true;
  }
  return false;
}

/** What is called if something holds is there; what is said to be there if something holds may not be. */
function isConditional(sentence: string, at: number): boolean {
  if (conditional.test(sentence)) return true;
  const head = conditionalHead.exec(sentence);
  if (head !== null) return at < head[0].length && existing.test(head[0]);
  const tail = conditionalTail.exec(sentence);
  return tail !== null && at > tail.index && existing.test(sentence.slice(tail.index));
}

/** Followed by what must be: "MUST, SHOULD or MAY" names the words and binds nobody. */
const hard =
  /\b(?:MUST|SHALL)(?: NOT)? (?!or\b|and\b)[a-z`*_]|\bREQUIRED\b(?! ?[,/])|\b(?:must|shall) (?:never|not)\b/;

/** Of a rule that binds: RFC 2119 in capitals, or "must never". */
export function isHardRule(sentence: string): boolean {
  return hard.test(sentence);
}
