import type { Node } from 'web-tree-sitter';
import type { Found } from '../../scoped-draft.js';
import { compact } from '../../signature.js';

/** The name that a declarator declares, with the scopes written before it. */
export interface Declared {
  name: string;
  /** `A::B` of `A::B::f`. */
  scope: string;
  /** Of the parameters; undefined: no function. */
  list: string | undefined;
  at: number;
}

export function declaredBy(declarator: Node, text: string): Declared | undefined {
  let inner: Node | null = declarator;
  let list: string | undefined;
  let isPointer = false;
  for (let depth = 0; inner !== null && depth < 32; depth += 1) {
    if (inner.type === 'function_declarator')
      list = compact(inner.childForFieldName('parameters')?.text ?? '()');
    if (inner.type === 'parenthesized_declarator') isPointer = true;
    if (nameTypes.has(inner.type)) return namedBy(inner, isPointer ? undefined : list, text);
    inner = inner.childForFieldName('declarator') ?? inner.firstNamedChild;
  }
  return undefined;
}

export function namedBy(node: Node, list: string | undefined, source: string): Declared {
  let name: Node = node;
  while (name.type === 'qualified_identifier')
    name = name.childForFieldName('name') ?? firstOf(name);
  const scope = source
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
export function templateStart({ parent }: Node): Pick<Found, 'from'> {
  return parent?.type === 'template_declaration' ? { from: parent.startIndex } : {};
}

/** Of `A::B::f`, written outside of it: `B`. Otherwise it is what surrounds the definition. */
export function containerOf(scope: string): Pick<Found, 'container'> {
  return scope === '' ? {} : { container: scope.split('::').at(-1) ?? '' };
}

export function isRecord(kind: string | undefined): boolean {
  return kind === 'class' || kind === 'struct' || kind === 'union';
}

export function innermost(declarator: Node): Node {
  let inner = declarator;
  for (let depth = 0; depth < 32; depth += 1) {
    const next = inner.childForFieldName('declarator') ?? inner.firstNamedChild;
    if (next === null || inner.type === 'type_identifier') return inner;
    inner = next;
  }
  return inner;
}

/** The heads of templates around a definition, the outermost first. */
export function templatesOf(node: Node): Node[] {
  const found: Node[] = [];
  for (let each = node.parent; each?.type === 'template_declaration'; each = each.parent)
    found.unshift(each);
  return found;
}

/** `operator T()` */
export function castType(declarator: Node | null): Node | null {
  let inner = declarator;
  for (let depth = 0; inner !== null && depth < 32; depth += 1) {
    if (inner.type === 'operator_cast') return inner.childForFieldName('type');
    inner = inner.childForFieldName('name') ?? inner.childForFieldName('declarator');
  }
  return null;
}

/** What stands behind the parameters of a function, up to its body. */
export function tailOf(node: Node, list: Node | undefined): string {
  const parameters = list?.childForFieldName('parameters');
  if (!parameters) return '';
  const body = node.childForFieldName('body') ?? undefined;
  const initial = node.namedChildren.find(({ type }) => type === 'field_initializer_list');
  const end = initial?.startIndex ?? body?.startIndex ?? node.endIndex;
  return node.text.slice(parameters.endIndex - node.startIndex, end - node.startIndex);
}

/** Before the end of the function around it. */
export function isInLambda(node: Node, end: number): boolean {
  for (let each = node.parent; each !== null && each.endIndex <= end; each = each.parent) {
    if (each.type === 'lambda_expression') return true;
    if (each.type === 'function_definition') return false;
  }
  return false;
}

export function firstOf(node: Node): Node {
  return node.lastNamedChild ?? node;
}
