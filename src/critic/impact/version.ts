import type { FileFacts, SymbolFact } from '../../pgc/format/facts.js';
import { languageOf } from '../../pgc/source/language.js';
import { Miner } from '../../pgc/mine/mine.js';
import { codeViewOf, type CodeView } from './code-view.js';

/** A call as it is written. */
export interface Call {
  /** Its last part: `close` of `this.#pool.close()`. */
  name: string;
  /** What stands before its last part; empty: nothing. */
  on: string;
  line: number;
  at: number;
  /** Without blanks; what stands in strings is told by the text. */
  given: string[];
  isAwaited: boolean;
  /** A statement of its own: what it gives is not looked at. */
  isUnused: boolean;
  /** What it gives is looked at where it stands: compared, or given another value instead. */
  isAsked: boolean;
}

/** `if (condition) body`. */
export interface Guard {
  /** Without blanks, strings and remarks. */
  condition: string;
  body: string;
  /** Whoever gets into it does not go on behind it. */
  isLeaving: boolean;
  line: number;
  line_end: number;
}

/** A function, or what stands outside of all of them: its own text alone, not that of functions within. */
export interface Unit {
  /** `Container.name`, numbered where a text has several; empty: outside of all. */
  key: string;
  name: string;
  /** Undefined: outside of all. */
  symbol: SymbolFact | undefined;
  line: number;
  line_end: number;
  calls: Call[];
  guards: Guard[];
  /** Heads of what is awaited: `this.#load`, `told`. */
  awaits: { head: string; line: number }[];
  /** How often it calls what. */
  made: ReadonlyMap<string, number>;
  /** Its code without blanks. */
  packed: string;
  /** Names in it, those in holes of templates included. */
  names: ReadonlySet<string>;
  /** The same without those of its head alone: a parameter that nobody uses is none of them. */
  used: ReadonlySet<string>;
}

/** One text of a source file, as far as it is compared with another of it. */
export interface Version {
  view: CodeView;
  facts: FileFacts;
  units: Unit[];
  /** How often it calls what, in all. */
  made: ReadonlyMap<string, number>;
}

const callerKinds = new Set(['function', 'method', 'macro']);
/** Of one text: its calls, its conditions, what it awaits. What is beyond is not compared. */
const elementsMax = 8_000;
const guardsMax = 4_000;
/** Of one function. Conditions of one that has as many are not compared. */
const awaitsMax = 500;
export const unitGuardsMax = 400;
const keywords = new Set(
  (
    'if for while switch return catch function typeof sizeof await new throw else do case in of void delete yield ' +
    'super import async defined __attribute__ assert_type static const struct'
  ).split(' '),
);

/** Undefined: it is no source of a language that is read here. Throws MINER_FAILED. */
export async function versionsOf(
  path: string,
  texts: readonly string[],
): Promise<Version[] | undefined> {
  const language = languageOf(path);
  const views = texts.map((text) => codeViewOf(path, text));
  if (language === undefined || views.some((view) => view === undefined)) return undefined;
  await using miner = new Miner();
  const versions: Version[] = [];
  for (const view of views as CodeView[]) {
    const facts = await miner.mine(language, Buffer.from(view.text));
    const units = unitsOf(view, facts);
    versions.push({ view, facts, units, made: madeBy(units.flatMap(({ calls }) => calls)) });
  }
  return versions;
}

function unitsOf(view: CodeView, facts: FileFacts): Unit[] {
  const outside = unitAt(undefined, { line: 1, line_end: view.lines.length });
  const inside = facts.symbols
    .filter(({ kind, declaration }) => callerKinds.has(kind) && !declaration)
    .map((symbol) => unitAt(symbol, { line: symbol.line_start, line_end: symbol.line_end }));
  numbered(inside);
  const units = [outside, ...inside];
  const owners = ownersOf(view, units);
  const ownerAt = (line: number): Unit => owners[line - 1] ?? outside;
  const unused = unusedOf(facts);
  for (const call of [...callsIn(view), ...callsInHoles(view)]) {
    call.isUnused ||= unused.has(`${call.line} ${call.name}`);
    ownerAt(call.line).calls.push(call);
  }
  for (const guard of guardsIn(view)) {
    const { guards } = ownerAt(guard.line);
    if (guards.length < unitGuardsMax) guards.push(guard);
  }
  for (const { index, 1: head = '' } of view.code.matchAll(
    /\bawait\s{1,9}((?:this\.)?[\w$#.?]{1,80})/g,
  )) {
    const line = view.lineOf(index);
    if (ownerAt(line).awaits.length < awaitsMax)
      ownerAt(line).awaits.push({ head: head.replaceAll('?', ''), line });
  }
  for (const unit of units) fill(unit, view, owners);
  return units;
}

function unitAt(symbol: SymbolFact | undefined, lines: { line: number; line_end: number }): Unit {
  const name = symbol?.name ?? '';
  const key = symbol === undefined ? '' : [symbol.container, name].filter(Boolean).join('.');
  return {
    ...{ key, name, symbol, ...lines, calls: [], guards: [], awaits: [], packed: '' },
    ...{ made: new Map(), names: new Set(), used: new Set() },
  };
}

function madeBy(calls: readonly Call[]): Map<string, number> {
  const made = new Map<string, number>();
  for (const { name } of calls) made.set(name, (made.get(name) ?? 0) + 1);
  return made;
}

function numbered(units: readonly Unit[]): void {
  const times = new Map<string, number>();
  for (const unit of units) {
    const time = (times.get(unit.key) ?? 0) + 1;
    times.set(unit.key, time);
    if (time > 1) unit.key = `${unit.key} ${time}`;
  }
}

/** The innermost unit of each line. Symbols come outer before inner. */
function ownersOf(view: CodeView, units: readonly Unit[]): Unit[] {
  const owners: Unit[] = [];
  for (const unit of units)
    for (let line = unit.line; line <= Math.min(unit.line_end, view.lines.length); line += 1)
      owners[line - 1] = unit;
  return owners;
}

function unusedOf({ calls }: FileFacts): ReadonlySet<string> {
  return new Set(
    calls.filter(({ unused }) => unused).map(({ line, callee }) => `${line} ${callee}`),
  );
}

const calling =
  /(?<![\w$#.>])((?:[\w$#]{1,80}(?:\[[^\][\n]{0,60}\])?(?:\?\.|\.|->|::)){0,6})([A-Za-z_$#][\w$#]{0,80})\s{0,4}(?:\?\.)?\(/g;

/** Behind a call, and behind brackets around it. */
const asking = /^[\s)]{0,40}(?:\?|\|\||&&|[=!]==?|[<>])/;

function* callsIn(view: CodeView): Generator<Call> {
  let count = 0;
  for (const { index, 0: whole, 1: on = '', 2: name = '' } of view.code.matchAll(calling)) {
    if ((on === '' && keywords.has(name)) || (count += 1) > elementsMax) continue;
    const open = index + whole.length - 1;
    const close = closing(view.code, open);
    // A definition, not a call: of C its type stands before it, of a method its body behind it.
    const behind = view.code.slice(close + 1, close + 80);
    if (on === '' && /^\s*(?::\s*[^;{}=]{1,60})?\{/.test(behind) && isDefinition(view, index))
      continue;
    yield {
      ...{ name, on: on.replaceAll('?', '').replace(/(?:\.|->|::)$/, '') },
      ...{ line: view.lineOf(index + on.length), at: index },
      given: split(view, open + 1, close),
      isAwaited: /\bawait\s{1,9}$/.test(view.code.slice(Math.max(0, index - 12), index)),
      isUnused: /\bvoid\s{1,9}$/.test(view.code.slice(Math.max(0, index - 12), index)),
      isAsked: asking.test(behind),
    };
  }
}

/** In holes of templates, which are blank in the code of a view: by their names alone. */
function* callsInHoles(view: CodeView): Generator<Call> {
  if (view.family !== 'es') return;
  let count = 0;
  for (const { index, 1: hole = '' } of view.text.matchAll(/\$\{([^{}\n]{1,200})\}/g))
    for (const { index: within, 1: name = '' } of hole.matchAll(/(?<![\w$#.])([\w$#]{1,80})\(/g)) {
      if (view.code.charAt(index) !== ' ' || (count += 1) > elementsMax) continue;
      const at = index + within;
      const plain = { name, on: '', line: view.lineOf(at), at, given: [] };
      yield { ...plain, isAwaited: false, isUnused: false, isAsked: false };
    }
}

/** Of a line, before a name. */
const headCharsMax = 200;

/** At the beginning of a line, or behind a type of C. */
function isDefinition({ code }: CodeView, at: number): boolean {
  const near = code.slice(Math.max(0, at - headCharsMax), at);
  const head = near.slice(near.lastIndexOf('\n') + 1);
  return !/[=(,!&|?]\s*$|\b(?:return|if|while|await|case)\s*$/.test(head) && !/;/.test(head);
}

/** Of the bracket that closes the one at `open`; not farther than a list is read. */
function closing(code: string, open: number): number {
  let depth = 0;
  const stop = Math.min(code.length, open + spanCharsMax);
  for (let at = open; at < stop; at += 1) {
    const sign = code.charCodeAt(at);
    if (sign === 0x28) depth += 1;
    else if (sign === 0x29 && (depth -= 1) === 0) return at;
  }
  return stop;
}

const spanCharsMax = 4_000;

/** What stands between commas, without blanks; of the text, for a string is an argument too. */
function split({ code, text }: CodeView, from: number, to: number): string[] {
  const given: string[] = [];
  let depth = 0;
  let begin = from;
  for (let at = from; at < to; at += 1) {
    const sign = code.charAt(at);
    if ('([{'.includes(sign)) depth += 1;
    else if (')]}'.includes(sign)) depth -= 1;
    else if (sign === ',' && depth === 0) {
      given.push(text.slice(begin, at).replace(/\s+/g, ''));
      begin = at + 1;
    }
  }
  const last = text.slice(begin, to).replace(/\s+/g, '');
  return last === '' ? given : [...given, last];
}

const leaving = /\b(?:return|throw|goto|continue|break|raise|reject|exit|panic)\b/;

function* guardsIn(view: CodeView): Generator<Guard> {
  const { code } = view;
  let count = 0;
  for (const { index, 0: whole } of code.matchAll(/(?<![\w$#.])if\s{0,9}\(/g)) {
    if ((count += 1) > guardsMax) return;
    const open = index + whole.length - 1;
    const close = closing(code, open);
    const [begin, end] = bodyBehind(view, close + 1);
    const body = code.slice(begin, end);
    yield {
      condition: packedOf(code.slice(open + 1, close)),
      body: packedOf(body),
      isLeaving: leaving.test(body),
      line: view.lineOf(index),
      line_end: view.lineOf(Math.max(begin, end - 1)),
    };
  }
}

/** A block, or one statement: to its semicolon, or to the end of its line where none is written. */
function bodyBehind(view: CodeView, from: number): [number, number] {
  const { code } = view;
  const begin = from + (/^\s*/.exec(code.slice(from, from + 400))?.[0].length ?? 0);
  if (code.charAt(begin) === '{') return [begin + 1, view.closeOf(begin)];
  let depth = 0;
  for (let at = begin; at < Math.min(code.length, begin + spanCharsMax); at += 1) {
    const sign = code.charAt(at);
    if ('([{'.includes(sign)) depth += 1;
    else if (')]}'.includes(sign)) depth -= 1;
    if (depth < 0 || (depth === 0 && (sign === ';' || (sign === '\n' && view.family === 'es'))))
      return [begin, at];
  }
  return [begin, Math.min(code.length, begin + spanCharsMax)];
}

export function packedOf(code: string): string {
  return code.replace(/\s+/g, '');
}

function fill(unit: Unit, view: CodeView, owners: readonly Unit[]): void {
  const names = new Set<string>();
  const used = new Set<string>();
  const parts: string[] = [];
  const body = unit.symbol === undefined ? 0 : bodyOffset(view, unit);
  for (let line = unit.line; line <= unit.line_end; line += 1) {
    if (owners[line - 1] !== unit) continue;
    const [from, to] = [view.offsetOf(line), view.offsetOf(line + 1)];
    const code = view.code.slice(from, to);
    parts.push(code);
    for (const { 0: name, index } of code.matchAll(/(?<!\bMath\.)(?<![\w$])[A-Za-z_$#][\w$]*/g)) {
      names.add(name);
      if (from + index >= body) used.add(name);
    }
    // A name in the hole of a template is used as well.
    for (const [, hole = ''] of view.text.slice(from, to).matchAll(/\$\{([^}]{1,200})\}/g))
      for (const [name] of hole.matchAll(/[A-Za-z_$#][\w$]*/g)) {
        names.add(name);
        used.add(name);
      }
  }
  Object.assign(unit, { names, used, made: madeBy(unit.calls), packed: packedOf(parts.join('')) });
}

/** Behind the head of a function: the brace behind its brackets, or its arrow. */
function bodyOffset(view: CodeView, { line, line_end }: Unit): number {
  const from = view.offsetOf(line);
  const head = /\)\s{0,40}(?::[^={};]{0,200})?(?:=>\s{0,40})?\{|=>/.exec(
    view.code.slice(from, Math.min(view.offsetOf(line_end + 1), from + spanCharsMax)),
  );
  return head === null ? from : from + head.index + head[0].length;
}
