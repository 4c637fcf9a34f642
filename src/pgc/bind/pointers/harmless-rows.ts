import type { ShardIndex } from '../../format/shard-index.js';
import type { Change, TextPlace } from '../change/change.js';
import { callsIn, type PutRow } from './changed-text.js';

const values = new Set(['function', 'variable', 'constant', 'macro']);
/** Functions that hand a parameter on to each other. */
const handedMax = 8;
/** Definitions of one name. */
const definitionsMax = 8;
const parameter = /^(\w+)@\.(\d+)$/;

/** Tells what is put somewhere and can bring no function there. Where that is not plain, it is not harmless. */
export class HarmlessRows {
  readonly #change: Change;
  /** Of now, and of before where that differs. */
  readonly #indexes: readonly ShardIndex[];
  /** By path: functions whose parameters hold something. */
  readonly #holding = new Map<string, ReadonlySet<string>>();
  readonly #heldMembers = new Map<string, boolean>();

  constructor(change: Change) {
    this.#change = change;
    this.#indexes = [
      ...change.units,
      ...change.before.flatMap(({ index }, unit) =>
        change.unitNow(unit) === undefined ? [index] : [],
      ),
    ];
  }

  /** `before`: the text at `path`, as it was. */
  has({ source, target }: PutRow, path: string, before: TextPlace): boolean {
    const [whole, name = '', at = ''] = parameter.exec(target) ?? [];
    const isHandedOn = whole !== undefined;
    if (isHandedOn && this.#isMacro(name) && this.#leads(name, at, 'typed', 0)) return false;
    if (source.endsWith(')') || source.endsWith('}')) return true;
    if (/^\w+$/.test(source)) return !this.#isValue(source, path);
    const [own, function_ = ''] = parameter.exec(source) ?? [];
    if (own !== undefined)
      return !this.#isMacroName(function_) && !this.#holdingIn(path, before).has(function_);
    const [, member] = /\.([A-Za-z_]\w*)$/.exec(source) ?? [];
    if (member === undefined || this.#isHeld(member)) return false;
    if (!target.includes('@')) return true;
    return isHandedOn && !this.#leads(name, at, 'called', 0);
  }

  /** Whether a variable may be called so. */
  isVariable(name: string): boolean {
    return this.#symbols(name).some(({ kind }) => kind === 'variable' || kind === 'constant');
  }

  *#all(name: string): Generator<{ index: ShardIndex; symbol: number }> {
    for (const index of this.#indexes)
      for (const symbol of index.symbolsNamed(name)) yield { index, symbol };
  }

  #symbols(name: string): (ReturnType<ShardIndex['symbolPlace']> & { index: ShardIndex })[] {
    return [...this.#all(name)]
      .map(({ index, symbol }) => ({ ...index.symbolPlace(symbol), index }))
      .filter(
        ({ kind, container, file, index }) =>
          values.has(kind) && container === '' && index.file(file).language === 'c',
      );
  }

  #isValue(name: string, path: string): boolean {
    return this.#symbols(name).some(
      ({ exported, file, index }) => exported || index.file(file).path === path,
    );
  }

  #isMacro(name: string): boolean {
    return this.#symbols(name).some(({ kind }) => kind === 'macro');
  }

  /** A macro without parameters may be another name of a function. */
  #isMacroName(name: string): boolean {
    return [...this.#all(name)].some(
      ({ index, symbol }) =>
        index.outline(symbol).kind === 'macro' &&
        index.typesOfSymbol(symbol).some(({ role }) => role === 'value'),
    );
  }

  #holdingIn(path: string, { unit }: TextPlace): ReadonlySet<string> {
    let found = this.#holding.get(path);
    if (found === undefined) {
      const bound = this.#change.before[unit]?.bound;
      const holding = new Set<string>();
      for (const id of bound?.targetsIn(new Set([path])) ?? []) {
        const { kind, container } = bound?.target(id) ?? { kind: '', container: '' };
        if (kind === 'parameter' && (bound?.implementing(id).length ?? 0) > 0)
          holding.add(container);
      }
      this.#holding.set(path, (found = holding));
    }
    return found;
  }

  /** Whether a member of this name holds something, of any structure. */
  #isHeld(member: string): boolean {
    let is = this.#heldMembers.get(member);
    if (is === undefined) {
      is = this.#change.before.some(({ bound }) =>
        bound.targetsNamed(member).some((id) => bound.implementing(id).length > 0),
      );
      this.#heldMembers.set(member, is);
    }
    return is;
  }

  /** Whether a parameter is called, or of it a member is meant: there, or where it is handed on. */
  #leads(name: string, at: string, to: 'called' | 'typed', depth: number): boolean {
    const all = this.#symbols(name).filter(({ declaration }) => !declaration);
    if (depth > handedMax || all.length > definitionsMax) return true;
    const own = `${name}@.${at}`;
    const isMeant = (expression: string): boolean =>
      to === 'called'
        ? expression === own
        : expression.startsWith(own) && /^[^\d]/.test(expression.slice(own.length));
    return all.some(({ index, file }) => {
      if (callsIn(index, file).some(({ id }) => isMeant(index.expressionOf(id)))) return true;
      for (const { role, name: source, type: target } of index.ownTypesOf(file)) {
        if (role !== 'assigned') continue;
        if (to === 'typed' && (isMeant(source) || isMeant(target))) return true;
        if (source !== own && !isMeant(source)) continue;
        const [whole, next = '', nextAt = ''] = parameter.exec(target) ?? [];
        if (whole === undefined ? target.includes('@') : this.#leads(next, nextAt, to, depth + 1))
          return true;
      }
      if (to === 'called') return false;
      return index.slotsIn(file).some(({ expression }) => isMeant(expression));
    });
  }
}
