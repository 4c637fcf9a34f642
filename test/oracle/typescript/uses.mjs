import ts from 'typescript';
import { resolved } from './definitions.mjs';

/** Constants, variables and types at the top of a module, and the lines that use them or a function. */
export class Uses {
  /** Declaration -> `path:line` of its name. */
  #places = new Map();
  #named = new Map();
  #uses = new Map();

  constructor(definitions, checker) {
    this.definitions = definitions;
    this.checker = checker;
  }

  all() {
    return [...this.#named.values(), ...this.#uses.values()];
  }

  /** What stands at the top of a source; of all sources before the first one is read. */
  note(source) {
    for (const statement of source.statements)
      for (const node of ts.isVariableStatement(statement)
        ? statement.declarationList.declarations
        : [statement]) {
        const kind = kindOf(node);
        if (kind === undefined || !node.name || !ts.isIdentifier(node.name)) continue;
        // A function in a variable is a function.
        if (node.initializer && this.definitions.placeOf(node.initializer) !== undefined) continue;
        if (isRequired(node.initializer)) continue;
        const fact = { ...placeOf(node.name, source, this.definitions), name: node.name.text };
        const place = `${fact.file}:${fact.line}`;
        const known = this.#named.get(place);
        if (known !== undefined && known.name !== fact.name) continue;
        this.#named.set(place, { is: 'named', kind, ...fact, test: false });
        this.#places.set(node, place);
      }
  }

  read(source) {
    const visit = (node) => {
      if (ts.isIdentifier(node) && !isNamedHere(node)) this.#use(node, source);
      ts.forEachChild(node, visit);
    };
    visit(source);
  }

  #use(name, source) {
    const symbol = ts.isShorthandPropertyAssignment(name.parent)
      ? this.checker.getShorthandAssignmentValueSymbol(name.parent)
      : this.checker.getSymbolAtLocation(name);
    for (const declared of resolved(this.checker, symbol)?.declarations ?? []) {
      const target = this.#targetOf(declared);
      if (target === undefined) continue;
      const { file, line } = placeOf(name, source, this.definitions);
      this.#uses.set(`${file}:${line} ${target}`, { is: 'use', file, line, target });
    }
  }

  #targetOf(declared) {
    const functions = [declared, declared.initializer, declared.right, declared.parent?.right];
    const place = functions
      .filter((each) => each !== undefined)
      .map((each) => this.definitions.placeOf(each))
      .find((each) => each !== undefined);
    return place ?? this.#places.get(declared);
  }
}

function kindOf(node) {
  if (ts.isClassDeclaration(node) || ts.isInterfaceDeclaration(node)) return 'type';
  if (ts.isTypeAliasDeclaration(node) || ts.isEnumDeclaration(node)) return 'type';
  if (!ts.isVariableDeclaration(node)) return undefined;
  // A class in a variable is a class.
  if (node.initializer && ts.isClassLike(node.initializer)) return undefined;
  return node.parent.flags & ts.NodeFlags.Const ? 'constant' : 'variable';
}

/** It names what another module passes on. */
function isRequired(value) {
  return value !== undefined && /^(await\s+)?(require|import)\s*\(/.test(value.getText());
}

function placeOf(node, source, definitions) {
  const line = source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;
  return { file: definitions.pathOf(source), line };
}

/** What is declared, imported, exported or taken apart under this name; the end of an element repeats its name. */
function isNamedHere(node) {
  const { parent } = node;
  if (ts.isImportSpecifier(parent) || ts.isExportSpecifier(parent)) return true;
  if (ts.isJsxClosingElement(parent) || parent.propertyName === node) return true;
  const isUsed = ts.isPropertyAccessExpression(parent) || ts.isShorthandPropertyAssignment(parent);
  return !isUsed && parent.name === node;
}
