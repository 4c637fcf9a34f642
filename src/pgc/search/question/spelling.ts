import { stem } from '../../format/stem.js';
import type { TermIndex } from '../../format/term-index.js';
import { isStopWord, type Question } from './question.js';

/** One edit makes another word of a shorter one. */
const lettersMin = 5;
const lettersMax = 24;
/** Words of one question that are looked at, about a millisecond each. */
const wordsMax = 12;
/** Words that one may have been meant to be, the most frequent first. */
const meantMax = 3;
const meantTrust = 0.7;
const letters = 'abcdefghijklmnopqrstuvwxyz';

interface Respelt {
  question: Question;
  /** What was read as something else, in sentences. */
  readAs: string[];
}

/** The question with what stands nowhere in the index read as the words of the index that are one slip of the finger away. */
export function respelt(question: Question, index: TermIndex): Respelt {
  const readAs: string[] = [];
  let looked = 0;
  const concepts = question.concepts.flatMap((concept) => {
    const word = concept.word.toLowerCase();
    const isKnown = concept.variants.some(({ term }) => index.documentFrequency(term) > 0);
    if (isKnown || concept.isName || !isPlain(word)) return [concept];
    if (looked >= wordsMax) return [concept];
    looked += 1;
    const near = nearOf(word);
    // A misspelt `which` says no more than `which`.
    if (near.some(isStopWord)) return [];
    const meant = knownAmong(near, index);
    const [best] = meant;
    if (best === undefined) return [concept];
    readAs.push(`“${concept.word}” was read as “${best.word}”.`);
    return [{ ...concept, variants: meant.map(({ term }) => ({ term, trust: meantTrust })) }];
  });
  return { question: looked === 0 ? question : { ...question, concepts }, readAs };
}

function isPlain(word: string): boolean {
  return word.length >= lettersMin && word.length <= lettersMax && /^[a-z]+$/.test(word);
}

/** By their terms, of which several words may share one. */
function knownAmong(words: readonly string[], index: TermIndex): { term: string; word: string }[] {
  const byTerm = new Map(words.map((word) => [stem(word), word]));
  return [...byTerm]
    .map(([term, word]) => ({ term, word, documents: index.documentFrequency(term) }))
    .filter(({ documents }) => documents > 0)
    .sort((one, other) => other.documents - one.documents)
    .slice(0, meantMax);
}

/**
 * All that is one letter more, less or other, or has two in the other order; the first letter is what people get right.
 * P. Norvig, "How to write a spelling corrector", 2007.
 */
function nearOf(word: string): string[] {
  const near: string[] = [];
  for (let at = 1; at <= word.length; at += 1) {
    const [before, after] = [word.slice(0, at), word.slice(at)];
    for (const letter of letters) {
      near.push(before + letter + after);
      if (after !== '') near.push(before + letter + after.slice(1));
    }
    if (after !== '') near.push(before + after.slice(1));
    if (after.length > 1) near.push(before + after.charAt(1) + after.charAt(0) + after.slice(2));
  }
  return near;
}
