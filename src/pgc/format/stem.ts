/** Limit for rounds of suffix removal. Each one shortens the word, so few are needed. */
const roundsMax = 8;
const shortestStem = 3;

/** Participles and plurals for which the rules below would give another stem than for their verb. */
const irregular = new Map([
  ['freed', 'free'],
  ['indices', 'index'],
  ['indexes', 'index'],
  ['matrices', 'matrix'],
  ['vertices', 'vertex'],
  ['children', 'child'],
  ['buses', 'bus'],
  ['registration', 'register'],
  ['registrations', 'register'],
]);

/**
 * The index form of a lower-case word: `buffers` and `buffer` meet in `buffer`; `allocates`, `allocated`,
 * `allocating`, `allocation`, `allocator` and `alloc` in `alloc`. Names with digits or underscores are
 * left alone. Idempotent.
 *
 * After M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980, with three changes for
 * code: agents on -er stay (`driver` is not `drive`), -ate, -ation and -ator go altogether where a
 * clipped word remains (`alloc`, `iter`, `valid`), and the rules run until nothing changes, so that a
 * stem that is stemmed again is itself.
 */
export function stem(word: string): string {
  if (!/^[a-z]+$/.test(word)) return word;
  let stemmed = word;
  for (let round = 0; round < roundsMax; round += 1) {
    const next = irregular.get(stemmed) ?? withoutSuffix(stemmed);
    if (next === stemmed) return stemmed;
    stemmed = next;
  }
  return stemmed;
}

function withoutSuffix(word: string): string {
  if (word.length <= shortestStem) return word;
  if (word.endsWith('s')) return singular(word);
  if (word.endsWith('ied') && word.length > 5) return `${word.slice(0, -3)}y`;
  if (word.endsWith('ed') && !word.endsWith('eed')) return participle(word, 2);
  if (word.endsWith('ing')) return participle(word, 3);
  if (word.endsWith('ational')) return word.slice(0, -2);
  if (word.endsWith('ification')) return `${word.slice(0, -7)}y`;
  for (const suffix of ['ation', 'ative', 'ator', 'ate', 'at']) {
    if (word.endsWith(suffix) && isClipped(word.slice(0, -suffix.length))) {
      return word.slice(0, -suffix.length);
    }
  }
  // `deletion` and `delete`, `migration` and `migrate`, `creator` and `create`.
  if (/[st]ion$/.test(word) && word.length >= 8) return word.slice(0, -3);
  if (word.endsWith('ator') && word.length >= 7) return word.slice(0, -2);
  if (word.endsWith('ment') && word.length >= 9 && !word.endsWith('statement'))
    return word.slice(0, -4);
  if (word.endsWith('ll') && measure(word) > 1) return word.slice(0, -1);
  if (/[^aeous]e$/.test(word) && !isShort(word.slice(0, -1))) return word.slice(0, -1);
  return word;
}

function singular(word: string): string {
  if (word.endsWith('ss')) return word;
  if (word.endsWith('ies') && word.length > 4) return `${word.slice(0, -3)}y`;
  if (/(?:ss|x|ch|sh)es$/.test(word)) return word.slice(0, -2);
  return word.slice(0, -1);
}

/** `mapped`, `mapping` → `map`; `filled`, `polling` keep their double letter; `paged`, `queued` their e. */
function participle(word: string, length: number): string {
  const rest = word.slice(0, -length);
  if (rest.length < shortestStem || !/[aeiouy]/.test(rest)) return word;
  const last = rest.at(-1) ?? '';
  if (rest.at(-2) === last) return 'aeioulsz'.includes(last) ? rest : rest.slice(0, -1);
  return isShort(rest) || last === 'u' || last === 's' ? `${rest}e` : rest;
}

/**
 * Porter's *o with m = 1: one syllable, consonant–vowel–consonant. Such words keep an e, which separates `state` from
 * `stat`.
 */
function isShort(rest: string): boolean {
  return /[^aeiou][aeiouy][^aeiouwxy]$/.test(rest) && measure(rest) === 1;
}

/** Whether the rest is a plausible short form in programs: at least two syllables, ending in a consonant. */
function isClipped(rest: string): boolean {
  return rest.length >= 4 && measure(rest) > 1 && /[^aeiouy]$/.test(rest);
}

/** Porter's m: the number of vowel–consonant sequences. */
function measure(word: string): number {
  return word.match(/[aeiouy][^aeiouy]/g)?.length ?? 0;
}
