import { conceptsIn, type Question } from '../search/question/question.js';
import { withoutCredentials } from '../mine/items/redaction.js';
import type { ExcerptLine } from '../shapes.js';

/** Lines of a body that are read for those that decide. */
export const bodyLinesMax = 600;
/** Lines that decide, of one piece of evidence; and all its lines. */
export const decidingMax = 5;
export const excerptLinesMax = 12;
export const lineCharsMax = 200;
/** Characters of a line that are read for a credential, which may begin in what is shown and end behind it. */
const readCharsMax = 4 * lineCharsMax;

/** The words of a question and their masses. */
export interface Sought {
  question: Question;
  masses: readonly number[];
}

/**
 * Of a body that begins at line `first`: its first line, and those that say most of what the question is about, each with the
 * line after it. Chosen greedily by the mass of concepts that no chosen line has yet (maximum coverage, Nemhauser et al. 1978);
 * of lines that cover nothing new none is taken. Lines that show a credential are left out.
 */
export function excerptLines(
  lines: readonly string[],
  first: number,
  sought: Sought,
): ExcerptLine[] {
  const read = lines.slice(0, bodyLinesMax);
  const deciding = new Set(covering(read, sought));
  const shown = new Set([0, ...deciding]);
  const around = [...deciding].sort((one, other) => one - other);
  // Without any line of its own a body is shown by its beginning.
  const more = around.length > 0 ? around.map((at) => at + 1) : [1, 2, 3];
  for (const at of more) if (shown.size < excerptLinesMax && isTelling(read[at])) shown.add(at);
  return [...shown]
    .sort((one, other) => one - other)
    .flatMap((at) => lineAt(read[at], first + at, deciding.has(at)));
}

/** The excerpt with one more line that decides, in order. Where it is full, a line that decides nothing goes; the first stays. */
export function withDeciding(
  excerpt: readonly ExcerptLine[],
  text: string,
  line: number,
): ExcerptLine[] {
  const shown = lineAt(text, line, true);
  if (shown.length === 0) return [...excerpt];
  const others = excerpt.filter((each) => each.line !== line);
  if (others.length >= excerptLinesMax) {
    const least = others.findLastIndex(({ decides }, at) => at > 0 && !decides);
    if (least < 0) return [...excerpt];
    others.splice(least, 1);
  }
  return [...others, ...shown].sort((one, other) => one.line - other.line);
}

/** Lines as they stand, none of which decides more than another. */
export function plainLines(lines: readonly string[], first: number): ExcerptLine[] {
  return lines
    .slice(0, excerptLinesMax)
    .flatMap((text, at) => (isTelling(text) ? lineAt(text, first + at, false) : []));
}

function lineAt(text: string | undefined, line: number, decides: boolean): ExcerptLine[] {
  const read = text?.slice(0, readCharsMax);
  if (text === undefined || withoutCredentials(read ?? '') !== read) return [];
  const isSplit = /[\ud800-\udbff]/.test(text.charAt(lineCharsMax - 1));
  return [{ line, text: text.slice(0, isSplit ? lineCharsMax - 1 : lineCharsMax), decides }];
}

function covering(lines: readonly string[], { question, masses }: Sought): number[] {
  // What a line holds behind its shown beginning decides nothing for a reader.
  const said = lines.map((line, at) =>
    at > 0 && isTelling(line) ? [...conceptsIn(question, line.slice(0, lineCharsMax))] : [],
  );
  // A comment speaks of the code below it: that is what decides.
  let above: [number, number][] = [];
  const held = said.map((concepts, at) => {
    if (isComment(lines[at] ?? '') && at + 1 < lines.length) {
      above.push(...concepts);
      return [];
    }
    const all = [...above, ...concepts];
    if (isTelling(lines[at])) above = [];
    return all;
  });
  const covered = new Map<number, number>();
  const chosen: number[] = [];
  while (chosen.length < decidingMax) {
    let best = { at: -1, gain: 0 };
    for (const [at, concepts] of held.entries()) {
      let gain = 0;
      for (const [concept, trust] of concepts)
        gain += Math.max(0, trust - (covered.get(concept) ?? 0)) * (masses[concept] ?? 0);
      if (gain > best.gain) best = { at, gain };
    }
    if (best.at < 0) break;
    chosen.push(best.at);
    for (const [concept, trust] of held[best.at] ?? [])
      covered.set(concept, Math.max(trust, covered.get(concept) ?? 0));
  }
  return chosen;
}

/** By its first signs, in any of the languages. */
function isComment(line: string): boolean {
  return /^\s*(?:\/\/|\/\*|\*\s|\*\/|#\s|<!--)/.test(line);
}

/** Not blank, and more than a bracket. */
function isTelling(line: string | undefined): line is string {
  return line !== undefined && /[\p{L}\p{N}]/u.test(line);
}
