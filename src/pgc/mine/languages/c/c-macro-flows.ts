import { bounded, unknown } from '../../../format/expression.js';
import type { CallDraft, Draft, SymbolDraft } from '../../draft.js';
import { Locals } from '../../locals.js';
import { CExpressions } from './c-expression.js';
import { nameAlone } from './c-initializers.js';
import { cKeywords } from './c-macros.js';
import { closingOf, partsOfList, skipBlanks } from './c-scan.js';

/** Longer bodies are programs of their own. */
const bodyCharsMax = 4_000;
const called = /([A-Za-z_]\w*)\s*\(/g;
const assigned = /([A-Za-z_(][^;{}=,?]*(?:->|\.)\s*\w+[\s)]*)=(?!=)([^;{}]*)/g;
const castHead = /^\s*\(\s*(?:const\s+)?(?:(struct|union)\s+)?([A-Za-z_]\w*)\s*\*+\s*\)\s*\S/;

export interface MacroBody {
  symbol: SymbolDraft;
  parameters: readonly string[];
  from: number;
  to: number;
  /** The body as written: types that are arguments are only there. */
  written: string;
}

/**
 * Where a macro puts what it is given, and what it gives. `text`: with its comments blanked. Returns the names that it hands
 * on itself: functions, or anything else.
 */
export function macroFlows(draft: Draft, text: string, macro: MacroBody): CallDraft[] {
  const { symbol, parameters, from, to } = macro;
  const named: CallDraft[] = [];
  if (to - from > bodyCharsMax) return named;
  const locals = new Locals();
  locals.open(Infinity);
  for (const [at, name] of parameters.entries()) locals.declare(name, 0, `${symbol.name}@.${at}`);
  const expressions = new CExpressions(text, text, locals);
  const flow = (range: readonly [number, number], target: string): void => {
    const source = sourceOf(text, range, expressions);
    if (source !== unknown && bounded(target) !== unknown)
      draft.type(undefined, 'assigned', source, target);
  };
  const body = text.slice(from, to);
  for (const found of body.matchAll(called)) {
    const [whole, name = ''] = found;
    if (cKeywords.has(name) || parameters.includes(name)) continue;
    const open = from + found.index + whole.length - 1;
    const end = closingOf(text, open, to);
    for (const [at, part] of partsOfList(text, open + 1, end).entries()) {
      flow(part, `${name}@.${at}`);
      const alone = nameAlone(text, ...part, false);
      if (alone === undefined || parameters.includes(alone.name)) continue;
      const expression = `${name}@.${at}`;
      named.push({
        callee: alone.name,
        at: alone.at,
        kind: 'slot',
        receiver: `${name}()`,
        expression,
      });
    }
  }
  for (const { index, 1: left = '', 2: right = '' } of body.matchAll(assigned)) {
    const target = expressions.of(from + index, from + index + left.length);
    const start = from + index + left.length + 1;
    if (target.includes('@')) flow([start, start + right.length], target);
  }
  const given = givenBy(macro.written, parameters);
  if (given !== '') draft.type(symbol, 'returned', '', given);
  return named;
}

/** A parameter, a member of one, or the name of something else. */
function sourceOf(
  text: string,
  [from, to]: readonly [number, number],
  expressions: CExpressions,
): string {
  const source = expressions.of(from, to);
  if (source.includes('@')) return source;
  const alone = nameAlone(text, from, to, false);
  const isFunction = alone !== undefined && !/^[A-Z0-9_]+$/.test(alone.name);
  return isFunction && skipBlanks(text, from, to) < to ? alone.name : unknown;
}

/** The type of what a macro gives: `$1` is the type that its second argument names. */
function givenBy(body: string, parameters: readonly string[]): string {
  let value = body.replaceAll(/\\\r?\n/g, ' ').trim();
  const statements = /^\(\s*\{([\s\S]*)\}\s*\)$/.exec(value)?.[1];
  if (statements !== undefined)
    value = statements.trim().replace(/;$/, '').split(';').at(-1)?.trim() ?? '';
  while (value.startsWith('(') && closingOf(value, 0, value.length) === value.length - 1)
    value = value.slice(1, -1).trim();
  const [cast, tag, name = ''] = castHead.exec(value) ?? [];
  if (cast !== undefined && !cKeywords.has(name))
    return tag === undefined ? parameterOr(name, parameters) : `${tag} ${name}`;
  const [call, macro = ''] = /^([A-Za-z_]\w*)\s*(?=\()/.exec(value) ?? [];
  if (call === undefined || cKeywords.has(macro)) return '';
  if (closingOf(value, call.length, value.length) !== value.length - 1) return '';
  const names = partsOfList(value, call.length + 1, value.length - 1).map((part) => {
    const written = value.slice(...part).trim();
    const structure = /^(struct|union)\s+(\w+)$/.exec(written);
    if (structure !== null) return written.replaceAll(/\s+/g, ' ');
    return /^[A-Za-z_]\w*$/.test(written) ? parameterOr(written, parameters) : unknown;
  });
  return `$macro<${[macro, ...names].join(',')}>`;
}

function parameterOr(name: string, parameters: readonly string[]): string {
  const at = parameters.indexOf(name);
  return at < 0 ? name : `$${at}`;
}
