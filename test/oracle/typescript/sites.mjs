import ts from 'typescript';
import { isAbstract, namedBy, resolved } from './definitions.mjs';
import { formOf } from './forms.mjs';

/** Calls, constructions, components in JSX, and functions that are named without being called. */
export class Sites {
  all = [];

  constructor(definitions, checker) {
    this.definitions = definitions;
    this.checker = checker;
  }

  read(source) {
    const file = this.definitions.pathOf(source);
    const called = new Set();
    const visit = (node, holder, isClosure) => {
      const site = this.#siteOf(node, called);
      if (site !== undefined) this.#add(site, { source, file, holder, isClosure });
      const place = this.definitions.placeOf(node);
      const isNamed = place !== undefined && ts.isFunctionLike(node);
      const isInner = isClosure || (ts.isFunctionLike(node) && !isNamed);
      // The initial value of a field runs in the constructor, parameters where the function is.
      ts.forEachChild(node, (child) =>
        visit(child, isNamed ? place : holder, isNamed ? false : isInner),
      );
    };
    visit(source, '', false);
  }

  #siteOf(node, called) {
    const callee = calleeOf(node);
    if (callee !== undefined) {
      const name = nameIn(callee);
      if (name === undefined) return undefined;
      called.add(name);
      return { node, name, callee, isCall: true };
    }
    // Of a property in short form, the symbol is that of the property.
    if (!ts.isIdentifier(node) || called.has(node) || isDeclaring(node)) return undefined;
    return { node, name: node, callee: node, isCall: false };
  }

  #add({ node, name, callee, isCall }, { source, file, holder, isClosure }) {
    if (!isCall && !this.definitions.names.has(name.text)) return;
    const meaning = isCall ? this.#meaning(node, name, callee) : this.#value(name);
    if (meaning === undefined) return;
    const text = callee.kind === ts.SyntaxKind.SuperKeyword ? 'super' : name.text;
    if (meaning.target === undefined && !this.definitions.names.has(text)) return;
    const lineAt = (at) => source.getLineAndCharacterOfPosition(at).line + 1;
    this.all.push({
      ...{ is: 'site', file, line: lineAt(name.getStart()), start: lineAt(node.getStart()) },
      ...{ holder, name: text, ...meaning, form: formOf(callee, this.checker) },
      ...(isClosure && { closure: true }),
    });
  }

  #value(name) {
    const symbol = ts.isShorthandPropertyAssignment(name.parent)
      ? this.checker.getShorthandAssignmentValueSymbol(name.parent)
      : this.checker.getSymbolAtLocation(name);
    const declared = this.#definitionOf(resolved(this.checker, symbol));
    return declared && { kind: 'value', target: this.definitions.placeOf(declared) };
  }

  #meaning(node, name, callee) {
    if (ts.isNewExpression(node) || callee.kind === ts.SyntaxKind.SuperKeyword)
      return this.#construction(node, callee);
    const symbol = resolved(this.checker, this.checker.getSymbolAtLocation(name));
    const declared = this.#definitionOf(symbol) ?? this.#signatureOf(node);
    if (declared !== undefined) return this.#called(declared, callee);
    if (symbol === undefined || symbol.declarations === undefined) return { kind: 'unknown' };
    const isOutside = symbol.declarations.every((each) => !this.#isInTree(each));
    if (isOutside) return { kind: 'outside' };
    const type = this.checker.getTypeAtLocation(callee);
    return { kind: type.flags & ts.TypeFlags.Any ? 'unknown' : 'dynamic' };
  }

  /** What is called under the name of a property or a variable that holds it. */
  #signatureOf(node) {
    if (!ts.isCallLikeExpression(node)) return undefined;
    const declared = this.checker.getResolvedSignature(node)?.declaration;
    return declared && this.definitions.placeOf(declared) !== undefined ? declared : undefined;
  }

  #construction(node, callee) {
    const signature = this.checker.getResolvedSignature(node);
    const declared = signature?.declaration;
    const target = declared && this.definitions.placeOf(declared);
    if (target !== undefined) return { kind: 'static', target };
    const type = this.checker.getTypeAtLocation(callee);
    return { kind: type.flags & ts.TypeFlags.Any ? 'unknown' : 'outside' };
  }

  #called(declared, callee) {
    const target = this.definitions.placeOf(declared);
    const isSuper =
      ts.isPropertyAccessExpression(callee) &&
      callee.expression.kind === ts.SyntaxKind.SuperKeyword;
    const isOpen = isAbstract(declared) || this.definitions.isReplaced(declared);
    if (isOpen && !isSuper) return { kind: 'interface', target, interface: target };
    return { kind: 'static', target };
  }

  /** The declaration that is a definition; of a union type, the first. */
  #definitionOf(symbol) {
    const all = [...(symbol?.declarations ?? [])];
    for (const each of symbol?.links?.containingType?.types ?? [])
      all.push(...(this.checker.getPropertyOfType(each, symbol.name)?.declarations ?? []));
    return all
      .flatMap((each) => [each, each.initializer, each.right, each.parent?.right])
      .find(
        (each) =>
          each !== undefined &&
          this.definitions.placeOf(each) !== undefined &&
          namedBy(each)?.name !== undefined,
      );
  }

  #isInTree(node) {
    const source = node.getSourceFile();
    return !source.fileName.includes('/node_modules/');
  }
}

function calleeOf(node) {
  if (ts.isCallExpression(node) || ts.isNewExpression(node)) return without(node.expression);
  if (ts.isTaggedTemplateExpression(node)) return without(node.tag);
  const isElement = ts.isJsxOpeningElement(node) || ts.isJsxSelfClosingElement(node);
  return isElement && ts.isIdentifier(node.tagName) ? node.tagName : undefined;
}

function without(node) {
  const isAround = ts.isParenthesizedExpression(node) || ts.isNonNullExpression(node);
  return isAround ? without(node.expression) : node;
}

/** Also of `super(…)`. */
function nameIn(callee) {
  if (ts.isIdentifier(callee) || callee.kind === ts.SyntaxKind.SuperKeyword) return callee;
  return ts.isPropertyAccessExpression(callee) ? callee.name : undefined;
}

/** The name of what is declared, imported or exported here is no use of it. */
function isDeclaring({ parent }) {
  return (
    (ts.isDeclaration(parent) &&
      !ts.isShorthandPropertyAssignment(parent) &&
      !ts.isPropertyAccessExpression(parent) &&
      !ts.isPropertyAssignment(parent)) ||
    ts.isImportSpecifier(parent) ||
    ts.isExportSpecifier(parent) ||
    ts.isImportClause(parent) ||
    ts.isTypeNode(parent) ||
    ts.isJsxClosingElement(parent)
  );
}
