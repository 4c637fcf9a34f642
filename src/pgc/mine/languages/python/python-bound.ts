import type { Node } from 'web-tree-sitter';

/** The names that a body binds anywhere, and those of them that it says belong to the module. */
export interface BoundNames {
  names: Set<string>;
  globals: Set<string>;
  /** Functions and classes, by name: where they begin. */
  definitions: Map<string, number>;
}

/** Deeper ones are generated. */
const depthMax = 100;

/** Of one function or module, without the functions in it. */
export function boundNames(body: Node | null): BoundNames {
  const found: BoundNames = { names: new Set(), globals: new Set(), definitions: new Map() };
  if (body !== null) statements(body, found, 0);
  for (const name of found.globals) found.names.delete(name);
  return found;
}

function statements(block: Node, found: BoundNames, depth: number): void {
  if (depth < depthMax) for (const each of block.namedChildren) statement(each, found, depth + 1);
}

function statement(node: Node, found: BoundNames, depth: number): void {
  const { names } = found;
  switch (node.type) {
    case 'expression_statement':
      assignments(node.firstNamedChild, found);
      break;
    case 'function_definition':
    case 'class_definition':
      names.add(node.childForFieldName('name')?.text ?? '');
      found.definitions.set(node.childForFieldName('name')?.text ?? '', node.startIndex);
      return;
    case 'decorated_definition': {
      const its = node.childForFieldName('definition');
      if (its !== null) statement(its, found, depth);
      return;
    }
    case 'import_statement':
    case 'import_from_statement':
      for (const each of node.childrenForFieldName('name')) names.add(importedName(each));
      return;
    case 'global_statement':
      for (const each of node.namedChildren) found.globals.add(each.text);
      return;
    case 'nonlocal_statement':
      return;
    case 'for_statement':
      targets(node.childForFieldName('left'), names);
      blocks(node, found, depth);
      break;
    case 'with_statement':
    case 'except_clause':
    case 'except_group_clause':
    case 'case_clause':
      for (const each of node.descendantsOfType('as_pattern_target')) targets(each, names);
      blocks(node, found, depth);
      break;
    case 'if_statement':
    case 'elif_clause':
    case 'else_clause':
    case 'while_statement':
    case 'try_statement':
    case 'finally_clause':
    case 'match_statement':
    case 'block':
      blocks(node, found, depth);
      break;
  }
  if (node.type !== 'block' && hasWalrus(node))
    for (const each of node.descendantsOfType('named_expression'))
      names.add(each.childForFieldName('name')?.text ?? '');
}

/** Only of statements without others in them: those are asked themselves. */
function hasWalrus(node: Node): boolean {
  return node.endIndex - node.startIndex < 2_000 && node.text.includes(':=');
}

function blocks(node: Node, found: BoundNames, depth: number): void {
  if (node.type === 'block') statements(node, found, depth);
  else
    for (const each of node.namedChildren)
      if (/(?:block|_clause|_statement)$/.test(each.type)) {
        if (depth < depthMax) statement(each, found, depth + 1);
      }
}

function assignments(node: Node | null, { names }: BoundNames): void {
  for (let each = node; each?.type === 'assignment'; each = each.childForFieldName('right'))
    targets(each.childForFieldName('left'), names);
  if (node?.type === 'augmented_assignment') targets(node.childForFieldName('left'), names);
}

function targets(node: Node | null, names: Set<string>): void {
  if (node === null) return;
  if (node.type === 'identifier') names.add(node.text);
  else if (
    /^(?:pattern_list|tuple_pattern|list_pattern|list_splat_pattern|as_pattern_target|tuple|expression_list|parenthesized_expression)$/.test(
      node.type,
    )
  )
    for (const each of node.namedChildren) targets(each, names);
}

/** `a` of `import a.b`, `c` of `import a.b as c`. */
export function importedName(node: Node): string {
  const alias = node.childForFieldName('alias')?.text;
  return alias ?? (node.text.split('.')[0] ?? '').trim();
}
