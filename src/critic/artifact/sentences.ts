/** A sentence of a paragraph; lines count from 0, at its first. */
export interface SentenceIn {
  /** In one line. */
  text: string;
  line: number;
  lineEnd: number;
  /** Offset behind its last character in the paragraph. */
  end: number;
}

/** A mark that may end a sentence, with closing brackets and quotes, before whitespace or the end. */
const ending = /(?<![.!?…])[.!?…]+[)\]"'’”*_`]*(?=\s|$)|[。！？]/g;
/** Abbreviations: their points end no sentence. */
const abbreviation =
  /(?:^|[\s(])(?:e\.g|i\.e|[cC]f|vs|approx|ca|[nN]o|[fF]ig|[sS]ec|pp?|[vV]ol|al|M(?:rs?|s)|Dr|St|resp|incl|\p{Lu}|\d{1,2})\.$/u;
const abbreviationChars = 12;

/** `paragraph`: raw Markdown, with the breaks of its lines. Linear. */
export function sentencesIn(paragraph: string): SentenceIn[] {
  const found: SentenceIn[] = [];
  let from = 0;
  let line = 0;
  const take = (to: number): void => {
    const raw = paragraph.slice(from, to);
    const blank = raw.length - raw.trimStart().length;
    const begins = line + breaks(raw.slice(0, blank));
    const text = raw.trim();
    line += breaks(raw);
    from = to;
    if (/[\p{L}\p{N}]/u.test(text))
      found.push({
        ...{ text: text.replace(/\s+/g, ' '), line: begins, lineEnd: begins + breaks(text) },
        end: to,
      });
  };
  for (const match of paragraph.matchAll(ending)) {
    const end = match.index + match[0].length;
    if (isEnd(paragraph, match.index + 1, end, from)) take(end);
  }
  take(paragraph.length);
  return found;
}

function isEnd(text: string, point: number, end: number, from: number): boolean {
  const next = text.slice(end, end + 2).trim();
  // A sentence does not begin with a small letter.
  if (/^\p{Ll}/u.test(next)) return false;
  return !abbreviation.test(text.slice(Math.max(from, point - abbreviationChars), point));
}

function breaks(text: string): number {
  return text.split('\n').length - 1;
}
