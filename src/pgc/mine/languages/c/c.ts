import type { Node } from 'web-tree-sitter';
import {
  isMostlyDefines,
  macroHead,
  macroSignature,
  receiverBefore,
  scanCalls,
  scanDefines,
  cKeywords,
} from './c-macros.js';
import { regular } from './c-regular.js';
import { isAttribute, readable } from './c-text.js';
import { macroFlows } from './c-macro-flows.js';
import { CPointers } from './c-pointers.js';
import { CRecords } from './c-records.js';
import { functionSignature, parameterNames, typeOf } from './c-signature.js';
import { commentAbove } from '../../comment.js';
import { Draft, type CallDraft, type SymbolDraft } from '../../draft.js';
import type { Grammar } from '../../grammar.js';
import { compact, renderSignature, splitList } from '../../signature.js';

/** Characters of a called expression, at most; a longer one gives no call. */
const calledCharsMax = 1_000;

export const cQuery = `
(function_definition) @function
(declaration) @declaration
(type_definition) @typedef
(struct_specifier name: (_) body: (_)) @struct
(union_specifier name: (_) body: (_)) @union
(enum_specifier body: (_)) @enum
(enumerator) @enumerator
(preproc_def) @macro
(preproc_function_def) @macro
(preproc_include path: (_) @include)
(call_expression function: (identifier) @call)
(call_expression function: (field_expression) @member)
(call_expression function: (parenthesized_expression) @parenthesized)
(call_expression function: (subscript_expression) @parenthesized)
(expression_statement (call_expression function: (_) @unused))
(expression_statement (cast_expression value: (call_expression function: (_) @unused)))
(initializer_pair designator: (field_designator (field_identifier) @slot) value: [(identifier) (pointer_expression)])
(assignment_expression
  left: [(identifier) (field_expression) (subscript_expression) (pointer_expression)]
  right: [(identifier) (pointer_expression) (cast_expression) (field_expression) (subscript_expression)
    (conditional_expression) (parenthesized_expression)]) @assignment
(compound_statement) @block
(return_statement (identifier) @result)
(compound_literal_expression) @literal
(ERROR) @error
`;

export function mineC(grammar: Grammar, text: string): Draft {
  if (isMostlyDefines(text)) return scanDefines(text);
  const miner = new CMiner(text);
  grammar.captures(miner.parsed, (name, node) => miner.visit(name, node));
  return miner.finish();
}

class CMiner {
  readonly draft: Draft;
  /** With the offsets of the text, but without code that the grammar cannot parse. */
  readonly parsed: string;
  /** The same before conditionals were resolved. */
  readonly #unresolved: string;
  readonly #dropped: readonly [from: number, to: number][];
  #function: SymbolDraft | undefined;
  /** Names that are called through a pointer in the current function. */
  #pointers: ReadonlySet<string> = new Set();
  #enum = { name: '', end: 0 };
  /** The structure whose fields the surrounding declaration sets. */
  #initialised = { type: '', end: 0 };
  readonly #slots: CallDraft[] = [];
  /** Names that macros and results hand on: functions, or anything else. */
  readonly #named: CallDraft[] = [];
  readonly #pointing: CPointers;
  readonly #records: CRecords;

  constructor(readonly text: string) {
    this.draft = new Draft(text);
    this.#unresolved = readable(text);
    const { text: parsed, dropped, macros, defines } = regular(this.#unresolved);
    this.parsed = parsed;
    this.#dropped = dropped;
    this.#pointing = new CPointers(this.draft, text, parsed);
    this.#records = new CRecords(this.draft, parsed, text);
    for (const { name, at } of macros)
      if (!cKeywords.has(name))
        this.draft.calls.push({ callee: name, at, kind: 'direct', receiver: '' });
    for (const [from, to] of defines) this.#define(this.#unresolved.slice(0, to), from);
  }

  /** Adds the calls of branches that the parser did not see. */
  finish(): Draft {
    for (const [from, to] of this.#dropped) {
      const source = this.#unresolved.slice(from, to).replace(directiveLines, blankLine);
      this.draft.calls.push(...scanCalls(source, from, noNames));
    }
    const held = this.#pointing.finish();
    const known = new Set(held.map(({ at }) => at));
    this.draft.calls.push(...held, ...this.#slots.filter(({ at }) => !known.has(at)));
    const functions = new Set(
      this.draft.symbols.flatMap(({ kind, name }) => (kind === 'function' ? [name] : [])),
    );
    this.draft.calls.push(...this.#named.filter(({ callee }) => functions.has(callee)));
    return this.draft;
  }

  visit(capture: string, node: Node): void {
    this.#pointing.reach(node.startIndex);
    this.#visitors[capture]?.(node);
  }

  readonly #visitors: Record<string, (node: Node) => void> = {
    call: (node) => this.#call(this.#wordAt(node.startIndex), node.startIndex),
    member: (node) => this.#memberCall(node.startIndex, node.endIndex),
    parenthesized: (node) => this.#parenthesized(node),
    function: (node) => this.#functionDefinition(node),
    declaration: (node) => this.#declaration(node),
    typedef: (node) => this.#typedef(node),
    struct: (node) => this.#record('struct', node),
    union: (node) => this.#record('union', node),
    enum: (node) => this.#record('enum', node),
    enumerator: (node) => this.#enumerator(node),
    // The node ends behind the line break.
    macro: (node) => this.#define(this.parsed.slice(0, node.endIndex), node.startIndex),
    include: (node) => this.#include(node),
    unused: (node) => this.draft.unused.add(node.endIndex),
    slot: (node) => this.#slot(node.startIndex),
    assignment: (node) => this.#assignment(node),
    result: (node) => this.#result(node.startIndex),
    block: (node) => this.#pointing.block(node.endIndex),
    literal: (node) => this.#pointing.literal(node.startIndex, node.endIndex),
    error: (node) => this.draft.error(node.startIndex, node.endIndex),
  };

  /** `.open = e1000_open`: a call through the field calls that function. */
  #slot(at: number): void {
    slotPattern.lastIndex = at;
    const [whole, field = '', value = ''] = slotPattern.exec(this.parsed) ?? [];
    if (whole === undefined || /^[A-Z0-9_]+$/.test(value) || cKeywords.has(value)) return;
    const type = at < this.#initialised.end ? this.#initialised.type : '';
    const receiver = type === '' ? field : `${type}.${field}`;
    const nameAt = at + whole.length - value.length;
    this.#slots.push({ callee: value, at: nameAt, kind: 'slot', receiver });
  }

  /** `return compare;`: a function that another one gives. */
  #result(at: number): void {
    const callee = this.#wordAt(at);
    if (this.#pointing.locals.find(callee, at) !== undefined) return;
    this.#named.push({ callee, at, kind: 'slot', receiver: `${this.#function?.name ?? ''}()` });
  }

  #assignment(node: Node): void {
    const [left, right] = [node.firstNamedChild, node.lastNamedChild];
    if (left === null || right === null || left.endIndex >= right.startIndex) return;
    // `+=` and its kind.
    if (this.parsed.slice(left.endIndex, right.startIndex).trim() !== '=') return;
    this.#pointing.assigned([left.startIndex, left.endIndex], [right.startIndex, right.endIndex]);
  }

  #include(node: Node): void {
    const target = node.text.replace(/^[<"]|[>"]$/g, '');
    this.draft.imports.push({ target, names: [], at: node.startIndex });
  }

  /** The node is `receiver->name`. */
  #memberCall(from: number, to: number): void {
    const callee = /\w+$/.exec(this.parsed.slice(Math.max(from, to - nameCharsMax), to))?.[0] ?? '';
    const at = to - callee.length;
    const receiver = receiverBefore(this.parsed, at);
    const call: CallDraft = { callee, at, kind: 'member', receiver };
    this.draft.calls.push(call);
    this.#pointing.called(call, from, to);
  }

  #call(callee: string, at: number): void {
    if (cKeywords.has(callee) || callee === '') return;
    const isPointer = this.#isInFunction(at) && this.#pointers.has(callee);
    const call: CallDraft = { callee, at, kind: isPointer ? 'member' : 'direct', receiver: '' };
    this.draft.calls.push(call);
    if (isPointer || this.#pointing.isHeld(callee, at))
      this.#pointing.called(call, at, at + callee.length);
    else this.#pointing.arguments(at + callee.length, callee, callee);
  }

  /** `(name)(…)`, `(*pointer)(…)`, `(*object->pointer)(…)`, `table[i](…)`. */
  #parenthesized(node: Node): void {
    if (node.endIndex - node.startIndex > calledCharsMax) return;
    const source = compact(node.text);
    const plain = /^\(\s*([A-Za-z_]\w*)\s*\)$/.exec(source)?.[1];
    if (plain !== undefined) {
      this.#call(plain, node.startIndex);
      return;
    }
    const found =
      /^\(?\s*\**\s*\(?((?:[\w.]|->|\[[^\]]*\]|\s)*?)([A-Za-z_]\w*)\s*(?:\[[\s\S]*\]|\)*)$/.exec(
        source,
      );
    // `(*((struct file *)p)->ops->open)(…)`: casts hide the name from a look at the text.
    const callee = found?.[2] ?? this.#pointing.memberIn(node.startIndex, node.endIndex);
    if (callee === undefined || cKeywords.has(callee)) return;
    const receiver = compact(found?.[1] ?? '').replace(/(?:->|\.)$/, '');
    const call: CallDraft = { callee, at: node.startIndex, kind: 'member', receiver };
    this.draft.calls.push(call);
    this.#pointing.called(call, node.startIndex, node.endIndex);
  }

  #functionDefinition(node: Node): void {
    const start = node.startIndex;
    const outer = this.#isInFunction(start) ? this.#function : undefined;
    // C has no nested functions: either a macro with a block (`for_each(x) { … }`), or the braces
    // before it do not balance (`#ifdef` in the middle of a block) and the surrounding one ended here.
    const isAtMargin = start === 0 || this.parsed.charAt(start - 1) === '\n';
    if (outer !== undefined && !isAtMargin) return;
    const found = this.#functionHead(node);
    if (found === undefined) return;
    if (outer !== undefined) outer.end = Math.max(outer.start + 1, start);
    const { name, nameAt, list } = found;
    const specifiers = this.parsed.slice(start, nameAt);
    const symbol = this.#symbol(name, 'function', start, node.endIndex, {
      signature: functionSignature(name, specifiers, list),
      exported: !/\bstatic\b/.test(specifiers),
    });
    this.#function = symbol;
    this.#pointers = parameterNames(list);
    this.#pointing.enter(symbol, list, start, nameAt);
  }

  /** Name and parameter list; undefined for what only looks like a function. */
  #functionHead(node: Node): { name: string; nameAt: number; list: string } | undefined {
    let declarator = node.childForFieldName('declarator');
    let list: Node | null = null;
    while (declarator !== null && declarator.type !== 'identifier') {
      if (declarator.type === 'function_declarator')
        list = declarator.childForFieldName('parameters');
      const inner: Node | null = declarator.childForFieldName('declarator') ?? innerOf(declarator);
      declarator = inner;
    }
    if (declarator === null) return undefined;
    const name = this.#wordAt(declarator.startIndex);
    const type = node.childForFieldName('type');
    if (list === null) {
      // `DEFINE_IDTENTRY(exc_debug) { … }`: the macro makes a function of its argument.
      const isMacro = type !== null && /^[A-Z][A-Z0-9_]+$/.test(this.#wordAt(type.startIndex));
      return isMacro ? { name, nameAt: declarator.startIndex, list: '()' } : undefined;
    }
    const source = this.parsed.slice(list.startIndex, list.endIndex);
    if (cKeywords.has(name) || isAttribute(name)) return undefined;
    if (type === null || /^[A-Z][A-Z0-9_]+$/.test(name)) {
      const made = splitList(source.slice(1, -1));
      if (
        /^[A-Z][A-Z0-9_]+$/.test(name) &&
        made.length > 0 &&
        made.every((each) => /^\w+$/.test(each))
      ) {
        return { name: made.join('.'), nameAt: declarator.startIndex, list: '()' };
      }
      if (type === null) return undefined;
    }
    return { name, nameAt: declarator.startIndex, list: source };
  }

  #declaration(node: Node): void {
    const type = structPattern.exec(this.parsed.slice(node.startIndex, node.startIndex + 160))?.[1];
    if (type !== undefined) this.#initialised = { type, end: node.endIndex };
    if (this.#isInFunction(node.startIndex)) {
      this.#localDeclaration(node);
      return;
    }
    const declarators = node.childrenForFieldName('declarator');
    const shared = this.#specifiers(node.startIndex, declarators[0]?.startIndex ?? node.endIndex);
    const known = this.draft.symbols.length;
    declarators.forEach((declarator, at) => {
      // Several names in one declaration: the first has what they share, the others only their own text.
      const start = at === 0 ? node.startIndex : declarator.startIndex;
      const end = at === declarators.length - 1 ? node.endIndex : declarator.endIndex;
      this.#declared(shared, declarator, start, end);
    });
    const end = node.endIndex - 1;
    this.#pointing.global(node.startIndex, end, this.draft.symbols.slice(known));
  }

  #declared(shared: string, declarator: Node, start: number, end: number): void {
    let inner: Node | null = declarator;
    let list: Node | null = null;
    let isPointer = false;
    while (inner !== null && inner.type !== 'identifier') {
      if (inner.type === 'function_declarator') list = inner.childForFieldName('parameters');
      if (inner.type === 'parenthesized_declarator') isPointer = true;
      inner = inner.childForFieldName('declarator') ?? innerOf(inner);
    }
    if (inner === null) return;
    const name = this.#wordAt(inner.startIndex);
    if (cKeywords.has(name) || isAttribute(name) || name === '') return;
    const specifiers = shared + this.parsed.slice(declarator.startIndex, inner.startIndex);
    const exported = !/\bstatic\b/.test(specifiers);
    if (list !== null && !isPointer) {
      const parameters = this.parsed.slice(list.startIndex, list.endIndex);
      const signature = functionSignature(name, specifiers, parameters);
      const symbol = this.#symbol(name, 'function', start, end, {
        ...{ signature, exported, declaration: true },
      });
      this.#pointing.result(symbol, start, inner.startIndex);
      return;
    }
    const kind = /\bconst\b[^*]*$/.test(specifiers) ? 'constant' : 'variable';
    const type = typeOf(specifiers);
    const signature = renderSignature(kind, name, { type, static: !exported });
    const declaration = /\bextern\b/.test(specifiers) && !declarator.type.startsWith('init');
    this.#symbol(name, kind, start, end, { signature, exported, declaration });
  }

  /** The text before a name, without the body of a type that is defined there. */
  #specifiers(from: number, to: number): string {
    return this.parsed.slice(from, to).replace(/\{[\s\S]*\}/, ' ');
  }

  #localDeclaration(node: Node): void {
    const start = node.startIndex;
    // `int (*fn)(int)` declares a pointer; a look at the text spares most declarations the walk.
    const pointer = /^[^;=(]*\(\s*\*\s*(\w+)\s*\)\s*\(/.exec(
      this.parsed.slice(start, start + 120),
    )?.[1];
    // `for_each_node(n)` on one line and `kfree(x[n]);` on the next read like a type and a prototype.
    loopHead.lastIndex = start;
    if (pointer === undefined && loopHead.test(this.parsed)) {
      this.draft.calls.push(
        ...scanCalls(this.parsed.slice(start, node.endIndex), start, this.#pointers),
      );
      return;
    }
    if (pointer !== undefined) this.#pointers = new Set([...this.#pointers, pointer]);
    this.#pointing.local(start, node.endIndex - 1);
  }

  #typedef(node: Node): void {
    if (this.#isInFunction(node.startIndex)) return;
    for (const declarator of node.childrenForFieldName('declarator')) {
      let inner: Node | null = declarator;
      while (
        inner !== null &&
        inner.type !== 'type_identifier' &&
        inner.type !== 'primitive_type'
      ) {
        inner = inner.childForFieldName('declarator') ?? innerOf(inner);
      }
      if (inner === null) continue;
      const name = this.#wordAt(inner.startIndex);
      const source = compact(this.#specifiers(node.startIndex, node.endIndex).replace(/;$/, ''));
      const signature = renderSignature('type', name, {}, source);
      const its = { signature, exported: true };
      const symbol = this.#symbol(name, 'type', node.startIndex, node.endIndex, its);
      this.#records.typedef(symbol, node.startIndex, node.endIndex - 1);
    }
  }

  #record(kind: 'struct' | 'union' | 'enum', node: Node): void {
    const nameNode = node.childForFieldName('name');
    const name = nameNode === null ? '' : this.#wordAt(nameNode.startIndex);
    if (kind === 'enum') this.#enum = { name, end: node.endIndex };
    if (name === '' || cKeywords.has(name)) return;
    const body = node.childForFieldName('body');
    const member = kind === 'enum' ? 'enumerator' : 'field_declaration';
    const count = body === null ? 0 : countOf(body, member);
    const signature = renderSignature(kind, name, {
      [kind === 'enum' ? 'constants' : 'fields']: count,
    });
    const its = { signature, exported: true };
    const symbol = this.#symbol(name, kind, node.startIndex, node.endIndex, its);
    if (kind !== 'enum' && body !== null)
      this.#records.record(symbol, body.startIndex + 1, body.endIndex - 1);
  }

  #enumerator(node: Node): void {
    const name = this.#wordAt(node.startIndex);
    // `F1(SCIFA0_RTS)`: a macro makes the name of its argument, which the grammar takes for the name.
    const before = this.parsed.slice(Math.max(0, node.startIndex - macroCharsMax), node.startIndex);
    const [opened, macro = ''] = /([A-Za-z_]\w*)\s*\(\s*$/.exec(before) ?? [];
    if (opened !== undefined) {
      this.#call(macro, node.startIndex - opened.length);
      return;
    }
    const container = node.startIndex < this.#enum.end ? this.#enum.name : '';
    const value = node.childForFieldName('value');
    const signature = renderSignature('constant', name, {
      enum: container,
      value: value === null ? undefined : compact(value.text).slice(0, 60),
    });
    const symbol = this.#symbol(name, 'constant', node.startIndex, node.endIndex, {
      signature,
      exported: true,
    });
    symbol.container = container;
  }

  /** The `#define` that begins at `from` and ends with the text. */
  #define(text: string, from: number): void {
    const head = macroHead(text, from);
    if (head === undefined) return;
    const body = text.slice(head.bodyAt).replace(comments, blankLine).trimEnd();
    const end = head.bodyAt + body.length;
    const signature = macroSignature(head, body);
    const symbol = this.#symbol(head.name, 'macro', from, end, { signature, exported: true });
    if (head.parameters === undefined) this.#plainMacro(symbol, text, body, head.bodyAt);
    if (!body.includes('(')) return;
    const whole = text.slice(0, head.bodyAt) + body;
    this.#named.push(
      ...macroFlows(this.draft, whole, {
        ...{ symbol, parameters: head.parameters ?? [], from: head.bodyAt, to: end },
        written: this.text.slice(head.bodyAt, end).replace(comments, blankLine),
      }),
    );
    const parameters = new Set(head.parameters);
    for (const call of scanCalls(body, head.bodyAt, parameters)) {
      if (!isAttribute(call.callee)) this.draft.calls.push(call);
    }
  }

  /** A macro without parameters: another name of something, or members of structures. */
  #plainMacro(symbol: SymbolDraft, text: string, body: string, from: number): void {
    const written = body.replaceAll(/\\\r?\n/g, ' ').trim();
    const flat = written.replace(/\b(?:struct|union)\s{0,20}\w*\s{0,20}\{[^{}]*\}/g, 'union its');
    if (otherName.test(written))
      this.draft.type(symbol, 'value', '', written.replaceAll(/\s*(?:->|\.)\s*/g, '.'));
    else if (memberList.test(flat) && !/[={]|\b(?:return|goto|do)\b/.test(flat)) {
      const whole = text.slice(0, from) + body;
      new CRecords(this.draft, whole, whole).record(symbol, from, whole.length);
    }
  }

  #symbol(
    name: string,
    kind: string,
    start: number,
    end: number,
    rest: { signature: string; exported: boolean; declaration?: boolean },
  ): SymbolDraft {
    const comment = commentAbove(this.text, start, 'kernel-doc');
    const symbol: SymbolDraft = {
      name,
      kind,
      start,
      end,
      wordsStart: comment?.start ?? start,
      container: '',
      doc: comment?.doc ?? '',
      declaration: false,
      ...rest,
    };
    this.draft.symbols.push(symbol);
    return symbol;
  }

  #isInFunction(at: number): boolean {
    return this.#function !== undefined && at < this.#function.end;
  }

  #wordAt(at: number): string {
    wordPattern.lastIndex = at;
    return wordPattern.exec(this.parsed)?.[0] ?? '';
  }
}

/** Of the name of a member. */
const nameCharsMax = 120;
const otherName = /^(?!\w*[A-Z]\w*$)[A-Za-z_]\w*(?:\s*(?:->|\.)\s*\w+)*$/;
const memberList = /^(?:struct|union|const|[A-Za-z_])[\w\s*]*[\s*]\(?\s*\*?\w+[^;]*;/;
const slotPattern = /(\w+)\s*=\s*&?\s*([A-Za-z_]\w*)/y;
const structPattern = /^(?:(?:static|const|extern|register|volatile)\s+)*struct\s+(\w+)\b/;
const noNames: ReadonlySet<string> = new Set();
/** Characters before an enumerator that are searched for the macro around it. */
const macroCharsMax = 60;
const comments = /\/\*[\s\S]*?(?:\*\/|$)/g;
const directiveLines = /^[ \t]*#(?:[^\n\\]|\\[\s\S])*/gm;

function blankLine(line: string): string {
  return ' '.repeat(line.length);
}

const loopHead = /[A-Za-z_]\w*\s*\(/y;
const wordPattern = /[A-Za-z_$\u00c0-\uffff][\w$\u00c0-\uffff]*/y;

function innerOf(node: Node): Node | null {
  if (node.type !== 'parenthesized_declarator' && node.type !== 'attributed_declarator')
    return null;
  return node.firstNamedChild;
}

function countOf(body: Node, type: string): number {
  let count = 0;
  for (const child of body.namedChildren) if (child.type === type) count += 1;
  return count;
}
