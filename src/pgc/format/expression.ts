/**
 * What a receiver is, as one text tells it, in a form that is the same for every language. Local variables are already
 * replaced by what was assigned to them; names that are left are looked up outside of functions.
 *
 *     expression := ('[' type ']')? root step*      the type around it, where that is not plain from its function
 *     root       := '{' type '}' given?             a value of this type; what constructs it
 *                 | name given?       what the file, its package or an import calls so
 *                 | '$' name          a macro
 *                 | '?'               not known
 *     given      := '^' ('<' type (',' type)* '>')? ('(' (expression (',' expression)*)? ')' | number)?
 *                                     the function of that name that takes these arguments, or so many; none: any of them;
 *                                     the types are those that its type parameters stand for; `&` before an expression: what
 *                                     it stands for stays where it is, `&&`: it passes with the call
 *     step       := '.' name given?   a member; no name: that which the expression in `given` names;
 *                                     '%' before it: its key is what that name holds
 *                 | '(' number? ')'   a result of a call; no number: the first
 *                 | '[]' | '[k]'      an element; its key
 *                 | '[*]' | '[' n ']' what comes of going through it; its n-th part
 *                 | '!'               what a promise comes to
 *                 | '@' a '.' p       parameter `p` of the function that it takes as argument `a`; no `a`: its own
 *     type       := '?' | name ('.' name)* ('<' argument (',' argument)* '>')?
 *     argument   := (label ':')? (type | '=' expression)
 *
 * Types of the language itself begin with `$`: `$list<T>`, `$map<K,V>`, `$chan<T>`, `$promise<T>`,
 * `$func<results, number:parameter>` (`*number`: that and all after it), `$this` (the type whose method it is, as it is asked),
 * `$this<A>` (the same; asked of none, it is A), `$struct<field:T>`, `$union<A,B>`, `$tuple<A,B>`, `$type<A>` (the type itself),
 * `$symbol` (no name), `$null` (nothing), `$number<A,B>` (what an operator makes of these). `=`: the type of what an expression comes to. Pointers, references and options are left out where they do
 * not change what a name after a dot means; else a pointer is `$ptr<T>`, and what must not be changed `$const<T>`. `$root` is what
 * holds everything. The member `$super` is what a type is based on.
 */
export interface Expression {
  around: string;
  root: TypeText | string | undefined;
  given: Given | undefined;
  steps: Step[];
}

/** By which one of several functions of a name is meant. Undefined: not known. */
export interface Given {
  /** As expressions. */
  arguments: readonly string[] | undefined;
  /** Of each whether it stays where it is; undefined: not known. */
  stays?: readonly (boolean | undefined)[];
  types?: readonly (TypeText | undefined)[];
}

export type Step =
  | { kind: 'member'; name: string; given?: Given | undefined }
  | { kind: 'call'; result: number }
  | { kind: 'element' }
  | { kind: 'key' }
  | { kind: 'each' }
  | { kind: 'item'; at: number }
  | { kind: 'await' }
  | { kind: 'parameter'; argument: number; at: number };

export interface TypeText {
  /** `pkg.Server` */
  name: string;
  args: { label: string; type: TypeText | undefined }[];
  /** The type is that of a value; then there is no name. */
  of?: Expression;
}

export const unknown = '?';
/** Longer ones are not worth their effort. */
export const expressionCharsMax = 240;
const depthMax = 32;

/** Links of a chain that are followed: each writes two signs or more, and what is longer is unknown. */
const linksMax = expressionCharsMax / 2 + 8;
let links = 0;

/** Unknown when it is too long. */
export function bounded(expression: string): string {
  return expression.length > expressionCharsMax ? unknown : expression;
}

/** The same of what is read link by link: `a.b().c()…` of a hundred thousand calls is as deep as it is long. */
export function boundedLink(read: () => string): string {
  if (links >= linksMax) return unknown;
  links += 1;
  try {
    return bounded(read());
  } finally {
    links -= 1;
  }
}

/** Undefined root: not known, also for damaged text. */
export function parseExpression(text: string): Expression {
  const from = new Reader(text);
  const expression = from.expression(0);
  return from.isAtEnd ? expression : { around: '', root: undefined, given: undefined, steps: [] };
}

/** Undefined: not known. */
export function parseType(text: string): TypeText | undefined {
  const from = new Reader(text);
  const type = from.type(0);
  return from.isAtEnd ? type : undefined;
}

const nameEnd = /[.,:<>(){}[\]!@^]/g;
const opening = '([{<';
const closing = ')]}>';

class Reader {
  #at = 0;

  constructor(readonly text: string) {}

  get isAtEnd(): boolean {
    return this.#at >= this.text.length;
  }

  expression(depth: number): Expression {
    const around = this.#around();
    const root = this.#root(depth);
    const given = this.#given();
    const steps: Step[] = [];
    for (let step = this.#step(); step !== undefined; step = this.#step()) steps.push(step);
    return { around, root, given, steps };
  }

  #around(): string {
    if (!this.#take('[')) return '';
    const type = this.#dotted();
    this.#take(']');
    return type;
  }

  #root(depth: number): Expression['root'] {
    if (!this.#take('{')) return this.#name() || undefined;
    const type = this.type(depth);
    this.#take('}');
    return type;
  }

  #step(): Step | undefined {
    if (this.#take('.')) {
      const name = this.#name();
      const given = this.#given();
      return { kind: 'member', name, ...(given !== undefined && { given }) };
    }
    if (this.#take('[]')) return { kind: 'element' };
    if (this.#take('[k]')) return { kind: 'key' };
    if (this.#take('[*]')) return { kind: 'each' };
    if (this.#take('[')) return this.#item();
    if (this.#take('!')) return { kind: 'await' };
    if (this.#take('@')) return this.#parameter();
    if (!this.#take('(')) return undefined;
    const result = Number(this.#name());
    this.#take(')');
    return { kind: 'call', result };
  }

  #item(): Step {
    const at = Number(this.#name());
    this.#take(']');
    return { kind: 'item', at };
  }

  #given(): Given | undefined {
    if (!this.#take('^')) return undefined;
    const types: (TypeText | undefined)[] = [];
    if (this.#take('<')) {
      do types.push(this.type(0));
      while (this.#take(','));
      this.#take('>');
    }
    const written = this.#arguments();
    const stays = written?.map((each) =>
      each.startsWith('&') ? !each.startsWith('&&') : undefined,
    );
    return {
      arguments: written?.map((each) => each.replace(/^&{1,2}/, '')),
      ...(stays?.some((each) => each !== undefined) === true && { stays }),
      ...(types.length > 0 && { types }),
    };
  }

  #arguments(): string[] | undefined {
    if (!this.#take('(')) {
      const count = this.#name();
      return count === '' ? undefined : Array<string>(Number(count)).fill(unknown);
    }
    const all: string[] = [];
    while (!this.isAtEnd && !this.#take(')')) {
      const start = this.#at;
      this.#skip();
      all.push(this.text.slice(start, this.#at));
      this.#take(',');
    }
    return all;
  }

  /** An expression as it stands, up to the comma or bracket behind it. */
  #skip(): void {
    for (let depth = 0; !this.isAtEnd; this.#at += 1) {
      const sign = this.text.charAt(this.#at);
      if (depth === 0 && (sign === ',' || sign === ')')) return;
      if (opening.includes(sign)) depth += 1;
      else if (closing.includes(sign)) depth -= 1;
    }
  }

  #parameter(): Step {
    const argument = this.#name();
    this.#take('.');
    return { kind: 'parameter', argument: Number(argument || -1), at: Number(this.#name()) };
  }

  type(depth: number): TypeText | undefined {
    if (depth < depthMax && this.#take('='))
      return { name: '', args: [], of: this.expression(depth + 1) };
    const name = this.#dotted();
    const args: TypeText['args'] = [];
    if (depth < depthMax && this.#take('<'))
      do args.push(this.#argument(depth + 1));
      while (this.#take(','));
    if (args.length > 0) this.#take('>');
    return name === '' || name === unknown ? undefined : { name, args };
  }

  #argument(depth: number): TypeText['args'][number] {
    const start = this.#at;
    const label = this.#name();
    if (this.#take(':')) return { label, type: this.type(depth) };
    this.#at = start;
    return { label: '', type: this.type(depth) };
  }

  #dotted(): string {
    const start = this.#at;
    do this.#name();
    while (this.#take('.'));
    return this.text.slice(start, this.#at);
  }

  #name(): string {
    nameEnd.lastIndex = this.#at;
    const end = nameEnd.exec(this.text)?.index ?? this.text.length;
    const name = this.text.slice(this.#at, end);
    this.#at = end;
    return name === unknown ? '' : name;
  }

  #take(mark: string): boolean {
    if (!this.text.startsWith(mark, this.#at)) return false;
    this.#at += mark.length;
    return true;
  }
}
