import type { ExcerptLine } from '../../pgc/shapes.js';
import type { Piece } from '../../render/explored.js';
import { charsIn } from '../bounds.js';
import type { Draft } from './pieces.js';

/** The first pieces are shown before any of them is shown whole. */
const firstMax = 6;
/** One whole definition takes at most this part of the room; a longer one is shown by the lines that decide. */
const wholeShare = 1 / 3;
/** What a line costs beside its text: its number. */
const lineChars = 7;
/** What a piece costs beside its lines: its place, its callers. */
const pieceChars = 300;

/**
 * The pieces with as many lines as there is room for. The lines that decide of the first few; then these whole, best first; then the others, whole
 * where they are short.
 */
export function laidOut(drafts: readonly Draft[], charsMax: number): Piece[] {
  const chosen = new Map<Draft, ExcerptLine[]>();
  let left = charsMax;
  const choose = (draft: Draft, lines: ExcerptLine[], most: number): void => {
    const before = chosen.get(draft);
    const cost = costOf(lines) - (before === undefined ? -pieceChars : costOf(before));
    if (lines.length === 0 || costOf(lines) > most || cost > left) return;
    left -= cost;
    chosen.set(draft, lines);
  };
  const first = drafts.slice(0, firstMax);
  for (const each of first) choose(each, each.excerpt, left);
  for (const each of first) choose(each, each.whole, charsMax * wholeShare);
  for (const each of drafts.slice(firstMax)) {
    choose(each, each.excerpt, left);
    choose(each, each.whole, Math.max(costOf(each.excerpt) * 2, 0));
  }
  return drafts.map((each) => ({ ...each.piece, lines: chosen.get(each) ?? [] }));
}

function costOf(lines: readonly ExcerptLine[]): number {
  return lines.reduce((sum, { text }) => sum + charsIn(text) + lineChars, 0);
}
