import type { Node } from 'web-tree-sitter';
import { unknown } from '../../../format/expression.js';
import type { Draft, SymbolDraft } from '../../draft.js';
import type { EsScopes } from './es-scopes.js';
import { isFunction } from './es-signature.js';
import { functionType, parametersOf } from './es-types.js';
import { heldKey, valueOf } from './es-values.js';

/** What one text says of the members of types and of objects. */
export class EsMembers {
  readonly #draft: Draft;
  readonly #es: EsScopes;

  constructor(draft: Draft, es: EsScopes) {
    this.#draft = draft;
    this.#es = es;
  }

  /** `this.x = …` in a class or in a function that is constructed. */
  assigned(name: string, right: Node, at: number): void {
    const symbol = this.#es.ownerOf(this.#es.locals.find('this', at) ?? '');
    const said = right.parent === null ? unknown : this.#es.declared(right.parent);
    const value = said === unknown ? this.#es.of(right) : valueOf(said);
    if (symbol !== undefined && value !== unknown)
      this.#draft.type(symbol, 'assigned', name, value);
  }

  /** A field of a class, or a property of an interface. */
  field(owner: SymbolDraft, node: Node): void {
    const name = this.#memberName(node);
    const type = this.#es.declared(node);
    if (!/^[#%]?[\w$]+$/.test(name)) return;
    if (type !== unknown) this.#draft.type(owner, 'field', name, type);
    else {
      const value = this.#es.of(node.childForFieldName('value'));
      if (value !== unknown) this.#draft.type(owner, 'assigned', name, value);
    }
  }

  /** A method whose key a name holds has no name of its own. */
  keyed(owner: SymbolDraft, node: Node): void {
    const name = this.#memberName(node);
    if (!name.startsWith('%')) return;
    const isRead = node.children.some(({ type }) => type === 'get');
    const type = isRead ? this.#es.resultOf(node) : functionType(node, this.#es.localName);
    if (type !== unknown) this.#draft.type(owner, 'field', name, type);
  }

  #memberName(node: Node): string {
    const name = node.childForFieldName('name') ?? node.childForFieldName('property');
    return name?.type === 'computed_property_name'
      ? (heldKey(name.namedChild(0), this.#es.locals) ?? '')
      : (name?.text ?? '');
  }

  /** `constructor(private readonly x: X)` */
  parameterFields(owner: SymbolDraft, node: Node): void {
    for (const each of parametersOf(node)) {
      const isField = each.children.some(({ type }) =>
        /^(?:accessibility_modifier|readonly)$/.test(type),
      );
      const name = each.childForFieldName('pattern')?.text ?? '';
      const type = this.#es.type(each.childForFieldName('type'));
      if (isField && type !== unknown) this.#draft.type(owner, 'field', name, type);
    }
  }

  /** The properties of an object that a name holds. */
  properties(symbol: SymbolDraft, object: Node): void {
    for (const each of object.namedChildren) {
      const value =
        each.type === 'shorthand_property_identifier' ? each : each.childForFieldName('value');
      const name = (each.childForFieldName('key') ?? each).text;
      if (value === null || isFunction(value) || !/^[\w$]+$/.test(name)) continue;
      // The functions of an object in an object belong to the same name.
      const expression = value.type === 'object' ? symbol.name : this.#es.of(value);
      if (expression !== unknown) this.#draft.type(symbol, 'assigned', name, expression);
      if (value.type === 'object') this.properties(symbol, value);
    }
  }

  /** A signature that a type is called by. */
  signature(owner: SymbolDraft, node: Node): void {
    this.#draft.type(owner, 'is', '', functionType(node, this.#es.localName));
  }
}
