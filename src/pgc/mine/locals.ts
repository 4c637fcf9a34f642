import { unknown } from '../format/expression.js';

interface Local {
  /** Visible from here on, in UTF-16 units. */
  from: number;
  expression: string;
  /** A parameter of which nothing is known. */
  isGiven?: boolean;
}

/** The local variables of one text while its nodes come in order, outer before inner. */
export class Locals {
  readonly #scopes: { end: number; names: Map<string, Local[]> }[] = [];

  /** Call it with every node: leaves the scopes that end before it. */
  reach(at: number): void {
    while ((this.#scopes.at(-1)?.end ?? Infinity) <= at) this.#scopes.pop();
  }

  get isInside(): boolean {
    return this.#scopes.length > 0;
  }

  open(end: number): void {
    this.#scopes.push({ end, names: new Map() });
  }

  /** In the innermost scope. */
  declare(name: string, from: number, expression: string): void {
    this.#add(name, { from, expression });
  }

  /** A parameter of which nothing is known: it may hold any value. */
  give(name: string, from: number): void {
    this.#add(name, { from, expression: unknown, isGiven: true });
  }

  #add(name: string, local: Local): void {
    const names = this.#scopes.at(-1)?.names;
    const known = names?.get(name);
    if (known === undefined) names?.set(name, [local]);
    else known.push(local);
  }

  /** Of a local name of which nothing is known yet; later on it stands for what was assigned to it last. */
  assign(name: string, from: number, expression: string): void {
    const scope = this.#scopes.findLast(({ names }) => names.has(name));
    const known = scope?.names.get(name);
    if (known?.[0]?.expression === unknown) known.push({ from, expression });
  }

  /** What a name stands for; undefined when it is not local. */
  find(name: string, at: number): string | undefined {
    return this.#find(name, at)?.expression;
  }

  isGiven(name: string, at: number): boolean {
    return this.#find(name, at)?.isGiven === true;
  }

  #find(name: string, at: number): Local | undefined {
    for (let scope = this.#scopes.length - 1; scope >= 0; scope -= 1) {
      const found = this.#scopes[scope]?.names.get(name)?.findLast(({ from }) => from <= at);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** A name that stays if it is not local. */
  expressionOf(name: string, at: number): string {
    return name === '' ? unknown : (this.find(name, at) ?? name);
  }
}
