import ts from 'typescript';

/** What a receiver is, by where its variable was declared: causes of what is missed are told apart by it. */
export function formOf(callee, checker) {
  if (!ts.isPropertyAccessExpression(callee)) return 'plain';
  return receiver(callee.expression, checker);
}

function receiver(node, checker) {
  switch (node.kind) {
    case ts.SyntaxKind.ThisKeyword:
      return 'own receiver';
    case ts.SyntaxKind.SuperKeyword:
      return 'super';
    case ts.SyntaxKind.ParenthesizedExpression:
    case ts.SyntaxKind.NonNullExpression:
      return receiver(node.expression, checker);
    case ts.SyntaxKind.AsExpression:
      return 'assertion';
    case ts.SyntaxKind.AwaitExpression:
      return 'await';
    case ts.SyntaxKind.CallExpression:
      return 'chained call';
    case ts.SyntaxKind.NewExpression:
      return 'new';
    case ts.SyntaxKind.PropertyAccessExpression:
      return 'field';
    case ts.SyntaxKind.ElementAccessExpression:
      return 'element';
    case ts.SyntaxKind.Identifier:
      return ofName(checker.getSymbolAtLocation(node)?.declarations?.[0]);
    default:
      return 'other';
  }
}

function ofName(declared) {
  if (declared === undefined) return 'other';
  if (ts.isNamespaceImport(declared)) return 'namespace';
  if (ts.isImportSpecifier(declared) || ts.isImportClause(declared)) return 'import';
  if (ts.isClassLike(declared) || ts.isFunctionLike(declared)) return 'class or function';
  if (ts.isParameter(declared)) return ofParameter(declared);
  if (ts.isBindingElement(declared)) return 'destructured';
  if (!ts.isVariableDeclaration(declared)) return 'other';
  const isTop = declared.parent.parent.parent?.kind === ts.SyntaxKind.SourceFile;
  const where = isTop ? 'module variable' : 'local';
  if (declared.type !== undefined) return `${where}, declared`;
  return `${where}, ${ofValue(declared)}`;
}

function ofParameter(declared) {
  if (declared.type !== undefined) return 'parameter';
  return ts.isFunctionDeclaration(declared.parent) || ts.isMethodDeclaration(declared.parent)
    ? 'parameter, no type'
    : 'parameter of a callback';
}

function ofValue({ initializer, parent }) {
  if (initializer === undefined)
    return ts.isForOfStatement(parent.parent) ? 'of a loop' : 'no value';
  const value = ts.isAwaitExpression(initializer) ? initializer.expression : initializer;
  switch (value.kind) {
    case ts.SyntaxKind.CallExpression:
      return /^require\(/.test(value.getText()) ? 'required' : 'from call';
    case ts.SyntaxKind.NewExpression:
      return 'from new';
    case ts.SyntaxKind.ObjectLiteralExpression:
      return 'from literal';
    case ts.SyntaxKind.PropertyAccessExpression:
      return 'from field';
    default:
      return 'other';
  }
}
