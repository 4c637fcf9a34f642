import { BusError } from '../../errors/bus-error.js';
import type { SymbolFact } from '../../pgc/format/facts.js';
import type { CallSite } from '../../pgc/shapes.js';
import type { ModeInput } from '../mode.js';
import type { Change } from './change.js';
import { impactLimits } from './impact.js';
import type { Loss } from './loss.js';
import { listed } from './subject.js';
import { plural } from './phrases.js';
import { versionsOf, type Unit, type Version } from './version.js';

/** Names of one change that the index is asked about, and files of users that are read. */
const namesMax = 24;
const filesMax = 24;
const citedMax = 4;

type Input = Pick<ModeInput, 'artifact' | 'ground' | 'signal'>;

interface Place {
  path: string;
  line: number;
}

/**
 * What others in the tree still use as it was: names that are gone, parameters that are other ones, fields that a result
 * no longer has. Nothing where the index cannot be asked.
 */
export async function leftBehind(change: Change, input: Input): Promise<Loss[]> {
  const asking = new Asking(input, change.path);
  const found: Loss[] = [];
  for (const symbol of goneOf(change).slice(0, namesMax)) {
    const users = await asking.usersOf(symbol);
    if (users.length > 0) found.push(gone(change, symbol, users));
  }
  for (const { before, after } of change.pairs) {
    if (before.symbol === undefined || after.symbol === undefined) continue;
    if (parametersOf(before) !== parametersOf(after)) {
      const left = await asking.callsThat(
        before,
        (given) => !fits(after, given) && fits(before, given),
      );
      if (left.length > 0) found.push(argumentsLeft(change, before, after, left));
    }
    for (const field of fieldsGone(change, before, after)) {
      const users = await asking.readersOf(before, field);
      if (users.length > 0) found.push(fieldGone(change, before, field, users));
    }
  }
  return found;
}

const nameless = new Set(['section', 'import', 'module']);

/** `exports.name = …` and `module.exports = { name, … }`. */
function offeredBy({ view }: Version): ReadonlySet<string> {
  const names = new Set<string>();
  for (const [, name = ''] of view.code.matchAll(/\bexports\.([\w$]{1,80})\s{0,9}=(?!=)/g))
    names.add(name);
  for (const [, list = ''] of view.code.matchAll(
    /\bmodule\.exports\s{0,9}=\s{0,9}\{([^{}]{1,8000})\}/g,
  ))
    for (const [, name = ''] of list.matchAll(/(?:^|,)\s*([\w$]{1,80})(?=\s*(?:[,:]|$))/g))
      names.add(name);
  return names;
}

/** Names that other files may use, and the artifact does not define. */
function goneOf({ before, after, pairs }: Change): SymbolFact[] {
  const [were, are] = [offeredBy(before), offeredBy(after)];
  const isTaken = ({ name, container }: SymbolFact): boolean =>
    container === '' && were.has(name) && !are.has(name);
  const keyOf = ({ container, name }: SymbolFact): string => `${container}.${name}`;
  const offered = new Set(after.facts.symbols.filter(({ exported }) => exported).map(keyOf));
  const containers = new Set(after.facts.symbols.map(({ name }) => name));
  const gone = new Map<string, SymbolFact>();
  for (const symbol of before.facts.symbols) {
    const { name, container, exported, kind } = symbol;
    if (!exported || nameless.has(kind) || name === '' || gone.has(keyOf(symbol))) continue;
    // What goes with its class is told of its class.
    const isLeft = container !== '' && !containers.has(container);
    const isKept = pairs.some(
      (pair) =>
        pair.before.symbol === symbol &&
        pair.after.name === name &&
        pair.after.symbol?.exported === true,
    );
    if (isTaken(symbol) || (!offered.has(keyOf(symbol)) && !isLeft && !isKept))
      gone.set(keyOf(symbol), symbol);
  }
  return [...gone.values()];
}

class Asking {
  readonly #texts = new Map<string, Promise<string | undefined>>();
  #importers: Promise<string[]> | undefined;

  constructor(
    readonly input: Input,
    readonly path: string,
  ) {}

  /** Calls in other files; of what nobody can call, lines that name it in files that use this one. */
  async usersOf({ name, kind, container }: SymbolFact): Promise<Place[]> {
    const sites = await this.#calls(this.#reference(container, name), name, container !== '');
    const others = sites.filter(({ file_path }) => file_path !== this.path);
    if (others.length > 0) return others.map(({ file_path, line }) => ({ path: file_path, line }));
    if (container !== '' || /^(?:struct|field|enumerator)$/.test(kind)) return [];
    return this.#naming(name);
  }

  /** Calls outside of the artifact whose number of arguments `isLeft`. */
  async callsThat({ symbol, name }: Unit, isLeft: (given: number) => boolean): Promise<Place[]> {
    if (symbol === undefined) return [];
    const sites = await this.#calls(
      this.#reference(symbol.container, name),
      name,
      symbol.container !== '',
    );
    const left: Place[] = [];
    for (const { file_path, line, kind } of sites.slice(0, filesMax * 2)) {
      if (file_path === this.path || kind === 'slot') continue;
      const given = await this.#givenAt(file_path, line, name);
      if (given !== undefined && isLeft(given)) left.push({ path: file_path, line });
    }
    return left;
  }

  /** Lines in files of callers that take a field of this name, from something or apart. */
  async readersOf({ symbol, name }: Unit, field: string): Promise<Place[]> {
    if (symbol === undefined || symbol.container !== '' || field.length < fieldCharsMin) return [];
    const sites = await this.#calls(this.#reference(symbol.container, name), name, false);
    const paths = new Set(sites.map(({ file_path }) => file_path));
    paths.delete(this.path);
    const its = escapedName(field);
    const use = new RegExp(
      `[\\w)\\]]\\??\\.${its}(?![\\w$(])|[{,]\\s*${its}\\s*(?:,|\\}|$)|^\\s*${its},?\\s*$`,
    );
    const found: Place[] = [];
    for (const path of [...paths].slice(0, filesMax)) {
      const at = ((await this.#text(path)) ?? '').split('\n').findIndex((line) => use.test(line));
      if (at >= 0) found.push({ path, line: at + 1 });
    }
    return found;
  }

  #reference(container: string, name: string): string {
    return `${this.path}#${container === '' ? '' : `${container}.`}${name}`;
  }

  async #calls(place: string, name: string, isMember: boolean): Promise<CallSite[]> {
    const answer = await this.#ask((questions, options) => questions.callers(place, options));
    const sites = (answer?.callers ?? []).filter(({ kind }) => kind !== 'slot' || !isMember);
    if (!isMember || !sites.some(({ kind }) => kind === 'member')) return sites;
    // Of a member only the name is known: where others define it too, nobody knows whose is called.
    const all = await this.#ask((questions, options) => questions.callers(name, options));
    const its = (all?.definitions ?? []).filter(({ declaration }) => !declaration);
    return its.length > 1 ? sites.filter(({ kind }) => kind !== 'member') : sites;
  }

  /** Lines of files that use this one and take the name from it. */
  async #naming(name: string): Promise<Place[]> {
    const stem = escapedName((this.path.split('/').at(-1) ?? '').replace(/\.\w+$/, ''));
    const from = `['"](?:[^'"\\n]{0,200}/)?${stem}(?:\\.\\w{1,4})?['"]`;
    const list = `\\{[^{}]{0,4000}?(?<![\\w$])${escapedName(name)}(?![\\w$])[^{}]{0,4000}\\}`;
    const taking = new RegExp(`${list}\\s*(?:from\\s*|=\\s*require\\s*\\(\\s*)${from}`);
    const found: Place[] = [];
    for (const path of await (this.#importers ??= this.#users())) {
      const text = (await this.#text(path)) ?? '';
      const at = taking.exec(text);
      if (at === null) continue;
      const within = at[0].search(new RegExp(`(?<![\\w$])${escapedName(name)}(?![\\w$])`));
      found.push({ path, line: text.slice(0, at.index + within).split('\n').length });
    }
    return found;
  }

  async #users(): Promise<string[]> {
    const request = { symbol: this.path, max_depth: 1, direction: 'up' as const };
    const answer = await this.#ask((questions, options) => questions.blastRadius(request, options));
    const paths = (answer?.consumers ?? []).map(({ file_path }) => file_path);
    return [...new Set(paths)].filter((path) => path !== this.path).slice(0, filesMax);
  }

  async #givenAt(path: string, line: number, name: string): Promise<number | undefined> {
    const text = await this.#text(path);
    if (text === undefined) return undefined;
    const lines = text.split('\n').slice(line - 1, line - 1 + patternLines);
    const [version] = (await versionsOf(path, [lines.join('\n')])) ?? [];
    const call = version?.units
      .flatMap(({ calls }) => calls)
      .find((each) => each.name === name && each.line === 1);
    return call === undefined || call.given.some((each) => each.startsWith('...'))
      ? undefined
      : call.given.length;
  }

  #text(path: string): Promise<string | undefined> {
    let text = this.#texts.get(path);
    if (text === undefined)
      this.#texts.set(path, (text = this.input.ground?.read(path) ?? Promise.resolve(undefined)));
    return text;
  }

  async #ask<T>(
    work: (
      questions: NonNullable<Input['ground']>['questions'],
      options: { deadlineMs: number; signal: AbortSignal },
    ) => Promise<T>,
  ): Promise<T | undefined> {
    const { ground, signal } = this.input;
    if (ground === undefined || signal.aborted) return undefined;
    try {
      return await work(ground.questions, { deadlineMs: impactLimits.questionMs, signal });
    } catch (error) {
      if (error instanceof BusError || isOver(signal)) return undefined;
      throw error;
    }
  }
}

function isOver(signal: AbortSignal): boolean {
  return signal.aborted;
}

/** A shorter name may be anything. */
const fieldCharsMin = 4;
/** Lines of a call. */
const patternLines = 16;

function escapedName(name: string): string {
  return name.replace(/[^\w]/g, '\\$&');
}

function parametersOf({ symbol }: Unit): string {
  return /\(.*\)$/s.exec(symbol?.signature ?? '')?.[0] ?? '()';
}

/** Whether so many arguments fit its parameters. */
function fits(unit: Unit, given: number): boolean {
  const total = Number(/params:(\d+)/.exec(unit.symbol?.signature ?? '')?.[1] ?? -1);
  const list = parametersOf(unit);
  if (total < 0 || /\.\.\./.test(list)) return true;
  const optional = (list.match(/[\w}\]]\?\s*:|[^=!<>]=[^=>]/g) ?? []).length;
  return given <= total && given >= total - optional;
}

/** Fields of the object literals that it returned, and of none that it returns now. */
function fieldsGone(change: Change, before: Unit, after: Unit): string[] {
  if (change.after.view.family !== 'es') return [];
  const old = fieldsOf(before);
  const now = new Set(fieldsOf(after));
  if (now.size === 0 || /return\{(?:[^{}]*,)?\.\.\.(?!\{)/.test(after.packed)) return [];
  return old.filter((field) => !now.has(field));
}

/** Of one function, and of each of them. */
const literalsMax = 200;
const literalCharsMax = 20_000;

/** Names at the top of each literal that is returned, and of literals that are spread in it. */
function fieldsOf({ packed }: Unit): string[] {
  const fields: string[] = [];
  for (const { index } of [...packed.matchAll(/return\{/g)].slice(0, literalsMax)) {
    let depth = 0;
    let isBegin = true;
    const stop = Math.min(packed.length, index + literalCharsMax);
    for (let at = index + 'return'.length; at < stop; at += 1) {
      const sign = packed.charAt(at);
      if (packed.startsWith('...{', at) && depth === 1) {
        at += 3;
        isBegin = true;
      } else if ('([{'.includes(sign)) {
        depth += 1;
        isBegin = depth === 1;
      } else if (')]}'.includes(sign)) {
        // The brace of what was spread closes nothing that was counted.
        if (sign === '}' && depth === 1 && /^[,}]/.test(packed.charAt(at + 1))) continue;
        if ((depth -= 1) <= 0) break;
      } else if (sign === ',') isBegin = depth === 1;
      else if (isBegin) {
        const [, name] = /^([A-Za-z_$][\w$]*)(?=[:,}])/.exec(packed.slice(at, at + 80)) ?? [];
        if (name !== undefined) fields.push(name);
        isBegin = false;
      }
    }
  }
  return fields;
}

function sitesOf(places: readonly Place[]): string {
  return listed(
    places.map(({ path, line }) => `${path}:${line}`),
    citedMax,
  );
}

function lossOf(
  change: Change,
  line: number,
  users: readonly Place[],
  part: Pick<Loss, 'kind' | 'unit' | 'text' | 'remedy' | 'words'>,
): Loss {
  const at = change.lineAfter(line);
  return {
    ...{ ...part, severity: 'major', line: at, line_end: at },
    places: [...users.slice(0, citedMax), { path: change.path, line }],
  };
}

function gone(change: Change, { name, line_start }: SymbolFact, users: readonly Place[]): Loss {
  return lossOf(change, line_start, users, {
    ...{ kind: 'name-gone', unit: name, words: `gone ${name}` },
    text: `\`${name}\` is no longer there for others, and ${plural(users.length, 'place')} of the tree still ${users.length === 1 ? 'uses' : 'use'} it: ${sitesOf(users)}.`,
    remedy: `Change those with it, or leave \`${name}\` until nobody uses it.`,
  });
}

function argumentsLeft(change: Change, before: Unit, after: Unit, users: readonly Place[]): Loss {
  return {
    ...lossOf(change, before.line, users, {
      ...{ kind: 'arguments-left', unit: before.name, words: `parameters ${before.key}` },
      text: `\`${after.name}\` takes other parameters now, ${parametersOf(after)} for ${parametersOf(before)}, and ${plural(users.length, 'call')} outside of this file ${users.length === 1 ? 'does' : 'do'} not fit them: ${sitesOf(users)}.`,
      remedy: 'Change those calls with it, or keep what they give.',
    }),
    ...{ line: after.line, line_end: after.line },
  };
}

function fieldGone(
  change: Change,
  { name, line }: Unit,
  field: string,
  users: readonly Place[],
): Loss {
  const { view } = change.before;
  const use = new RegExp(`(?<![\\w$.])${field}(?![\\w$])`);
  const at = view.lines.findIndex(
    (each, index) => index >= line && change.isRemoved(index + 1) && use.test(each),
  );
  return lossOf(change, at < 0 ? line : at + 1, users, {
    ...{ kind: 'field-gone', unit: name, words: `field ${name} ${field}` },
    text: `What \`${name}\` gives has no \`${field}\` any more, and ${plural(users.length, 'caller')} still ${users.length === 1 ? 'takes' : 'take'} it: ${sitesOf(users)}.`,
    remedy: `Give \`${field}\` again, or change those who take it.`,
  });
}
