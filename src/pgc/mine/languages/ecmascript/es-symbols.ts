import type { Node } from 'web-tree-sitter';
import { unknown } from '../../../format/expression.js';
import { commentAbove } from '../../comment.js';
import type { Draft, SymbolDraft } from '../../draft.js';
import { EsMembers } from './es-members.js';
import { EsScopes, type Own } from './es-scopes.js';
import { classSignature, functionSignature, isFunction } from './es-signature.js';
import { esBases } from './es-types.js';
import { assignedLast, isExports, moduleItself, passedOnAs, valueOf } from './es-values.js';
import { renderSignature } from '../../signature.js';

/** A symbol, or a function without a name, around a node. */
export interface Scope {
  end: number;
  kind: 'class' | 'function' | 'object' | 'module' | 'interface';
  /** Undefined for a function without a name. */
  symbol: SymbolDraft | undefined;
  container: string;
  /** By which it is meant in expressions. */
  key: string;
}

export interface Declared {
  kind: string;
  signature: string;
  /** Undefined: holds no other symbols. */
  scope?: Scope['kind'];
  container?: string;
  /** By which an expression of the file names it. */
  path?: string;
  declaration?: boolean;
  exported?: boolean;
  /** A module passes it on under this name, by which its own text does not know it. */
  isPassedOn?: boolean;
  /** The function, the class or the interface itself. */
  node?: Node;
  /** What `this` is in a function. */
  own?: Own | undefined;
}

/** The symbols of one text, with what is around the node that is read. */
export class EsSymbols {
  readonly es: EsScopes;
  readonly members: EsMembers;
  readonly #scopes: Scope[] = [];
  /** Where an export statement's declaration begins; the declaration itself comes next. */
  exportedAt = -1;
  exportStart = -1;
  ambientEnd = 0;
  readonly exportedNames = new Set<string>();
  /** Members follow their class, which may be exported at the end of the file. */
  readonly #members: { member: SymbolDraft; owner: SymbolDraft; isPrivate: boolean }[] = [];
  /** Names at the top of the file that hold values. */
  readonly tops = new Map<string, SymbolDraft>();
  /** Values that already became a symbol under the name they are bound to. */
  readonly #named = new Set<number>();

  constructor(readonly draft: Draft) {
    this.es = new EsScopes(draft);
    this.members = new EsMembers(draft, this.es);
  }

  get around(): Scope | undefined {
    return this.#scopes.at(-1);
  }

  reach(at: number): void {
    while ((this.#scopes.at(-1)?.end ?? Infinity) <= at) this.#scopes.pop();
    this.es.reach(at);
  }

  enter(scope: Scope): void {
    this.#scopes.push(scope);
  }

  isNamed(node: Node): boolean {
    return this.#named.has(node.startIndex);
  }

  /** It is as visible as its owner. */
  addMember(member: SymbolDraft, owner: SymbolDraft, isPrivate: boolean): void {
    this.#members.push({ member, owner, isPrivate });
  }

  finish(): void {
    for (const symbol of this.draft.symbols) {
      if (symbol.container === '' && this.exportedNames.has(symbol.name)) symbol.exported = true;
    }
    this.es.reach(this.draft.text.length);
    // A method that was taken out of its class is passed on under its own name.
    for (const name of this.exportedNames) {
      const taken = this.es.locals.find(name, this.draft.text.length) ?? '';
      if (/^[\w$]+\.[\w$]+$/.test(taken)) this.draft.type(undefined, 'exported', name, taken);
    }
    for (const { member, owner, isPrivate } of this.#members) {
      member.exported = owner.exported && !isPrivate;
    }
  }

  enterUnnamed(node: Node): void {
    this.#scopes.push({
      ...{ end: node.endIndex, kind: 'function', symbol: undefined, container: '', key: '' },
    });
    this.es.callable(node);
  }

  /** What a name at the top stands for; an object that is written out stands for itself. */
  holds(symbol: SymbolDraft, type: string, given: Node | null): void {
    if (this.es.holders.get(symbol.name) === symbol) this.tops.set(symbol.name, symbol);
    const { value, through } = given === null ? { value: null, through: [] } : assignedLast(given);
    // What is given to this name is passed on.
    const isPassedOn = given !== null && [given, ...through].some(isExports);
    if (isPassedOn) this.passOn('default', symbol.name);
    if (value !== null && isExports(value)) return;
    const written = valueOf(type);
    const object = objectIn(value);
    const base = value === null ? undefined : createdFrom(value);
    if (base !== undefined) {
      const type = this.es.of(base).replace(/\.prototype$/, '');
      return this.draft.type(symbol, 'base', '', type === unknown ? unknown : `=${type}`);
    }
    // The members of an object that a module passes on are its own.
    if (isPassedOn && object !== null && object.namedChildCount > 0)
      this.draft.type(symbol, 'value', '', moduleItself);
    else if (written === unknown && object !== null) this.members.properties(symbol, object);
    else this.draft.type(symbol, 'value', '', written === unknown ? this.es.of(given) : written);
  }

  /** A function or class that is bound to a name is a symbol of that name. */
  valueAs(name: string, value: Node): Declared | undefined {
    if (isFunction(value)) {
      return {
        kind: 'function',
        signature: functionSignature('function', name, value, value),
        scope: 'function',
        node: value,
      };
    }
    if (value.type !== 'class') return undefined;
    this.#named.add(value.startIndex);
    return { kind: 'class', signature: classSignature(name, value), scope: 'class', node: value };
  }

  constant(name: string, node: Node, value: Node): void {
    const signature = renderSignature('constant', name, {});
    const isPassedOn = name !== 'default';
    const what = {
      kind: 'constant',
      signature,
      scope: 'object' as const,
      exported: true,
      isPassedOn,
    };
    this.holds(this.add(name, node, what), unknown, value);
  }

  /** A name of the file under the name that others see. */
  passOn(name: string, local: string): void {
    this.exportedNames.add(local);
    if (name !== local) this.draft.type(undefined, 'exported', name, local);
  }

  isInFunction(): boolean {
    return this.#scopes.some((scope) => scope.kind === 'function');
  }

  add(
    name: string,
    node: Node,
    what: Declared,
    span?: { start: number; end: number },
  ): SymbolDraft {
    const { start, end } = span ?? { start: node.startIndex, end: node.endIndex };
    const outer = this.#scopes.findLast(
      (scope) => scope.symbol !== undefined && scope.kind !== 'object',
    );
    const isExported = node.startIndex === this.exportedAt;
    const comment = commentAbove(
      this.draft.text,
      isExported && start === node.startIndex ? this.exportStart : start,
      'jsdoc',
    );
    const isAmbient = start < this.ambientEnd;
    const container = what.container ?? outer?.symbol?.name ?? '';
    const symbol: SymbolDraft = {
      name,
      kind: what.kind,
      start,
      end,
      wordsStart: comment?.start ?? start,
      signature: what.signature,
      container,
      // An ambient module exports its declarations, with or without the keyword.
      exported: (what.exported ?? isExported) || (isAmbient && outer?.kind === 'module'),
      doc: comment?.doc ?? '',
      declaration:
        (what.declaration ?? false) ||
        (isAmbient && !/^(?:interface|type|module)$/.test(what.kind)),
    };
    this.draft.symbols.push(symbol);
    const isLocal = what.container === undefined && this.isInFunction();
    const isInner = what.kind === 'class' && container !== '';
    const plain = what.path ?? (isInner ? `${container}.${name}` : name);
    const isPassedOn = what.isPassedOn === true;
    const key = isPassedOn ? passedOnAs(name) : isLocal ? this.es.keyOf(symbol) : plain;
    if (container === '' && !isLocal && !isPassedOn) this.es.holders.set(name, symbol);
    if (isPassedOn) this.draft.type(symbol, 'local', key);
    else if (isLocal) this.es.nameLocally(symbol, start);
    this.#describe(symbol, what, key);
    if (what.scope !== undefined)
      this.#scopes.push({ end, kind: what.scope, symbol, container: name, key });
    return symbol;
  }

  #describe(symbol: SymbolDraft, { scope, node, own }: Declared, key: string): void {
    if (node === undefined) return;
    if (scope === 'function') {
      const around = this.#scopes.at(-1);
      const outer = symbol.kind === 'method' ? around?.symbol : undefined;
      const isOwn = symbol.kind === 'function' && !isFunction(node);
      this.es.describe(symbol, node, isOwn ? this.es.ownOf(symbol, key) : own, outer);
      return;
    }
    this.es.bounds(symbol, node);
    for (const each of esBases(node, this.es.localName)) this.draft.type(symbol, 'base', '', each);
    this.es.openClass(node, symbol, key);
  }
}

/** `Object.create(base)` */
function createdFrom(value: Node): Node | undefined {
  if (!/^Object\.create\s*\(/.test(value.text.slice(0, 20))) return undefined;
  return value.childForFieldName('arguments')?.namedChild(0) ?? undefined;
}

/** The object that is written out as a value. */
function objectIn(value: Node | null): Node | null {
  if (value === null || value.type === 'object') return value;
  if (/^(?:as|satisfies|parenthesized)_expression$/.test(value.type))
    return objectIn(value.namedChild(0));
  const isFrozen = /^Object\.(?:freeze|seal)\s*\(/.test(value.text.slice(0, 20));
  const args = isFrozen ? value.childForFieldName('arguments') : null;
  return args === null ? null : objectIn(args.namedChild(0));
}
