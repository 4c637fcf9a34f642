import type { Node } from 'web-tree-sitter';
import { commentAbove } from './comment.js';
import { Draft, receiverCharsMax, type CallDraft, type SymbolDraft } from './draft.js';
import type { Grammar } from './grammar.js';
import { Locals } from './locals.js';
import { compact, splitList } from './signature.js';

/** A definition, without its place. */
export interface Found {
  name: string;
  kind: string;
  signature: string;
  exported: boolean;
  declaration?: boolean;
  /** Compiled for tests alone. */
  test?: boolean;
  /** The container, where it is not the scope around the definition. */
  container?: string;
  /** Where its own text begins, when marks (attributes, modifiers) stand before the node. */
  from?: number;
}

/** A symbol around the next node, or a block that only gives its name (`impl T { … }`). */
interface Scope {
  name: string;
  kind: string;
  end: number;
  symbol: SymbolDraft | undefined;
}

/** A draft for grammars whose nodes come outer before inner: it knows the scope of each. */
class ScopedDraft extends Draft {
  readonly #scopes: Scope[] = [];
  readonly locals = new Locals();

  /** Call it with every node before the definitions of the node are noted. */
  reach(at: number): void {
    while ((this.#scopes.at(-1)?.end ?? Infinity) <= at) this.#scopes.pop();
    this.locals.reach(at);
  }

  get scope(): Readonly<Scope> | undefined {
    return this.#scopes.at(-1);
  }

  /** Whether this place is in a function: definitions there are not visible outside. */
  get isLocal(): boolean {
    return this.#scopes.some(({ kind }) => kind === 'function' || kind === 'method');
  }

  enter(name: string, kind: string, node: Node, symbol?: SymbolDraft): void {
    this.#scopes.push({ name, kind, end: node.endIndex, symbol });
  }

  define(node: Node, found: Found): SymbolDraft {
    const start = found.from ?? node.startIndex;
    const comment = commentAbove(this.text, start, 'jsdoc');
    const symbol: SymbolDraft = {
      name: found.name,
      kind: found.kind,
      start,
      end: node.endIndex,
      wordsStart: comment?.start ?? start,
      signature: found.signature,
      container: found.container ?? this.scope?.name ?? '',
      exported: found.exported,
      doc: comment?.doc ?? '',
      declaration: found.declaration ?? false,
      test: found.test ?? false,
    };
    this.symbols.push(symbol);
    return symbol;
  }

  /** A definition that is the scope of the nodes in it. */
  open(node: Node, found: Found): SymbolDraft {
    const symbol = this.define(node, found);
    this.enter(found.name, found.kind, node, symbol);
    return symbol;
  }

  /** A call of `name`; the text before it in `node` is the receiver. */
  callOn(node: Node, name: Node | null, kind: CallDraft['kind'] = 'member', expression = ''): void {
    if (name === null) return;
    const receiver = this.receiverOf(node.startIndex, name.startIndex);
    this.call(name.text, name.startIndex, kind, receiver, expression);
  }

  /** `expression`: of the callee; empty where the language has none. */
  call(callee: string, at: number, kind: CallDraft['kind'], receiver = '', expression = ''): void {
    if (callee === '') return;
    this.calls.push({
      callee,
      at,
      kind,
      expression,
      receiver: receiver.slice(0, receiverCharsMax),
    });
  }

  /** The source before a name as a receiver: folded, without the operator at its end. */
  receiverOf(from: number, to: number): string {
    return compact(this.text.slice(from, to).slice(0, 4 * receiverCharsMax)).replace(
      /\s*(?:\?\.|\.|::)\s*$/,
      '',
    );
  }
}

/** A miner that handles each capture of its query by name, outer nodes before inner ones. */
export abstract class ScopedMiner {
  readonly draft: ScopedDraft;
  protected abstract readonly visitors: Readonly<Record<string, (node: Node) => void>>;

  constructor(
    readonly text: string,
    /** The input of the grammar: the text, or one with the same offsets that it can parse. */
    readonly parsed = text,
  ) {
    this.draft = new ScopedDraft(text);
  }

  mine(grammar: Grammar): Draft {
    grammar.captures(this.parsed, (capture, node) => this.#visit(capture, node));
    return this.draft;
  }

  #visit(capture: string, node: Node): void {
    this.draft.reach(node.startIndex);
    if (capture === 'error') this.draft.error(node.startIndex, node.endIndex);
    else if (capture === 'unused') this.draft.unused.add(node.endIndex);
    else this.visitors[capture]?.(node);
  }
}

/** How many members of a type the body of a node has; undefined without a body. */
export function membersIn(node: Node, type: string): number | undefined {
  return node.childForFieldName('body')?.namedChildren.filter((each) => each.type === type).length;
}

/** A list of parameters in brackets, folded, and its parts; `tail` is empty when it has none. */
export function parametersOf(node: Node): { list: string[]; tail: string } {
  const source = textOf(node, 'parameters') || '()';
  const list = splitList(source.slice(1, -1));
  return { list, tail: list.length === 0 ? '' : source };
}

/** The text of a field, folded; empty when there is none. */
export function textOf(node: Node, field: string): string {
  return compact(node.childForFieldName(field)?.text ?? '');
}
