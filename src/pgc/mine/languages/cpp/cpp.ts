import type { Node } from 'web-tree-sitter';
import {
  cKeywords,
  isMostlyDefines,
  macroHead,
  macroSignature,
  scanCalls,
  scanDefines,
} from '../c/c-macros.js';
import { regular } from '../c/c-regular.js';
import { functionSignature, typeOf } from '../c/c-signature.js';
import { isAttribute, readable } from '../c/c-text.js';
import { CppCalls } from './cpp-calls.js';
import { CppScopes } from './cpp-scopes.js';
import { heldByMarks, isMark, withConstructors, withoutMarks } from './cpp-text.js';
import { cppBounds, declaredType, escaped, lastName, parametersIn, rootName } from './cpp-types.js';
import { unknown } from '../../../format/expression.js';
import type { TypeRole } from '../../../format/facts.js';
import type { Draft, SymbolDraft } from '../../draft.js';
import type { Grammar } from '../../grammar.js';
import { membersIn, ScopedMiner, textOf, type Found } from '../../scoped-draft.js';
import { compact, renderSignature } from '../../signature.js';

export const cppQuery = `
(namespace_definition) @namespace
(function_definition) @function
(declaration) @declaration
(field_declaration) @field
(class_specifier name: (_) body: (_)) @class
(struct_specifier name: (_) body: (_)) @struct
(union_specifier name: (_) body: (_)) @union
(enum_specifier body: (_)) @enum
(enumerator) @enumerator
(type_definition) @typedef
(alias_declaration) @alias
(concept_definition) @concept
(access_specifier) @access
(preproc_def) @macro
(preproc_function_def) @macro
(preproc_include path: (_) @include)
(call_expression) @call
(new_expression) @construct
(compound_literal_expression) @construct
(field_initializer) @initializer
[(binary_expression) (assignment_expression) (subscript_expression)] @operator
[(unary_expression) (pointer_expression) (update_expression)] @operator
(using_declaration) @using
(namespace_alias_definition) @renamed
[(compound_statement) (for_statement) (if_statement) (while_statement) (switch_statement)] @block
(for_range_loop) @loop
(catch_clause) @catch
(lambda_expression) @lambda
(return_statement) @return
(expression_statement (call_expression function: (_) @unused))
(expression_statement (cast_expression value: (call_expression function: (_) @unused)))
(ERROR) @error
`;

export function mineCpp(grammar: Grammar, text: string): Draft {
  if (isMostlyDefines(text)) return scanDefines(text);
  return new CppMiner(text).mine(grammar);
}

/** The name that a declarator declares, with the scopes written before it. */
interface Declared {
  name: string;
  /** `A::B` of `A::B::f`. */
  scope: string;
  /** Of the parameters; undefined: no function. */
  list: string | undefined;
  at: number;
}

class CppMiner extends ScopedMiner {
  /** Whether members that come now are for others: `class` begins private, everything else public. */
  readonly #access = new Map<string, boolean>();

  constructor(text: string) {
    const plain = withoutMarks(text);
    super(text, withConstructors(plain, regular(readable(plain)).text));
  }

  readonly #scopes = new CppScopes(this.draft.locals);
  /** The path of the last one. */
  #enumeration = '';
  /** That are not reached yet. */
  readonly #held = heldByMarks(this.text);
  readonly #calls = new CppCalls(this.draft, this.#scopes);

  protected readonly visitors: Record<string, (node: Node) => void> = this.#reaching({
    namespace: (node) => this.#namespace(node),
    function: (node) => this.#function(node),
    declaration: (node) => this.#declaration(node),
    field: (node) => this.#declaration(node),
    class: (node) => this.#record('class', node),
    struct: (node) => this.#record('struct', node),
    union: (node) => this.#record('union', node),
    enum: (node) => this.#enum(node),
    enumerator: (node) => this.#enumerator(node),
    typedef: (node) => this.#typedef(node),
    alias: (node) => this.#alias(node),
    concept: (node) => this.#type(node, textOf(node, 'name')),
    access: (node) => void this.#access.set(this.#here(), !node.text.startsWith('private')),
    macro: (node) => this.#macro(node),
    include: (node) => {
      const target = node.text.replace(/^[<"]|[>"]$/g, '');
      this.draft.imports.push({ target, names: [], at: node.startIndex });
    },
    using: (node) => this.#using(node),
    renamed: (node) => this.#renamed(node),
    block: (node) => this.draft.locals.open(node.endIndex),
    loop: (node) => this.#scopes.loop(node),
    catch: (node) => this.#caught(node),
    lambda: (node) => this.#scopes.lambda(node),
    return: (node) => this.#returned(node),
    call: (node) => this.#calls.call(node),
    construct: (node) => this.#calls.constructed(node),
    initializer: (node) => this.#calls.initialized(node),
    operator: (node) => this.#calls.operator(node),
  });

  #reaching(visitors: Record<string, (node: Node) => void>): Record<string, (node: Node) => void> {
    return Object.fromEntries(
      Object.entries(visitors).map(([capture, visit]) => [
        capture,
        (node: Node) => {
          this.#scopes.reach(node.startIndex);
          this.#hold(node.startIndex);
          visit(node);
        },
      ]),
    );
  }

  /** Whether a macro opens a namespace is not known here: the path says which one it is. */
  #hold(at: number): void {
    for (let next = this.#held[0]; next !== undefined && next.from <= at; next = this.#held[0]) {
      this.#held.shift();
      if (next.to <= at || this.#scopes.isInFunction) continue;
      const path = this.#scopes.joined(`$$${next.name}`);
      const { isHidden } = this.#scopes;
      this.#scopes.enter({
        ...{ kind: 'namespace', path, end: next.to, symbol: undefined, bounds: [], isHidden },
      });
    }
  }

  #namespace(node: Node): void {
    const scopes = this.#scopes;
    const written = textOf(node, 'name');
    const isHidden = written === '' || scopes.isHidden;
    const isInline = /^inline\b/.test(node.text);
    const outer = scopes.path;
    const own = scopes.pathOf(written);
    if (written === '') {
      this.draft.enter(this.draft.scope?.name ?? '', 'hidden', node);
      scopes.enter({
        kind: 'namespace',
        path: outer,
        end: node.endIndex,
        symbol: undefined,
        bounds: [],
        isHidden,
      });
      return;
    }
    const name = written.split('::').at(-1) ?? written;
    const symbol = this.#open(node, {
      name,
      kind: 'module',
      signature: renderSignature('module', written, {}),
      exported: true,
    });
    const around = own.slice(0, Math.max(own.lastIndexOf('.'), 0));
    if (around !== '') this.draft.type(symbol, 'within', around);
    // What is inline has the names of what is around it.
    if (isInline)
      this.draft.type(symbol, 'using', '', outer === '' ? rootName : `${rootName}.${outer}`);
    scopes.enter({
      kind: 'namespace',
      path: isInline ? outer : own,
      end: node.endIndex,
      symbol,
      bounds: [],
      isHidden,
    });
  }

  #function(node: Node): void {
    const declarator = node.childForFieldName('declarator');
    const found = declarator === null ? undefined : this.#declared(declarator);
    if (found?.list === undefined || cKeywords.has(found.name) || isAttribute(found.name)) return;
    const symbol = this.#open(node, this.#functionOf(node, found));
    const bounds = this.#typesOfFunction(symbol, node, declarator, found);
    const path = this.#insideOf(node, found.scope);
    const { isHidden } = this.#scopes;
    this.#scopes.enter({ kind: 'function', path, end: node.endIndex, symbol, bounds, isHidden });
    this.draft.locals.open(node.endIndex);
    const { function: own } = declaredType(node, declarator, this.#scopes);
    this.#scopes.parameters(own ?? null, node.startIndex);
  }

  /** What a function or type belongs to. */
  #insideOf(node: Node, scope: string): string {
    const outermost = templatesOf(node)[0] ?? node;
    if (outermost.parent?.type === 'friend_declaration') return this.#scopes.namespace;
    if (scope === '') return this.#scopes.path;
    // `template <> int A<int>::f()` is not that of `A`.
    const isSpecial = templatesOf(node).some((each) => cppBounds(each).length === 0);
    return `${this.#scopes.pathOf(scope)}${isSpecial ? '~' : ''}`;
  }

  /** Gives the type parameters that are visible in it. */
  #typesOfFunction(
    symbol: SymbolDraft,
    node: Node,
    declarator: Node | null,
    found: Declared,
  ): string[] {
    const say = (role: TypeRole, name: string, type = ''): void =>
      this.draft.type(symbol, role, name, type);
    const scopes = this.#scopes;
    this.#placed(symbol, this.#insideOf(node, found.scope));
    const own = escaped(found.name);
    if (own !== found.name) say('local', own);
    const bounds = [...scopes.bounds, ...templatesOf(node).flatMap(cppBounds)];
    for (const each of bounds) say('bound', each, unknown);
    const { type, function: list } = declaredType(node, declarator, scopes);
    const cast = castType(declarator);
    for (const each of parametersIn(list ?? null, scopes)) say('parameter', each.mark, each.type);
    const result = cast === null ? type : scopes.typeOf(cast);
    if (result !== unknown) say('result', '', result);
    const specifiers = this.parsed.slice(node.startIndex, found.at);
    const tail = tailOf(node, list);
    if (/\bvirtual\b/.test(specifiers) || /\b(?:override|final)\b/.test(tail))
      say('mark', 'virtual');
    if (/=\s*0\s*;?\s*$/.test(tail)) say('mark', 'pure');
    if (/^\s*(?:\bvolatile\b\s*)?const\b/.test(tail)) say('mark', 'const');
    if (/\bexplicit\b/.test(specifiers)) say('mark', 'explicit');
    const isMember = isRecord(this.draft.scope?.kind) || found.scope !== '';
    if (!isMember && /\bstatic\b/.test(specifiers)) say('mark', 'hidden');
    return bounds;
  }

  /** Where it stands. */
  #placed(symbol: SymbolDraft, path: string): void {
    if (path !== '') this.draft.type(symbol, 'within', path);
    if (this.#scopes.isHidden) this.draft.type(symbol, 'mark', 'hidden');
  }

  #functionOf(node: Node, found: Declared): Found {
    const { name, scope, list = '()' } = found;
    const outer = this.draft.scope;
    const isMember = isRecord(outer?.kind) || scope !== '';
    const kind = isMember ? 'method' : 'function';
    const specifiers = this.parsed.slice(node.startIndex, found.at);
    const signature = functionSignature(name, specifiers, list).replace(/^function:/, `${kind}:`);
    const isStatic = !isMember && /\bstatic\b/.test(specifiers);
    return {
      ...{ name, kind, signature, exported: !isStatic && this.#isVisible() },
      ...containerOf(scope),
    };
  }

  /** Prototypes, variables and members. */
  #declaration(node: Node): void {
    if (this.#scopes.isInFunction) return this.#calls.local(node);
    const isMember = isRecord(this.draft.scope?.kind);
    const declarators = node.childrenForFieldName('declarator');
    for (const [at, each] of declarators.entries()) {
      const found = this.#declared(each);
      if (found === undefined || cKeywords.has(found.name) || isAttribute(found.name)) continue;
      const place = at === 0 ? node : each;
      if (found.list !== undefined) {
        // `STATIC_ASSERT(size == 3);` among members.
        const isTyped = node.childForFieldName('type') !== null;
        if (!isTyped && isMark(found.name) && found.name !== this.draft.scope?.name)
          this.#calls.named(found.name, found.at);
        else {
          const symbol = this.#define(place, {
            ...this.#functionOf(node, found),
            declaration: true,
          });
          this.#typesOfFunction(symbol, node, each, found);
        }
        continue;
      }
      this.#variable(node, { declarator: each, place, found, isMember });
    }
  }

  #variable(
    node: Node,
    {
      declarator,
      place,
      found,
      isMember,
    }: { declarator: Node; place: Node; found: Declared; isMember: boolean },
  ): void {
    const scopes = this.#scopes;
    const { type } = declaredType(node, declarator, scopes);
    const owner = scopes.innermost;
    if (isMember && owner?.symbol !== undefined && type !== unknown)
      this.draft.type(owner.symbol, 'field', found.name, type);
    // Fields say little by themselves; a static one is a variable of its own.
    const specifiers = this.parsed.slice(node.startIndex, found.at).replace(/\{[\s\S]*\}/, ' ');
    if (isMember && !/\bstatic\b/.test(specifiers)) return;
    const kind = /\b(?:const|constexpr)\b[^*]*$/.test(specifiers) ? 'constant' : 'variable';
    const isStatic = !isMember && /\bstatic\b/.test(specifiers);
    const signature = renderSignature(kind, found.name, {
      type: typeOf(specifiers),
      static: isStatic,
    });
    const symbol = this.#define(place, {
      ...{ name: found.name, kind, signature, exported: !isStatic && this.#isVisible() },
      declaration: /\bextern\b/.test(specifiers) && !declarator.type.startsWith('init'),
      ...containerOf(found.scope),
    });
    this.#placed(symbol, this.#insideOf(node, found.scope));
    if (isStatic) this.draft.type(symbol, 'mark', 'hidden');
    const value = declarator.childForFieldName('value');
    const said = scopes.variable(node, declarator, value);
    if (said !== unknown) this.draft.type(symbol, 'value', '', said);
    if (!isMember) this.#calls.declared(node, declarator);
  }

  #record(kind: 'class' | 'struct' | 'union', node: Node): void {
    const nameNode = node.childForFieldName('name');
    if (nameNode === null) return;
    const { name, scope } = this.#named(nameNode, undefined);
    if (name === '' || cKeywords.has(name)) return;
    const bases = node.namedChildren.find((each) => each.type === 'base_class_clause');
    const signature = renderSignature(kind, name, {
      extends: compact(bases?.text ?? '')
        .replace(/^:\s*/, '')
        .replace(/\b(?:public|protected|private|virtual)\s+/g, ''),
    });
    const exported = this.#isVisible();
    const symbol = this.#open(node, { name, kind, signature, exported, ...containerOf(scope) });
    this.#access.set(this.#here(), kind !== 'class');
    const isSpecial = lastName(nameNode).type === 'template_type';
    const own = isSpecial ? `${name}~` : this.#scopes.ownName(name, node);
    this.#enterType(symbol, { node, name, own, scope });
    if (isSpecial) this.draft.type(symbol, 'mark', 'special');
    for (const each of bases?.namedChildren ?? []) {
      if (/specifier|virtual|comment/.test(each.type)) continue;
      const base = this.#scopes.typeOf(each);
      if (base !== unknown) this.draft.type(symbol, 'base', '', base);
    }
  }

  /** `own`: by which it is meant, where that is not its name. */
  #enterType(
    symbol: SymbolDraft,
    { node, name, own, scope }: { node: Node; name: string; own: string; scope: string },
  ): void {
    const scopes = this.#scopes;
    const inside = scope === '' ? scopes.path : scopes.pathOf(scope);
    this.#placed(symbol, inside);
    if (own !== name) this.draft.type(symbol, 'local', own);
    const written = templatesOf(node).flatMap(cppBounds);
    const bounds = [...written, ...scopes.bounds.filter((each) => !written.includes(each))];
    for (const each of bounds) this.draft.type(symbol, 'bound', each, unknown);
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
    this.draft.locals.open(node.endIndex);
  }

  #enum(node: Node): void {
    const name = textOf(node, 'name').split('::').at(-1) ?? '';
    const outer = this.#scopes;
    if (name === '') return this.draft.enter('', 'enum', node);
    const signature = renderSignature('enum', name, { constants: membersIn(node, 'enumerator') });
    const exported = this.#isVisible();
    const symbol = this.#open(node, { name, kind: 'enum', signature, exported });
    const own = outer.ownName(name, node);
    this.#placed(symbol, outer.path);
    if (own !== name) this.draft.type(symbol, 'local', own);
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

  #enumerator(node: Node): void {
    const name = textOf(node, 'name');
    const { scope } = this.draft;
    const signature = renderSignature('constant', name, { enum: scope?.name });
    const symbol = this.#define(node, {
      name,
      kind: 'constant',
      signature,
      exported: this.#isVisible(),
    });
    const { path } = this.#scopes;
    this.#placed(symbol, path);
    if (scope?.kind === 'enum' && scope.name !== '')
      this.draft.type(symbol, 'value', '', `{${rootName}.${this.#enumeration}}`);
  }

  #typedef(node: Node): void {
    for (const declarator of node.childrenForFieldName('declarator')) {
      const name = /([A-Za-z_]\w*)\W*(?:\(.*|\[.*)?$/s.exec(
        declarator.type === 'type_identifier' ? declarator.text : innermost(declarator).text,
      )?.[1];
      if (name === undefined) continue;
      const { type } = declaredType(node, declarator, this.#scopes);
      const record = node.childForFieldName('type');
      const isUnnamed =
        record?.childForFieldName('body') && record.childForFieldName('name') === null;
      const symbol = this.#type(node, name, isUnnamed === true || type === name ? unknown : type);
      if (symbol === undefined || isUnnamed !== true || record === null) continue;
      this.draft.enter(name, 'struct', record, symbol);
      const path = this.#scopes.joined(name);
      const { isHidden } = this.#scopes;
      this.#scopes.enter({
        kind: 'type',
        path,
        end: record.endIndex,
        symbol,
        bounds: [],
        isHidden,
      });
    }
  }

  #alias(node: Node): void {
    this.#type(node, textOf(node, 'name'), this.#scopes.typeOf(node.childForFieldName('type')));
  }

  #type(node: Node, name: string, alias = unknown): SymbolDraft | undefined {
    if (name === '') return undefined;
    if (this.#scopes.isInFunction) {
      this.#scopes.declareType(name, node, alias);
      return undefined;
    }
    const source = compact(
      this.parsed.slice(node.startIndex, node.endIndex).replace(/\{[\s\S]*\}/, ' '),
    );
    const signature = renderSignature('type', name, {}, source.replace(/;$/, ''));
    const symbol = this.#define(node, {
      name,
      kind: 'type',
      signature,
      exported: this.#isVisible(),
    });
    this.#placed(symbol, this.#scopes.path);
    for (const each of [...templatesOf(node).flatMap(cppBounds), ...this.#scopes.bounds])
      this.draft.type(symbol, 'bound', each, unknown);
    if (alias !== unknown) this.draft.type(symbol, 'alias', '', alias);
    return symbol;
  }

  /** `using namespace A;`, `using A::b;` */
  #using(node: Node): void {
    const named = node.namedChildren.at(-1);
    if (named === undefined) return;
    const path = this.#scopes.typeOf(named);
    if (path === unknown) return;
    const owner = this.#scopes.innermost?.symbol;
    if (/^using\s+namespace\b/.test(node.text)) this.draft.type(owner, 'using', '', path);
    else if (named.type === 'qualified_identifier') {
      const name = path.slice(path.lastIndexOf('.') + 1).replace(/<.*$/, '');
      this.draft.type(owner, 'exported', escaped(name), path);
    }
  }

  /** `namespace A = B::C;` */
  #renamed(node: Node): void {
    const name = textOf(node, 'name');
    const meant = node.namedChildren.at(-1);
    if (name === '' || meant === undefined) return;
    const path = meant.text
      .replace(/\s/g, '')
      .replace(/^::/, `${rootName}::`)
      .replaceAll('::', '.');
    this.draft.type(this.#scopes.innermost?.symbol, 'exported', name, path);
  }

  #caught(node: Node): void {
    this.draft.locals.open(node.endIndex);
    this.#scopes.parameters(node, node.startIndex);
  }

  /** Of a function that does not write its result. */
  #returned(node: Node): void {
    const around = this.#scopes.innermost;
    if (around?.kind !== 'function' || around.symbol === undefined || isInLambda(node, around.end))
      return;
    const { symbol } = around;
    const isWritten = this.draft.types.some(
      ({ owner, role }) => owner === symbol && role === 'result',
    );
    const value = isWritten ? unknown : this.#scopes.of(node.namedChild(0));
    if (value !== unknown) this.draft.type(symbol, 'returned', '', value);
  }

  #macro(node: Node): void {
    const head = macroHead(this.parsed, node.startIndex);
    if (head === undefined) return;
    const end = node.startIndex + node.text.trimEnd().length;
    const body = this.parsed.slice(head.bodyAt, end);
    const signature = macroSignature(head, body);
    const symbol = this.#define(node, {
      name: head.name,
      kind: 'macro',
      signature,
      exported: true,
    });
    symbol.end = end;
    symbol.container = '';
    const opened = [...body.matchAll(/(\binline\s+)?\bnamespace\s+([A-Za-z_]\w*)\s*(?=\{)/g)];
    const path = opened.flatMap(([, inline, name = '']) => (inline === undefined ? [name] : []));
    if (opened.length > 0) this.draft.type(symbol, 'using', '', path.join('.'));
    for (const call of scanCalls(body, head.bodyAt, new Set(head.parameters)))
      if (!isAttribute(call.callee)) this.draft.calls.push(call);
  }

  #declared(declarator: Node): Declared | undefined {
    let inner: Node | null = declarator;
    let list: string | undefined;
    let isPointer = false;
    for (let depth = 0; inner !== null && depth < 32; depth += 1) {
      if (inner.type === 'function_declarator')
        list = compact(inner.childForFieldName('parameters')?.text ?? '()');
      if (inner.type === 'parenthesized_declarator') isPointer = true;
      if (nameTypes.has(inner.type)) return this.#named(inner, isPointer ? undefined : list);
      inner = inner.childForFieldName('declarator') ?? inner.firstNamedChild;
    }
    return undefined;
  }

  #named(node: Node, list: string | undefined): Declared {
    let name: Node = node;
    while (name.type === 'qualified_identifier')
      name = name.childForFieldName('name') ?? firstOf(name);
    const scope = this.text
      .slice(node.startIndex, name.startIndex)
      .replace(/<.*?>(?=\s*::)/gs, '')
      .replace(/\s|::\s*$/g, '');
    // `operator bool() const` holds its own list.
    const isCast = name.type === 'operator_cast';
    const text = compact(isCast ? name.text.replace(/\(.*$/s, '') : name.text);
    // What a template is specialized for is not its name; of `operator<=>` it is.
    const bare = name.type === 'operator_name' ? text : text.replace(/ ?<.*>$/, '');
    return { name: bare, scope, list: isCast ? '()' : list, at: node.startIndex };
  }

  #define(node: Node, found: Found): SymbolDraft {
    return this.draft.define(node, { ...found, ...templateStart(node) });
  }

  #open(node: Node, found: Found): SymbolDraft {
    return this.draft.open(node, { ...found, ...templateStart(node) });
  }

  #isVisible(): boolean {
    const { scope } = this.draft;
    if (this.draft.isLocal || scope?.kind === 'hidden') return false;
    if (!isRecord(scope?.kind)) return scope?.symbol?.exported ?? true;
    return (this.#access.get(this.#here()) ?? true) && (scope?.symbol?.exported ?? true);
  }

  #here(): string {
    const { scope } = this.draft;
    return `${scope?.name ?? ''} ${scope?.end ?? 0}`;
  }
}

const nameTypes = new Set([
  'identifier',
  'field_identifier',
  'type_identifier',
  'qualified_identifier',
  'destructor_name',
  'operator_name',
  'operator_cast',
  'template_function',
  'template_method',
]);

/** `template <…>` is the node around the definition, and belongs to it. */
function templateStart({ parent }: Node): Pick<Found, 'from'> {
  return parent?.type === 'template_declaration' ? { from: parent.startIndex } : {};
}

/** Of `A::B::f`, written outside of it: `B`. Otherwise it is what surrounds the definition. */
function containerOf(scope: string): Pick<Found, 'container'> {
  return scope === '' ? {} : { container: scope.split('::').at(-1) ?? '' };
}

function isRecord(kind: string | undefined): boolean {
  return kind === 'class' || kind === 'struct' || kind === 'union';
}

function innermost(declarator: Node): Node {
  let inner = declarator;
  for (let depth = 0; depth < 32; depth += 1) {
    const next = inner.childForFieldName('declarator') ?? inner.firstNamedChild;
    if (next === null || inner.type === 'type_identifier') return inner;
    inner = next;
  }
  return inner;
}

/** The heads of templates around a definition, the outermost first. */
function templatesOf(node: Node): Node[] {
  const found: Node[] = [];
  for (let each = node.parent; each?.type === 'template_declaration'; each = each.parent)
    found.unshift(each);
  return found;
}

/** `operator T()` */
function castType(declarator: Node | null): Node | null {
  let inner = declarator;
  for (let depth = 0; inner !== null && depth < 32; depth += 1) {
    if (inner.type === 'operator_cast') return inner.childForFieldName('type');
    inner = inner.childForFieldName('name') ?? inner.childForFieldName('declarator');
  }
  return null;
}

/** What stands behind the parameters of a function, up to its body. */
function tailOf(node: Node, list: Node | undefined): string {
  const parameters = list?.childForFieldName('parameters');
  if (!parameters) return '';
  const body = node.childForFieldName('body') ?? undefined;
  const initial = node.namedChildren.find(({ type }) => type === 'field_initializer_list');
  const end = initial?.startIndex ?? body?.startIndex ?? node.endIndex;
  return node.text.slice(parameters.endIndex - node.startIndex, end - node.startIndex);
}

/** Before the end of the function around it. */
function isInLambda(node: Node, end: number): boolean {
  for (let each = node.parent; each !== null && each.endIndex <= end; each = each.parent) {
    if (each.type === 'lambda_expression') return true;
    if (each.type === 'function_definition') return false;
  }
  return false;
}

function firstOf(node: Node): Node {
  return node.lastNamedChild ?? node;
}
