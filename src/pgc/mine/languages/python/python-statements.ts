import type { Node } from 'web-tree-sitter';
import { unknown } from '../../../format/expression.js';
import { boundNames } from './python-bound.js';
import { PythonDefinitions } from './python-definitions.js';
import { after, ofClass, pathOf, valueOf } from './python-expressions.js';
import { PythonFlow, type Flow } from './python-flow.js';
import { PythonImports } from './python-imports.js';
import type { ClassPart, FunctionPart, PythonSymbols } from './python-text.js';
import { unionOf } from './python-types.js';
import { PythonValues } from './python-values.js';
import { PythonVariables } from './python-variables.js';

const depthMax = 100;
/** Longer types behind an assignment are not read. */
const commentCharsMax = 400;

/** Reads the statements of one text in their order. */
export class PythonStatements {
  readonly #flow = new PythonFlow();
  readonly #imports: PythonImports;
  readonly #values: PythonValues;
  readonly #variables: PythonVariables;
  readonly #definitions: PythonDefinitions;
  readonly #functions: FunctionPart[] = [];
  #moduleNames: ReadonlySet<string> = new Set();
  #depth = 0;

  constructor(symbols: PythonSymbols) {
    const { draft } = symbols;
    const flow = this.#flow;
    const isRedefined = (name: string): boolean => this.#moduleNames.has(name);
    const imports = new PythonImports(draft, flow, isRedefined);
    const values = new PythonValues({
      ...{ flow, names: imports, isRedefined },
      outside: (name) => {
        const outside = flow.nameOutside(name);
        return outside !== name || imports.isOpen || isRedefined(name) ? outside : undefined;
      },
      imported: (name) => imports.original(name),
      base: () => (flow.own === '' ? unknown : `{${flow.own}}.$super`),
      call: (callee, expression) => symbols.call(callee, ofClass(expression, flow.own)),
      use: (found) => draft.use({ ...found, expression: ofClass(found.expression, flow.own) }),
      sent: () => this.#functions.at(-1)?.sent ?? unknown,
      yielded: (expression) => this.#functions.at(-1)?.yielded.add(expression),
      statement: (node) => this.#statement(node),
    });
    const classes: ClassPart[] = [];
    const text = { symbols, flow, imports, values, classes, functions: this.#functions };
    this.#imports = imports;
    this.#values = values;
    this.#variables = new PythonVariables(text);
    this.#definitions = new PythonDefinitions(text, this.#variables, (body) => this.#block(body));
  }

  module(root: Node): void {
    this.#moduleNames = boundNames(root).names;
    this.#flow.enter({ kind: 'module' });
    this.#block(root);
    this.#flow.leave();
  }

  #block(node: Node | null): void {
    if (node === null || this.#depth >= depthMax) return;
    this.#depth += 1;
    for (const each of node.namedChildren) if (!this.#statement(each)) this.#values.of(each);
    this.#depth -= 1;
  }

  /** False: it is no statement. */
  #statement(node: Node): boolean {
    switch (node.type) {
      case 'comment':
      case 'pass_statement':
        return true;
      case 'expression_statement':
        this.#expression(node);
        return true;
      case 'assignment':
      case 'augmented_assignment':
        this.#assignment(node, node);
        return true;
      case 'return_statement':
        this.#return(node);
        return true;
      case 'raise_statement':
      case 'break_statement':
      case 'continue_statement':
        for (const each of node.namedChildren) this.#values.of(each);
        this.#flow.die();
        return true;
      case 'assert_statement':
        for (const each of node.namedChildren) this.#values.of(each);
        if (node.firstNamedChild) this.#narrow(node.firstNamedChild, true);
        return true;
      case 'if_statement':
        this.#if(node);
        return true;
      case 'for_statement':
      case 'while_statement':
        this.#loop(node);
        return true;
      case 'try_statement':
        this.#try(node);
        return true;
      case 'with_statement':
        this.#with(node);
        return true;
      case 'match_statement':
        this.#match(node);
        return true;
      case 'decorated_definition':
        this.#definitions.decorated(node);
        return true;
      case 'function_definition':
        this.#definitions.function(node, []);
        return true;
      case 'class_definition':
        this.#definitions.class(node);
        return true;
      case 'import_statement':
      case 'import_from_statement':
      case 'future_import_statement':
        this.#imports.read(node);
        return true;
      case 'type_alias_statement':
        this.#variables.alias(node);
        return true;
      case 'global_statement':
      case 'nonlocal_statement':
        return true;
      case 'block':
        this.#block(node);
        return true;
      default:
        return false;
    }
  }

  #expression(node: Node): void {
    for (const each of node.namedChildren)
      if (each.type === 'assignment' || each.type === 'augmented_assignment')
        this.#assignment(each, node);
      else this.#values.of(each);
  }

  /** `statement`: the text of what is defined. */
  #assignment(node: Node, statement: Node): string {
    const left = node.childForFieldName('left');
    const right = node.childForFieldName('right');
    const type = node.childForFieldName('type');
    const value =
      right === null
        ? undefined
        : right.type === 'assignment'
          ? this.#assignment(right, statement)
          : this.#values.of(right);
    if (left === null) return unknown;
    if (node.type === 'augmented_assignment') {
      this.#values.of(left);
      return unknown;
    }
    this.#imports.noteTypeVariable(left, right);
    const written = type === null ? this.#typeComment(node, left) : type.text;
    if (type !== null) this.#values.annotation(type);
    if (written !== undefined) this.#variables.annotated(left, written, value, statement);
    else this.#variables.assign(left, value ?? unknown, statement);
    return value ?? unknown;
  }

  /** `x = … # type: T` */
  #typeComment(assignment: Node, left: Node): string | undefined {
    const isWhole = assignment.parent?.type === 'expression_statement';
    if (!isWhole || !/^(?:identifier|attribute)$/.test(left.type)) return undefined;
    const { text } = this.#imports.draft;
    const behind = text.slice(assignment.endIndex, assignment.endIndex + commentCharsMax);
    const comment = /^([ \t]*#[ \t]*type:[ \t]*)(?!ignore\b)([^#\n]+)/.exec(behind);
    const [, before = '', type] = comment ?? [];
    if (type !== undefined) this.#values.written(type, assignment.endIndex + before.length);
    return type?.trim();
  }

  #return(node: Node): void {
    const value = node.firstNamedChild;
    if (value !== null) this.#functions.at(-1)?.returned.add(this.#values.of(value));
    this.#flow.die();
  }

  #narrow(condition: Node, isTrue: boolean): void {
    for (const { path, expression } of this.#values.conditions.narrowed(condition, isTrue))
      this.#flow.narrow(path, expression);
  }

  #if(node: Node): void {
    const ways: (Flow | undefined)[] = [];
    let condition = node.childForFieldName('condition');
    let body = node.childForFieldName('consequence');
    const alternatives = node.childrenForFieldName('alternative');
    for (const next of [...alternatives, undefined]) {
      this.#values.of(condition);
      const before = this.#flow.fork();
      if (condition !== null) this.#narrow(condition, true);
      this.#block(body);
      ways.push(this.#flow.turn(before));
      if (condition !== null) this.#narrow(condition, false);
      if (next?.type !== 'elif_clause') {
        if (next) this.#block(next.childForFieldName('body'));
        break;
      }
      condition = next.childForFieldName('condition');
      body = next.childForFieldName('consequence');
    }
    ways.push(this.#flow.turn(new Map()));
    this.#flow.meet(ways);
  }

  #loop(node: Node): void {
    const condition = node.childForFieldName('condition');
    this.#values.of(condition);
    const over = node.childForFieldName('right');
    const elements = over === null ? unknown : after(this.#values.of(over), '[*]');
    const before = this.#flow.fork();
    const left = node.childForFieldName('left');
    if (left !== null) this.#variables.assign(left, elements, node);
    if (condition !== null) this.#narrow(condition, true);
    this.#block(node.childForFieldName('body'));
    const after_ = this.#flow.turn(before);
    this.#flow.meet([before, after_]);
    this.#block(node.childForFieldName('alternative')?.childForFieldName('body') ?? null);
  }

  #try(node: Node): void {
    const before = this.#flow.fork();
    this.#block(node.childForFieldName('body'));
    const tried = this.#flow.turn(before);
    const ways: (Flow | undefined)[] = [];
    let whole = tried;
    for (const each of node.namedChildren) {
      if (each.type === 'else_clause' && whole !== undefined) {
        this.#flow.turn(whole);
        this.#block(each.childForFieldName('body'));
        whole = this.#flow.turn(before);
      } else if (/^except/.test(each.type)) {
        this.#flow.turn(before);
        this.#flow.meet([before, tried]);
        this.#except(each);
        ways.push(this.#flow.turn(before));
      }
    }
    this.#flow.meet([whole, ...ways]);
    const last = node.namedChildren.find(({ type }) => type === 'finally_clause');
    if (last !== undefined) {
      const isDead = [whole, ...ways].every((each) => each === undefined);
      this.#block(last.namedChildren.find(({ type }) => type === 'block') ?? null);
      if (isDead) this.#flow.die();
    }
  }

  #except(node: Node): void {
    for (const each of node.namedChildren)
      if (each.type === 'block') this.#block(each);
      else if (each.type === 'as_pattern') {
        const type = each.firstNamedChild;
        this.#values.of(type);
        const all = type?.type === 'tuple' ? type.namedChildren : type ? [type] : [];
        const names = all.map((one) =>
          pathOf(one) === undefined ? unknown : this.#values.type(one),
        );
        const target = each.childForFieldName('alias');
        if (target !== null) this.#values.assign(target, valueOf(unionOf(names)));
      } else this.#values.of(each);
  }

  #with(node: Node): void {
    const isAsync = node.children[0]?.type === 'async';
    for (const item of node.descendantsOfType('with_item')) {
      if (item.startIndex >= (node.childForFieldName('body')?.startIndex ?? 0)) continue;
      const value = item.childForFieldName('value');
      const target = value?.type === 'as_pattern' ? value.childForFieldName('alias') : null;
      const its = this.#values.of(target === null ? value : value?.firstNamedChild);
      if (target !== null)
        this.#variables.assign(
          target,
          after(its, isAsync ? '.__aenter__()!' : '.__enter__()'),
          node,
        );
    }
    this.#block(node.childForFieldName('body'));
  }

  #match(node: Node): void {
    const subject = node.childForFieldName('subject');
    const value = this.#values.of(subject);
    const path = subject === null ? undefined : pathOf(subject);
    const before = this.#flow.fork();
    const ways: (Flow | undefined)[] = [before];
    const body = node.childForFieldName('body');
    for (const each of body?.namedChildren ?? []) {
      if (each.type !== 'case_clause') continue;
      this.#flow.turn(before);
      this.#pattern(each, path, value);
      const guard = each.childForFieldName('guard');
      if (guard !== null) this.#values.of(guard.firstNamedChild);
      this.#block(each.childForFieldName('consequence'));
      ways.push(this.#flow.turn(before));
    }
    this.#flow.meet(ways);
  }

  /** `case A() as a` */
  #pattern(node: Node, path: string | undefined, value: string): void {
    let pattern = node.namedChildren.find(({ type }) => type === 'case_pattern')?.firstNamedChild;
    let alias: Node | undefined;
    if (pattern?.type === 'as_pattern') {
      alias = pattern.lastNamedChild ?? undefined;
      pattern = pattern.firstNamedChild?.firstNamedChild;
    }
    this.#values.pattern(node);
    const isClass = pattern?.type === 'class_pattern';
    const type = isClass ? valueOf(this.#values.type(pattern?.firstNamedChild)) : value;
    if (isClass && path !== undefined) this.#flow.narrow(path, type);
    if (alias?.type === 'identifier') this.#flow.set(alias.text, type);
  }
}
