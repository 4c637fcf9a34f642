import type { Node } from 'web-tree-sitter';
import { commentAbove } from '../comment.js';
import { Draft, receiverCharsMax, type SymbolDraft } from '../draft.js';
import { dynamicImportOf, exportedNames, importOf } from './es-imports.js';
import {
  classSignature,
  functionSignature,
  isFunction,
  nameOf,
  typeSignature,
} from './es-signature.js';
import { readable } from './es-text.js';
import type { Grammar } from '../grammar.js';
import { compact, renderSignature } from '../signature.js';

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
}

interface Declared {
  kind: string;
  signature: string;
  /** Undefined: holds no other symbols. */
  scope?: Scope['kind'];
  container?: string;
  declaration?: boolean;
  exported?: boolean;
}

class EcmascriptMiner {
  readonly draft: Draft;
  readonly #scopes: Scope[] = [];
  /** Where an export statement's declaration begins; the declaration itself comes next. */
  #exportedAt = -1;
  #exportStart = -1;
  #ambientEnd = 0;
  readonly #exportedNames = new Set<string>();
  /** Members follow their class, which may be exported at the end of the file. */
  readonly #members: { member: SymbolDraft; owner: SymbolDraft; isPrivate: boolean }[] = [];
  /** Values that already became a symbol under the name they are bound to. */
  readonly #named = new Set<number>();

  constructor(readonly text: string) {
    this.draft = new Draft(text);
  }

  finish(): Draft {
    for (const symbol of this.draft.symbols) {
      if (symbol.container === '' && this.#exportedNames.has(symbol.name)) symbol.exported = true;
    }
    for (const { member, owner, isPrivate } of this.#members) {
      member.exported = owner.exported && !isPrivate;
    }
    return this.draft;
  }

  visit(capture: string, node: Node): void {
    while ((this.#scopes.at(-1)?.end ?? Infinity) <= node.startIndex) this.#scopes.pop();
    const visitor = this.#visitors[capture];
    if (visitor === undefined) this.#definition(capture, node);
    else visitor(node);
  }

  readonly #visitors: Record<string, (node: Node) => void> = {
    call: (node) => this.#call(node),
    member: (node) => this.#memberCall(node, 'member'),
    construct: (node) => this.#construct(node),
    element: (node) => this.#construct(node),
    constructMember: (node) => this.#memberCall(node, 'construct'),
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
    unused: (node) => this.draft.unused.add(node.endIndex),
    error: (node) => this.draft.error(node.startIndex, node.endIndex),
  };

  #enterUnnamed(node: Node): void {
    this.#scopes.push({ end: node.endIndex, kind: 'function', symbol: undefined, container: '' });
  }

  #definition(capture: string, node: Node): void {
    const name = nameOf(node) || 'default';
    switch (capture) {
      case 'function':
      case 'functionSignature': {
        const declaration = capture === 'functionSignature';
        const signature = functionSignature('function', name, node, node);
        this.#symbol(name, node, { kind: 'function', signature, scope: 'function', declaration });
        return;
      }
      case 'class':
      case 'classExpression': {
        if (this.#named.has(node.startIndex)) return;
        const signature = classSignature(name, node);
        this.#symbol(name, node, { kind: 'class', signature, scope: 'class' });
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
        });
        return;
      case 'type':
      case 'enum':
        this.#symbol(name, node, { kind: capture, signature: typeSignature(capture, name, node) });
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
    const member = this.#symbol(name, node, {
      kind: 'method',
      signature,
      scope: 'function',
      declaration,
      container,
    });
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
        this.#symbol(name, node, { kind, signature, scope: 'object', exported }, span);
      }
    });
  }

  /** A function or class that is bound to a name is a symbol of that name. */
  #valueAs(name: string, value: Node): Declared | undefined {
    if (isFunction(value)) {
      return {
        kind: 'function',
        signature: functionSignature('function', name, value, value),
        scope: 'function',
      };
    }
    if (value.type !== 'class') return undefined;
    this.#named.add(value.startIndex);
    return { kind: 'class', signature: classSignature(name, value), scope: 'class' };
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
    if (property?.[1] === undefined && owner.startsWith('this')) return;
    if (property?.[3] !== undefined && name === 'prototype' && right.type === 'object') {
      this.#scopes.push({
        end: node.endIndex,
        kind: 'object',
        symbol: undefined,
        container: owner,
      });
      return;
    }
    if (name === '' || (property?.[3] !== undefined && this.#isInFunction())) return;
    const declared = this.#valueAs(name, right);
    if (property?.[1] !== undefined) {
      if (right.type === 'identifier') this.#exportedNames.add(right.text);
      else if (declared !== undefined) this.#symbol(name, node, { ...declared, exported: true });
      else if (!this.#isInFunction()) {
        const signature = renderSignature('constant', name, {});
        this.#symbol(name, node, { kind: 'constant', signature, scope: 'object', exported: true });
      }
      return;
    }
    if (declared?.kind !== 'function') return;
    const signature = functionSignature('method', name, right, right);
    this.#symbol(name, node, {
      ...declared,
      kind: 'method',
      signature,
      container: owner,
      exported: true,
    });
  }

  #moduleExports(node: Node, right: Node): void {
    if (right.type === 'identifier') this.#exportedNames.add(right.text);
    else if (right.type === 'object') {
      for (const name of exportedNames(right.text.slice(1, -1), /\s*:\s*/, 'right'))
        this.#exportedNames.add(name);
      this.#scopes.push({ end: node.endIndex, kind: 'object', symbol: undefined, container: '' });
    } else {
      const name = nameOf(right) || 'default';
      const declared = this.#valueAs(name, right);
      if (declared !== undefined) this.#symbol(name, node, { ...declared, exported: true });
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
    if (declaration !== null) return;
    if (value === null) {
      const statement = node.text;
      const name = /^export\s*=\s*([\w$]+)/.exec(statement)?.[1];
      const names =
        name === undefined
          ? exportedNames(/\{([\s\S]*)\}/.exec(statement)?.[1] ?? '', /\s+as\s+/, 'left')
          : [name];
      for (const each of names) this.#exportedNames.add(each);
    } else if (value.type === 'identifier') this.#exportedNames.add(value.text);
    else {
      const name = nameOf(value) || 'default';
      const declared = this.#valueAs(name, value) ?? {
        kind: 'constant',
        signature: renderSignature('constant', name, {}),
        scope: 'object' as const,
      };
      this.#symbol(name, node, { ...declared, exported: true });
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
    this.draft.calls.push({ callee, at: node.startIndex, kind: 'direct', receiver: '' });
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
    });
  }

  #construct(node: Node): void {
    const callee = node.text;
    this.draft.calls.push({ callee, at: node.startIndex, kind: 'construct', receiver: '' });
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
    if (what.scope !== undefined) {
      this.#scopes.push({ end, kind: what.scope, symbol, container: name });
    }
    return symbol;
  }
}

function isMemberOf(owner: Scope['kind'], capture: string, node: Node): boolean {
  if (capture !== 'methodSignature') return owner === 'class' || owner === 'object';
  // The type of a property has methods of its own: they belong to no name.
  const around = node.parent?.parent?.type ?? '';
  return (owner === 'class' || owner === 'interface') && /class|interface/.test(around);
}
