import path from 'node:path';
import ts from 'typescript';

const testName = /(^|\/)(tests?|__tests__|spec)\/|[.-](test|spec)\.[cm]?[jt]sx?$/;

/** Functions and methods of a tree that have a name: of overloads the one with the body, else the first. */
export class Definitions {
  names = new Set();
  /** Declaration -> definition. */
  #byNode = new Map();
  #byPlace = new Map();
  /** Place of a method -> of those that run in its place. */
  #replaced = new Map();
  #types = [];

  constructor(root, checker) {
    this.root = root;
    this.checker = checker;
  }

  all() {
    return [...this.#byPlace.values()];
  }

  pathOf(source) {
    return path.relative(this.root, source.fileName);
  }

  /** `path:line`; undefined: it has no name, or is none of the tree. */
  placeOf(node) {
    return this.#byNode.get(node)?.place;
  }

  kindOf(node) {
    return this.#byNode.get(node)?.fact.kind;
  }

  isReplaced(node) {
    return this.#replaced.has(this.placeOf(node));
  }

  read(source) {
    const visit = (node) => {
      this.#define(node, source);
      if (ts.isClassLike(node) || ts.isInterfaceDeclaration(node)) this.#types.push(node);
      ts.forEachChild(node, visit);
    };
    visit(source);
  }

  #define(node, source) {
    const named = namedBy(node);
    if (named === undefined || this.#byNode.has(node)) return;
    const file = this.pathOf(source);
    const main = mainOverload(node);
    const start = startOf(main === node ? named : { ...named, owner: main }, source);
    const line = source.getLineAndCharacterOfPosition(start).line + 1;
    const place = `${file}:${line}`;
    const kind = isAbstract(main) ? 'interface' : named.isMember ? 'method' : 'function';
    const known = this.#byPlace.get(place);
    const fact = known ?? {
      ...{ is: 'definition', name: named.name, container: named.container, kind, file, line },
      ...{ exported: true, test: testName.test(file) },
    };
    // Two functions on a line cannot be told apart.
    if (known !== undefined && known.name !== named.name) return;
    this.names.add(named.name);
    // A constructor is called by the name of its class.
    if (ts.isConstructorDeclaration(node)) this.names.add(named.container);
    this.#byPlace.set(place, fact);
    this.#byNode.set(node, { fact, place });
  }

  /** Methods of classes and interfaces that run in place of those of a base. */
  implementations() {
    const found = new Map();
    for (const type of this.#types) {
      if (ts.isInterfaceDeclaration(type)) continue;
      const bases = this.#basesOf(type);
      for (const base of bases)
        for (const member of base.members ?? []) {
          const declared = this.placeOf(member);
          if (declared === undefined || ts.isConstructorDeclaration(member)) continue;
          const name = member.name?.getText();
          const own = this.#methodOf(type, name, bases);
          const target = own && this.placeOf(own);
          if (target === undefined || target === declared || isAbstract(own)) continue;
          // What a base has itself runs in place of what an interface asks for, never of what is above it.
          if (own.parent !== type && !ts.isInterfaceDeclaration(base)) continue;
          const fact = { is: 'implementation', interface: declared, method: name, target };
          found.set(`${declared} ${target}`, fact);
          this.#replaced.set(declared, true);
        }
    }
    return [...found.values()];
  }

  #methodOf(type, name, bases) {
    const classes = [type, ...[...bases].filter(ts.isClassLike)];
    for (const each of classes) {
      const own = each.members.filter((member) => member.name?.getText() === name);
      const best = own.find((member) => this.placeOf(member) !== undefined);
      if (best !== undefined) return mainOverload(best);
    }
    return undefined;
  }

  #basesOf(type, seen = new Set()) {
    for (const clause of type.heritageClauses ?? [])
      for (const each of clause.types) {
        const symbol = resolved(this.checker, this.checker.getSymbolAtLocation(each.expression));
        for (const base of symbol?.declarations ?? [])
          if (
            (ts.isClassLike(base) || ts.isInterfaceDeclaration(base)) &&
            !seen.has(base) &&
            base !== type
          ) {
            seen.add(base);
            this.#basesOf(base, seen);
          }
      }
    return seen;
  }
}

/** Through imports and exports, to what is declared. */
export function resolved(checker, symbol) {
  return symbol && symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
}

/** `{ name, container, owner, isMember }` of a function that has a name. `owner`: where its text begins. */
export function namedBy(node) {
  if (ts.isFunctionDeclaration(node))
    return {
      name: node.name?.text ?? 'default',
      owner: node,
      container: containerOf(node),
      isMember: false,
    };
  // The type of a property has methods of its own: they belong to no name.
  if (ts.isMethodSignature(node) && ts.isInterfaceDeclaration(node.parent) && isNamed(node.name))
    return { name: textOf(node.name), owner: node, container: containerOf(node), isMember: true };
  if (ts.isConstructorDeclaration(node))
    return { name: 'constructor', owner: node, container: containerOf(node), isMember: true };
  if (ts.isMethodDeclaration(node) && isNamed(node.name) && holds(node.parent))
    return { name: textOf(node.name), owner: node, container: containerOf(node), isMember: true };
  if (!ts.isArrowFunction(node) && !ts.isFunctionExpression(node)) return undefined;
  const { parent } = node;
  if (
    ts.isVariableDeclaration(parent) &&
    ts.isIdentifier(parent.name) &&
    parent.initializer === node
  )
    return {
      name: parent.name.text,
      owner: parent,
      container: containerOf(parent),
      isMember: false,
    };
  if (ts.isPropertyDeclaration(parent) && isNamed(parent.name))
    return {
      name: textOf(parent.name),
      owner: parent,
      container: containerOf(parent),
      isMember: true,
    };
  if (ts.isPropertyAssignment(parent) && isNamed(parent.name) && holds(parent.parent))
    return {
      name: textOf(parent.name),
      owner: parent,
      container: containerOf(parent),
      isMember: true,
    };
  if (
    ts.isBinaryExpression(parent) &&
    parent.right === node &&
    parent.operatorToken.kind === ts.SyntaxKind.EqualsToken
  )
    return assigned(parent);
  return undefined;
}

/** `exports.f = …`, `module.exports = …`, `X.prototype.f = …`, `X.f = …` outside of functions. */
function assigned(assignment) {
  const left = assignment.left.getText();
  if (/^(module\.)?exports$/.test(left)) {
    const name = assignment.right.name?.text ?? 'default';
    return { name, owner: assignment, container: '', isMember: false };
  }
  const [, holder, name] = /^([\w$.]+)\.([\w$]+)$/.exec(left) ?? [];
  if (name === undefined || holder.startsWith('this')) return undefined;
  const isExport = /^(module\.)?exports$/.test(holder);
  const isMethod = holder.endsWith('.prototype');
  if (!isExport && !isMethod && (holder.includes('.') || isInFunction(assignment)))
    return undefined;
  const container = isExport ? '' : holder.replace(/\.prototype$/, '');
  return { name, owner: assignment, container, isMember: !isExport };
}

function isNamed(name) {
  return name !== undefined && !ts.isComputedPropertyName(name);
}

function textOf(name) {
  return ts.isStringLiteral(name) ? name.text : name.getText();
}

/** A class, or an object that a variable or the module holds. */
function holds(node) {
  if (ts.isClassLike(node)) return true;
  return holderOf(node) !== undefined;
}

/** The name of the variable that holds an object; empty: the module itself. */
function holderOf(object) {
  if (isInFunction(object)) return undefined;
  for (let each = object.parent; each !== undefined; each = each.parent) {
    if (ts.isVariableDeclaration(each))
      return ts.isIdentifier(each.name) ? each.name.text : undefined;
    if (ts.isExportAssignment(each)) return 'default';
    if (ts.isBinaryExpression(each)) {
      const [, module, name] =
        /^((?:module\.)?exports)(?:\.([\w$]+))?$/.exec(each.left.getText()) ?? [];
      return module === undefined ? undefined : (name ?? '');
    }
    if (ts.isCallExpression(each) || ts.isNewExpression(each)) return undefined;
  }
  return undefined;
}

function isInFunction(node) {
  return ts.findAncestor(node.parent, ts.isFunctionLike) !== undefined;
}

/** As the product calls it: the class or interface, the object's variable, else the function around it. */
function containerOf(node) {
  const { parent } = node;
  if (ts.isObjectLiteralExpression(parent)) return holderOf(parent) ?? '';
  for (let each = parent; each !== undefined; each = each.parent) {
    if (ts.isInterfaceDeclaration(each)) return each.name.text;
    if (ts.isClassLike(each)) return each.name?.text ?? nameOfClass(each);
    if (ts.isModuleDeclaration(each)) return each.name.text;
    const its = ts.isFunctionLike(each) ? namedBy(each) : undefined;
    if (its !== undefined) return its.name;
  }
  return '';
}

function nameOfClass({ parent }) {
  if (ts.isVariableDeclaration(parent)) return parent.name.getText();
  const isAssigned = ts.isBinaryExpression(parent) && ts.isPropertyAccessExpression(parent.left);
  return isAssigned ? parent.left.name.text : 'default';
}

/** Without decorators; the first of several variables has the text that they share. */
function startOf({ owner }, source) {
  if (ts.isVariableDeclaration(owner)) {
    const list = owner.parent;
    return (list.declarations?.[0] === owner ? list : owner).getStart(source);
  }
  const modifier = owner.modifiers?.find((each) => !ts.isDecorator(each) && !isExport(each));
  if (modifier !== undefined) return modifier.getStart(source);
  if (ts.isFunctionDeclaration(owner)) return (owner.name ?? owner).getStart(source);
  return (owner.name ?? owner).getStart(source);
}

function isExport({ kind }) {
  return kind === ts.SyntaxKind.ExportKeyword || kind === ts.SyntaxKind.DefaultKeyword;
}

export function isAbstract(node) {
  if (ts.isMethodSignature(node)) return true;
  return ts.isMethodDeclaration(node) && node.body === undefined;
}

/** Of overloads the one with the body, else the first. */
function mainOverload(node) {
  if (
    !ts.isFunctionDeclaration(node) &&
    !ts.isMethodDeclaration(node) &&
    !ts.isConstructorDeclaration(node) &&
    !ts.isMethodSignature(node)
  )
    return node;
  const all = (node.symbol?.declarations ?? []).filter(
    (each) => each.kind === node.kind && each.parent === node.parent,
  );
  return all.find(({ body }) => body !== undefined) ?? all[0] ?? node;
}
