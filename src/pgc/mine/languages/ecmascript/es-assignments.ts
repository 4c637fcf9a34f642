import type { Node } from 'web-tree-sitter';
import { unknown } from '../../../format/expression.js';
import { exportedNames, requiredBy } from './es-imports.js';
import { ownValue } from './es-scopes.js';
import { functionSignature, isFunction, nameOf } from './es-signature.js';
import type { EsSymbols } from './es-symbols.js';
import { assignedLast, heldKey, isExports, moduleItself } from './es-values.js';

/** What scripts define by assigning: members of functions and prototypes, and what a module passes on. */
export class EsAssignments {
  readonly #symbols: EsSymbols;

  constructor(symbols: EsSymbols) {
    this.#symbols = symbols;
  }

  /** `x = …`; a name at the top of the file that holds nothing at first is what is assigned to it first. */
  variable(node: Node): void {
    const name = node.childForFieldName('left')?.text ?? '';
    const top = this.#symbols.tops.get(name);
    if (top === undefined || this.#symbols.es.locals.find(name, node.startIndex) !== undefined)
      return this.#symbols.es.assign(node);
    const value = this.#symbols.es.of(node.childForFieldName('right'));
    if (value !== unknown && top.kind === 'variable')
      this.#symbols.draft.type(top, 'value', '', value);
  }

  /** `this[kAgent] = …` */
  keyed(node: Node): void {
    const [left, right] = ['left', 'right'].map((each) => node.childForFieldName(each));
    const { es, members } = this.#symbols;
    const name = heldKey(left?.childForFieldName('index') ?? null, es.locals);
    if (name !== undefined && right) members.assigned(name, right, node.startIndex);
  }

  /** CommonJS and constructor functions define symbols by assigning to a property. */
  member(node: Node): void {
    const right = node.childForFieldName('right');
    const left = /^([\w$]+(?:\s*\.\s*[\w$]+)*)\s*=(?!=)/.exec(
      this.#symbols.draft.text.slice(node.startIndex, node.startIndex + 200),
    );
    if (right === null || left === null) return;
    const target = (left[1] ?? '').replace(/\s/g, '');
    if (/^(?:module\.)?exports$/.test(target)) {
      this.#moduleExports(node, right);
      return;
    }
    if (
      right.type === 'class' &&
      /^(?!this\.|(?:module\.)?exports\.)[\w$]+(?:\.[\w$]+){2,}$/.test(target)
    )
      return this.#innerClass(node, right, target);
    const property = /^(?:(?:module\.)?(exports)|([\w$.]+?)\.prototype|([\w$]+))\.([\w$]+)$/.exec(
      target,
    );
    const name = property?.[4] ?? '';
    const owner = property?.[2] ?? property?.[3] ?? '';
    if (property?.[1] === undefined && owner.startsWith('this')) {
      if (owner === 'this' && !isFunction(right))
        this.#symbols.members.assigned(name, right, node.startIndex);
      return;
    }
    if (property?.[3] !== undefined && name === 'prototype' && right.type === 'object') {
      this.#symbols.enter({
        end: node.endIndex,
        kind: 'object',
        symbol: undefined,
        container: owner,
        key: owner,
      });
      return;
    }
    if (name === '' || (property?.[3] !== undefined && this.#symbols.isInFunction())) return;
    const declared = this.#symbols.valueAs(name, right);
    if (property?.[1] !== undefined) {
      if (right.type === 'identifier') this.#symbols.passOn(name, right.text);
      else if (declared !== undefined)
        this.#symbols.add(name, node, {
          ...{ ...declared, exported: true, isPassedOn: true },
          own: { expression: moduleItself, base: unknown },
        });
      else if (!this.#symbols.isInFunction()) this.#symbols.constant(name, node, right);
      return;
    }
    if (declared === undefined) {
      const holder = this.#symbols.es.holders.get(owner);
      const value = this.#symbols.es.of(right);
      if (holder !== undefined && value !== unknown)
        this.#symbols.draft.type(holder, 'assigned', name, value);
      return;
    }
    if (declared.kind === 'class') {
      this.#symbols.add(name, node, { ...declared, container: owner, exported: true });
      return;
    }
    const signature = functionSignature('method', name, right, right);
    const expression = property?.[2] === undefined ? owner : ownValue(owner);
    this.#symbols.add(name, node, {
      ...declared,
      kind: 'method',
      signature,
      container: owner,
      exported: true,
      own: { expression, base: unknown },
    });
  }

  /** `a.Outer.Inner = class` */
  #innerClass(node: Node, right: Node, path: string): void {
    const [container = '', name = ''] = path.split('.').slice(-2);
    const declared = this.#symbols.valueAs(name, right);
    if (declared !== undefined)
      this.#symbols.add(name, node, { ...declared, container, path, exported: true });
  }

  #moduleExports(node: Node, given: Node): void {
    const right = assignedLast(given, isExports).value;
    if (right.type === 'identifier') this.#symbols.passOn('default', right.text);
    else if (right.type === 'object') {
      this.#passOnPairs(right);
      for (const name of exportedNames(right.text.slice(1, -1), /\s*:\s*/, 'right'))
        this.#symbols.exportedNames.add(name);
      this.#symbols.enter({
        ...{ end: node.endIndex, kind: 'object', symbol: undefined, container: '', key: '' },
      });
    } else {
      const name = nameOf(right) || 'default';
      const declared = this.#symbols.valueAs(name, right);
      if (declared !== undefined) {
        this.#symbols.add(name, node, { ...declared, exported: true });
        this.#symbols.passOn('default', name);
      } else if (!this.#symbols.isInFunction() && requiredBy(right) === undefined)
        this.#symbols.constant('default', node, right);
    }
  }

  /** `module.exports = { a: b }` */
  #passOnPairs(object: Node): void {
    for (const each of object.namedChildren) {
      const [key, value] = ['key', 'value'].map((field) => each.childForFieldName(field));
      if (key && value?.type === 'identifier') this.#symbols.passOn(key.text, value.text);
    }
  }
}
