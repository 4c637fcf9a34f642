import type { Edits } from '../edits.js';

/** What an open bracket holds; frames share their parents, so that a state is remembered at no cost. */
export interface Frame {
  kind: 'block' | 'record' | 'list' | 'paren';
  parent: Frame | undefined;
  /** Of `(`: behind it a statement begins. */
  isHead: boolean;
  /** Of `(`: the name before it, when that is the first word of a statement. */
  macro: MacroName | undefined;
  /** Of `{`: opened by `do`. */
  isDo: boolean;
}

export interface MacroName {
  name: string;
  at: number;
  /** The statement begins in the first column. */
  isAtMargin: boolean;
  /** The statement belongs to an `if (…)` or its like. */
  isOwed: boolean;
}

/** The state of a scan at one offset. */
export interface Place {
  top: Frame | undefined;
  /** A statement, a declaration or an item of a list may begin here. */
  isStart: boolean;
  /** It is the statement of an `else`, a `do`, an `if (…)`: not complete without it. */
  isOwed: boolean;
}

/** Longer alternatives are code of their own: they are left to the parser. */
export const alternativeCharsMax = 4_000;

interface Branch {
  from: number;
  to: number;
  end: Place;
}

interface Group {
  start: Place;
  /** Each `#if`, `#else`, `#endif` of the group, `[from, to)`. */
  directives: [from: number, to: number][];
  branches: Branch[];
  /** The branch that is read when only one can be. */
  kept: number;
  isWhole: boolean;
}

/**
 * A grammar without a preprocessor accepts `#if` around whole statements only. Where a branch opens a
 * brace that another closes, or begins in the middle of an expression, the first branch stays and the
 * directives and the other branches are blanked, as the compiler does.
 */
export class Conditionals {
  readonly #open: Group[] = [];
  /** Branches of function bodies that were blanked: they still call. */
  readonly dropped: [from: number, to: number][] = [];

  constructor(readonly edits: Edits) {}

  /** The directive `[from, to)` was read at `place`; returns where the scan stands behind it. */
  directive(text: string, from: number, to: number, place: Place): Place {
    const [, word = '', condition = ''] =
      /^#\s*(if|ifdef|ifndef|elif|else|endif)\b([^\n]{0,200})/.exec(
        text.slice(from, Math.min(to, from + 260)),
      ) ?? [];
    if (word === '') return place;
    if (word.startsWith('if')) {
      const isOfCpp = condition.includes('__cplusplus');
      // `#if 0` is dead, and so is what only C++ reads: `extern "C" {`, and its end elsewhere.
      const isDead = isOfCpp
        ? word !== 'ifndef' && !condition.includes('!')
        : /^\s+0\b/.test(condition);
      this.#open.push({
        start: place,
        directives: [[from, to]],
        branches: [{ from: to, to, end: place }],
        kept: isDead ? 1 : 0,
        isWhole: !isOfCpp && isComplete(place) && place.top?.kind !== 'paren',
      });
      return place;
    }
    const group = this.#open.at(-1);
    const branch = group?.branches.at(-1);
    if (group === undefined || branch === undefined) return place;
    branch.to = from;
    branch.end = place;
    group.directives.push([from, to]);
    group.isWhole &&= place.top === group.start.top && isComplete(place);
    if (word === 'endif') {
      this.#open.pop();
      return this.#close(group);
    }
    group.branches.push({ from: to, to, end: place });
    return group.start;
  }

  #close(group: Group): Place {
    const kept = group.branches[group.kept];
    const isList = group.start.top?.kind === 'list';
    if (group.isWhole && !isList) return kept?.end ?? group.start;
    const others = group.isWhole ? [] : group.branches.filter((each) => each !== kept);
    if (others.every((each) => each.to - each.from <= alternativeCharsMax)) {
      for (const [from, to] of group.directives) this.edits.blank(from, to);
      for (const { from, to } of others) {
        this.edits.blank(from, to);
        if (isInBlock(group.start.top)) this.dropped.push([from, to]);
      }
    }
    return kept?.end ?? group.start;
  }
}

function isComplete({ isStart, isOwed }: Place): boolean {
  return isStart && !isOwed;
}

function isInBlock(top: Frame | undefined): boolean {
  for (let frame = top; frame !== undefined; frame = frame.parent) {
    if (frame.kind === 'block') return true;
  }
  return false;
}
