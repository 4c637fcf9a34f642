import type { Node } from 'web-tree-sitter';
import type { Draft, SymbolDraft } from '../../draft.js';
import type { Grammar } from '../../grammar.js';
import { membersIn, parametersOf, ScopedMiner, textOf } from '../../scoped-draft.js';
import { compact, renderSignature } from '../../signature.js';
import { JavaScopes } from './java-scopes.js';
import { arrayOf, dimensionsOf, javaBases, javaBounds, javaParameters } from './java-types.js';
import { javaUse } from './java-uses.js';
import { javaCallee } from './java-values.js';

export const javaQuery = `
(package_declaration) @package
(import_declaration) @import
(class_declaration) @class
(record_declaration) @class
(interface_declaration) @interface
(annotation_type_declaration) @interface
(enum_declaration) @enum
(enum_constant) @constant
[(method_declaration) (annotation_type_element_declaration)] @method
[(constructor_declaration) (compact_constructor_declaration)] @method
[(field_declaration) (constant_declaration)] @field
(method_invocation) @call
(method_reference) @reference
(explicit_constructor_invocation) @explicit
(object_creation_expression type: (_) @construct)
(object_creation_expression (class_body) @anonymous)
[(block) (for_statement) (switch_rule) (switch_block_statement_group)] @block
(local_variable_declaration) @local
(enhanced_for_statement) @loop
(try_with_resources_statement) @block
(resource) @resource
(catch_clause) @catch
(lambda_expression) @lambda
[(instanceof_expression) (type_pattern) (record_pattern_component)] @pattern
[(identifier) (type_identifier) (field_access)] @use
(expression_statement (method_invocation name: (_) @unused))
(ERROR) @error
`;

export function mineJava(grammar: Grammar, text: string): Draft {
  return new JavaMiner(text).mine(grammar);
}

class JavaMiner extends ScopedMiner {
  readonly #scopes = new JavaScopes(this.draft.locals);

  protected readonly visitors: Record<string, (node: Node) => void> = this.#reaching({
    package: (node) => this.#package(node),
    import: (node) => this.#import(node),
    class: (node) => this.#type('class', node),
    interface: (node) => this.#type('interface', node),
    enum: (node) => this.#type('enum', node),
    constant: (node) => this.#enumConstant(node),
    method: (node) => this.#method(node),
    field: (node) => this.#field(node),
    call: (node) => this.#call(node),
    reference: (node) => this.#reference(node),
    explicit: (node) => this.#explicit(node),
    construct: (node) => this.#construct(node),
    anonymous: (node) => this.#anonymous(node),
    block: (node) => this.draft.locals.open(node.endIndex),
    local: (node) => this.#scopes.variables(node),
    loop: (node) => this.#loop(node),
    resource: (node) => this.#scopes.variable(node, node.startIndex),
    catch: (node) => this.#caught(node),
    lambda: (node) => this.#scopes.lambda(node),
    pattern: (node) => this.#scopes.pattern(node),
    use: (node) => this.#use(node),
  });

  #reaching(visitors: Record<string, (node: Node) => void>): Record<string, (node: Node) => void> {
    return Object.fromEntries(
      Object.entries(visitors).map(([capture, visit]) => [
        capture,
        (node: Node) => {
          this.#scopes.reach(node.startIndex);
          visit(node);
        },
      ]),
    );
  }

  #package(node: Node): void {
    const name = compact(node.namedChildren.at(-1)?.text ?? '');
    const signature = renderSignature('module', name, {});
    this.draft.define(node, { name, kind: 'module', signature, exported: true, container: '' });
    this.draft.type(undefined, 'package', name);
  }

  #import(node: Node): void {
    const path = compact(node.namedChildren.find((each) => each.type !== 'asterisk')?.text ?? '');
    const isAll = node.namedChildren.some((each) => each.type === 'asterisk');
    const dot = path.lastIndexOf('.');
    const target = isAll ? path : path.slice(0, dot);
    const names = [isAll ? '*' : path.slice(dot + 1)];
    this.draft.imports.push({ target, names, at: node.startIndex });
  }

  #type(kind: 'class' | 'interface' | 'enum', node: Node): void {
    const name = textOf(node, 'name');
    const signature = renderSignature(kind, name, {
      extends: textOf(node, 'superclass').replace(/^extends\s+/, ''),
      implements: textOf(node, 'interfaces').replace(/^implements\s+/, ''),
      ...(kind === 'enum'
        ? { constants: membersIn(node, 'enum_constant') ?? 0 }
        : { methods: membersIn(node, 'method_declaration') ?? 0 }),
    });
    const path = this.#scopes.pathOf(name);
    this.#scopes.declareType(name, node, path);
    const symbol = this.draft.open(node, {
      ...{ name, kind, signature, exported: this.#isExported(node) },
    });
    const outer = this.#scopes.around();
    if (outer !== '') this.draft.type(symbol, 'within', outer);
    const own = path.slice(path.lastIndexOf('.') + 1);
    if (own !== name) this.draft.type(symbol, 'local', own);
    const bounds = javaBounds(node, this.#scopes.localType);
    const bases = javaBases(node, this.#scopes.localType);
    this.#scopes.enterType({ name, path, end: node.endIndex, symbol, bounds, base: bases[0] });
    for (const each of this.#scopes.type?.bounds ?? [])
      this.draft.type(symbol, 'bound', each.name, each.type);
    for (const each of bases) this.draft.type(symbol, 'base', '', each);
    this.#implied(node, symbol, path);
  }

  /** What a type has without saying so: the parts of a record, the list of an enumeration. */
  #implied(node: Node, symbol: SymbolDraft, path: string): void {
    const parts = node.type === 'record_declaration' ? node.childForFieldName('parameters') : null;
    for (const { name, type } of javaParameters(parts, this.#scopes.localType)) {
      this.draft.type(symbol, 'field', name, type);
      this.draft.type(symbol, 'field', `${name}()`, `$func<${type}>`);
    }
    if (node.type !== 'enum_declaration') return;
    this.draft.type(symbol, 'field', 'values()', `$func<$array<${path}>>`);
    this.draft.type(symbol, 'field', 'valueOf()', `$func<${path}>`);
  }

  /** Names of types may be given twice in a text: the types around one tell them apart. */
  #within(symbol: SymbolDraft): void {
    const path = this.#scopes.around();
    if (path !== symbol.container) this.draft.type(symbol, 'within', path);
  }

  /** Members of an anonymous class belong to the scope around it. */
  #anonymous(node: Node): void {
    const type = node.parent?.childForFieldName('type');
    const body = node.namedChildren.find((each) => each.type === 'class_body') ?? node;
    this.#unnamed(node, this.#scopes.typeOf(type), body);
    this.draft.enter(this.draft.scope?.name ?? '', 'class', node);
  }

  #unnamed(node: Node, base: string, body: Node): void {
    const path = this.#scopes.unnamed(body);
    this.draft.type(undefined, 'unnamed', path, base);
    this.#scopes.enterType({ path, end: node.endIndex, symbol: undefined, bounds: [] });
    // Its fields are known by no other name.
    this.draft.locals.open(node.endIndex);
  }

  #enumConstant(node: Node): void {
    const name = textOf(node, 'name');
    const owner = this.draft.scope;
    const signature = renderSignature('constant', name, { enum: owner?.name });
    const exported = owner?.symbol?.exported ?? false;
    const symbol = this.draft.define(node, { name, kind: 'constant', signature, exported });
    this.#within(symbol);
    if (hasConstructor(node.parent))
      this.draft.call(owner?.name ?? '', node.startIndex, 'construct', '', this.#callee(node));
    const body = node.childForFieldName('body');
    if (body === null) return;
    const base = this.#scopes.around();
    this.draft.enter(owner?.name ?? '', 'class', node, symbol);
    this.#unnamed(node, base, body);
  }

  #method(node: Node): void {
    const name = textOf(node, 'name');
    const { list, tail } = parametersOf(node);
    const modifiers = modifiersOf(node);
    const signature = renderSignature(
      'method',
      name,
      {
        params: list.length,
        returns: textOf(node, 'type'),
        static: /\bstatic\b/.test(modifiers),
      },
      tail,
    );
    const isTyped = node.type === 'method_declaration';
    const symbol = this.draft.open(node, {
      ...{ name, kind: 'method', signature, exported: this.#isExported(node) },
      // Abstract, native, or of an interface: its body is elsewhere.
      declaration: isTyped && node.childForFieldName('body') === null,
    });
    this.#within(symbol);
    if (/\bprivate\b/.test(modifiers)) this.draft.type(symbol, 'private', '');
    this.#typesOfMethod(symbol, node);
    this.#scopes.enterMethod(node);
  }

  #typesOfMethod(symbol: SymbolDraft, node: Node): void {
    const { type, localType } = this.#scopes;
    for (const each of [...(type?.bounds ?? []), ...javaBounds(node, localType)])
      this.draft.type(symbol, 'bound', each.name, each.type);
    // A short constructor of a record takes what the record holds.
    const list =
      node.childForFieldName('parameters') ?? node.parent?.parent?.childForFieldName('parameters');
    for (const { type: its, isRest } of javaParameters(list ?? null, localType))
      this.draft.type(symbol, 'parameter', isRest ? '*' : '', its);
    const result = node.childForFieldName('type');
    if (result === null) return;
    const depth = dimensionsOf(node.childForFieldName('dimensions'));
    this.draft.type(symbol, 'result', '', arrayOf(this.#scopes.typeOf(result), depth));
  }

  #field(node: Node): void {
    const modifiers = modifiersOf(node);
    const isConstant =
      node.type === 'constant_declaration' ||
      (/\bstatic\b/.test(modifiers) && /\bfinal\b/.test(modifiers));
    const kind = isConstant ? 'constant' : 'variable';
    const exported = this.#isExported(node);
    const owner = this.#scopes.type?.symbol;
    if (owner === undefined) this.#scopes.variables(node);
    for (const [at, each] of node.childrenForFieldName('declarator').entries()) {
      const name = textOf(each, 'name');
      const signature = renderSignature(kind, name, { type: textOf(node, 'type') });
      const symbol = this.draft.define(at === 0 ? node : each, { name, kind, signature, exported });
      this.#within(symbol);
      if (owner === undefined) continue;
      const depth = dimensionsOf(each.childForFieldName('dimensions'));
      const type = arrayOf(this.#scopes.typeOf(node.childForFieldName('type')), depth);
      this.draft.type(owner, 'field', name, type);
    }
  }

  #loop(node: Node): void {
    this.draft.locals.open(node.endIndex);
    const from = node.childForFieldName('body')?.startIndex ?? node.startIndex;
    this.#scopes.variable(node, from);
  }

  #caught(node: Node): void {
    this.draft.locals.open(node.endIndex);
    this.#scopes.caught(node);
  }

  #use(node: Node): void {
    const found = javaUse(node, this.#scopes);
    if (found === undefined) return;
    const isInFunction = this.draft.scope?.kind === 'method';
    const expression = this.#scopes.inPlace(found.expression, isInFunction);
    this.draft.use({ ...found, expression });
  }

  /** What a call calls, as the binder reads it. */
  #callee(node: Node): string {
    const isInFunction = this.draft.scope?.kind === 'method';
    return this.#scopes.inPlace(javaCallee(node, this.#scopes), isInFunction);
  }

  #call(node: Node): void {
    const name = node.childForFieldName('name');
    if (name === null) return;
    const object = node.childForFieldName('object');
    const expression = this.#callee(node);
    // Java has no functions: what stands alone is a method of the class around it.
    if (object === null)
      return this.draft.call(name.text, name.startIndex, 'member', 'this', expression);
    this.draft.callOn(node, name, 'member', expression);
  }

  /** `Type::method`: the code that gets the reference calls it. */
  #reference(node: Node): void {
    const name = node.namedChildren.at(-1);
    if (name?.type === 'identifier' && node.namedChildren.length > 1)
      this.draft.callOn(node, name, 'member', this.#callee(node));
  }

  /** `this(…)`, `super(…)` */
  #explicit(node: Node): void {
    const name = node.childForFieldName('constructor');
    if (name === null) return;
    const called = this.#scopes.constructed(name.type === 'this') ?? name.text;
    this.draft.call(called, name.startIndex, 'construct', '', this.#callee(node));
  }

  #construct(node: Node): void {
    const named = /^(?:@\w+\s+)*((?:\w+\s*\.\s*)*)(\w+)/.exec(node.text);
    if (named === null || node.parent === null) return;
    const [, before = '', name = ''] = named;
    const receiver = before.replace(/\s*\.\s*$/, '');
    const at = node.startIndex + named[0].length - name.length;
    this.draft.call(name, at, 'construct', receiver, this.#callee(node.parent));
  }

  /** Members of interfaces are public by themselves. */
  #isExported(node: Node): boolean {
    if (this.draft.isLocal) return false;
    const { scope } = this.draft;
    const isOwn = /\b(?:public|protected)\b/.test(modifiersOf(node)) || scope?.kind === 'interface';
    return isOwn && (scope?.symbol?.exported ?? true);
  }
}

function hasConstructor(body: Node | null): boolean {
  const rest = body?.namedChildren.find(({ type }) => type === 'enum_body_declarations');
  return rest?.namedChildren.some(({ type }) => type === 'constructor_declaration') ?? false;
}

function modifiersOf(node: Node): string {
  return node.namedChildren.find((each) => each.type === 'modifiers')?.text ?? '';
}
