import type { Node } from 'web-tree-sitter';
import { lowerBound } from '../format/bytes.js';
import type { GrammarLanguage } from '../format/facts.js';
import { Draft } from './draft.js';
import type { Grammar } from './grammar.js';

/** A call, with parts that the index does not keep. */
export interface CallPart {
  /** Its last part: `close` of `this.#pool.close()`. */
  name: string;
  /** The text before its last part; may be empty. */
  receiver: string;
  /** 1-based. */
  line: number;
  /** Each without blanks, cut at `partCharsMax`. */
  arguments: string[];
  /** `bound`: a name gets the result; `used`: anything else looks at it. */
  result: 'unused' | 'awaited' | 'bound' | 'used';
}

/** An `if`, or operands that `&&`, `||` or `??` join anywhere else. */
export interface ConditionPart {
  /** Without blanks. */
  text: string;
  operands: string[];
  /** Also of the name that gets the value. */
  names: string[];
  line: number;
  /** Last line of the branch that runs when it holds. */
  line_end: number;
  /** The branch ends with `return`, `throw`, `goto` and the like. */
  leaves: boolean;
}

/** `left < right` and its kind. */
interface ComparisonPart {
  left: string;
  operator: string;
  right: string;
  line: number;
}

/** `catch`, `except`. */
export interface HandlerPart {
  line: number;
  line_end: number;
  /** The block is empty, and no comment says why. */
  isEmpty: boolean;
  /** Names of the calls in the block that it guards. */
  tried: string[];
}

/** Parts of one text that its syntax tree shows and facts leave out. All lists are in order of the text. */
export interface CodeParts {
  calls: CallPart[];
  conditions: ConditionPart[];
  comparisons: ComparisonPart[];
  handlers: HandlerPart[];
  /** Lines by name of a variable, field or function. */
  names: ReadonlyMap<string, readonly number[]>;
  /** Lines by name of a property that is read: `a.name`, `{ name } = a`. Of JavaScript and TypeScript only. */
  reads: ReadonlyMap<string, readonly number[]>;
  /** Awaited expressions, calls included, without blanks. */
  awaits: { text: string; line: number }[];
  /** Names of thrown or returned errors: `INBOX_FULL`, `TypeError`, `EINVAL`. */
  errors: { code: string; line: number }[];
  /** Keys of returned object literals; `isOpen`: a spread may add more. */
  returned: { fields: { name: string; line: number }[]; isOpen: boolean; line: number }[];
  /** Lines of decisions: each makes one more path. */
  decisions: number[];
  /** Lines of `value!` in TypeScript. */
  nonNull: number[];
  /** Lines of `goto`. */
  jumps: number[];
  /** Lines of `...value`. */
  spreads: number[];
}

/** Of an argument, an operand, a condition. */
const partCharsMax = 200;
/** Of each kind; a text with more is generated. */
const partsMax = 20_000;
const namesMax = 10 * partsMax;

const shared = `
(expression_statement (call_expression) @unused) (call_expression) @call
(binary_expression) @binary (if_statement) @if
`;
const loops = `(for_statement) @decision (while_statement) @decision`;
const ecmascript = `
(variable_declarator value: (_) @bound) (assignment_expression right: (_) @bound)
(expression_statement (new_expression) @unused) (unary_expression "void" argument: (_) @unused)
(await_expression) @await
${shared} ${loops} (new_expression) @call (identifier) @name (property_identifier) @name
(member_expression property: (property_identifier) @read)
(object_pattern (shorthand_property_identifier_pattern) @read)
(object_pattern (pair_pattern key: (property_identifier) @read)) (spread_element) @spread
(private_property_identifier) @name (shorthand_property_identifier) @name
(shorthand_property_identifier_pattern) @name (catch_clause) @handler (throw_statement) @throw
(try_statement) @try (return_statement (object) @object) (arrow_function body: (parenthesized_expression (object) @object))
[(for_in_statement) (do_statement) (switch_case) (ternary_expression)] @decision
`;
const c = `
(init_declarator value: (_) @bound) (assignment_expression right: (_) @bound)
${shared} ${loops} (identifier) @name (field_identifier) @name
(unary_expression argument: (identifier) @errno) (goto_statement) @jump
[(do_statement) (case_statement) (conditional_expression)] @decision
`;

/** The same captures for every language, so that one reader serves all of them. */
export const partsQuery: Readonly<Record<GrammarLanguage, string>> = {
  c,
  cpp: `${c} (try_statement) @try (catch_clause) @handler (throw_statement) @throw`,
  javascript: ecmascript,
  typescript: `${ecmascript} (non_null_expression) @nonNull`,
  tsx: `${ecmascript} (non_null_expression) @nonNull`,
  python: `
    (expression_statement (call) @unused) (assignment right: (_) @bound)
    (try_statement) @try (await) @await (call) @call (boolean_operator) @binary (comparison_operator) @binary (if_statement) @if
    (elif_clause) @if (identifier) @name (except_clause) @handler (raise_statement) @throw
    ${loops} (conditional_expression) @decision
  `,
  go: `
    (short_var_declaration right: (expression_list (_) @bound))
    (assignment_statement right: (expression_list (_) @bound))
    ${shared} (identifier) @name (field_identifier) @name (for_statement) @decision
    [(expression_case) (type_case) (communication_case)] @decision
  `,
  rust: `
    (expression_statement (call_expression) @unused) (let_declaration value: (_) @bound)
    (await_expression) @await
    (call_expression) @call (binary_expression) @binary (if_expression) @if (identifier) @name
    (field_identifier) @name [(for_expression) (while_expression) (match_arm)] @decision
  `,
  java: `
    (expression_statement (method_invocation) @unused) (variable_declarator value: (_) @bound)
    (expression_statement (object_creation_expression) @unused) (try_statement) @try
    (method_invocation) @call (object_creation_expression) @call (binary_expression) @binary
    (if_statement) @if (identifier) @name (catch_clause) @handler (throw_statement) @throw
    ${loops} [(enhanced_for_statement) (do_statement) (ternary_expression)] @decision
  `,
};

/** `parsed` is the text as its grammar reads it, with the same offsets. Throws MINER_FAILED when the parser gives up. */
export function partsOf(grammar: Grammar, text: string, parsed: string): CodeParts {
  const reader = new PartReader(text);
  grammar.captures(parsed, (name, node) => reader.visit(name, node));
  return reader.finish();
}

const comparing = new Set(['<', '<=', '>', '>=']);
const joining = new Set(['&&', '||', '??', 'and', 'or']);
const leaving =
  /^(?:return|throw|goto|break|continue|raise)(?:_statement|_expression)?$|^(?:continue|break)_/;

interface Named {
  name: string;
  at: number;
  line: number;
}

class PartReader {
  readonly #parts: Omit<CodeParts, 'names' | 'reads' | 'handlers' | 'conditions'> & {
    handlers: (HandlerPart & { from: number; to: number })[];
    conditions: (ConditionPart & { from: number; to: number })[];
  } = {
    ...{ calls: [], conditions: [], comparisons: [], handlers: [], errors: [], returned: [] },
    ...{ awaits: [], decisions: [], nonNull: [], jumps: [], spreads: [] },
  };
  readonly #names: Named[] = [];
  readonly #reads: Named[] = [];
  /** Of nodes that were captured with what surrounds them: a node is asked for its parent in the time of its depth. */
  readonly #results = new Map<number, CallPart['result']>();
  readonly #joined = new Set<number>();
  readonly #tried = new Map<number, { from: number; to: number }>();
  readonly #callsAt: { name: string; at: number }[] = [];

  readonly #draft: Draft;

  constructor(readonly text: string) {
    this.#draft = new Draft(text);
  }

  visit(capture: string, node: Node): void {
    this.#visitors[capture]?.(node);
  }

  finish(): CodeParts {
    const { handlers, conditions, ...parts } = this.#parts;
    return {
      ...parts,
      ...{ names: linesByName(this.#names), reads: linesByName(this.#reads) },
      handlers: handlers.map(({ from, to, ...each }) => ({
        ...each,
        tried: within(this.#callsAt, from, to).map(({ name }) => name),
      })),
      conditions: conditions.map(({ from, to, ...each }) => ({
        ...each,
        names: [...new Set(within(this.#names, from, to).map(({ name }) => name))],
      })),
    };
  }

  readonly #visitors: Readonly<Record<string, (node: Node) => void>> = {
    call: (node) => this.#call(node),
    if: (node) => this.#if(node),
    binary: (node) => this.#binary(node),
    unused: (node) => void this.#results.set(node.id, 'unused'),
    bound: (node) => void this.#results.set(node.id, 'bound'),
    try: (node) => this.#try(node),
    handler: (node) => this.#handler(node),
    throw: (node) => this.#throw(node),
    errno: (node) => this.#errno(node),
    object: (node) => this.#object(node),
    name: (node) => this.#note(node, this.#names),
    read: (node) => this.#note(node, this.#reads),
    await: (node) => {
      const awaited = node.firstNamedChild;
      if (awaited === null) return;
      this.#results.set(awaited.id, 'awaited');
      this.#parts.awaits.push({ text: this.#compact(awaited), line: this.#line(node) });
    },
    decision: (node) => void this.#parts.decisions.push(this.#line(node)),
    nonNull: (node) => void this.#parts.nonNull.push(this.#line(node)),
    jump: (node) => void this.#parts.jumps.push(this.#line(node)),
    spread: (node) => void this.#parts.spreads.push(this.#line(node)),
  };

  /** By offset: the text as its grammar reads it need not have the same lines. */
  #line({ startIndex }: Node): number {
    return this.#draft.lineOf(startIndex);
  }

  #lastLine({ startIndex, endIndex }: Node): number {
    return this.#draft.lineOf(Math.max(startIndex, endIndex - 1));
  }

  #note(node: Node, names: Named[]): void {
    if (names.length >= namesMax) return;
    names.push({ name: node.text, at: node.startIndex, line: this.#line(node) });
  }

  #call(node: Node): void {
    if (this.#parts.calls.length >= partsMax) return;
    const called =
      node.childForFieldName('function') ??
      node.childForFieldName('constructor') ??
      node.childForFieldName('type') ??
      node.childForFieldName('name');
    const object = node.childForFieldName('object');
    if (called === null) return;
    const written = `${object === null ? '' : `${this.#compact(object)}.`}${this.#tail(called)}`;
    const [name = ''] = /[\w$#]+$/.exec(written) ?? [];
    if (name === '') return;
    const receiver = written.slice(0, -name.length).replace(/(?:\?\.|\.|->|::)$/, '');
    const given = node.childForFieldName('arguments')?.namedChildren ?? [];
    this.#callsAt.push({ name, at: node.startIndex });
    this.#parts.calls.push({
      ...{
        name,
        receiver,
        line: this.#lastLine(called),
        result: this.#results.get(node.id) ?? 'used',
      },
      arguments: given
        .filter(({ type }) => !type.includes('comment'))
        .map((each) => this.#compact(each)),
    });
  }

  #if(node: Node): void {
    this.#parts.decisions.push(this.#line(node));
    const condition = node.childForFieldName('condition');
    const body = node.childForFieldName('consequence');
    if (condition === null || body === null) return;
    this.#condition(condition, this.#lastLine(body), leavesAtEnd(body));
  }

  #binary(node: Node): void {
    const operator = operatorOf(node);
    if (comparing.has(operator)) {
      const [left, right] = [node.firstNamedChild, node.lastNamedChild];
      if (left === null || right === null || this.#parts.comparisons.length >= partsMax) return;
      this.#parts.comparisons.push({
        ...{ left: this.#compact(left), operator, right: this.#compact(right) },
        line: this.#line(node),
      });
    } else if (joining.has(operator)) {
      this.#parts.decisions.push(this.#line(node));
      // Operands of a join, and conditions of an `if`, are read with it.
      if (this.#joined.has(node.id)) return;
      this.#condition(node, this.#lastLine(node), false);
    }
  }

  #condition(node: Node, line_end: number, leaves: boolean): void {
    if (this.#parts.conditions.length >= partsMax) return;
    const operands = operandsOf(node, this.#joined);
    this.#parts.conditions.push({
      text: this.#compact(bare(node)),
      operands: operands.map((each) => this.#compact(each)),
      ...{ names: [], line: this.#line(node), line_end, leaves },
      ...{ from: this.#targetStart(node), to: node.endIndex },
    });
  }

  /** With the name that gets the value, which stands before it in its line. */
  #targetStart(node: Node): number {
    const at = node.startIndex;
    return this.#results.get(node.id) === 'bound' ? this.text.lastIndexOf('\n', at) + 1 : at;
  }

  #try(node: Node): void {
    const body = node.childForFieldName('body');
    if (body === null) return;
    for (const { id, type } of node.namedChildren)
      if (/^(?:catch|except)_clause$/.test(type))
        this.#tried.set(id, { from: body.startIndex, to: body.endIndex });
  }

  #handler(node: Node): void {
    const body = node.childForFieldName('body') ?? node.lastNamedChild;
    const done = body?.namedChildren ?? [];
    this.#parts.handlers.push({
      ...{ line: this.#line(node), line_end: this.#lastLine(node), tried: [] },
      isEmpty: done.every(({ type }) => type === 'pass_statement'),
      ...(this.#tried.get(node.id) ?? { from: 0, to: 0 }),
    });
  }

  #throw(node: Node): void {
    const [, code, type = ''] =
      /^\w+\s+(?:new\s+)?(?:[\w.]+\s*\(\s*['"]([A-Z][A-Z0-9_]{3,40})['"]|([\w.]{1,60}))/.exec(
        this.text.slice(node.startIndex, Math.min(node.endIndex, node.startIndex + partCharsMax)),
      ) ?? [];
    const name = code ?? type.split('.').at(-1) ?? '';
    if (/^[A-Z]/.test(name)) this.#parts.errors.push({ code: name, line: this.#line(node) });
  }

  /** `-EINVAL`. */
  #errno(node: Node): void {
    const code = node.text;
    if (/^E[A-Z][A-Z0-9]{1,14}$/.test(code) && this.text.charAt(node.startIndex - 1) === '-')
      this.#parts.errors.push({ code, line: this.#line(node) });
  }

  #object(node: Node): void {
    const parts = node.namedChildren;
    this.#parts.returned.push({
      fields: parts.flatMap((part) => {
        const key = part.childForFieldName('key') ?? part;
        return /^(?:shorthand_)?property_identifier$/.test(key.type)
          ? [{ name: key.text, line: this.#line(key) }]
          : [];
      }),
      isOpen: parts.some(({ type }) => type === 'spread_element'),
      line: this.#line(node),
    });
  }

  /** The end of a text: a chain of calls may be longer than the limit. */
  #tail({ startIndex, endIndex }: Node): string {
    return this.text
      .slice(Math.max(startIndex, endIndex - partCharsMax), endIndex)
      .replace(/\s+/g, '');
  }

  #compact({ startIndex, endIndex }: Node): string {
    // Blanks do not count towards the limit, within reason.
    const written = this.text.slice(startIndex, Math.min(endIndex, startIndex + 4 * partCharsMax));
    return written.replace(/\s+/g, '').slice(0, partCharsMax);
  }
}

function linesByName(all: readonly Named[]): Map<string, number[]> {
  const names = new Map<string, number[]>();
  for (const { name, line } of all) {
    const lines = names.get(name);
    if (lines === undefined) names.set(name, [line]);
    else if (lines.at(-1) !== line) lines.push(line);
  }
  return names;
}

/** Of entries in order of `at`, those in `[from, to)`. */
function within<T extends { at: number }>(all: readonly T[], from: number, to: number): T[] {
  const below = (limit: number): number =>
    lowerBound(all.length, (position) => (all[position]?.at ?? 0) < limit);
  return all.slice(below(from), below(to));
}

function operatorOf(node: Node): string {
  return (
    node.childForFieldName('operator')?.text ?? node.childForFieldName('operators')?.text ?? ''
  );
}

function isJoin(node: Node): boolean {
  return (
    /^(?:binary_expression|boolean_operator)$/.test(node.type) && joining.has(operatorOf(node))
  );
}

/** Without brackets around it. */
function bare(node: Node): Node {
  let inner = node;
  while (/^(?:parenthesized_expression|condition_clause)$/.test(inner.type)) {
    const next = inner.firstNamedChild;
    if (next === null) break;
    inner = next;
  }
  return inner;
}

const operandsMax = 100;

/** Notes the joins that it took apart in `joined`: they are no conditions of their own. */
function operandsOf(node: Node, joined: Set<number>): Node[] {
  const found: Node[] = [];
  const open = [bare(node)];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [left, right] = [next.firstNamedChild, next.lastNamedChild];
    if (
      found.length + open.length < operandsMax &&
      isJoin(next) &&
      left !== null &&
      right !== null
    ) {
      joined.add(next.id);
      open.push(bare(right), bare(left));
    } else found.push(next);
  }
  return found;
}

function leavesAtEnd(body: Node): boolean {
  let last: Node | null = body;
  // A block, and in Rust a statement around the expression.
  while (last !== null && !leaving.test(last.type)) {
    if (
      !/^(?:block|compound_statement|statement_block|expression_statement|statement_list)$/.test(
        last.type,
      )
    )
      return false;
    last = last.namedChildren.findLast(({ type }) => !type.includes('comment')) ?? null;
  }
  return last !== null;
}
