import { conceptsIn, type Question } from '../search/question/question.js';
import { withoutCredentials } from '../mine/items/redaction.js';
import type { ExcerptLine } from '../shapes.js';

/** Lines of a body that are read for those that decide. */
export const bodyLinesMax = 600;
/** Lines of one piece of evidence that are chosen by what they say of the question; and all its lines. */
export const decidingMax = 5;
export const excerptLinesMax = 12;
/** Lines by which a body is shown that holds nothing of the question. */
const beginningMax = 3;
export const lineCharsMax = 200;
/** Characters of a line that are read for a credential, which may begin in what is shown and end behind it. */
const readCharsMax = 4 * lineCharsMax;

/** The words of a question and their masses. */
export interface Sought {
  question: Question;
  masses: readonly number[];
}

/** What is known of a body beside its text. */
export interface Known {
  /** Behind how many lines its code begins: those before it decide nothing. */
  code: number;
  /** Lines on which it leads on, best first. */
  leads: readonly number[];
}

/**
 * Of a body that begins at line `first`: its first line; those that say most of what the question is about; those on which it
 * leads on. What room is left goes to the line after each of them and to lines that say the same again.
 * A body that fits is shown whole. Chosen greedily by the mass of concepts that no chosen line has yet (maximum coverage,
 * Nemhauser et al. 1978). Lines that show a credential are left out.
 */
export function excerptLines(
  lines: readonly string[],
  first: number,
  sought: Sought,
  { code, leads }: Known = { code: 1, leads: [] },
): ExcerptLine[] {
  const read = lines.slice(0, bodyLinesMax);
  const held = heldBy(read, code, sought);
  const steps = leads.map((line) => line - first).filter((at) => at > 0 && at < read.length);
  const most = excerptLinesMax - 1;
  const best = new Set([...covering(held, sought, decidingMax), ...steps]);
  const deciding = new Set([...best].slice(0, most));
  const shown = new Set([0, ...deciding]);
  const add = (at: number): void => {
    if (shown.size < excerptLinesMax && isTelling(read[at])) shown.add(at);
  };
  const body = read.flatMap((line, at) => (at >= code && isTelling(line) ? [at] : []));
  if (body.length <= most) for (const at of body) add(at);
  // Without any line of its own a body is shown by its beginning.
  if (deciding.size === 0) for (const at of body.slice(0, beginningMax)) add(at);
  for (const at of deciding) add(at + 1);
  for (let again = [-1]; again.length > 0 && shown.size < excerptLinesMax;) {
    const others = held.map((each, at) => (shown.has(at) ? [] : each));
    again = covering(others, sought, excerptLinesMax - shown.size);
    for (const at of again) shown.add(at);
  }
  return [...shown]
    .sort((one, other) => one - other)
    .flatMap((at) => lineAt(read, at, first, deciding.has(at)));
}

/** Lines as they stand, none of which decides more than another. */
export function plainLines(lines: readonly string[], first: number): ExcerptLine[] {
  return lines
    .slice(0, excerptLinesMax)
    .flatMap((text, at) => (isTelling(text) ? lineAt(lines, at, first, false) : []));
}

/** All of them but those that show a credential. */
export function linesAsTheyStand(lines: readonly string[], first: number): ExcerptLine[] {
  return lines.flatMap((_, at) => lineAt(lines, at, first, false));
}

function lineAt(
  lines: readonly string[],
  at: number,
  first: number,
  decides: boolean,
): ExcerptLine[] {
  const text = lines[at];
  if (text === undefined || showsCredential(lines, at)) return [];
  const line = first + at;
  const isSplit = /[\ud800-\udbff]/.test(text.charAt(lineCharsMax - 1));
  return [{ line, text: text.slice(0, isSplit ? lineCharsMax - 1 : lineCharsMax), decides }];
}

/** The concepts of each line, with their trust. */
type Held = readonly (readonly [concept: number, trust: number])[];

/** What each line holds for a reader: nothing before `code`, nor behind its shown beginning. */
function heldBy(lines: readonly string[], code: number, { question }: Sought): Held[] {
  // A comment speaks of the code below it: that is what decides.
  let above: Held = [];
  return lines.map((line, at) => {
    if (at < code || !isTelling(line)) return [];
    const all = [...above, ...conceptsIn(question, line.slice(0, lineCharsMax))];
    const isAbove = isComment(line) && at + 1 < lines.length;
    above = isAbove ? all : [];
    return isAbove ? [] : all;
  });
}

/** The lines that together hold most, at most `most`. */
function covering(held: readonly Held[], { masses }: Sought, most: number): number[] {
  const covered = new Map<number, number>();
  const chosen: number[] = [];
  while (chosen.length < most) {
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

/** Also of a name on the line before: formatters put a long value below it. */
function showsCredential(lines: readonly string[], at: number): boolean {
  const [before = '', line = ''] = [lines[at - 1], lines[at]].map((each) =>
    each?.slice(0, readCharsMax),
  );
  if (withoutCredentials(line) !== line) return true;
  const joined = `${before.trimEnd()} ${line.trimStart()}`;
  return withoutCredentials(joined) !== joined && withoutCredentials(before) === before;
}
