import type { ExcerptLine } from '../../pgc/shapes.js';
import type { Piece } from '../../render/explored.js';
import { charsIn } from '../bounds.js';
import type { Draft } from './pieces.js';

/** A definition takes at most this part of the room; of a longer one the lines that decide are shown. */
const wholeShare = 1 / 2;
/** What a line costs beside its text: its number. */
const lineChars = 7;

/**
 * The pieces with as many lines as there is room for: whole, best first, until there is no room for the next; the others are only named. Who reads
 * a part of a function goes and reads the whole.
 */
export function laidOut(drafts: readonly Draft[], charsMax: number): Piece[] {
  let left = charsMax;
  let isFull = false;
  return drafts.map(({ piece, whole, excerpt }) => {
    const lines = whole.length > 0 && costOf(whole) <= charsMax * wholeShare ? whole : excerpt;
    if (isFull) return { ...piece, lines: [] };
    const cost = costOf(lines);
    isFull = cost > left;
    // Of what was asked for by its name, nothing decides more than its beginning.
    if (isFull) return { ...piece, lines: excerpt === whole ? beginningOf(lines, left) : [] };
    left -= cost;
    return { ...piece, lines };
  });
}

function beginningOf(lines: readonly ExcerptLine[], charsMax: number): ExcerptLine[] {
  let left = charsMax;
  const end = lines.findIndex((line) => (left -= costOf([line])) < 0);
  return lines.slice(0, end);
}

function costOf(lines: readonly ExcerptLine[]): number {
  return lines.reduce((sum, { text }) => sum + charsIn(text) + lineChars, 0);
}
