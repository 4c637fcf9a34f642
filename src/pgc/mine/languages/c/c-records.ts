import type { Draft, SymbolDraft } from '../../draft.js';
import { compact, renderSignature, splitList } from '../../signature.js';
import { baseType, declaredIn, type Declared } from './c-declared.js';
import { findSign, skipBlanks } from './c-scan.js';

const loneMacro = /^[ \t]*([A-Z_][A-Z0-9_]{2,})[ \t]*$/gm;
/** Structures in each other. */
const depthMax = 8;

/** Writes down the members of structures: pointers to functions as methods, and those that lead to structures. */
export class CRecords {
  /** Types of the text that are functions or pointers to them. */
  readonly #functionTypes = new Map<string, string>();

  constructor(
    readonly draft: Draft,
    readonly parsed: string,
    /** As written: macros that stand for members are only there. */
    readonly text: string,
  ) {}

  isFunctionType(name: string): boolean {
    return this.#functionTypes.has(name);
  }

  /** The body is in `[from, to)`. */
  record(owner: SymbolDraft, from: number, to: number): void {
    this.#members(owner, { from, to, prefix: '', depth: 0 });
    for (const { index, 0: line, 1: name = '' } of this.text.slice(from, to).matchAll(loneMacro)) {
      const isLeftOut = this.parsed.slice(from + index, from + index + line.length).trim() === '';
      if (isLeftOut) this.draft.type(owner, 'base', '', name);
    }
  }

  /** `typedef` in `[from, to)`; `owner`: the type that it names. */
  typedef(owner: SymbolDraft, from: number, to: number): void {
    const base = baseType(this.parsed, from, to);
    if (base === undefined) return;
    const its = declaredIn(this.parsed, base, to).find(({ name }) => name === owner.name);
    if (its === undefined) return;
    if (its.list !== undefined || its.isPrototype) {
      const type = its.list === undefined ? functionOf(its.type) : its.type;
      this.#functionTypes.set(owner.name, type);
      this.draft.type(owner, 'alias', '', type);
    } else if (its.type !== '') this.draft.type(owner, 'alias', '', its.type);
    else if (base.body !== undefined) this.record(owner, ...base.body);
  }

  #members(owner: SymbolDraft, { from, to, prefix, depth }: Body): void {
    let position = 0;
    for (let at = skipBlanks(this.parsed, from, to); at < to;) {
      const end = findSign(this.parsed, at, to, ';');
      const base = baseType(this.parsed, at, end);
      const declared = base === undefined ? [] : declaredIn(this.parsed, base, end);
      const body = base?.type === '' && depth < depthMax ? base.body : undefined;
      for (const each of declared) {
        if (body === undefined) this.#member(owner, prefix, each, position);
        else {
          this.draft.type(owner, 'alias', `${prefix}${position}`, each.name);
          this.#members(owner, {
            ...{ from: body[0], to: body[1], prefix: `${prefix}${each.name}.`, depth: depth + 1 },
          });
        }
        position += 1;
      }
      // Its members are those of what it stands in.
      if (body !== undefined && declared.length === 0) {
        this.#members(owner, { from: body[0], to: body[1], prefix, depth: depth + 1 });
        position += 1;
      }
      at = skipBlanks(this.parsed, end + 1, to);
    }
  }

  #member(owner: SymbolDraft, prefix: string, member: Declared, position: number): void {
    const { name, type, list, mayHold, isPointer } = member;
    const function_ = list === undefined ? this.#functionTypes.get(type) : type;
    if (function_ !== undefined) this.#method(owner, prefix, member, function_);
    else if (type !== '') this.draft.type(owner, 'field', `${prefix}${name}`, type);
    const isPlaced = function_ !== undefined || (type !== '' && (mayHold || !isPointer));
    if (isPlaced) this.draft.type(owner, 'alias', `${prefix}${position}`, name);
  }

  #method(owner: SymbolDraft, prefix: string, { name, at, list }: Declared, type: string): void {
    const inside = compact(list ?? '').slice(1, -1);
    const parameters = splitList(inside).filter((each) => each !== 'void' && each !== '...');
    const symbol: SymbolDraft = {
      ...{ name, kind: 'method', start: at, end: at + name.length, wordsStart: at },
      container: `${owner.name}${prefix === '' ? '' : `.${prefix.slice(0, -1)}`}`,
      signature: renderSignature(
        'method',
        name,
        { params: parameters.length },
        compact(list ?? ''),
      ),
      ...{ exported: true, doc: '', declaration: true },
    };
    this.draft.symbols.push(symbol);
    const [, result] = /^\$func<(.*)>$/.exec(type) ?? [];
    if (result !== undefined) this.draft.type(symbol, 'result', '', result);
  }
}

interface Body {
  from: number;
  to: number;
  /** `ops.` within a structure that is the member `ops`. */
  prefix: string;
  depth: number;
}

function functionOf(result: string): string {
  return result === '' ? '$func' : `$func<${result}>`;
}
