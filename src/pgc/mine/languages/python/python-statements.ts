import type { Node } from 'web-tree-sitter';
import { bounded, unknown } from '../../../format/expression.js';
import type { Draft, SymbolDraft } from '../../draft.js';
import { boundNames } from './python-bound.js';
import { nothing, ofClass, PythonFlow, typeOfExpression, type Flow } from './python-flow.js';
import { PythonImports } from './python-imports.js';
import { pythonType, unionOf } from './python-types.js';
import { after, pathOf, PythonValues, valueOf } from './python-values.js';

/** Makes the symbols of a text. */
export interface PythonSymbols {
  draft: Draft;
  /** A class or a function, which is the scope of what follows; `from`: where its decorators begin. */
  open(node: Node, kind: 'class' | 'function' | 'method', from: number): SymbolDraft;
  variable(name: string, node: Node): SymbolDraft;
  call(callee: Node, expression: string): void;
}

/** Of one thing, so many values are noted. */
const valuesMax = 6;
const depthMax = 100;

interface ClassPart {
  symbol: SymbolDraft;
  /** The name by which it is meant. */
  key: string;
  /** Its constants are values of it. */
  isEnum: boolean;
}

interface FunctionPart {
  returned: Set<string>;
  yielded: Set<string>;
}

/** Reads the statements of one text in their order. */
export class PythonStatements {
  readonly #flow = new PythonFlow();
  readonly #imports: PythonImports;
  readonly #values: PythonValues;
  readonly #classes: (ClassPart | undefined)[] = [];
  readonly #functions: FunctionPart[] = [];
  /** Variables of the module. */
  readonly #variables = new Map<string, SymbolDraft>();
  readonly #noted = new Map<SymbolDraft, Map<string, Set<string>>>();
  #moduleNames: ReadonlySet<string> = new Set();
  #depth = 0;

  constructor(readonly symbols: PythonSymbols) {
    this.#imports = new PythonImports(symbols.draft, this.#flow, (name) =>
      this.#moduleNames.has(name),
    );
    this.#values = new PythonValues({
      flow: this.#flow,
      names: this.#imports,
      isRedefined: (name) => this.#moduleNames.has(name),
      imported: (name) => this.#imports.original(name),
      base: () => (this.#flow.own === '' ? unknown : `{${this.#flow.own}}.$super`),
      call: (callee, expression) => symbols.call(callee, ofClass(expression, this.#flow.own)),
      yielded: (expression) => this.#functions.at(-1)?.yielded.add(expression),
      statement: (node) => this.#statement(node),
    });
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
        this.#decorated(node);
        return true;
      case 'function_definition':
        this.#function(node, []);
        return true;
      case 'class_definition':
        this.#class(node, node.startIndex);
        return true;
      case 'import_statement':
      case 'import_from_statement':
      case 'future_import_statement':
        this.#imports.read(node);
        return true;
      case 'type_alias_statement':
        this.#alias(node);
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
    if (type !== null) this.#annotated(left, type, value, statement);
    else this.#assign(left, value ?? unknown, statement);
    return value ?? unknown;
  }

  #assign(target: Node, value: string, statement: Node): void {
    this.#values.assign(target, value, (node, its) => this.#note(node, its, statement));
  }

  /** What an attribute, or a variable of a class or of the module, is set to. */
  #note(target: Node, value: string, statement: Node): void {
    if (target.type === 'attribute') {
      const owner = this.#ownerOf(target);
      const name = target.childForFieldName('attribute')?.text ?? '';
      if (owner !== undefined) this.#fact(owner.symbol, 'assigned', name, value);
      return;
    }
    const name = target.text;
    const owner = this.#flow.isClass ? this.#classes.at(-1) : undefined;
    if (owner !== undefined)
      this.#fact(owner.symbol, 'assigned', name, owner.isEnum ? '{$this}' : value);
    else if (this.#flow.isGlobal(name)) this.#variable(name, target, value, statement);
  }

  #variable(name: string, target: Node, value: string, statement: Node): void {
    const isPlain = this.#flow.isModule && target.parent?.type === 'assignment';
    const isDirect =
      isPlain && statement.parent?.type === 'module' && target.startIndex === statement.startIndex;
    let symbol = this.#variables.get(name);
    if (isDirect || (isPlain && symbol === undefined)) {
      const its = this.symbols.variable(
        name,
        isDirect ? (statement.firstNamedChild ?? statement) : target.parent,
      );
      if (symbol === undefined) this.#variables.set(name, (symbol = its));
    }
    if (symbol !== undefined) this.#fact(symbol, 'value', '', ofClass(value, this.#flow.own));
  }

  /** `x: T = …` */
  #annotated(target: Node, annotation: Node, value: string | undefined, statement: Node): void {
    const text = annotation.text;
    const isAlias = /\bTypeAlias$/.test(text);
    const type = pythonType(text, this.#imports) || unknown;
    const its = isAlias || type === unknown ? (value ?? unknown) : valueOf(type);
    const owner =
      target.type === 'attribute'
        ? this.#ownerOf(target)
        : this.#flow.isClass
          ? this.#classes.at(-1)
          : undefined;
    const name = (target.childForFieldName('attribute') ?? target).text;
    if (owner !== undefined && type !== unknown && !owner.isEnum) {
      this.symbols.draft.type(owner.symbol, 'field', name, type);
      this.#values.assign(target, its);
    } else this.#assign(target, its, statement);
  }

  /** `self.x`: the class that has it. */
  #ownerOf(target: Node): ClassPart | undefined {
    const object = target.childForFieldName('object');
    if (object?.type !== 'identifier') return undefined;
    const its = this.#flow.find(object.text);
    if (its === undefined) return undefined;
    const isOwn = its === '{$this}' || its === '{$type<$this>}';
    return this.#classes.findLast((each) =>
      isOwn ? each?.key === this.#flow.own : each !== undefined && its === `{${each.key}}`,
    );
  }

  #fact(
    symbol: SymbolDraft,
    role: 'assigned' | 'returned' | 'value',
    name: string,
    value: string,
  ): void {
    if (value === nothing) return;
    const roles = this.#noted.get(symbol) ?? new Map<string, Set<string>>();
    this.#noted.set(symbol, roles);
    const known = roles.get(`${role} ${name}`) ?? new Set();
    roles.set(`${role} ${name}`, known);
    if (known.has(value) || known.size >= valuesMax) return;
    known.add(value);
    this.symbols.draft.type(symbol, role, name, value);
  }

  #return(node: Node): void {
    const value = node.firstNamedChild;
    if (value !== null) this.#functions.at(-1)?.returned.add(this.#values.of(value));
    this.#flow.die();
  }

  #narrow(condition: Node, isTrue: boolean): void {
    for (const { path, expression } of this.#values.narrowed(condition, isTrue))
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
    if (left !== null) this.#assign(left, elements, node);
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
        this.#assign(target, after(its, isAsync ? '.__aenter__()!' : '.__enter__()'), node);
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
    const isClass = pattern?.type === 'class_pattern';
    const type = isClass ? valueOf(this.#values.type(pattern?.firstNamedChild)) : value;
    if (isClass && path !== undefined) this.#flow.narrow(path, type);
    if (alias?.type === 'identifier') this.#flow.set(alias.text, type);
  }

  #alias(node: Node): void {
    const [name, type] = node.namedChildren;
    if (name === undefined) return;
    const symbol = this.symbols.variable(name.text, node);
    this.#variables.set(name.text, symbol);
    this.#fact(symbol, 'value', '', `{$type<${this.#values.type(type)}>}`);
  }

  #decorated(node: Node): void {
    const decorators = node.namedChildren.filter(({ type }) => type === 'decorator');
    for (const each of decorators) this.#values.of(each.firstNamedChild);
    const names = decorators.map((each) => {
      const its = each.firstNamedChild;
      return (its?.type === 'call' ? its.childForFieldName('function') : its)?.text ?? '';
    });
    const definition = node.childForFieldName('definition');
    if (definition?.type === 'class_definition') this.#class(definition, node.startIndex);
    else if (definition !== null) this.#function(definition, names, node.startIndex);
  }

  #class(node: Node, from: number): void {
    const symbol = this.symbols.open(node, 'class', from);
    const { draft } = this.symbols;
    const { name } = symbol;
    const isInner = !this.#flow.isModule;
    const key = isInner ? `${name}#${draft.lineOf(node.startIndex)}` : name;
    if (isInner) draft.type(symbol, 'local', key);
    const outer = this.#flow.isClass ? this.#classes.at(-1) : undefined;
    if (outer !== undefined) this.#fact(outer.symbol, 'assigned', name, key);
    const bases = this.#bases(symbol, node);
    this.#flow.set(name, key);
    this.#classes.push({ symbol, key, isEnum: bases.some((each) => /(?:Enum|Flag)$/.test(each)) });
    this.#flow.enter({ kind: 'class', own: '' });
    this.#block(node.childForFieldName('body'));
    this.#flow.leave();
    this.#classes.pop();
  }

  #bases(symbol: SymbolDraft, node: Node): string[] {
    const { draft } = this.symbols;
    const bases: string[] = [];
    for (const each of node.childForFieldName('type_parameters')?.namedChildren ?? [])
      draft.type(symbol, 'bound', /^\*{0,2}(\w+)/.exec(each.text)?.[1] ?? '', unknown);
    for (const each of node.childForFieldName('superclasses')?.namedChildren ?? []) {
      const value = this.#values.of(each);
      if (each.type === 'keyword_argument' || each.type === 'comment') continue;
      const head = each.type === 'subscript' ? each.childForFieldName('value') : each;
      const special = this.#imports.original(head?.text ?? '');
      const arguments_ = each.type === 'subscript' ? each.childrenForFieldName('subscript') : [];
      for (const one of arguments_)
        if (/\.(?:Generic|Protocol)$/.test(special ?? '') || this.#imports.isTypeVariable(one.text))
          draft.type(symbol, 'bound', one.text, unknown);
      if (plainBase.test(special ?? each.text)) continue;
      const isPath = head !== null && pathOf(head) !== undefined;
      const type = isPath
        ? this.#values.type(each)
        : value === unknown
          ? unknown
          : typeOfExpression(value);
      draft.type(symbol, 'base', '', type);
      bases.push(type);
    }
    return bases;
  }

  #function(node: Node, decorators: readonly string[], from = node.startIndex): void {
    const of = this.#flow.isClass ? this.#classes.at(-1) : undefined;
    const symbol = this.symbols.open(node, of === undefined ? 'function' : 'method', from);
    const { draft } = this.symbols;
    const { name } = symbol;
    symbol.declaration = decorators.some(
      (each) => this.#imports.original(each) === 'typing.overload',
    );
    if (of !== undefined) {
      if (of.key !== of.symbol.name) draft.type(symbol, 'local', of.key);
      this.#flow.set(name, `${of.key}.${name}`);
    } else if (this.#flow.isModule) this.#flow.set(name, name);
    else {
      const key = `${name}#${draft.lineOf(node.startIndex)}`;
      draft.type(symbol, 'local', key);
      this.#flow.set(name, key);
    }
    const body = node.childForFieldName('body');
    const { names, globals, definitions: places } = boundNames(body);
    const definitions = new Map(
      [...places].map(([inner, at]) => [inner, `${inner}#${draft.lineOf(at)}`]),
    );
    const parameters = this.#parameters(node, decorators, of);
    const part: FunctionPart = { returned: new Set(), yielded: new Set() };
    this.#functions.push(part);
    this.#flow.enter({
      kind: 'function',
      names,
      globals,
      definitions,
      ...(of !== undefined && { own: of.key }),
    });
    for (const [parameter, value] of parameters) this.#flow.set(parameter, value);
    const written = this.#values.type(node.childForFieldName('return_type'));
    this.#block(body);
    this.#results(symbol, node, { part, written, decorators, isMethod: of !== undefined });
    this.#flow.leave();
    this.#functions.pop();
  }

  /** Names and what they stand for; defaults and annotations belong to what is around. */
  #parameters(
    node: Node,
    decorators: readonly string[],
    of: ClassPart | undefined,
  ): [string, string][] {
    const list = (node.childForFieldName('parameters')?.namedChildren ?? []).filter(
      ({ type }) => type !== 'comment' && !/separator$/.test(type),
    );
    const isStatic = decorators.some((each) => /(?:^|\.)staticmethod$/.test(each));
    const name = node.childForFieldName('name')?.text ?? '';
    const isOfClass =
      decorators.some((each) => /(?:^|\.)(?:abstract)?classmethod$/.test(each)) ||
      /^__(?:new|init_subclass|class_getitem)__$/.test(name);
    return list.map((each, at) => {
      const [parameter, value] = this.#parameter(each);
      if (at > 0 || of === undefined || isStatic) return [parameter, value];
      return [parameter, isOfClass ? '{$type<$this>}' : '{$this}'];
    });
  }

  #parameter(node: Node): [string, string] {
    const type = this.#values.type(node.childForFieldName('type'));
    const value = node.childForFieldName('value');
    const given = value === null ? unknown : this.#values.of(value);
    const pattern =
      node.childForFieldName('name') ??
      (/^typed_/.test(node.type) ? node.firstNamedChild : node) ??
      node;
    const name = pattern.text.replace(/^\*+/, '');
    const stars = pattern.text.length - name.length;
    if (stars === 1) return [name, type === unknown ? '{$list}' : valueOf(`$list<${type}>`)];
    if (stars === 2) return [name, type === unknown ? '{$map}' : valueOf(`$map<$text,${type}>`)];
    return [name, type === unknown && given !== nothing ? given : valueOf(type)];
  }

  /** What a function gives: as written, else what it returns or yields. */
  #results(
    symbol: SymbolDraft,
    node: Node,
    {
      part,
      written,
      decorators,
      isMethod,
    }: { part: FunctionPart; written: string; decorators: readonly string[]; isMethod: boolean },
  ): void {
    const { draft } = this.symbols;
    const isAsync = node.children[0]?.type === 'async';
    const isContext = decorators.some((each) => /(?:^|\.)(?:async)?contextmanager$/.test(each));
    const isRead = decorators.some((each) => /property$/i.test(each));
    const isGenerator = part.yielded.size > 0;
    const wrap = isContext ? '$context' : isGenerator ? '$list' : isAsync ? '$promise' : '';
    if (written !== unknown) {
      const its = isContext
        ? written.replace(/^\$list\b/, '$context')
        : isAsync && !isGenerator
          ? `$promise<${written}>`
          : written;
      if (isRead) draft.type(symbol, 'value', '', valueOf(its));
      else draft.type(symbol, 'result', '', its);
      return;
    }
    const values = isGenerator ? part.yielded : part.returned;
    for (const value of values) {
      const its = isMethod ? value : ofClass(value, this.#flow.own);
      const wrapped = wrap === '' ? its : bounded(`{${wrap}<${typeOfExpression(its)}>}`);
      this.#fact(symbol, isRead ? 'value' : 'returned', '', value === nothing ? nothing : wrapped);
    }
  }
}

/** Bases that say nothing of members. */
const plainBase = /^(?:object|(?:typing|typing_extensions)\.(?:Generic|Protocol)|abc\.ABC)$/;
