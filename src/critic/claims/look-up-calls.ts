import type { CallSite, Definition } from '../../pgc/shapes.js';
import { claimLimits, holds, notChecked, notFound, wrong } from './claim.js';
import type { Statement, SymbolName, Verdict } from './claim.js';
import type { Looking } from './looking.js';
import type { Tree } from './tree.js';
import { hasWord } from './words.js';

type Calls = Extract<Statement, { kind: 'calls' }>;

const callersShown = 3;

/**
 * Who calls a symbol? By the call graph: proven calls decide. That something does not call another is wrong of the text only
 * where its own lines do not even name it and no way leads there.
 */
export async function lookUpCalls({ tree }: Looking, said: Calls): Promise<Verdict> {
  const { symbol } = said;
  const { callers, isWhole } = await tree.uses(symbol.name);
  const definitions = await tree.definitionsOf(symbol);
  if (definitions.length === 0) return notChecked(`The index does not define ${symbol.name}.`);
  const sites = callers.filter((each) => each.kind !== 'slot' && isProven(each));
  const outside = sites.filter((each) => each.role !== 'test');
  const reason = calledBy(symbol, outside.length > 0 ? outside : sites);
  const [first] = outside.length > 0 ? outside : sites;
  const evidence = first === undefined ? [] : await evidenceOf(tree, first, symbol);
  if (said.caller === undefined)
    return outside.length === 0
      ? notChecked(`${reason} It may be passed on and called elsewhere.`)
      : wrong(reason, `Say who calls ${symbol.name}.`, evidence);
  const { caller } = said;
  const own = sites.filter((each) => isOf(each, caller));
  const others = outside.filter((each) => !isOf(each, caller));
  const [other] = others;
  if (said.isOnly && other !== undefined)
    return wrong(reason, `Name ${nameOf(other)} as well.`, await evidenceOf(tree, other, symbol));
  const [call] = own;
  if (call !== undefined)
    return said.isOnly && !isWhole
      ? notChecked(`${reason} Not all of its calls are known.`)
      : holds(`${caller.name} calls ${symbol.name}.`, await evidenceOf(tree, call, symbol));
  return withoutCall(tree, { symbol, caller, reason, evidence, isWhole, definitions });
}

/** More calls than the text says are proven, or fewer are possible: then it is wrong. Calls of tests may count or not. */
export async function lookUpCallCount(
  { tree }: Looking,
  { symbol, value, of }: Extract<Statement, { kind: 'call_count' }>,
): Promise<Verdict> {
  const { callers, isWhole } = await tree.uses(symbol.name);
  if ((await tree.definitionsOf(symbol)).length === 0)
    return notChecked(`The index does not define ${symbol.name}.`);
  const sites = callers.filter((each) => each.kind !== 'slot' && isProven(each));
  const outside = sites.filter((each) => each.role !== 'test');
  const counted = (all: readonly CallSite[]): number =>
    of === 'places' ? all.length : new Set(all.map(nameOf)).size;
  const [least, most] = [counted(outside), counted(sites)];
  const ofTests = most > least ? `, and ${most - least} more in tests` : '';
  const reason = `${symbol.name} is called ${of === 'places' ? 'at' : 'by'} ${least} ${of}${ofTests}.`;
  const [first] = sites;
  const evidence = first === undefined ? [] : await evidenceOf(tree, first, symbol);
  if (least > value || (isWhole && most < value))
    return wrong(reason, `Say how often ${symbol.name} is called.`, evidence);
  const isSure = isWhole && (least === value || most === value);
  return isSure ? holds(reason, evidence) : notChecked(`${reason} Not all of its calls are known.`);
}

async function withoutCall(
  tree: Tree,
  its: {
    symbol: SymbolName;
    caller: SymbolName;
    reason: string;
    evidence: Verdict['evidence'];
    isWhole: boolean;
    definitions: readonly Definition[];
  },
): Promise<Verdict> {
  const { symbol, caller, reason, evidence } = its;
  const bodies = (await tree.definitionsOf(caller)).filter(
    ({ declaration, kind }) => !declaration && /function|method/.test(kind),
  );
  if (bodies.length === 0) return notChecked(`The index has no function ${caller.name}.`);
  const text = `No call of ${symbol.name} stands in ${caller.name}.`;
  for (const { file_path, line, line_end } of bodies) {
    const lines = ((await tree.text(file_path)) ?? '').split('\n').slice(line - 1, line_end);
    if (lines.length === 0 || hasWord(lines.join('\n'), symbol.name)) return notFound(text);
  }
  const options = { deadlineMs: claimLimits.questionMs, signal: tree.signal };
  const asked = { from: caller.name, to: symbol.name };
  const { found, path, errors } = await tree.ground.questions.trace(asked, options);
  if (found && path.every(({ certainty }) => certainty !== 'possible'))
    return holds(`${caller.name} calls it through ${throughOf(path)}.`, evidence, 'medium');
  const isSure = its.isWhole && !found && errors.length === 0;
  return isSure && evidence.length > 0
    ? wrong(`${text} ${reason}`, `Name who calls ${symbol.name}.`, evidence)
    : notFound(`${text} ${reason}`);
}

function throughOf(path: readonly { symbol: string }[]): string {
  const between = path.slice(1, -1).map(({ symbol }) => symbol);
  return between.length > 0 ? between.join(', ') : 'others';
}

function isProven({ certainty }: CallSite): boolean {
  return certainty === 'exact' || certainty === 'dispatch';
}

function isOf({ symbol, container }: CallSite, caller: SymbolName): boolean {
  return (
    symbol === caller.name &&
    (caller.container === '' || container === '' || container === caller.container)
  );
}

function nameOf({ symbol, container, file_path }: CallSite): string {
  return [container, symbol].filter((each) => each !== '').join('.') || file_path;
}

function calledBy({ name }: SymbolName, sites: readonly CallSite[]): string {
  const names = [...new Set(sites.map(nameOf))];
  if (names.length === 0) return `No call of ${name} is proven.`;
  const more = names.length > callersShown ? ` and ${names.length - callersShown} more` : '';
  return `${name} is called by ${names.slice(0, callersShown).join(', ')}${more}.`;
}

function evidenceOf(
  tree: Tree,
  site: CallSite,
  { name }: SymbolName,
): Promise<Verdict['evidence']> {
  return tree.evidence(site.file_path, site.line, site.line, name);
}
