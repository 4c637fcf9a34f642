import type { Node } from 'web-tree-sitter';
import { expressionCharsMax, unknown } from '../../../format/expression.js';
import type { CallDraft } from '../../draft.js';
import { isAttribute } from '../c/c-text.js';
import { cKeywords } from '../c/c-macros.js';
import { isAuto, type CppScopes } from './cpp-scopes.js';
import { declaredType, lastName, nameIn, parametersIn } from './cpp-types.js';
import {
  cppCallee,
  cppConstructed,
  cppOperator,
  isNumeric,
  operandsOf,
  signOf,
} from './cpp-values.js';

/** Where the calls of a text are noted. */
interface CallList {
  call(
    callee: string,
    at: number,
    kind: CallDraft['kind'],
    receiver?: string,
    expression?: string,
  ): void;
  receiverOf(from: number, to: number): string;
}

/** A value that the language holds itself. */
const own =
  /^\{(?:\$const<)?(?:\$(?:ptr<.*>|null|zero|func.*)|bool|u?char|u?short|u?int|u?l{0,2}long|l?double|float|size_t|u?int\d+_t)>?\}$/;

function isPlain(value: string): boolean {
  return own.test(value);
}

const declarators = /_declarator$/;
/** Types whose values nothing constructs. */
const plain =
  /^(?:primitive_type|sized_type_specifier|placeholder_type_specifier|decltype|enum_specifier)$/;

/** Notes what a text calls and constructs. */
export class CppCalls {
  constructor(
    readonly list: CallList,
    readonly scopes: CppScopes,
  ) {}

  /** By its name alone, as macros are. */
  named(name: string, at: number): void {
    if (!cKeywords.has(name) && !isAttribute(name))
      this.list.call(name, at, 'direct', '', this.scopes.inPlace(name));
  }

  call(node: Node): void {
    const callee = node.childForFieldName('function');
    if (callee === null || isNumeric(callee)) return;
    const written = callee.type === 'field_expression' ? callee.childForFieldName('field') : callee;
    const part = written?.type === 'dependent_name' ? written.namedChild(0) : written;
    if (!part) return;
    const last = lastName(part);
    const name = last.childForFieldName('name') ?? last;
    if (!/identifier$|^destructor_name$|^operator_name$/.test(name.type)) return;
    if (cKeywords.has(name.text) || isAttribute(name.text) || /_cast$/.test(name.text)) return;
    const expression = this.scopes.inPlace(cppCallee(node, this.scopes));
    const receiver = this.list
      .receiverOf(callee.startIndex, name.startIndex)
      .replace(/\s*->\s*$/, '');
    const kind = receiver === '' ? 'direct' : 'member';
    this.list.call(name.text, name.startIndex, kind, receiver, expression);
  }

  /** `new T(…)`, `T{…}`, `f(const T& a = {…})` */
  constructed(node: Node): void {
    const written = node.childForFieldName('type');
    const around = node.parent;
    const isBare = written?.isMissing === true && around?.type === 'optional_parameter_declaration';
    const type = isBare ? around.childForFieldName('type') : written;
    const list = node.childForFieldName('arguments') ?? node.childForFieldName('value');
    if (type !== null && node.childForFieldName('declarator') === null) this.#construct(type, list);
  }

  /** What looks like types of parameters. */
  #argumentsIn(declarator: Node): string {
    const all = declarator.childForFieldName('parameters')?.namedChildren ?? [];
    const values = all.map((each) => {
      const type = each.childForFieldName('type');
      const isName = type?.type === 'type_identifier' && each.namedChildCount === 1;
      return isName ? this.scopes.locals.expressionOf(type.text, type.startIndex) : unknown;
    });
    const text = `^(${values.join(',')})`;
    return text.length > expressionCharsMax / 2 ? `^${values.length}` : text;
  }

  #construct(type: Node, list: Node | null, given?: string): void {
    if (plain.test(type.type)) return;
    const last = lastName(type.type === 'dependent_type' ? (type.namedChild(0) ?? type) : type);
    const name = nameIn(last);
    if (!/^[A-Za-z_]\w*$/.test(name) || cKeywords.has(name)) return;
    const written = this.scopes.typeOf(type);
    if (written === unknown) return;
    const expression =
      given === undefined ? cppConstructed(written, list, this.scopes) : `{${written}}${given}`;
    const receiver = this.list.receiverOf(type.startIndex, last.startIndex);
    this.list.call(name, last.startIndex, 'construct', receiver, this.scopes.inPlace(expression));
  }

  /** What a sign between values calls, unless the language itself says what it does. */
  operator(node: Node): void {
    const sign = signOf(node);
    const operands = operandsOf(node);
    if (/^(?:&&|\|\||!|and|or|not|\?)?$/.test(sign) || (sign === '&' && operands.length < 2))
      return;
    if (operands.every((each) => isPlain(this.scopes.of(each)))) return;
    const at = (node.childForFieldName('operator') ?? node.childForFieldName('indices') ?? node)
      .startIndex;
    const expression = this.scopes.inPlace(cppOperator(node, this.scopes));
    this.list.call(`operator${sign}`, at, 'member', '', expression);
  }

  /** `: Base(1), field_{2}` */
  initialized(node: Node): void {
    const [named, list] = node.namedChildren;
    if (named === undefined) return;
    const last = lastName(named);
    const name = nameIn(last);
    const isField = named.type === 'field_identifier';
    const type = isField ? `=${name}` : this.scopes.typeOf(named);
    if (type === unknown) return;
    const expression = cppConstructed(type, list ?? null, this.scopes);
    this.list.call(name, last.startIndex, 'construct', '', this.scopes.inPlace(expression));
  }

  /** Variables inside a function. */
  local(node: Node): void {
    const type = node.childForFieldName('type');
    const name = type?.childForFieldName('name');
    // What it defines itself is known from here on.
    if (type && name && type.childForFieldName('body') !== null)
      this.scopes.ownName(name.text, type);
    for (const each of node.childrenForFieldName('declarator')) {
      const value = each.childForFieldName('value') ?? node.childForFieldName('value');
      const expression = this.#isCalled(each)
        ? this.#typed(node)
        : this.scopes.variable(node, each, value);
      this.declared(node, each);
      const bare =
        each.type === 'init_declarator' ? (each.childForFieldName('declarator') ?? each) : each;
      this.scopes.declare(node, bare, expression, each.endIndex);
    }
  }

  #typed(node: Node): string {
    const type = this.scopes.typeOf(node.childForFieldName('type'));
    return type === unknown ? unknown : `{${type}}`;
  }

  /** `T a(b)` inside a function, which looks like a function that takes a `b`. */
  #isCalled(declarator: Node): boolean {
    return (
      declarator.type === 'function_declarator' &&
      declarator.childForFieldName('declarator')?.type === 'identifier' &&
      parametersIn(declarator, this.scopes).length > 0
    );
  }

  /** `T a(1)`, `T a{1}`, `T a;` */
  declared(node: Node, declarator: Node): void {
    const type = node.childForFieldName('type');
    if (type === null || isAuto(node) || /^extern\b/.test(node.text)) return;
    if (this.scopes.isInFunction && this.#isCalled(declarator))
      return this.#construct(type, null, this.#argumentsIn(declarator));
    const isInitial = declarator.type === 'init_declarator';
    const inner = isInitial ? declarator.childForFieldName('declarator') : declarator;
    const value = isInitial ? declarator.childForFieldName('value') : null;
    const isPlain =
      inner !== null && (!declarators.test(inner.type) || inner.type === 'array_declarator');
    if (!isPlain || inner.type.startsWith('structured')) return;
    if (value !== null && !/^(?:argument_list|initializer_list)$/.test(value.type)) return;
    // `T a = {…}` is made by what fits, not by its name.
    if (
      value?.type === 'initializer_list' &&
      /=\s*$/.test(node.text.slice(0, value.startIndex - node.startIndex))
    )
      return;
    if (declaredType(node, declarator, this.scopes).function === undefined)
      this.#construct(type, value);
  }
}
