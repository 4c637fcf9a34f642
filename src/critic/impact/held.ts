import type { CodeView } from './code-view.js';

/** A statement of C, with those in it. */
interface Statement {
  kind: 'plain' | 'if' | 'loop' | 'block' | 'leave' | 'goto' | 'label';
  /** Of a condition, or the whole of a plain one; of `goto` and a label its name. */
  text: string;
  line: number;
  inner: Statement[];
  other: Statement[];
}

export interface Exit {
  /** Where a lock is still held. */
  line: number;
  /** As it was given to the lock. */
  what: string;
}

export interface Freed {
  line: number;
  what: string;
  freed: number;
}

/** Statements of one function, and paths through `goto` in it. */
const statementsMax = 4_000;
const pathsMax = 200;
/** Statements that are walked over in all. */
const stepsMax = 100_000;
/** Statements in one another; nobody writes more. */
const depthMax = 60;

/** Statements of what stands between two offsets, brackets paired. */
export function statementsIn(view: CodeView, from: number, to: number): Statement[] {
  return new Reader(view, to).list(from).list;
}

class Reader {
  #count = 0;
  #depth = 0;

  constructor(
    readonly view: CodeView,
    readonly end: number,
  ) {}

  list(from: number): { list: Statement[]; at: number } {
    const list: Statement[] = [];
    let at = this.#skip(from);
    while (
      at < this.end &&
      this.view.code.charAt(at) !== '}' &&
      (this.#count += 1) < statementsMax
    ) {
      const read = this.#one(at);
      if (read.at <= at) break;
      list.push(...read.list);
      at = this.#skip(read.at);
    }
    return { list, at };
  }

  #skip(at: number): number {
    const { code } = this.view;
    for (;;) {
      while (at < this.end && /[\s;]/.test(code.charAt(at))) at += 1;
      // Directives are no statements.
      if (code.charAt(at) !== '#') return at;
      const end = code.indexOf('\n', at);
      at = end < 0 ? this.end : end;
    }
  }

  #one(at: number): { list: Statement[]; at: number } {
    this.#depth += 1;
    try {
      return this.#depth > depthMax ? this.#whole(at) : this.#read(at);
    } finally {
      this.#depth -= 1;
    }
  }

  /** Too deep for anybody to read: one statement. */
  #whole(at: number): { list: Statement[]; at: number } {
    const isBlock = this.view.code.charAt(at) === '{';
    return { list: [], at: isBlock ? this.view.closeOf(at) + 1 : this.#semicolon(at) + 1 };
  }

  #read(at: number): { list: Statement[]; at: number } {
    const { code } = this.view;
    const line = this.view.lineOf(at);
    const of = (part: Partial<Statement>): Statement => ({
      ...{ kind: 'plain', text: '', line, inner: [], other: [] },
      ...part,
    });
    if (code.charAt(at) === '{') {
      const { list } = this.list(at + 1);
      return { list: [of({ kind: 'block', inner: list })], at: this.view.closeOf(at) + 1 };
    }
    const [word = ''] = /^[A-Za-z_]\w*/.exec(code.slice(at, at + 80)) ?? [];
    const behind = this.#skip(at + word.length);
    if (word === 'do') {
      const body = this.#one(behind);
      return { list: [of({ kind: 'block', inner: body.list })], at: this.#semicolon(body.at) };
    }
    if (word !== '' && code.charAt(behind) === '(' && word !== 'return') {
      const close = this.#close(behind);
      const next = this.#skipBlank(close + 1);
      const isHead = /^(?:if|for|while|switch)$/.test(word);
      // What a macro makes a loop of has its body behind the bracket.
      if (isHead || (close < this.end && /[A-Za-z_{*]/.test(code.charAt(next)))) {
        const body = this.#one(next);
        const text = code.slice(behind + 1, close);
        if (word !== 'if')
          return { list: [of({ kind: 'loop', text, inner: body.list })], at: body.at };
        const otherwise = this.#skip(body.at);
        if (!/^else\b/.test(code.slice(otherwise, otherwise + 5)))
          return { list: [of({ kind: 'if', text, inner: body.list })], at: body.at };
        const other = this.#one(this.#skip(otherwise + 4));
        return {
          list: [of({ kind: 'if', text, inner: body.list, other: other.list })],
          at: other.at,
        };
      }
    }
    const [, label = ''] = /^([A-Za-z_]\w*)\s{0,9}:(?!:)/.exec(code.slice(at, at + 100)) ?? [];
    if (word === 'case' || word === 'default' || label !== '') {
      const colon = code.indexOf(':', at);
      return { list: [of({ kind: 'label', text: label })], at: colon + 1 };
    }
    const end = this.#semicolon(at);
    const text = code.slice(at, end);
    if (word === 'goto')
      return { list: [of({ kind: 'goto', text: text.slice(4).trim() })], at: end + 1 };
    const kind = word === 'return' ? 'leave' : 'plain';
    return { list: [of({ kind, text })], at: end + 1 };
  }

  #skipBlank(at: number): number {
    while (at < this.end && /\s/.test(this.view.code.charAt(at))) at += 1;
    return at;
  }

  #close(open: number): number {
    let depth = 0;
    for (let at = open; at < this.end; at += 1) {
      const sign = this.view.code.charAt(at);
      if (sign === '(') depth += 1;
      else if (sign === ')' && (depth -= 1) === 0) return at;
    }
    return this.end;
  }

  /** Of the statement that begins here; brackets and braces in it are skipped. */
  #semicolon(from: number): number {
    let depth = 0;
    for (let at = from; at < this.end; at += 1) {
      const sign = this.view.code.charAt(at);
      if ('([{'.includes(sign)) depth += 1;
      else if (')]}'.includes(sign)) depth -= 1;
      else if (sign === ';' && depth <= 0) return at;
      if (depth < 0) return at;
    }
    return this.end;
  }
}

const locking =
  /\b(\w{0,60}?(?<![A-Za-z])(?:un)?lock(?![A-Za-z])\w{0,40}|down(?:_\w{1,30})?|up(?:_\w{1,20})?)\s{0,4}\(\s{0,40}([^(),;]{0,120})/g;
const failing = /interruptible|killable|trylock/;
/** What only asks about a lock, or makes one. */
const aside = /init|is_|assert|class|destroy|held|owner|lockdep|nested_lock|unlock_wait/;

/** What is locked and unlocked in an expression, in its order. */
function stepsIn(text: string): { isLock: boolean; what: string; mayFail: boolean }[] {
  return [...text.matchAll(locking)].flatMap(([, name = '', given = '']) => {
    if (aside.test(name)) return [];
    const isLock = !/unlock/.test(name) && !/^up/.test(name);
    const what = given.replace(/\s+/g, '') || name.replace(/_?(?:un)?lock/, '');
    return [{ isLock, what, mayFail: failing.test(name) }];
  });
}

/**
 * Ways out of a function of C on which a lock that the function itself takes, and gives back elsewhere, is surely still
 * held. Both sides of a branch are walked; behind it is held what both have left held.
 */
export function exitsHeld(statements: readonly Statement[]): Exit[] {
  const steps = { left: stepsMax };
  const walk = new Walk(statements, steps);
  const end = walk.list(statements, new Set());
  const exits = walk.exits;
  // Of too many ways nobody knows whether they are the same as before.
  if (steps.left <= 0) return [];
  if (end !== undefined)
    for (const what of end) exits.push({ line: statements.at(-1)?.line ?? 0, what });
  const given = new Set(
    allSteps(statements)
      .filter(({ isLock }) => !isLock)
      .map(({ what }) => what),
  );
  return exits.filter(({ what }) => given.has(what));
}

function allSteps(statements: readonly Statement[]): ReturnType<typeof stepsIn> {
  return statements.flatMap(({ text, inner, other }) => [
    ...stepsIn(text),
    ...allSteps(inner),
    ...allSteps(other),
  ]);
}

type Held = ReadonlySet<string>;

class Walk {
  readonly exits: Exit[] = [];
  #paths = 0;
  readonly #followed = new Set<string>();

  constructor(
    readonly whole: readonly Statement[],
    readonly steps: { left: number },
  ) {}

  /** What is held behind the list; undefined: nobody gets there. */
  list(statements: readonly Statement[], from: Held): Held | undefined {
    let held: Held | undefined = from;
    for (const each of statements) {
      if ((this.steps.left -= 1) <= 0) return undefined;
      if (held === undefined) {
        // Whoever jumps here is followed from where he jumps.
        if (each.kind !== 'label') continue;
        if (each.text !== '') return undefined;
        held = from;
      }
      held = this.#one(each, held);
    }
    return held;
  }

  #one(each: Statement, held: Held): Held | undefined {
    switch (each.kind) {
      case 'plain':
        return after(each.text, held);
      case 'label':
        return held;
      case 'leave':
        this.#leave(each.line, after(each.text, held));
        return undefined;
      case 'goto':
        this.#follow(each, held);
        return undefined;
      case 'block':
        return this.list(each.inner, held);
      case 'loop': {
        // It may be left anywhere: what it changes itself is not relied on.
        const end = this.list(each.inner, after(each.text, held));
        return end === undefined ? held : both(held, end);
      }
      case 'if':
        return this.#branch(each, held);
    }
  }

  #branch({ text, inner, other }: Statement, held: Held): Held | undefined {
    const before = after(text, held, true);
    const [begun, otherwise] = tried(text, before);
    const one = this.list(inner, begun);
    const two = this.list(other, otherwise);
    if (one === undefined) return two;
    return two === undefined ? one : both(one, two);
  }

  #leave(line: number, held: Held): void {
    for (const what of held) this.exits.push({ line, what });
  }

  /** From a label of the function's own list on; a jump into a block is not followed. */
  #follow({ text, line }: Statement, held: Held): void {
    const at = this.whole.findIndex(({ kind, text: name }) => kind === 'label' && name === text);
    const key = `${line} ${text} ${[...held].sort().join()}`;
    if (at < 0 || this.#followed.has(key) || (this.#paths += 1) > pathsMax) return;
    this.#followed.add(key);
    const inner = new Walk(this.whole, this.steps);
    inner.#paths = this.#paths;
    for (const each of this.#followed) inner.#followed.add(each);
    const end = inner.list(
      this.whole.slice(at + 1).filter(({ kind, text: name }) => kind !== 'label' || name === ''),
      held,
    );
    this.#paths = inner.#paths;
    for (const what of new Set([...inner.exits.map((exit) => exit.what), ...(end ?? [])]))
      this.exits.push({ line, what });
  }
}

function after(text: string, held: Held, isCondition = false): Held {
  const steps = stepsIn(text).filter(({ mayFail }) => !(isCondition && mayFail));
  if (steps.length === 0) return held;
  const now = new Set(held);
  for (const { isLock, what } of steps)
    if (isLock) now.add(what);
    else now.delete(what);
  return now;
}

/** `if (mutex_lock_interruptible(x))`, `if (!trylock(x))`: in which branch it is held. */
function tried(text: string, held: Held): [Held, Held] {
  const step = stepsIn(text).find(({ isLock, mayFail }) => isLock && mayFail);
  if (step === undefined) return [held, held];
  const taken = new Set([...held, step.what]);
  const isNegated = /^\s*!/.test(text);
  const isTrying = /trylock/.test(text);
  return isTrying === isNegated ? [held, taken] : [taken, held];
}

function both(one: Held, other: Held): Held {
  return new Set([...one].filter((each) => other.has(each)));
}

const freeing =
  /^\s*(?:k|v|kv|kz)?free(?:_sensitive)?\s{0,4}\(\s{0,4}([\w.>\-[\]]{1,80})\s{0,4}\)\s*$/;

/** What is used in the same list of statements behind the one that frees it. */
export function freedUsed(statements: readonly Statement[]): Freed[] {
  const found: Freed[] = [];
  statements.forEach((each, index) => {
    found.push(...freedUsed(each.inner), ...freedUsed(each.other));
    const what = each.kind === 'plain' ? freeing.exec(each.text)?.[1] : undefined;
    if (what === undefined) return;
    const name = what.replace(/[^\w]/g, '\\$&');
    const again = new RegExp(`^\\s*${name}\\s*=[^=]`);
    const use = new RegExp(`(?<![\\w.>&])(?:&\\s{0,4})?${name}(?:\\s*(?:->|\\[)|\\s*[,)])`);
    for (const next of statements.slice(index + 1)) {
      if (next.kind !== 'plain' || again.test(next.text)) break;
      if (!use.test(next.text)) continue;
      found.push({ line: next.line, what, freed: each.line });
      break;
    }
  });
  return found;
}
