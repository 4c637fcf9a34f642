import type { Node } from 'web-tree-sitter';
import { bounded, unknown } from '../../../format/expression.js';
import type { SymbolDraft } from '../../draft.js';
import { boundNames } from './python-bound.js';
import { nothing, ofClass, pathOf, typeOfExpression, valueOf } from './python-expressions.js';
import type { ClassPart, FunctionPart, PythonText } from './python-text.js';
import type { PythonVariables } from './python-variables.js';

/** Reads the classes and functions of a text. */
export class PythonDefinitions {
  /** `block`: reads the statements of a body. */
  constructor(
    readonly text: PythonText,
    readonly variables: PythonVariables,
    readonly block: (node: Node | null) => void,
  ) {}

  decorated(node: Node): void {
    const decorators = node.namedChildren.filter(({ type }) => type === 'decorator');
    for (const each of decorators) this.text.values.of(each.firstNamedChild);
    const names = decorators.map((each) => {
      const its = each.firstNamedChild;
      return (its?.type === 'call' ? its.childForFieldName('function') : its)?.text ?? '';
    });
    const definition = node.childForFieldName('definition');
    if (definition?.type === 'class_definition') this.class(definition, node.startIndex);
    else if (definition !== null) this.function(definition, names, node.startIndex);
  }

  class(node: Node, from = node.startIndex): void {
    const symbol = this.text.symbols.open(node, 'class', from);
    const { draft } = this.text.symbols;
    const { name } = symbol;
    const isInner = !this.text.flow.isModule;
    const key = isInner ? `${name}#${draft.lineOf(node.startIndex)}` : name;
    if (isInner) draft.type(symbol, 'local', key);
    const outer = this.text.flow.isClass ? this.text.classes.at(-1) : undefined;
    if (outer !== undefined) this.variables.fact(outer.symbol, 'assigned', name, key);
    const bases = this.#bases(symbol, node);
    this.text.flow.set(name, key);
    this.text.classes.push({
      symbol,
      key,
      isEnum: bases.some((each) => /(?:Enum|Flag)$/.test(each)),
    });
    this.text.flow.enter({ kind: 'class', own: '', key });
    this.block(node.childForFieldName('body'));
    this.text.flow.leave();
    this.text.classes.pop();
  }

  #bases(symbol: SymbolDraft, node: Node): string[] {
    const { draft } = this.text.symbols;
    const bases: string[] = [];
    for (const each of node.childForFieldName('type_parameters')?.namedChildren ?? [])
      draft.type(symbol, 'bound', /^\*{0,2}(\w+)/.exec(each.text)?.[1] ?? '', unknown);
    for (const each of node.childForFieldName('superclasses')?.namedChildren ?? []) {
      const value = this.text.values.of(each);
      if (each.type === 'keyword_argument' || each.type === 'comment') continue;
      const head = each.type === 'subscript' ? each.childForFieldName('value') : each;
      const special = this.text.imports.original(head?.text ?? '');
      const arguments_ = each.type === 'subscript' ? each.childrenForFieldName('subscript') : [];
      for (const one of arguments_)
        if (
          /\.(?:Generic|Protocol)$/.test(special ?? '') ||
          this.text.imports.isTypeVariable(one.text)
        )
          draft.type(symbol, 'bound', one.text, unknown);
      if (plainBase.test(special ?? each.text)) continue;
      const isPath = head !== null && pathOf(head) !== undefined;
      const type = isPath
        ? this.text.values.type(each)
        : value === unknown
          ? unknown
          : typeOfExpression(value);
      draft.type(symbol, 'base', '', type);
      bases.push(type);
    }
    return bases;
  }

  function(node: Node, decorators: readonly string[], from = node.startIndex): void {
    const of = this.text.flow.isClass ? this.text.classes.at(-1) : undefined;
    const symbol = this.text.symbols.open(node, of === undefined ? 'function' : 'method', from);
    const { draft } = this.text.symbols;
    const { name } = symbol;
    symbol.declaration = decorators.some(
      (each) => this.text.imports.original(each) === 'typing.overload',
    );
    if (of !== undefined) {
      if (of.key !== of.symbol.name) draft.type(symbol, 'local', of.key);
      this.text.flow.set(name, `${of.key}.${name}`);
    } else if (this.text.flow.isModule) this.text.flow.set(name, name);
    else {
      const key = `${name}#${draft.lineOf(node.startIndex)}`;
      draft.type(symbol, 'local', key);
      this.text.flow.set(name, key);
    }
    const body = node.childForFieldName('body');
    const { names, globals, definitions: places } = boundNames(body);
    const definitions = new Map(
      [...places].map(([inner, at]) => [inner, `${inner}#${draft.lineOf(at)}`]),
    );
    const parameters = this.#parameters(node, decorators, of);
    for (const [parameter] of parameters) names.add(parameter);
    const written = this.#written(node, of);
    const sent = this.#sent(node.childForFieldName('return_type'));
    const part: FunctionPart = { returned: new Set(), yielded: new Set(), sent };
    this.text.functions.push(part);
    this.text.flow.enter({
      kind: 'function',
      names,
      globals,
      definitions,
      ...(of !== undefined && { own: of.key }),
    });
    for (const [parameter, value] of parameters) this.text.flow.set(parameter, value);
    this.block(body);
    this.#results(symbol, node, { part, written, decorators, isMethod: of !== undefined });
    this.text.flow.leave();
    this.text.functions.pop();
  }

  /** The result, as it is written. `def f(self: T) -> T` gives what it is asked of. */
  #written(node: Node, of: ClassPart | undefined): string {
    const written = this.text.values.annotation(node.childForFieldName('return_type'));
    const first = node.childForFieldName('parameters')?.firstNamedChild?.childForFieldName('type');
    if (of === undefined || !first) return written;
    const name = /^(?:\$type<)?(\w+)>?$/.exec(this.text.values.type(first))?.[1];
    if (name === undefined || !this.#isTypeVariable(name, node)) return written;
    return written.replaceAll(/[\w.#$]+/g, (each) => (each === name ? '$this' : each));
  }

  #isTypeVariable(name: string, node: Node): boolean {
    const own = node.childForFieldName('type_parameters')?.namedChildren ?? [];
    return this.text.imports.isTypeVariable(name) || own.some(({ text }) => text === name);
  }

  /** `Generator[Y, S, R]`: what a `yield` comes to. */
  #sent(type: Node | null): string {
    const whole = type?.firstNamedChild;
    const head = whole?.childForFieldName('value') ?? whole?.firstNamedChild;
    const name = head && this.text.imports.typing(head.text);
    if (!whole || (name !== 'Generator' && name !== 'AsyncGenerator')) return unknown;
    const list = whole.namedChildren.find((each) => each.type === 'type_parameter');
    const all = list?.namedChildren ?? whole.childrenForFieldName('subscript');
    return valueOf(this.text.values.type(all[1]));
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
    const type = this.text.values.annotation(node.childForFieldName('type'));
    const value = node.childForFieldName('value');
    const given = value === null ? unknown : this.text.values.of(value);
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
    const { draft } = this.text.symbols;
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
      const its = isMethod ? value : ofClass(value, this.text.flow.own);
      const wrapped = wrap === '' ? its : bounded(`{${wrap}<${typeOfExpression(its)}>}`);
      this.variables.fact(
        symbol,
        isRead ? 'value' : 'returned',
        '',
        value === nothing ? nothing : wrapped,
      );
    }
  }
}

/** Bases that say nothing of members. */
const plainBase = /^(?:object|(?:typing|typing_extensions)\.(?:Generic|Protocol)|abc\.ABC)$/;
