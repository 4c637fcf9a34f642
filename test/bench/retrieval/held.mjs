// Does an answer say anything that its sources do not hold? Pure.
import { sentenceEnd } from './product.mjs';

const apology = /^Nothing here clearly answers the question; this is nearest\.$/;

/** The sentences of an answer: `{ sentence, missing }`, `missing` being words that stand in none of its sources. */
export function heldSentences({ answer, sources }) {
  return answer
    .split(sentenceEnd)
    .filter((sentence) => !apology.test(sentence))
    .map((sentence) => {
      const cited = [...sentence.matchAll(/\[(\d+)\]/g)].flatMap(
        ([, number]) => sources[number - 1] ?? [],
      );
      const known = new Set(cited.flatMap((source) => wordsOf(shownBy(source))));
      return { sentence, missing: claimsOf(sentence).filter((word) => !known.has(word)) };
    });
}

/** Everything that a reader can look up in a source. */
function shownBy({ text, content, file_path, line_start, symbol, overlay, section }) {
  return [text, content, file_path, line_start, symbol, overlay, section].join(' ');
}

/** Names and places in backticks, and what follows the description of the place; not the words of the form. */
function claimsOf(sentence) {
  const plain = sentence.replace(/\[\d+\]/g, ' ');
  const names = [...plain.matchAll(/`([^`]+)`/g)].flatMap(([, name]) =>
    wordsOf(name.replace(/:\d+$/, '')),
  );
  const said = /^`[^`]*` \([^)]*(?:\([^)]*\)[^)]*)*\): (.*)$/s.exec(plain)?.[1] ?? '';
  return [...names, ...wordsOf(said)];
}

function wordsOf(text) {
  return (
    String(text)
      .toLowerCase()
      .match(/[\p{L}\p{N}_]+/gu) ?? []
  );
}
