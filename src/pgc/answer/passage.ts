import { excerptOf } from '../source/excerpt.js';
import { conceptsIn, type Question } from '../search/question/question.js';

/** Lines of a section that are looked at. */
export const passageLinesMax = 120;
/** Lines that are read as one: a sentence is broken anywhere. */
const windowLines = 3;

/** Where in a text the question is spoken of most. */
export interface Passage {
  /** Position of its first line. */
  from: number;
  /** In one line, without the marks of its format. */
  text: string;
}

/**
 * The lines that cover most of the question, by the masses of its concepts. The beginning wins where it shows
 * them as well, and undefined is given when no line has anything of the question.
 */
export function passageOf(
  question: Question,
  masses: readonly number[],
  lines: readonly string[],
): Passage | undefined {
  const read = lines.slice(0, passageLinesMax);
  const held = read.map((line) => conceptsIn(question, line));
  const shown = excerptOf(read).lineCount;
  let best = { worth: 0, from: 0 };
  read.forEach((line, from) => {
    if (line.trim() === '') return;
    const covered = new Map<number, number>();
    for (const each of held.slice(from, from + windowLines))
      for (const [concept, trust] of each)
        covered.set(concept, Math.max(covered.get(concept) ?? 0, trust));
    let worth = 0;
    for (const [concept, trust] of covered) worth += trust * (masses[concept] ?? 0);
    if (worth > best.worth * 1.001) best = { worth, from };
  });
  if (best.worth === 0) return undefined;
  const text = paragraphFrom(read, best.from);
  // What stands in the excerpt of the beginning anyway needs none of its own.
  return { from: best.from + windowLines <= shown ? 0 : best.from, text };
}

/** A title says nothing without what stands below it. */
function paragraphFrom(lines: readonly string[], from: number): string {
  const isTitle = /^\s{0,3}#{1,6}\s|^={3,}/.test(lines[from] ?? '');
  const blank = isTitle ? lines.findIndex((line, at) => at > from && line.trim() !== '') : from;
  const rest = lines.slice(Math.max(blank, from));
  const end = rest.findIndex((line, at) => at > 0 && line.trim() === '');
  return [
    ...(isTitle && blank > from ? [`${lines[from] ?? ''}:`] : []),
    ...rest.slice(0, end < 0 ? windowLines * 2 : end),
  ]
    .map(plain)
    .join(' ')
    .replace(/\s+/g, ' ')
    .trim();
}

/** Without marks of Markdown and of comments; a row of a table is a list. */
function plain(line: string): string {
  return line
    .trim()
    .replace(/^\|\s?|\|$/g, '')
    .replace(/\s\|\s/g, ' · ')
    .replace(/^\s*(?:#{1,6}\s|[-*+>]\s|\d{1,3}[.)]\s|\/\/+|\/\*+|\*(?!\*)|"""|#)\s*/, '')
    .replace(/\*\/\s*$/, '')
    .replace(/!?\[([^\]]{0,200})\]\([^)]{0,400}\)/g, '$1')
    .replace(/\*\*|__/g, '');
}
