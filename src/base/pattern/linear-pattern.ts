import { parsePattern, type Edge, type PatternNode } from './pattern-syntax.js';
import { wordUnits, type UnitSet } from './unit-set.js';

/** Steps of a compiled pattern: `(a{30}){30}` asks for 900 of them. */
export const stepsMax = 500;

type Step =
  | { kind: 'unit'; set: UnitSet }
  | { kind: 'edge'; edge: Edge }
  /** Goes on at both. */
  | { kind: 'fork'; to: number; or: number }
  | { kind: 'found' };

/**
 * A regular expression from outside, which may be written to be slow. It is not matched by
 * backtracking, as `RegExp` does, but by following all its states at once (K. Thompson, "Regular Expression
 * Search Algorithm", CACM 1968; R. Cox, "Regular Expression Matching Can Be Simple And Fast", 2007): at most
 * `stepsMax` steps for each character of any text. Hence no back-references and no
 * look-around; the rest means what it means to `RegExp` without flags.
 */
export class LinearPattern {
  readonly #steps: Step[] = [];
  /** At which character a step was last gone to, so that none is gone to twice. */
  readonly #seen: Int32Array;
  #stepsTaken = 0;

  /** Throws SyntaxError with the reason and the place. */
  constructor(text: string) {
    this.#add(parsePattern(text));
    this.#push({ kind: 'found' });
    this.#seen = new Int32Array(this.#steps.length);
  }

  /** Of the last test: at most `stepsMax` for each character, and for the end. */
  get stepsTaken(): number {
    return this.#stepsTaken;
  }

  /** Whether it matches anywhere in the text. */
  test(text: string): boolean {
    this.#seen.fill(-1);
    this.#stepsTaken = 0;
    let states: number[] = [];
    for (let at = 0; at <= text.length; at += 1) {
      const waiting: number[] = [];
      // A match may begin at every character.
      if (this.#follow([...states, 0], text, at, waiting)) return true;
      const unit = text.charCodeAt(at);
      states = waiting.filter((state) => this.#takes(state, unit)).map((state) => state + 1);
    }
    return false;
  }

  #takes(state: number, unit: number): boolean {
    const step = this.#steps[state];
    return step?.kind === 'unit' && step.set.has(unit);
  }

  /** Goes where no character is needed; the steps that need one are put into `waiting`. True: found. */
  #follow(open: number[], text: string, at: number, waiting: number[]): boolean {
    for (let state = open.pop(); state !== undefined; state = open.pop()) {
      const step = this.#steps[state];
      if (step === undefined || this.#seen[state] === at) continue;
      this.#seen[state] = at;
      this.#stepsTaken += 1;
      if (step.kind === 'found') return true;
      if (step.kind === 'unit') waiting.push(state);
      else if (step.kind === 'fork') open.push(step.or, step.to);
      else if (holds(step.edge, text, at)) open.push(state + 1);
    }
    return false;
  }

  #add(node: PatternNode): void {
    switch (node.kind) {
      case 'unit':
      case 'edge':
        this.#push(node);
        break;
      case 'sequence':
        for (const part of node.parts) this.#add(part);
        break;
      case 'choice':
        this.#addChoice(node.parts);
        break;
      case 'repeat':
        this.#addRepeat(node.part, node.min, node.max);
        break;
    }
  }

  #addChoice(parts: readonly PatternNode[]): void {
    const ends: number[] = [];
    for (const [nth, part] of parts.entries()) {
      if (nth === parts.length - 1) this.#add(part);
      else {
        const fork = this.#push({ kind: 'fork', to: 0, or: 0 });
        this.#add(part);
        ends.push(this.#push({ kind: 'fork', to: 0, or: 0 }));
        this.#steps[fork] = { kind: 'fork', to: fork + 1, or: this.#steps.length };
      }
    }
    const end = this.#steps.length;
    for (const at of ends) this.#steps[at] = { kind: 'fork', to: end, or: end };
  }

  #addRepeat(part: PatternNode, min: number, max: number): void {
    for (let copy = 0; copy < min; copy += 1) {
      const before = this.#steps.length;
      this.#add(part);
      // Nothing, however often: `(){9}`, in a bracket that is repeated itself.
      if (this.#steps.length === before) return;
    }
    if (max === Infinity) {
      const fork = this.#push({ kind: 'fork', to: 0, or: 0 });
      this.#add(part);
      this.#push({ kind: 'fork', to: fork, or: fork });
      this.#steps[fork] = { kind: 'fork', to: fork + 1, or: this.#steps.length };
      return;
    }
    const forks: number[] = [];
    for (let copy = min; copy < max; copy += 1) {
      forks.push(this.#push({ kind: 'fork', to: 0, or: 0 }));
      this.#add(part);
    }
    for (const at of forks) this.#steps[at] = { kind: 'fork', to: at + 1, or: this.#steps.length };
  }

  #push(step: Step): number {
    if (this.#steps.length >= stepsMax)
      throw new SyntaxError(`it repeats too much: more than ${stepsMax} steps`);
    return this.#steps.push(step) - 1;
  }
}

function holds(edge: Edge, text: string, at: number): boolean {
  switch (edge) {
    case 'begin':
      return at === 0;
    case 'end':
      return at === text.length;
    case 'word edge':
      return isWord(text, at - 1) !== isWord(text, at);
    case 'no word edge':
      return isWord(text, at - 1) === isWord(text, at);
  }
}

function isWord(text: string, at: number): boolean {
  return at >= 0 && at < text.length && wordUnits.has(text.charCodeAt(at));
}
