import type { Node } from 'web-tree-sitter';
import {
  cKeywords,
  isMostlyDefines,
  macroHead,
  macroSignature,
  scanCalls,
  scanDefines,
} from './c-macros.js';
import { regular } from './c-regular.js';
import { functionSignature, typeOf } from './c-signature.js';
import { isAttribute, readable } from './c-text.js';
import { isMark, withConstructors, withoutMarks } from './cpp-text.js';
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
(call_expression function: (identifier) @call)
(call_expression function: (qualified_identifier) @qualified)
(call_expression function: (template_function name: (identifier) @call))
(call_expression function: (field_expression field: (_) @member))
(new_expression type: (_) @construct)
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

  protected readonly visitors: Record<string, (node: Node) => void> = {
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
    alias: (node) => this.#type(node, textOf(node, 'name')),
    concept: (node) => this.#type(node, textOf(node, 'name')),
    access: (node) => void this.#access.set(this.#here(), !node.text.startsWith('private')),
    macro: (node) => this.#macro(node),
    include: (node) => {
      const target = node.text.replace(/^[<"]|[>"]$/g, '');
      this.draft.imports.push({ target, names: [], at: node.startIndex });
    },
    call: (node) => this.#call(node.text, node.startIndex),
    qualified: (node) => this.#qualified(node),
    member: (node) => this.#member(node),
    construct: (node) => this.#construct(node),
  };

  #namespace(node: Node): void {
    const name = textOf(node, 'name');
    if (name === '') return this.draft.enter('', 'hidden', node);
    const signature = renderSignature('module', name, {});
    this.#open(node, { name, kind: 'module', signature, exported: true });
  }

  #function(node: Node): void {
    const declarator = node.childForFieldName('declarator');
    const found = declarator === null ? undefined : this.#declared(declarator);
    if (found?.list === undefined || cKeywords.has(found.name) || isAttribute(found.name)) return;
    this.#open(node, this.#functionOf(node, found));
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
    if (this.draft.isLocal) return;
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
          this.#call(found.name, found.at);
        else this.#define(place, { ...this.#functionOf(node, found), declaration: true });
        continue;
      }
      // Fields say little by themselves; a static one is a variable of its own.
      const specifiers = this.parsed.slice(node.startIndex, found.at).replace(/\{[\s\S]*\}/, ' ');
      if (isMember && !/\bstatic\b/.test(specifiers)) continue;
      const kind = /\b(?:const|constexpr)\b[^*]*$/.test(specifiers) ? 'constant' : 'variable';
      const isStatic = !isMember && /\bstatic\b/.test(specifiers);
      const signature = renderSignature(kind, found.name, {
        type: typeOf(specifiers),
        static: isStatic,
      });
      this.#define(place, {
        ...{ name: found.name, kind, signature, exported: !isStatic && this.#isVisible() },
        declaration: /\bextern\b/.test(specifiers) && !each.type.startsWith('init'),
      });
    }
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
    this.#open(node, { name, kind, signature, exported, ...containerOf(scope) });
    this.#access.set(this.#here(), kind !== 'class');
  }

  #enum(node: Node): void {
    const name = textOf(node, 'name').split('::').at(-1) ?? '';
    if (name === '') return this.draft.enter('', 'enum', node);
    const signature = renderSignature('enum', name, { constants: membersIn(node, 'enumerator') });
    const exported = this.#isVisible();
    this.#open(node, { name, kind: 'enum', signature, exported });
  }

  #enumerator(node: Node): void {
    const name = textOf(node, 'name');
    const signature = renderSignature('constant', name, { enum: this.draft.scope?.name });
    this.#define(node, { name, kind: 'constant', signature, exported: this.#isVisible() });
  }

  #typedef(node: Node): void {
    if (this.draft.isLocal) return;
    for (const declarator of node.childrenForFieldName('declarator')) {
      const name = /([A-Za-z_]\w*)\W*(?:\(.*|\[.*)?$/s.exec(
        declarator.type === 'type_identifier' ? declarator.text : innermost(declarator).text,
      )?.[1];
      if (name !== undefined) this.#type(node, name);
    }
  }

  #type(node: Node, name: string): void {
    if (name === '' || this.draft.isLocal) return;
    const source = compact(
      this.parsed.slice(node.startIndex, node.endIndex).replace(/\{[\s\S]*\}/, ' '),
    );
    const signature = renderSignature('type', name, {}, source.replace(/;$/, ''));
    this.#define(node, { name, kind: 'type', signature, exported: this.#isVisible() });
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
    for (const call of scanCalls(body, head.bodyAt, new Set(head.parameters)))
      if (!isAttribute(call.callee)) this.draft.calls.push(call);
  }

  #call(name: string, at: number): void {
    if (!cKeywords.has(name) && !isAttribute(name)) this.draft.call(name, at, 'direct');
  }

  #qualified(node: Node): void {
    let name: Node = node;
    while (name.type === 'qualified_identifier')
      name = name.childForFieldName('name') ?? firstOf(name);
    if (name.type === 'template_function') name = name.childForFieldName('name') ?? name;
    const receiver = this.draft.receiverOf(node.startIndex, name.startIndex);
    this.draft.call(name.text, name.startIndex, receiver === '' ? 'direct' : 'member', receiver);
  }

  #member(node: Node): void {
    const name = node.type === 'template_method' ? (node.childForFieldName('name') ?? node) : node;
    const start = node.parent?.startIndex ?? node.startIndex;
    const receiver = this.draft.receiverOf(start, name.startIndex).replace(/\s*->\s*$/, '');
    this.draft.call(name.text, name.startIndex, 'member', receiver);
  }

  #construct(node: Node): void {
    const found = /^(?:(?:\w+\s*::\s*)*)(\w+)/.exec(node.text);
    if (found === null || cKeywords.has(found[1] ?? '')) return;
    const before = found[0].length - (found[1]?.length ?? 0);
    const at = node.startIndex + before;
    this.draft.call(found[1] ?? '', at, 'construct', this.draft.receiverOf(node.startIndex, at));
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
      .replace(/<[^<>]*>/g, '')
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

  #open(node: Node, found: Found): void {
    this.draft.open(node, { ...found, ...templateStart(node) });
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

function firstOf(node: Node): Node {
  return node.lastNamedChild ?? node;
}
