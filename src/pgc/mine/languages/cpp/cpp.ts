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
import {
  castType,
  containerOf,
  declaredBy,
  isInLambda,
  isRecord,
  tailOf,
  templatesOf,
  type Declared,
} from './cpp-declarator.js';
import { CppDefiner } from './cpp-definer.js';
import { CppMacros } from './cpp-macros.js';
import { CppRecords } from './cpp-records.js';
import { CppScopes } from './cpp-scopes.js';
import { isMark } from './cpp-marks.js';
import { heldByMarks, prepared, withConstructors } from './cpp-text.js';
import {
  cppBounds,
  declaredType,
  escaped,
  heldType,
  parametersIn,
  referenceOf,
  rootName,
} from './cpp-types.js';
import { unknown } from '../../../format/expression.js';
import type { TypeRole } from '../../../format/facts.js';
import type { Draft, SymbolDraft } from '../../draft.js';
import type { Grammar } from '../../grammar.js';
import { ScopedMiner, textOf, type Found } from '../../scoped-draft.js';
import { renderSignature } from '../../signature.js';

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
  return new CppMiner(text, grammar).mine(grammar);
}

class CppMiner extends ScopedMiner {
  readonly #macros: CppMacros;

  constructor(text: string, grammar: Grammar) {
    const plain = prepared(text);
    super(text, withConstructors(plain, regular(readable(plain)).text));
    this.#macros = new CppMacros(this.draft, grammar);
  }

  readonly #scopes = new CppScopes(this.draft.locals);
  /** That are not reached yet. */
  readonly #held = heldByMarks(this.text);
  readonly #calls = new CppCalls(this.draft, this.#scopes);
  readonly #definer = new CppDefiner(this.draft, this.#scopes);
  readonly #records = new CppRecords(this.#definer, this.parsed);

  protected readonly visitors: Record<string, (node: Node) => void> = this.#reaching({
    namespace: (node) => this.#namespace(node),
    function: (node) => this.#function(node),
    declaration: (node) => this.#declaration(node),
    field: (node) => this.#declaration(node),
    class: (node) => this.#records.record('class', node),
    struct: (node) => this.#records.record('struct', node),
    union: (node) => this.#records.record('union', node),
    enum: (node) => this.#records.enum(node),
    enumerator: (node) => this.#records.enumerator(node),
    typedef: (node) => this.#records.typedef(node),
    alias: (node) => this.#records.alias(node),
    concept: (node) => this.#records.type(node, textOf(node, 'name')),
    access: (node) => this.#definer.access(!node.text.startsWith('private')),
    macro: (node) => this.#macro(node),
    include: (node) => {
      const target = node.text.replace(/^[<"]|[>"]$/g, '');
      this.draft.imports.push({ target, names: [], at: node.startIndex });
    },
    using: (node) => this.#records.using(node),
    renamed: (node) => this.#records.renamed(node),
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
    const symbol = this.#definer.open(node, {
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
    const found = declarator === null ? undefined : declaredBy(declarator, this.text);
    if (found?.list === undefined || cKeywords.has(found.name) || isAttribute(found.name)) return;
    const symbol = this.#definer.open(node, this.#functionOf(node, found));
    const bounds = this.#typesOfFunction(symbol, node, declarator, found);
    const path = this.#insideOf(node, found.scope);
    const { isHidden } = this.#scopes;
    const isConst = this.draft.types.some(
      ({ owner, role, name }) => owner === symbol && role === 'mark' && name === 'const',
    );
    this.#scopes.enter({
      ...{ kind: 'function', path, end: node.endIndex, symbol, bounds, isHidden, isConst },
    });
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
    this.#definer.placed(symbol, this.#insideOf(node, found.scope));
    const own = escaped(found.name);
    if (own !== found.name) say('local', own);
    const bounds = [...scopes.bounds, ...templatesOf(node).flatMap(cppBounds)];
    for (const each of bounds) say('bound', each, unknown);
    const { type, function: list } = declaredType(node, declarator, scopes);
    const cast = castType(declarator);
    for (const each of parametersIn(list ?? null, scopes)) say('parameter', each.mark, each.type);
    const result = cast === null ? type : scopes.typeOf(cast);
    if (result !== unknown) say('result', referenceOf(declarator), result);
    const specifiers = this.parsed.slice(node.startIndex, found.at);
    const tail = tailOf(node, list);
    if (/\bvirtual\b/.test(specifiers) || /\b(?:override|final)\b/.test(tail))
      say('mark', 'virtual');
    if (/=\s*0\s*;?\s*$/.test(tail)) say('mark', 'pure');
    if (/^\s*(?:\bvolatile\b\s*)?const\b/.test(tail)) say('mark', 'const');
    if (/\bexplicit\b/.test(specifiers)) say('mark', 'explicit');
    if (node.namedChildren.some((each) => each.type === 'delete_method_clause'))
      say('mark', 'deleted');
    const isMember = isRecord(this.draft.scope?.kind) || found.scope !== '';
    if (!isMember && /\bstatic\b/.test(specifiers)) say('mark', 'hidden');
    return bounds;
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
      ...{ name, kind, signature, exported: !isStatic && this.#definer.isVisible() },
      ...containerOf(scope),
    };
  }

  /** Prototypes, variables and members. */
  #declaration(node: Node): void {
    if (this.#scopes.isInFunction) return this.#calls.local(node);
    const isMember = isRecord(this.draft.scope?.kind);
    const declarators = node.childrenForFieldName('declarator');
    for (const [at, each] of declarators.entries()) {
      const found = declaredBy(each, this.text);
      if (found === undefined || cKeywords.has(found.name) || isAttribute(found.name)) continue;
      const place = at === 0 ? node : each;
      if (found.list !== undefined) {
        // `STATIC_ASSERT(size == 3);` among members.
        const isTyped = node.childForFieldName('type') !== null;
        if (!isTyped && isMark(found.name) && found.name !== this.draft.scope?.name)
          this.#calls.named(found.name, found.at);
        else {
          const symbol = this.#definer.define(place, {
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
      this.draft.type(owner.symbol, 'field', found.name, heldType(node, declarator, type));
    // Fields say little by themselves; a static one is a variable of its own.
    const specifiers = this.parsed.slice(node.startIndex, found.at).replace(/\{[\s\S]*\}/, ' ');
    if (isMember && !/\bstatic\b/.test(specifiers)) return;
    const kind = /\b(?:const|constexpr)\b[^*]*$/.test(specifiers) ? 'constant' : 'variable';
    const isStatic = !isMember && /\bstatic\b/.test(specifiers);
    const signature = renderSignature(kind, found.name, {
      type: typeOf(specifiers),
      static: isStatic,
    });
    const symbol = this.#definer.define(place, {
      ...{ name: found.name, kind, signature, exported: !isStatic && this.#definer.isVisible() },
      declaration: /\bextern\b/.test(specifiers) && !declarator.type.startsWith('init'),
      ...containerOf(found.scope),
    });
    this.#definer.placed(symbol, this.#insideOf(node, found.scope));
    if (isStatic) this.draft.type(symbol, 'mark', 'hidden');
    const value = declarator.childForFieldName('value');
    const said = scopes.variable(node, declarator, value);
    if (said !== unknown) this.draft.type(symbol, 'value', '', said);
    if (!isMember) this.#calls.declared(node, declarator);
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
    const symbol = this.#definer.define(node, {
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
    if (head.parameters !== undefined) this.#macros.say(symbol, head.parameters, body);
    for (const call of scanCalls(body, head.bodyAt, new Set(head.parameters)))
      if (!isAttribute(call.callee)) this.draft.calls.push(call);
  }
}
