import type { Node } from 'web-tree-sitter';
import { unknown } from '../../../format/expression.js';
import type { SymbolDraft } from '../../draft.js';
import { membersIn, textOf } from '../../scoped-draft.js';
import { compact, renderSignature } from '../../signature.js';
import { cKeywords } from '../c/c-macros.js';
import { containerOf, innermost, namedBy, templatesOf } from './cpp-declarator.js';
import type { CppDefiner } from './cpp-definer.js';
import { cppBounds, declaredType, escaped, lastName, rootName } from './cpp-types.js';

/** Notes types, and the names that a text gives to those of others. */
export class CppRecords {
  readonly #definer: CppDefiner;
  /** The input of the grammar. */
  readonly #text: string;
  /** The path of the last enumeration. */
  #enumeration = '';

  constructor(definer: CppDefiner, text: string) {
    this.#definer = definer;
    this.#text = text;
  }

  record(kind: 'class' | 'struct' | 'union', node: Node): void {
    const nameNode = node.childForFieldName('name');
    if (nameNode === null) return;
    const { name, scope } = namedBy(nameNode, undefined, this.#text);
    if (name === '' || cKeywords.has(name)) return;
    const bases = node.namedChildren.find((each) => each.type === 'base_class_clause');
    const signature = renderSignature(kind, name, {
      extends: compact(bases?.text ?? '')
        .replace(/^:\s*/, '')
        .replace(/\b(?:public|protected|private|virtual)\s+/g, ''),
    });
    const exported = this.#definer.isVisible();
    const symbol = this.#definer.open(node, {
      name,
      kind,
      signature,
      exported,
      ...containerOf(scope),
    });
    this.#definer.access(kind !== 'class');
    const isSpecial = lastName(nameNode).type === 'template_type';
    const own = isSpecial ? `${name}~` : this.#definer.scopes.ownName(name, node);
    this.#enterType(symbol, { node, name, own, scope });
    if (isSpecial) this.#definer.draft.type(symbol, 'mark', 'special');
    for (const each of bases?.namedChildren ?? []) {
      if (/specifier|virtual|comment/.test(each.type)) continue;
      const base = this.#definer.scopes.typeOf(each);
      if (base !== unknown) this.#definer.draft.type(symbol, 'base', '', base);
    }
  }

  /** `own`: by which it is meant, where that is not its name. */
  #enterType(
    symbol: SymbolDraft,
    { node, name, own, scope }: { node: Node; name: string; own: string; scope: string },
  ): void {
    const scopes = this.#definer.scopes;
    const inside = scope === '' ? scopes.path : scopes.pathOf(scope);
    this.#definer.placed(symbol, inside);
    if (own !== name) this.#definer.draft.type(symbol, 'local', own);
    const written = templatesOf(node).flatMap(cppBounds);
    const bounds = [...written, ...scopes.bounds.filter((each) => !written.includes(each))];
    for (const each of bounds) this.#definer.draft.type(symbol, 'bound', each, unknown);
    const path = inside === '' ? own : `${inside}.${own}`;
    scopes.enter({
      kind: 'type',
      path,
      end: node.endIndex,
      symbol,
      bounds,
      isHidden: scopes.isHidden,
    });
    // Members of a type inside a function are no local variables of it.
    this.#definer.draft.locals.open(node.endIndex);
  }

  enum(node: Node): void {
    const name = textOf(node, 'name').split('::').at(-1) ?? '';
    const outer = this.#definer.scopes;
    this.#enumeration = '';
    if (name === '') return this.#definer.draft.enter('', 'enum', node);
    const signature = renderSignature('enum', name, { constants: membersIn(node, 'enumerator') });
    const exported = this.#definer.isVisible();
    const symbol = this.#definer.open(node, { name, kind: 'enum', signature, exported });
    const own = outer.ownName(name, node);
    this.#definer.placed(symbol, outer.path);
    if (own !== name) this.#definer.draft.type(symbol, 'local', own);
    this.#enumeration = outer.joined(own);
    if (!/^enum\s+(?:class|struct)\b/.test(node.text)) return;
    const { isHidden } = outer;
    outer.enter({
      kind: 'type',
      path: outer.joined(own),
      end: node.endIndex,
      symbol,
      bounds: [],
      isHidden,
    });
  }

  enumerator(node: Node): void {
    const name = textOf(node, 'name');
    const { scope } = this.#definer.draft;
    const signature = renderSignature('constant', name, { enum: scope?.name });
    const symbol = this.#definer.define(node, {
      name,
      kind: 'constant',
      signature,
      exported: this.#definer.isVisible(),
    });
    const { path } = this.#definer.scopes;
    this.#definer.placed(symbol, path);
    const type = this.#enumeration === '' ? 'int' : `${rootName}.${this.#enumeration}`;
    this.#definer.draft.type(symbol, 'value', '', `{${type}}`);
  }

  typedef(node: Node): void {
    for (const declarator of node.childrenForFieldName('declarator')) {
      const name = /([A-Za-z_]\w*)\W*(?:\(.*|\[.*)?$/s.exec(
        declarator.type === 'type_identifier' ? declarator.text : innermost(declarator).text,
      )?.[1];
      if (name === undefined) continue;
      const { type } = declaredType(node, declarator, this.#definer.scopes);
      const record = node.childForFieldName('type');
      const isUnnamed =
        record?.childForFieldName('body') && record.childForFieldName('name') === null;
      const symbol = this.type(node, name, isUnnamed === true || type === name ? unknown : type);
      if (symbol === undefined || isUnnamed !== true || record === null) continue;
      this.#definer.draft.enter(name, 'struct', record, symbol);
      const path = this.#definer.scopes.joined(name);
      const { isHidden } = this.#definer.scopes;
      this.#definer.scopes.enter({
        kind: 'type',
        path,
        end: record.endIndex,
        symbol,
        bounds: [],
        isHidden,
      });
    }
  }

  alias(node: Node): void {
    this.type(
      node,
      textOf(node, 'name'),
      this.#definer.scopes.typeOf(node.childForFieldName('type')),
    );
  }

  type(node: Node, name: string, alias = unknown): SymbolDraft | undefined {
    if (name === '') return undefined;
    if (this.#definer.scopes.isInFunction) {
      this.#definer.scopes.declareType(name, node, alias);
      return undefined;
    }
    const source = compact(
      this.#text.slice(node.startIndex, node.endIndex).replace(/\{[\s\S]*\}/, ' '),
    );
    const signature = renderSignature('type', name, {}, source.replace(/;$/, ''));
    const symbol = this.#definer.define(node, {
      name,
      kind: 'type',
      signature,
      exported: this.#definer.isVisible(),
    });
    this.#definer.placed(symbol, this.#definer.scopes.path);
    for (const each of [...templatesOf(node).flatMap(cppBounds), ...this.#definer.scopes.bounds])
      this.#definer.draft.type(symbol, 'bound', each, unknown);
    if (alias !== unknown) this.#definer.draft.type(symbol, 'alias', '', alias);
    return symbol;
  }

  /** `using namespace A;`, `using A::b;` */
  using(node: Node): void {
    const named = node.namedChildren.at(-1);
    if (named === undefined) return;
    const path = this.#definer.scopes.typeOf(named);
    if (path === unknown) return;
    const owner = this.#definer.scopes.innermost?.symbol;
    if (/^using\s+namespace\b/.test(node.text)) this.#definer.draft.type(owner, 'using', '', path);
    else if (named.type === 'qualified_identifier') {
      const name = path.slice(path.lastIndexOf('.') + 1).replace(/<.*$/, '');
      this.#definer.draft.type(owner, 'exported', escaped(name), path);
    }
  }

  /** `namespace A = B::C;` */
  renamed(node: Node): void {
    const name = textOf(node, 'name');
    const meant = node.namedChildren.at(-1);
    if (name === '' || meant === undefined) return;
    const path = meant.text
      .replace(/\s/g, '')
      .replace(/^::/, `${rootName}::`)
      .replaceAll('::', '.');
    this.#definer.draft.type(this.#definer.scopes.innermost?.symbol, 'exported', name, path);
  }
}
