import type { Node } from 'web-tree-sitter';
import { unknown } from '../../../format/expression.js';
import { receiverCharsMax, type Draft } from '../../draft.js';
import { compact } from '../../signature.js';
import { dynamicImportOf } from './es-imports.js';
import type { EsScopes } from './es-scopes.js';
import { computedMember, indexName } from './es-values.js';

const wrapping = /^(?:parenthesized|non_null|as|satisfies)_expression$/;

const basing = /^(?:(?:Object|Reflect)\.setPrototypeOf|Object\.assign|(?:util\.)?inherits)$/;
const basingCharsMax = 30;

/** Calls of one text: of names, of members, of what is constructed. */
export class EsCalls {
  constructor(
    readonly draft: Draft,
    readonly es: EsScopes,
  ) {}

  call(node: Node): void {
    const callee = node.text;
    if (callee === 'require' && this.dynamicImport(node)) return;
    this.#based(node);
    // What is given is no function of the name that the parameter has.
    const isGiven = this.es.locals.isGiven(callee, node.startIndex);
    this.draft.calls.push({
      ...{ callee, at: node.startIndex, kind: 'direct', receiver: '' },
      expression: isGiven ? '{$func}' : this.es.of(node),
    });
  }

  memberCall(node: Node, kind: 'member' | 'construct'): void {
    const property = node.childForFieldName('property');
    if (property === null) return;
    this.#based(node);
    const receiver = compact(
      this.draft.text.slice(node.startIndex, property.startIndex).slice(0, 4 * receiverCharsMax),
    );
    const folded = receiver.replace(/\??\.$/, '').slice(0, receiverCharsMax);
    this.draft.calls.push({
      callee: property.text,
      at: property.startIndex,
      kind,
      receiver: folded,
      expression: this.es.of(node),
    });
  }

  /** `Object.setPrototypeOf(value, base)`, `util.inherits(Type, Base)`: one has the members of others. */
  #based(callee: Node): void {
    if (callee.endIndex - callee.startIndex > basingCharsMax || !basing.test(callee.text)) return;
    const given = callee.parent?.childForFieldName('arguments')?.namedChildren ?? [];
    const [of = '', ...others] = given.map((each) => this.es.of(each).replace(/\.prototype$/, ''));
    if (!/^[\w$]+(?:#\w+)?(?:\.[\w$]+)*$/.test(of)) return;
    for (const each of others)
      if (each !== unknown) this.draft.type(undefined, 'base', `=${of}`, `=${each}`);
  }

  /** `(f)()`, `x.f!()`, `(f as F)()` */
  wrappedCall(node: Node): void {
    let inner: Node | null = node;
    while (inner !== null && wrapping.test(inner.type)) inner = inner.namedChild(0);
    if (inner?.type === 'identifier') this.call(inner);
    else if (inner?.type === 'member_expression') this.memberCall(inner, 'member');
    else if (inner?.type === 'subscript_expression') this.computedCall(inner);
  }

  /** `x['name']()`, `x[name]()` */
  computedCall(node: Node): void {
    const name = indexName(node);
    const expression = name === undefined ? computedMember(node, this.es.locals) : this.es.of(node);
    if (name === undefined && expression === unknown) return;
    const object = node.childForFieldName('object');
    this.draft.calls.push({
      ...{ callee: name ?? '[]', at: node.startIndex, kind: 'member' as const, expression },
      receiver: compact(object?.text.slice(0, receiverCharsMax) ?? ''),
    });
  }

  construct(node: Node): void {
    const callee = node.text;
    const expression = this.es.of(node);
    this.draft.calls.push({
      callee,
      at: node.startIndex,
      kind: 'construct',
      receiver: '',
      expression,
    });
  }

  dynamicImport(callee: Node): boolean {
    const found = dynamicImportOf(callee);
    if (found !== undefined) this.draft.imports.push(found);
    return found !== undefined;
  }
}
