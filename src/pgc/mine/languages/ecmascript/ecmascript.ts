import type { Node } from 'web-tree-sitter';
import { unknown } from '../../../format/expression.js';
import { Draft, type SymbolDraft } from '../../draft.js';
import { exportedNames, importOf, isImported } from './es-imports.js';
import {
  classSignature,
  functionSignature,
  isFunction,
  nameOf,
  typeSignature,
} from './es-signature.js';
import { EsAssignments } from './es-assignments.js';
import { EsCalls } from './es-calls.js';
import type { EsScopes, Own } from './es-scopes.js';
import { EsSymbols, type Scope } from './es-symbols.js';
import { readable } from './es-text.js';
import { membersOf } from './es-types.js';
import { esUse, isIntrinsic } from './es-uses.js';
import { moduleItself } from './es-values.js';
import type { Grammar } from '../../grammar.js';
import { compact, renderSignature } from '../../signature.js';

export function mineEcmascript(grammar: Grammar, text: string): Draft {
  const miner = new EcmascriptMiner(text);
  grammar.captures(readable(text), (name, node) => miner.visit(name, node));
  return miner.finish();
}

class EcmascriptMiner {
  readonly draft: Draft;
  readonly #es: EsScopes;
  readonly #symbols: EsSymbols;
  readonly #calls: EsCalls;
  readonly #assignments: EsAssignments;

  constructor(readonly text: string) {
    this.draft = new Draft(text);
    this.#symbols = new EsSymbols(this.draft);
    this.#es = this.#symbols.es;
    this.#calls = new EsCalls(this.draft, this.#es);
    this.#assignments = new EsAssignments(this.#symbols);
  }

  finish(): Draft {
    this.#symbols.finish();
    return this.draft;
  }

  visit(capture: string, node: Node): void {
    this.#symbols.reach(node.startIndex);
    const visitor = this.#visitors[capture];
    if (visitor === undefined) this.#definition(capture, node);
    else visitor(node);
  }

  readonly #visitors: Record<string, (node: Node) => void> = {
    call: (node) => this.#calls.call(node),
    member: (node) => this.#calls.memberCall(node, 'member'),
    computed: (node) => this.#calls.computedCall(node),
    construct: (node) => this.#calls.construct(node),
    element: (node) => {
      if (!isIntrinsic(node)) this.#calls.construct(node);
    },
    wrapped: (node) => this.#calls.wrappedCall(node),
    elementMember: (node) => this.#calls.memberCall(node, 'construct'),
    constructMember: (node) => this.#calls.memberCall(node, 'construct'),
    super: (node) => this.#calls.construct(node),
    assign: (node) => this.#assignments.variable(node),
    program: (node) => this.#es.program(node),
    block: (node) => this.#es.block(node),
    forIn: (node) => this.#es.forIn(node),
    catch: (node) => this.#es.catches(node),
    return: (node) => this.#es.returns(node),
    property: (node) => this.#property(node),
    dynamicImport: (node) => void this.#calls.dynamicImport(node),
    import: (node) => this.#import(node),
    export: (node) => this.#export(node),
    ambient: (node) => this.#ambient(node),
    variables: (node) => this.#variables(node),
    keyed: (node) => this.#assignments.keyed(node),
    assignment: (node) => this.#assignments.member(node),
    scope: (node) => this.#symbols.enterUnnamed(node),
    method: (node) => this.#member('method', node),
    methodSignature: (node) => this.#member('methodSignature', node),
    field: (node) => this.#member('field', node),
    pair: (node) => this.#member('pair', node),
    use: (node) => this.draft.use(esUse(node, this.#es.locals)),
    unused: (node) => this.draft.unused.add(node.endIndex),
    error: (node) => this.draft.error(node.startIndex, node.endIndex),
  };

  #definition(capture: string, node: Node): void {
    const name = nameOf(node) || 'default';
    switch (capture) {
      case 'function':
      case 'functionSignature': {
        const declaration = capture === 'functionSignature';
        const signature = functionSignature('function', name, node, node);
        this.#symbols.add(name, node, {
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
        if (this.#symbols.isNamed(node)) return;
        const signature = classSignature(name, node);
        this.#symbols.add(name, node, { kind: 'class', signature, scope: 'class', node });
        return;
      }
      case 'module':
        this.#symbols.add(name, node, {
          kind: 'module',
          signature: `module:${name}`,
          scope: 'module',
        });
        return;
      case 'interface':
        this.#symbols.add(name, node, {
          kind: 'interface',
          signature: typeSignature('interface', name, node),
          scope: 'interface',
          node,
        });
        return;
      case 'type':
      case 'enum': {
        const signature = typeSignature(capture, name, node);
        const symbol = this.#symbols.add(name, node, { kind: capture, signature });
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
      if (each?.type === 'object_type' && call !== undefined)
        this.#symbols.members.signature(symbol, call);
    }
  }

  /** A field of a class, or what an interface has besides methods. */
  #property(node: Node): void {
    const owner = this.#symbols.around;
    if (owner?.symbol === undefined || (owner.kind !== 'class' && owner.kind !== 'interface'))
      return;
    if (node.type === 'call_signature') this.#symbols.members.signature(owner.symbol, node);
    else if (node.type === 'index_signature')
      this.draft.type(
        owner.symbol,
        'is',
        '',
        `$map<string,${this.#es.type(node.childForFieldName('type'))}>`,
      );
    else if (node.type !== 'construct_signature') {
      const value = node.childForFieldName('value');
      if (value === null || !isFunction(value)) this.#symbols.members.field(owner.symbol, node);
    }
  }

  /** Methods of classes and interfaces, and functions in an object that a module-level name holds. */
  #member(capture: 'method' | 'methodSignature' | 'field' | 'pair', node: Node): void {
    const owner = this.#symbols.around;
    const name = nameOf(node);
    if (owner === undefined || !isMemberOf(owner.kind, capture, node) || name === '') {
      if (capture !== 'method') return;
      if (owner?.symbol !== undefined && owner.kind === 'class')
        this.#symbols.members.keyed(owner.symbol, node);
      this.#symbols.enterUnnamed(node);
      return;
    }
    const value =
      capture === 'field' || capture === 'pair' ? node.childForFieldName('value') : node;
    const signature = functionSignature('method', name, node, value ?? node);
    const declaration = capture === 'methodSignature';
    const container = owner.container;
    const own = ownOfMember(owner, node);
    const member = this.#symbols.add(name, node, {
      ...{ kind: 'method', signature, scope: 'function', declaration, container, own },
      isPassedOn: owner.kind === 'object' && container === '',
      ...(value !== null && { node: value }),
    });
    if (owner.key.includes('#')) this.draft.type(member, 'local', owner.key);
    if (name === 'constructor' && owner.symbol !== undefined)
      this.#symbols.members.parameterFields(owner.symbol, node);
    if (capture === 'method') this.#es.callable(node);
    const head = this.text.slice(node.startIndex, node.startIndex + 40);
    const isPrivate = name.startsWith('#') || /^(?:static\s+)?(?:private|protected)\b/.test(head);
    if (owner.symbol !== undefined) this.#symbols.addMember(member, owner.symbol, isPrivate);
    else member.exported = true;
  }

  #variables(node: Node): void {
    const isLocal = this.#symbols.isInFunction();
    const declarators = node.namedChildren.filter((child) => child.type === 'variable_declarator');
    const isConst = this.text.startsWith('const', node.startIndex);
    declarators.forEach((declarator, at) => {
      const nameNode = declarator.childForFieldName('name');
      const value = declarator.childForFieldName('value');
      const isRequired = isImported(declarator);
      if (nameNode !== null && !isRequired && (isLocal || nameNode.type !== 'identifier'))
        this.#declare(declarator, nameNode, value);
      if (nameNode?.type !== 'identifier') return;
      const name = nameNode.text;
      const span = {
        start: at === 0 ? node.startIndex : declarator.startIndex,
        end: at === declarators.length - 1 ? node.endIndex : declarator.endIndex,
      };
      const exported = node.startIndex === this.#symbols.exportedAt;
      const declared = value === null ? undefined : this.#symbols.valueAs(name, value);
      if (declared !== undefined) {
        this.#symbols.add(name, node, { ...declared, exported }, span);
      } else if (!isLocal && !isRequired) {
        const kind = isConst ? 'constant' : 'variable';
        const annotation = declarator.childForFieldName('type');
        const type =
          annotation === null
            ? undefined
            : compact(annotation.text.slice(0, 200)).replace(/^:\s*/, '');
        const signature = renderSignature(kind, name, { type });
        const symbol = this.#symbols.add(
          name,
          node,
          { kind, signature, scope: 'object', exported },
          span,
        );
        this.#symbols.holds(symbol, this.#es.declared(declarator), value);
      }
    });
  }

  #declare(declarator: Node, name: Node, value: Node | null): void {
    // A function has a name of its own, also before its end.
    if (value !== null && (isFunction(value) || value.type === 'class')) return;
    // The variable of a loop is declared by it.
    if (declarator.parent?.parent?.type === 'for_in_statement') return;
    this.#es.declare(name, this.#es.variable(declarator, value), declarator.endIndex);
  }

  #export(node: Node): void {
    const source = node.childForFieldName('source');
    if (source !== null) {
      this.#import(node);
      return;
    }
    const declaration = node.childForFieldName('declaration');
    const value = node.childForFieldName('value');
    this.#symbols.exportStart = node.startIndex;
    this.#symbols.exportedAt = declaration?.startIndex ?? -1;
    if (declaration !== null) {
      const isDefault = /^export\s+default\b/.test(
        this.text.slice(node.startIndex, node.startIndex + 40),
      );
      if (isDefault && nameOf(declaration) !== '')
        this.#symbols.passOn('default', nameOf(declaration));
      return;
    }
    if (value === null) {
      const statement = node.text;
      const name = /^export\s*=\s*([\w$]+)/.exec(statement)?.[1];
      const names =
        name === undefined
          ? exportedNames(/\{([\s\S]*)\}/.exec(statement)?.[1] ?? '', /\s+as\s+/, 'left')
          : [name];
      for (const each of names) this.#symbols.exportedNames.add(each);
      if (name !== undefined) this.#symbols.passOn('default', name);
      for (const [, local = '', outer = ''] of statement.matchAll(/([\w$]+)\s+as\s+([\w$]+)/g))
        this.#symbols.passOn(outer, local);
    } else if (value.type === 'identifier') this.#symbols.passOn('default', value.text);
    else {
      const name = nameOf(value) || 'default';
      const declared = this.#symbols.valueAs(name, value);
      if (declared === undefined) this.#symbols.constant('default', node, value);
      else this.#symbols.add(name, node, { ...declared, exported: true });
      this.#symbols.passOn('default', declared === undefined ? 'default' : name);
    }
  }

  #ambient(node: Node): void {
    this.#symbols.ambientEnd = Math.max(this.#symbols.ambientEnd, node.endIndex);
    const inner = node.firstNamedChild;
    if (inner !== null && node.startIndex === this.#symbols.exportedAt)
      this.#symbols.exportedAt = inner.startIndex;
  }

  #import(node: Node): void {
    const found = importOf(node.text, node.startIndex);
    if (found !== undefined) this.draft.imports.push(found);
  }
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

function isMemberOf(owner: Scope['kind'], capture: string, node: Node): boolean {
  if (capture !== 'methodSignature') return owner === 'class' || owner === 'object';
  // The type of a property has methods of its own: they belong to no name.
  const around = node.parent?.parent?.type ?? '';
  return (owner === 'class' || owner === 'interface') && /class|interface/.test(around);
}
