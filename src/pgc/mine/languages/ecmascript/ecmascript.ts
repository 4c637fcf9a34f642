import type { Node } from 'web-tree-sitter';
import { unknown } from '../../../format/expression.js';
import { commentAbove } from '../../comment.js';
import { Draft, receiverCharsMax, type SymbolDraft } from '../../draft.js';
import { dynamicImportOf, exportedNames, importOf } from './es-imports.js';
import {
  classSignature,
  functionSignature,
  isFunction,
  nameOf,
  typeSignature,
} from './es-signature.js';
import { EsScopes, ownValue, type Own } from './es-scopes.js';
import { readable } from './es-text.js';
import { esBases, membersOf } from './es-types.js';
import { esUse } from './es-uses.js';
import { computedMember, indexName, isExports, moduleItself, valueOf } from './es-values.js';
import type { Grammar } from '../../grammar.js';
import { compact, renderSignature } from '../../signature.js';

export function mineEcmascript(grammar: Grammar, text: string): Draft {
  const miner = new EcmascriptMiner(text);
  grammar.captures(readable(text), (name, node) => miner.visit(name, node));
  return miner.finish();
}

/** A symbol, or a function without a name, around a node. */
interface Scope {
  end: number;
  kind: 'class' | 'function' | 'object' | 'module' | 'interface';
  /** Undefined for a function without a name. */
  symbol: SymbolDraft | undefined;
  container: string;
  /** By which it is meant in expressions. */
  key: string;
}

interface Declared {
  kind: string;
  signature: string;
  /** Undefined: holds no other symbols. */
  scope?: Scope['kind'];
  container?: string;
  declaration?: boolean;
  exported?: boolean;
  /** The function, the class or the interface itself. */
  node?: Node;
  /** What `this` is in a function. */
  own?: Own | undefined;
}

class EcmascriptMiner {
  readonly draft: Draft;
  readonly #es: EsScopes;
  readonly #scopes: Scope[] = [];
  /** Where an export statement's declaration begins; the declaration itself comes next. */
  #exportedAt = -1;
  #exportStart = -1;
  #ambientEnd = 0;
  readonly #exportedNames = new Set<string>();
  /** Members follow their class, which may be exported at the end of the file. */
  readonly #members: { member: SymbolDraft; owner: SymbolDraft; isPrivate: boolean }[] = [];
  /** Names at the top of the file that hold values. */
  readonly #tops = new Map<string, SymbolDraft>();
  /** Values that already became a symbol under the name they are bound to. */
  readonly #named = new Set<number>();

  constructor(readonly text: string) {
    this.draft = new Draft(text);
    this.#es = new EsScopes(this.draft);
  }

  finish(): Draft {
    for (const symbol of this.draft.symbols) {
      if (symbol.container === '' && this.#exportedNames.has(symbol.name)) symbol.exported = true;
    }
    this.#es.reach(this.text.length);
    // A method that was taken out of its class is passed on under its own name.
    for (const name of this.#exportedNames) {
      const taken = this.#es.locals.find(name, this.text.length) ?? '';
      if (/^[\w$]+\.[\w$]+$/.test(taken)) this.draft.type(undefined, 'exported', name, taken);
    }
    for (const { member, owner, isPrivate } of this.#members) {
      member.exported = owner.exported && !isPrivate;
    }
    return this.draft;
  }

  visit(capture: string, node: Node): void {
    while ((this.#scopes.at(-1)?.end ?? Infinity) <= node.startIndex) this.#scopes.pop();
    this.#es.reach(node.startIndex);
    const visitor = this.#visitors[capture];
    if (visitor === undefined) this.#definition(capture, node);
    else visitor(node);
  }

  readonly #visitors: Record<string, (node: Node) => void> = {
    call: (node) => this.#call(node),
    member: (node) => this.#memberCall(node, 'member'),
    computed: (node) => this.#computedCall(node),
    construct: (node) => this.#construct(node),
    element: (node) => this.#construct(node),
    wrapped: (node) => this.#wrappedCall(node),
    elementMember: (node) => this.#memberCall(node, 'construct'),
    constructMember: (node) => this.#memberCall(node, 'construct'),
    super: (node) => this.#construct(node),
    assign: (node) => this.#assign(node),
    block: (node) => this.#es.block(node),
    forIn: (node) => this.#es.forIn(node),
    catch: (node) => this.#es.catches(node),
    return: (node) => this.#es.returns(node),
    property: (node) => this.#property(node),
    dynamicImport: (node) => this.#dynamicImport(node.startIndex),
    import: (node) => this.#import(node),
    export: (node) => this.#export(node),
    ambient: (node) => this.#ambient(node),
    variables: (node) => this.#variables(node),
    assignment: (node) => this.#assignment(node),
    scope: (node) => this.#enterUnnamed(node),
    method: (node) => this.#member('method', node),
    methodSignature: (node) => this.#member('methodSignature', node),
    field: (node) => this.#member('field', node),
    pair: (node) => this.#member('pair', node),
    use: (node) => this.draft.use(esUse(node, this.#es.locals)),
    unused: (node) => this.draft.unused.add(node.endIndex),
    error: (node) => this.draft.error(node.startIndex, node.endIndex),
  };

  #enterUnnamed(node: Node): void {
    this.#scopes.push({
      ...{ end: node.endIndex, kind: 'function', symbol: undefined, container: '', key: '' },
    });
    this.#es.callable(node);
  }

  #definition(capture: string, node: Node): void {
    const name = nameOf(node) || 'default';
    switch (capture) {
      case 'function':
      case 'functionSignature': {
        const declaration = capture === 'functionSignature';
        const signature = functionSignature('function', name, node, node);
        this.#symbol(name, node, {
          kind: 'function',
          signature,
          scope: 'function',
          declaration,
          node,
        });
        if (!declaration) this.#es.callable(node);
        return;
      }
      case 'class':
      case 'classExpression': {
        if (this.#named.has(node.startIndex)) return;
        const signature = classSignature(name, node);
        this.#symbol(name, node, { kind: 'class', signature, scope: 'class', node });
        return;
      }
      case 'module':
        this.#symbol(name, node, { kind: 'module', signature: `module:${name}`, scope: 'module' });
        return;
      case 'interface':
        this.#symbol(name, node, {
          kind: 'interface',
          signature: typeSignature('interface', name, node),
          scope: 'interface',
          node,
        });
        return;
      case 'type':
      case 'enum': {
        const signature = typeSignature(capture, name, node);
        const symbol = this.#symbol(name, node, { kind: capture, signature });
        if (capture === 'type') this.#alias(symbol, node);
      }
    }
  }

  #alias(symbol: SymbolDraft, node: Node): void {
    this.#es.bounds(symbol, node);
    const value = node.childForFieldName('value');
    const parts = value?.type === 'intersection_type' ? value.namedChildren : [value];
    if (!parts.some((each) => each?.type === 'object_type')) {
      this.draft.type(symbol, 'alias', '', this.#es.type(value));
      return;
    }
    for (const each of parts) {
      if (each?.type !== 'object_type') this.draft.type(symbol, 'base', '', this.#es.type(each));
      else
        for (const { name, type } of membersOf(each, this.#es.localName))
          this.draft.type(symbol, 'field', name, type);
      const call = each?.namedChildren.find(({ type }) => type === 'call_signature');
      if (each?.type === 'object_type' && call !== undefined) this.#es.signature(symbol, call);
    }
  }

  /** A field of a class, or what an interface has besides methods. */
  #property(node: Node): void {
    const owner = this.#scopes.at(-1);
    if (owner?.symbol === undefined || (owner.kind !== 'class' && owner.kind !== 'interface'))
      return;
    if (node.type === 'call_signature') this.#es.signature(owner.symbol, node);
    else if (node.type === 'index_signature')
      this.draft.type(
        owner.symbol,
        'is',
        '',
        `$map<string,${this.#es.type(node.childForFieldName('type'))}>`,
      );
    else if (node.type !== 'construct_signature') {
      const value = node.childForFieldName('value');
      if (value === null || !isFunction(value)) this.#es.field(owner.symbol, node);
    }
  }

  /** Methods of classes and interfaces, and functions in an object that a module-level name holds. */
  #member(capture: 'method' | 'methodSignature' | 'field' | 'pair', node: Node): void {
    const owner = this.#scopes.at(-1);
    const name = nameOf(node);
    if (owner === undefined || !isMemberOf(owner.kind, capture, node) || name === '') {
      if (capture === 'method') this.#enterUnnamed(node);
      return;
    }
    const value =
      capture === 'field' || capture === 'pair' ? node.childForFieldName('value') : node;
    const signature = functionSignature('method', name, node, value ?? node);
    const declaration = capture === 'methodSignature';
    const container = owner.container;
    const own = ownOfMember(owner, node);
    const member = this.#symbol(name, node, {
      ...{ kind: 'method', signature, scope: 'function', declaration, container, own },
      ...(value !== null && { node: value }),
    });
    if (owner.key.includes('#')) this.draft.type(member, 'local', owner.key);
    if (name === 'constructor' && owner.symbol !== undefined)
      this.#es.parameterFields(owner.symbol, node);
    if (capture === 'method') this.#es.callable(node);
    const head = this.text.slice(node.startIndex, node.startIndex + 40);
    const isPrivate = name.startsWith('#') || /^(?:static\s+)?(?:private|protected)\b/.test(head);
    if (owner.symbol !== undefined) this.#members.push({ member, owner: owner.symbol, isPrivate });
    else member.exported = true;
  }

  #variables(node: Node): void {
    const isLocal = this.#isInFunction();
    const declarators = node.namedChildren.filter((child) => child.type === 'variable_declarator');
    const isConst = this.text.startsWith('const', node.startIndex);
    declarators.forEach((declarator, at) => {
      const nameNode = declarator.childForFieldName('name');
      const value = declarator.childForFieldName('value');
      const isRequired = /^(?:await\s+)?(?:require|import)\s*\([^()]*\)(?:\.[\w$]+)?;?$/.test(
        value === null || value.endIndex - value.startIndex > 400 ? '' : value.text,
      );
      if (nameNode !== null && !isRequired && (isLocal || nameNode.type !== 'identifier'))
        this.#declare(declarator, nameNode, value);
      if (nameNode?.type !== 'identifier') return;
      const name = nameNode.text;
      const span = {
        start: at === 0 ? node.startIndex : declarator.startIndex,
        end: at === declarators.length - 1 ? node.endIndex : declarator.endIndex,
      };
      const exported = node.startIndex === this.#exportedAt;
      const declared = value === null ? undefined : this.#valueAs(name, value);
      if (declared !== undefined) {
        this.#symbol(name, node, { ...declared, exported }, span);
      } else if (
        !isLocal &&
        !/^(?:await\s+)?(?:require|import)\s*\(/.test(value === null ? '' : value.text.slice(0, 40))
      ) {
        const kind = isConst ? 'constant' : 'variable';
        const annotation = declarator.childForFieldName('type');
        const type =
          annotation === null
            ? undefined
            : compact(annotation.text.slice(0, 200)).replace(/^:\s*/, '');
        const signature = renderSignature(kind, name, { type });
        const symbol = this.#symbol(
          name,
          node,
          { kind, signature, scope: 'object', exported },
          span,
        );
        this.#valueOf(symbol, this.#es.declared(declarator), value);
      }
    });
  }

  #declare(declarator: Node, name: Node, value: Node | null): void {
    // A function has a name of its own, also before its end.
    if (value !== null && (isFunction(value) || value.type === 'class')) return;
    const type = valueOf(this.#es.declared(declarator));
    // The variable of a loop is declared by it.
    if (declarator.parent?.parent?.type === 'for_in_statement') return;
    this.#es.declare(name, type === unknown ? this.#es.of(value) : type, declarator.endIndex);
  }

  /** What a name at the top stands for; an object that is written out stands for itself. */
  #valueOf(symbol: SymbolDraft, type: string, value: Node | null): void {
    this.#tops.set(symbol.name, symbol);
    // What is given to this name is passed on.
    if (value !== null && isExports(value)) return this.#passOn('default', symbol.name);
    const written = valueOf(type);
    const object = objectIn(value);
    if (written === unknown && object !== null) this.#es.properties(symbol, object);
    else this.draft.type(symbol, 'value', '', written === unknown ? this.#es.of(value) : written);
  }

  /** `x = …`; a name at the top of the file that holds nothing at first is what is assigned to it first. */
  #assign(node: Node): void {
    const name = node.childForFieldName('left')?.text ?? '';
    const top = this.#tops.get(name);
    if (top === undefined || this.#es.locals.find(name, node.startIndex) !== undefined)
      return this.#es.assign(node);
    const value = this.#es.of(node.childForFieldName('right'));
    if (value !== unknown && top.kind === 'variable') this.draft.type(top, 'value', '', value);
  }

  /** A function or class that is bound to a name is a symbol of that name. */
  #valueAs(name: string, value: Node): Declared | undefined {
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

  /** CommonJS and constructor functions define symbols by assigning to a property. */
  #assignment(node: Node): void {
    const right = node.childForFieldName('right');
    const left = /^([\w$]+(?:\s*\.\s*[\w$]+)*)\s*=(?!=)/.exec(
      this.text.slice(node.startIndex, node.startIndex + 200),
    );
    if (right === null || left === null) return;
    const target = (left[1] ?? '').replace(/\s/g, '');
    if (/^(?:module\.)?exports$/.test(target)) {
      this.#moduleExports(node, right);
      return;
    }
    const property = /^(?:(?:module\.)?(exports)|([\w$.]+?)\.prototype|([\w$]+))\.([\w$]+)$/.exec(
      target,
    );
    const name = property?.[4] ?? '';
    const owner = property?.[2] ?? property?.[3] ?? '';
    if (property?.[1] === undefined && owner.startsWith('this')) {
      if (owner === 'this' && !isFunction(right)) this.#es.assignOwn(name, right, node.startIndex);
      return;
    }
    if (property?.[3] !== undefined && name === 'prototype' && right.type === 'object') {
      this.#scopes.push({
        end: node.endIndex,
        kind: 'object',
        symbol: undefined,
        container: owner,
        key: owner,
      });
      return;
    }
    if (name === '' || (property?.[3] !== undefined && this.#isInFunction())) return;
    const declared = this.#valueAs(name, right);
    if (property?.[1] !== undefined) {
      if (right.type === 'identifier') this.#passOn(name, right.text);
      else if (declared !== undefined) this.#symbol(name, node, { ...declared, exported: true });
      else if (!this.#isInFunction()) this.#constant(name, node, right);
      return;
    }
    if (declared === undefined) {
      const holder = this.#tops.get(owner);
      const value = this.#es.of(right);
      if (holder !== undefined && value !== unknown)
        this.draft.type(holder, 'assigned', name, value);
      return;
    }
    if (declared.kind === 'class') {
      this.#symbol(name, node, { ...declared, container: owner, exported: true });
      return;
    }
    const signature = functionSignature('method', name, right, right);
    const expression = property?.[2] === undefined ? owner : ownValue(owner);
    this.#symbol(name, node, {
      ...declared,
      kind: 'method',
      signature,
      container: owner,
      exported: true,
      own: { expression, base: unknown },
    });
  }

  #constant(name: string, node: Node, value: Node): void {
    const signature = renderSignature('constant', name, {});
    const what = { kind: 'constant', signature, scope: 'object' as const, exported: true };
    this.#valueOf(this.#symbol(name, node, what), unknown, value);
  }

  /** A name of the file under the name that others see. */
  #passOn(name: string, local: string): void {
    this.#exportedNames.add(local);
    if (name !== local) this.draft.type(undefined, 'exported', name, local);
  }

  #moduleExports(node: Node, right: Node): void {
    if (right.type === 'identifier') this.#passOn('default', right.text);
    else if (right.type === 'object') {
      this.#passOnPairs(right);
      for (const name of exportedNames(right.text.slice(1, -1), /\s*:\s*/, 'right'))
        this.#exportedNames.add(name);
      this.#scopes.push({
        ...{ end: node.endIndex, kind: 'object', symbol: undefined, container: '', key: '' },
      });
    } else {
      const name = nameOf(right) || 'default';
      const declared = this.#valueAs(name, right);
      if (declared !== undefined) {
        this.#symbol(name, node, { ...declared, exported: true });
        this.#passOn('default', name);
      } else if (!this.#isInFunction() && !/^require\s*\(/.test(right.text.slice(0, 20)))
        this.#constant('default', node, right);
    }
  }

  /** `module.exports = { a: b }` */
  #passOnPairs(object: Node): void {
    for (const each of object.namedChildren) {
      const [key, value] = ['key', 'value'].map((field) => each.childForFieldName(field));
      if (key && value?.type === 'identifier') this.#passOn(key.text, value.text);
    }
  }

  #export(node: Node): void {
    const source = node.childForFieldName('source');
    if (source !== null) {
      this.#import(node);
      return;
    }
    const declaration = node.childForFieldName('declaration');
    const value = node.childForFieldName('value');
    this.#exportStart = node.startIndex;
    this.#exportedAt = declaration?.startIndex ?? -1;
    if (declaration !== null) {
      const isDefault = /^export\s+default\b/.test(
        this.text.slice(node.startIndex, node.startIndex + 40),
      );
      if (isDefault && nameOf(declaration) !== '') this.#passOn('default', nameOf(declaration));
      return;
    }
    if (value === null) {
      const statement = node.text;
      const name = /^export\s*=\s*([\w$]+)/.exec(statement)?.[1];
      const names =
        name === undefined
          ? exportedNames(/\{([\s\S]*)\}/.exec(statement)?.[1] ?? '', /\s+as\s+/, 'left')
          : [name];
      for (const each of names) this.#exportedNames.add(each);
      if (name !== undefined) this.#passOn('default', name);
      for (const [, local = '', outer = ''] of statement.matchAll(/([\w$]+)\s+as\s+([\w$]+)/g))
        this.#passOn(outer, local);
    } else if (value.type === 'identifier') this.#passOn('default', value.text);
    else {
      const name = nameOf(value) || 'default';
      const declared = this.#valueAs(name, value);
      if (declared === undefined) this.#constant('default', node, value);
      else this.#symbol(name, node, { ...declared, exported: true });
      this.#passOn('default', declared === undefined ? 'default' : name);
    }
  }

  #ambient(node: Node): void {
    this.#ambientEnd = Math.max(this.#ambientEnd, node.endIndex);
    const inner = node.firstNamedChild;
    if (inner !== null && node.startIndex === this.#exportedAt) this.#exportedAt = inner.startIndex;
  }

  #import(node: Node): void {
    const found = importOf(node.text, node.startIndex);
    if (found !== undefined) this.draft.imports.push(found);
  }

  #dynamicImport(at: number): boolean {
    const found = dynamicImportOf(this.text, at);
    if (found !== undefined) this.draft.imports.push(found);
    return found !== undefined;
  }

  #call(node: Node): void {
    const callee = node.text;
    if (callee === 'require' && this.#dynamicImport(node.startIndex)) return;
    this.draft.calls.push({
      ...{ callee, at: node.startIndex, kind: 'direct', receiver: '' },
      expression: this.#es.of(node),
    });
  }

  #memberCall(node: Node, kind: 'member' | 'construct'): void {
    const property = node.childForFieldName('property');
    if (property === null) return;
    const receiver = compact(
      this.text.slice(node.startIndex, property.startIndex).slice(0, 4 * receiverCharsMax),
    );
    const folded = receiver.replace(/\??\.$/, '').slice(0, receiverCharsMax);
    this.draft.calls.push({
      callee: property.text,
      at: property.startIndex,
      kind,
      receiver: folded,
      expression: this.#es.of(node),
    });
  }

  /** `(f)()`, `x.f!()`, `(f as F)()` */
  #wrappedCall(node: Node): void {
    let inner: Node | null = node;
    while (inner !== null && wrapping.test(inner.type)) inner = inner.namedChild(0);
    if (inner?.type === 'identifier') this.#call(inner);
    else if (inner?.type === 'member_expression') this.#memberCall(inner, 'member');
    else if (inner?.type === 'subscript_expression') this.#computedCall(inner);
  }

  /** `x['name']()`, `x[name]()` */
  #computedCall(node: Node): void {
    const name = indexName(node);
    const expression =
      name === undefined ? computedMember(node, this.#es.locals) : this.#es.of(node);
    if (name === undefined && expression === unknown) return;
    const object = node.childForFieldName('object');
    this.draft.calls.push({
      ...{ callee: name ?? '[]', at: node.startIndex, kind: 'member' as const, expression },
      receiver: compact(object?.text.slice(0, receiverCharsMax) ?? ''),
    });
  }

  #construct(node: Node): void {
    const callee = node.text;
    const expression = this.#es.of(node);
    this.draft.calls.push({
      callee,
      at: node.startIndex,
      kind: 'construct',
      receiver: '',
      expression,
    });
  }

  #isInFunction(): boolean {
    return this.#scopes.some((scope) => scope.kind === 'function');
  }

  #symbol(
    name: string,
    node: Node,
    what: Declared,
    span?: { start: number; end: number },
  ): SymbolDraft {
    const { start, end } = span ?? { start: node.startIndex, end: node.endIndex };
    const outer = this.#scopes.findLast(
      (scope) => scope.symbol !== undefined && scope.kind !== 'object',
    );
    const isExported = node.startIndex === this.#exportedAt;
    const comment = commentAbove(
      this.text,
      isExported && start === node.startIndex ? this.#exportStart : start,
      'jsdoc',
    );
    const isAmbient = start < this.#ambientEnd;
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
    const isLocal = what.container === undefined && this.#isInFunction();
    const plain = what.kind === 'class' && container !== '' ? `${container}.${name}` : name;
    const key = isLocal ? this.#es.keyOf(symbol) : plain;
    if (isLocal) this.#es.nameLocally(symbol, start);
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
      this.#es.describe(symbol, node, isOwn ? this.#es.ownOf(symbol, key) : own, outer);
      return;
    }
    this.#es.bounds(symbol, node);
    for (const each of esBases(node, this.#es.localName)) this.draft.type(symbol, 'base', '', each);
    this.#es.openClass(node, symbol, key);
  }
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

/** What `this` is in a member, where it is not a value of the class. */
function ownOfMember({ kind, key, container }: Scope, node: Node): Own | undefined {
  if (kind === 'object')
    return container === ''
      ? { expression: moduleItself, base: unknown }
      : { expression: key, base: unknown };
  const isStatic = node.children.some(({ type }) => type === 'static');
  return isStatic ? { expression: key, base: `{${key}}.$super` } : undefined;
}

const wrapping = /^(?:parenthesized|non_null|as|satisfies)_expression$/;

function isMemberOf(owner: Scope['kind'], capture: string, node: Node): boolean {
  if (capture !== 'methodSignature') return owner === 'class' || owner === 'object';
  // The type of a property has methods of its own: they belong to no name.
  const around = node.parent?.parent?.type ?? '';
  return (owner === 'class' || owner === 'interface') && /class|interface/.test(around);
}
