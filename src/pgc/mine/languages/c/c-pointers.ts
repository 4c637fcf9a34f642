import { bounded, unknown } from '../../../format/expression.js';
import type { CallDraft, Draft, SymbolDraft } from '../../draft.js';
import { Locals } from '../../locals.js';
import { splitList } from '../../signature.js';
import { baseType, declaredIn, type Declared } from './c-declared.js';
import { alternatives, CExpressions } from './c-expression.js';
import { heldIn, nameAlone } from './c-initializers.js';
import { cKeywords } from './c-macros.js';
import { closingOf, partsOfList, skipBlanks } from './c-scan.js';

/** Characters of arguments that are searched for functions. */
const argumentsCharsMax = 4_000;
const constant = /^[A-Z0-9_]+$/;

/** A parameter or local variable that may hold a function. */
interface Holder {
  /** `f@.0`: by its number among those of its function. */
  place: string;
  name: string;
  isParameter: boolean;
  isNoted: boolean;
  /** What is put into it. */
  sources: string[];
  /** Calls of it. */
  calls: CallDraft[];
}

/**
 * What functions are put into, and what is called through: the types of local names, members that functions are assigned to,
 * and functions that are handed to others.
 */
export class CPointers {
  readonly locals = new Locals();
  readonly #expressions: CExpressions;
  /** Names of the function around the present node that may hold functions, as the key of `#holders`. */
  readonly #held = new Locals();
  #holders = new Map<string, Holder>();
  #function: SymbolDraft | undefined;
  #count = 0;
  /** Functions, or anything else of that name: which of them is known at the end. */
  readonly #candidates: CallDraft[] = [];
  readonly #outside = new Set<CallDraft>();
  readonly #flows = new Set<string>();

  constructor(
    readonly draft: Draft,
    readonly text: string,
    readonly parsed: string,
  ) {
    this.#expressions = new CExpressions(text, parsed, this.locals);
  }

  /** Call it with every node. */
  reach(at: number): void {
    this.locals.reach(at);
    this.#held.reach(at);
  }

  block(end: number): void {
    this.locals.open(end);
    this.#held.open(end);
  }

  /** Slots of names that are functions of this text, or nothing else in it. */
  finish(): CallDraft[] {
    this.#endFunction();
    const other = new Set<string>();
    const functions = new Set<string>();
    const exported = new Set<string>();
    for (const { name, kind, container, exported: isExported } of this.draft.symbols)
      if (kind === 'function') {
        functions.add(name);
        if (isExported) exported.add(name);
      } else if (container === '' && /^(?:variable|constant|macro)$/.test(kind)) other.add(name);
    // `EXPORT_SYMBOL(f)`: of what others know by its name, a macro outside of functions tells no use.
    const isListed = (each: CallDraft): boolean =>
      each.receiver.endsWith('()') && exported.has(each.callee) && this.#outside.has(each);
    return this.#candidates
      .filter((each) => !isListed(each))
      .filter(({ callee }) => functions.has(callee) || !other.has(callee));
  }

  /** `(struct ops){ … }` anywhere in an expression. */
  literal(from: number, to: number): void {
    const open = this.parsed.indexOf('{', from);
    const type = open < 0 || open >= to ? unknown : this.#expressions.of(from, to);
    if (type !== unknown) this.#initialized([open, to], type);
  }

  /** `list`: its parameters, with their brackets. `from`: of its specifiers. */
  enter(symbol: SymbolDraft, list: string, from: number, nameAt: number): void {
    this.#endFunction();
    this.#function = symbol;
    this.block(symbol.end);
    this.result(symbol, from, nameAt);
    for (const [at, each] of splitList(list.slice(1, -1)).entries()) {
      const [found] = namesIn(each);
      this.#count = at + 1;
      if (found === undefined) continue;
      this.locals.declare(found.name, nameAt, typed(found));
      if (found.mayHold && !this.#isStructure(found.name, nameAt))
        this.#hold(found.name, at, nameAt, true);
    }
  }

  /** Whether the function around it takes a member of what it calls by this name. */
  #isStructure(name: string, from: number): boolean {
    const body = this.parsed.slice(from, this.#function?.end ?? 0);
    return body.includes(`${name}->`) || body.includes(`${name}.`);
  }

  /** What a function gives, where it is a structure or has a name. */
  result(symbol: SymbolDraft, from: number, nameAt: number): void {
    const type = baseType(this.parsed, from, nameAt)?.type ?? '';
    if (type !== '') this.draft.type(symbol, 'result', '', type);
  }

  /** A declaration in a function. */
  local(from: number, to: number): void {
    for (const found of declarationsIn(this.parsed, from, to)) {
      if (found.isPrototype) continue;
      this.locals.declare(found.name, to, typed(found));
      const isOther = !found.mayHold || found.type.startsWith('$list');
      if (isOther || this.#isStructure(found.name, from)) {
        this.#held.declare(found.name, to, unknown);
        if (found.value !== undefined) this.#initialized(found.value, `{${found.type}}`);
        continue;
      }
      this.#hold(found.name, this.#count, to, false);
      this.#count += 1;
      if (found.value !== undefined) this.#assign(found.name, to, found.value);
    }
  }

  /** A declaration outside of functions; `symbols`: those that it declares. */
  global(from: number, to: number, symbols: readonly SymbolDraft[]): void {
    for (const found of declarationsIn(this.parsed, from, to)) {
      const symbol = symbols.find(({ name }) => name === found.name);
      if (symbol === undefined || found.isPrototype || found.type === '') continue;
      this.draft.type(symbol, 'value', '', `{${found.type}}`);
      if (found.value === undefined) continue;
      if (this.parsed.charAt(skipBlanks(this.parsed, ...found.value)) === '{')
        this.#initialized(found.value, found.mayHold ? found.name : `{${found.type}}`);
      else if (found.mayHold) this.#put(found.value, found.name, '');
    }
  }

  #initialized([from, to]: [number, number], target: string): void {
    const open = skipBlanks(this.parsed, from, to);
    if (this.parsed.charAt(open) !== '{' || target === '{}') return;
    for (const held of heldIn(this.parsed, open, to, target)) this.#slot(held, held.target, '');
  }

  /** `a->b = c`, `hook = c` */
  assigned(left: [number, number], right: [number, number]): void {
    const at = left[0];
    const name = /^\w+$/.exec(this.parsed.slice(...left))?.[0];
    const local = name === undefined ? undefined : this.locals.find(name, at);
    if (name !== undefined && this.#held.find(name, at) !== undefined)
      this.#assign(name, at, right);
    else if (local === undefined) {
      const target = this.#expressions.of(...left);
      this.#put(right, target, target === unknown ? '' : (/[^.]+$/.exec(target)?.[0] ?? ''));
    }
  }

  /** Whether a name is a parameter or local variable that may hold a function. */
  isHeld(name: string, at: number): boolean {
    return this.#holders.has(this.#held.find(name, at) ?? '');
  }

  /** The member that an expression ends with. */
  memberIn(from: number, to: number): string | undefined {
    return /\.(\w+)$/.exec(this.#expressions.of(from, to))?.[1];
  }

  /** What is called by the expression in `[from, to)`. */
  called(call: CallDraft, from: number, to: number): void {
    const holder = this.#holderOf(this.parsed.slice(from, to), from);
    if (holder !== undefined) holder.calls.push(call);
    const expression = holder === undefined ? this.#expressions.of(from, to) : '';
    if (expression !== unknown && expression !== '') call.expression = expression;
    this.arguments(to, holder === undefined ? expression : '', call.callee);
  }

  /** Functions among the arguments behind the name or expression of what is called. */
  arguments(from: number, expression: string, callee: string): void {
    const open = skipBlanks(this.parsed, from, this.parsed.length);
    if (this.parsed.charAt(open) !== '(') return;
    const close = closingOf(
      this.parsed,
      open,
      Math.min(open + argumentsCharsMax, this.parsed.length),
    );
    if (close <= open + 1 || takesType.test(this.text.slice(open, close))) return;
    const whole = expression === unknown ? '' : expression;
    const known = this.#candidates.length;
    const parts = partsOfList(this.parsed, open + 1, close);
    for (const [at, part] of parts.entries())
      if (mayBeName.test(this.parsed.slice(...part)))
        this.#put(part, whole === '' ? '' : `${whole}@.${at}`, `${callee}()`);
    // A macro puts the function into a member of something else that it is given.
    if (whole === callee && this.#candidates.length > known)
      for (const [at, part] of parts.entries()) {
        const source = this.#expressions.of(...part);
        if (source.startsWith('{')) this.#flow(source, `${whole}@.${at}`);
      }
  }

  /** What stands in a range is put into the target. */
  #put(range: [number, number], target: string, receiver: string): void {
    for (const each of alternatives(this.parsed, ...range)) this.#putOne(each, target, receiver);
  }

  #putOne([from, to]: [number, number], target: string, receiver: string): void {
    const alone = nameAlone(this.parsed, from, to, false);
    if (alone === undefined) {
      const source =
        target === '' || receiver.endsWith('()') ? unknown : this.#expressions.of(from, to);
      if (source.includes('.')) this.#flow(source, target);
      return;
    }
    const holder = this.#holderOf(alone.name, alone.at);
    if (holder !== undefined) {
      this.#note(holder);
      if (target !== '') this.#flow(holder.place, target);
    } else if (this.locals.find(alone.name, alone.at) === undefined)
      this.#slot(alone, target, receiver);
  }

  #slot({ name, at }: { name: string; at: number }, target: string, receiver: string): void {
    if (constant.test(name) || cKeywords.has(name)) return;
    const expression = bounded(target);
    const slot: CallDraft = {
      ...{ callee: name, at, kind: 'slot', receiver: receiver || shown(target) },
      ...(expression !== unknown && { expression }),
    };
    this.#candidates.push(slot);
    if (at >= (this.#function?.end ?? 0)) this.#outside.add(slot);
  }

  #flow(source: string, target: string): void {
    const key = `${source} ${target}`;
    if (target === unknown || bounded(target) === unknown || this.#flows.has(key)) return;
    this.#flows.add(key);
    this.draft.type(undefined, 'assigned', source, target);
  }

  #assign(name: string, at: number, range: [number, number]): void {
    const holder = this.#holders.get(this.#held.find(name, at) ?? '');
    if (holder === undefined) return;
    for (const each of alternatives(this.parsed, ...range)) this.#assignOne(holder, each);
  }

  #assignOne(holder: Holder, [from, to]: [number, number]): void {
    if (nothing.test(this.parsed.slice(from, to))) return;
    const alone = nameAlone(this.parsed, from, to, false);
    const other = alone && this.#holderOf(alone.name, alone.at);
    const isFar = alone !== undefined && this.locals.find(alone.name, alone.at) === undefined;
    if (isFar && other === undefined) {
      holder.sources.push(alone.name);
      this.#slot(alone, holder.place, holder.name);
      return;
    }
    const source = other?.place ?? this.#expressions.of(from, to);
    if (other !== undefined) this.#note(other);
    holder.sources.push(source);
    if (source !== unknown && holder.isParameter) this.#flow(source, holder.place);
  }

  #hold(name: string, number: number, at: number, isParameter: boolean): void {
    const place = `${this.#function?.name ?? unknown}@.${number}`;
    this.#held.declare(name, at, place);
    this.#holders.set(place, {
      ...{ place, name, isParameter, isNoted: false, sources: [], calls: [] },
    });
  }

  #holderOf(written: string, at: number): Holder | undefined {
    const name = /^\s*\(?\s*\**\s*(\w+)\s*\)?\s*$/.exec(written)?.[1];
    return name === undefined ? undefined : this.#holders.get(this.#held.find(name, at) ?? '');
  }

  /** Its name, by which answers call it. */
  #note(holder: Holder): void {
    if (holder.isNoted) return;
    holder.isNoted = true;
    const number = holder.place.slice(holder.place.lastIndexOf('.') + 1);
    this.draft.type(this.#function, 'parameter', holder.name, number);
  }

  /** A local variable that is set once is what it is set to. */
  #endFunction(): void {
    for (const holder of this.#holders.values()) {
      const [only = unknown] = holder.sources;
      const isOnce = holder.sources.length === 1 && !holder.isParameter && only !== unknown;
      if (holder.calls.length > 0 && !isOnce) this.#note(holder);
      if (holder.isNoted && !holder.isParameter)
        for (const source of holder.sources)
          if (source.includes('.')) this.#flow(source, holder.place);
      for (const call of holder.calls) call.expression = isOnce ? only : holder.place;
    }
    this.#holders = new Map();
    this.#count = 0;
  }
}

const nothing = /^[\s(]*(?:NULL|0|nullptr)[\s)]*$/;
const takesType = /[(,]\s*(?:const\s+)?(?:struct|union)\s+\w+\s*\**\s*[,)]/;
const mayBeName = /^[\s&(]*[A-Za-z_(][\w\s*)&]*$/;

function declarationsIn(text: string, from: number, to: number): Declared[] {
  const base = baseType(text, from, to);
  return base === undefined ? [] : declaredIn(text, base, to);
}

function namesIn(text: string): Declared[] {
  return declarationsIn(text, 0, text.length);
}

function typed({ type }: Declared): string {
  return type === '' || type.startsWith('$func') ? unknown : `{${type}}`;
}

/** `{struct file_operations}.open` → `file_operations.open` */
function shown(target: string): string {
  return target
    .replace(/^\{(?:\$list<)*(?:struct |union )?([^>}]*)>*\}/, '$1')
    .replace(/\.\d+/g, '');
}
