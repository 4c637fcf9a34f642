// Slips of the finger as they happen to everyone, drawn from a seed.
import { chance, hashOf } from '../lookup/random.mjs';

/** Shorter words are hardly ever mistyped without being noticed, and one edit makes another word of them. */
const lettersMin = 5;
const letters = 'abcdefghijklmnopqrstuvwxyz';

/**
 * The text with one edit (a letter too few, too many, another one, or two in the wrong order) in `count` of its words; in
 * none that stands in quotation marks or looks like a name of the code, which are pasted.
 */
export function misspelt(text, count, seed) {
  const draw = chance(hashOf(seed, text));
  const pasted = [...text.matchAll(/"[^"]*"|'[^']{10,}'|`[^`]*`/g)].map((each) => [
    each.index,
    each.index + each[0].length,
  ]);
  const words = [...text.matchAll(/(?<![\w./-])[A-Z]?[a-z]+(?![\w/-]|\.\w)/g)].filter(
    ({ 0: word, index }) =>
      word.length >= lettersMin && !pasted.some(([from, to]) => from <= index && index < to),
  );
  const chosen = [];
  while (chosen.length < count && words.length > 0)
    chosen.push(...words.splice(draw(words.length), 1));
  let whole = text;
  // From the end, so that the places of the others stay.
  for (const { 0: word, index } of chosen.sort((one, other) => other.index - one.index))
    whole = whole.slice(0, index) + edited(word, draw) + whole.slice(index + word.length);
  return whole;
}

/** The first letter stays: it is what people get right. */
function edited(word, draw) {
  const at = 1 + draw(word.length - 1);
  const [before, after] = [word.slice(0, at), word.slice(at)];
  const letter = letters[draw(letters.length)];
  const kind = ['drop', 'add', 'swap', 'other'][draw(4)];
  if (kind === 'drop') return before + after.slice(1);
  if (kind === 'add') return before + letter + after;
  if (kind === 'other') return before + letter + after.slice(1);
  return at + 1 < word.length
    ? before + after[1] + after[0] + after.slice(2)
    : before + letter + after.slice(1);
}
