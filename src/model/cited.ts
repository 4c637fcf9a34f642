/** Where one sentence ends and the next begins, with the numbers behind its mark; `e.g.` ends none. */
const betweenSentences =
  /(?<=[.!?](?:\s?\[\d+\])*)(?<!\b(?:e\.g|i\.e|cf|vs)\.)\s+(?=\S)(?!\[\d)|(?<=[。！？](?:\s?\[\d+\])*)(?=\S)(?!\s?\[\d)/u;

/** Where a line breaks amid a sentence: half of one may say the opposite of the whole. */
const withinSentence = /(?<=[^\s.!?:;|\]。！？])[ \t]*\r?\n[ \t]*(?=[\p{Ll}`([])(?!```)/gu;

/** Keeps the sentences that cite an existing source, by its number from 1. An undefined source was not given. */
export function citedOnly<Source extends object>(
  text: string,
  sources: readonly (Source | undefined)[],
): { text: string; cited: Source[]; dropped: number } {
  if (sources.length === 0) return { text, cited: [], dropped: 0 };
  const cited = new Set<Source>();
  let dropped = 0;
  const kept = text
    .replace(withinSentence, ' ')
    .split('\n')
    .map((line) => {
      const sentences = line.split(betweenSentences);
      return sentences
        .filter((sentence) => {
          if (!/[\p{L}\p{N}]/u.test(sentence)) return true;
          const numbers = [...sentence.matchAll(/\[(\d+)\]/g)].map(([, number]) => Number(number));
          const valid = numbers.flatMap((number) => sources[number - 1] ?? []);
          if (valid.length === 0 || valid.length < numbers.length) {
            dropped += 1;
            return false;
          }
          for (const each of valid) cited.add(each);
          return true;
        })
        .join(' ');
    });
  return {
    text: kept
      .join('\n')
      .replace(/\n{3,}/g, '\n\n')
      .trim(),
    cited: [...cited],
    dropped,
  };
}
