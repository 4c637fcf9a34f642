import type { Node } from 'web-tree-sitter';
import type { Draft } from '../draft.js';
import type { Grammar } from '../grammar.js';
import { membersIn, parametersOf, ScopedMiner, textOf } from '../scoped-draft.js';
import { compact, renderSignature } from '../signature.js';

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
(object_creation_expression type: (_) @construct)
(object_creation_expression (class_body) @anonymous)
(expression_statement (method_invocation name: (_) @unused))
(ERROR) @error
`;

export function mineJava(grammar: Grammar, text: string): Draft {
  return new JavaMiner(text).mine(grammar);
}

class JavaMiner extends ScopedMiner {
  protected readonly visitors: Record<string, (node: Node) => void> = {
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
    construct: (node) => this.#construct(node),
    // Members of an anonymous class belong to the scope around it.
    anonymous: (node) => this.draft.enter(this.draft.scope?.name ?? '', 'class', node),
  };

  #package(node: Node): void {
    const name = compact(node.namedChildren.at(-1)?.text ?? '');
    const signature = renderSignature('module', name, {});
    this.draft.define(node, { name, kind: 'module', signature, exported: true, container: '' });
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
    this.draft.open(node, { name, kind, signature, exported: this.#isExported(node) });
  }

  #enumConstant(node: Node): void {
    const name = textOf(node, 'name');
    const owner = this.draft.scope;
    const signature = renderSignature('constant', name, { enum: owner?.name });
    const exported = owner?.symbol?.exported ?? false;
    const symbol = this.draft.define(node, { name, kind: 'constant', signature, exported });
    if (node.childForFieldName('body') !== null)
      this.draft.enter(owner?.name ?? '', 'class', node, symbol);
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
    this.draft.open(node, {
      ...{ name, kind: 'method', signature, exported: this.#isExported(node) },
      // Abstract, native, or of an interface: its body is elsewhere.
      declaration: isTyped && node.childForFieldName('body') === null,
    });
  }

  #field(node: Node): void {
    const modifiers = modifiersOf(node);
    const isConstant =
      node.type === 'constant_declaration' ||
      (/\bstatic\b/.test(modifiers) && /\bfinal\b/.test(modifiers));
    const kind = isConstant ? 'constant' : 'variable';
    const exported = this.#isExported(node);
    for (const [at, each] of node.childrenForFieldName('declarator').entries()) {
      const name = textOf(each, 'name');
      const signature = renderSignature(kind, name, { type: textOf(node, 'type') });
      this.draft.define(at === 0 ? node : each, { name, kind, signature, exported });
    }
  }

  #call(node: Node): void {
    const name = node.childForFieldName('name');
    if (name === null) return;
    const object = node.childForFieldName('object');
    // Java has no functions: what stands alone is a method of the class around it.
    if (object === null) return this.draft.call(name.text, name.startIndex, 'member', 'this');
    this.draft.callOn(node, name);
  }

  /** `Type::method`: the code that gets the reference calls it. */
  #reference(node: Node): void {
    const name = node.namedChildren.at(-1);
    if (name?.type === 'identifier' && node.namedChildren.length > 1) this.draft.callOn(node, name);
  }

  #construct(node: Node): void {
    const named = /^(?:@\w+\s+)*((?:\w+\s*\.\s*)*)(\w+)/.exec(node.text);
    if (named === null) return;
    const [, before = '', name = ''] = named;
    const receiver = before.replace(/\s*\.\s*$/, '');
    this.draft.call(name, node.startIndex + named[0].length - name.length, 'construct', receiver);
  }

  /** Members of interfaces are public by themselves. */
  #isExported(node: Node): boolean {
    if (this.draft.isLocal) return false;
    const { scope } = this.draft;
    const isOwn = /\b(?:public|protected)\b/.test(modifiersOf(node)) || scope?.kind === 'interface';
    return isOwn && (scope?.symbol?.exported ?? true);
  }
}

function modifiersOf(node: Node): string {
  return node.namedChildren.find((each) => each.type === 'modifiers')?.text ?? '';
}
