import type { Abbreviations } from '../../format/abbreviations.js';
import { wordsOf } from '../../format/words.js';
import type { Question } from './question.js';

/** One of several words that an abbreviation stands for says little of it. */
const longFormTrust = 0.4;
const shortFormTrust = 0.85;
const phraseWordsMax = 6;

/** The question with what the code base itself writes short, in either direction. */
export function withAbbreviations(question: Question, known: Abbreviations): Question {
  const added = new Map<string, { term: string; trust: number }[]>();
  const note = (word: string, text: string, trust: number): void => {
    const its = added.get(word) ?? [];
    for (const term of wordsOf(text)) its.push({ term, trust });
    added.set(word, its);
  };
  for (const { word } of question.concepts)
    for (const long of known.longFormsOf(word)) note(word, long, longFormTrust);
  const words = question.text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
  for (let from = 0; from < words.length; from += 1)
    for (let count = 2; count <= phraseWordsMax && from + count <= words.length; count += 1) {
      const phrase = words.slice(from, from + count);
      for (const short of known.shortFormsOf(phrase))
        for (const word of phrase) note(word, short, shortFormTrust);
    }
  if (added.size === 0) return question;
  const concepts = question.concepts.map((concept) => {
    // A term that is there twice would count twice.
    const best = new Map<string, number>();
    for (const { term, trust } of [...concept.variants, ...(added.get(concept.word) ?? [])])
      best.set(term, Math.max(best.get(term) ?? 0, trust));
    return { ...concept, variants: Array.from(best, ([term, trust]) => ({ term, trust })) };
  });
  return { ...question, concepts };
}
