import { nextMax } from '../pgc/answer/ask.js';
import {
  calleeRow,
  callerRow,
  implementationRow,
  rowsMax,
  siteOf,
  withRows,
  type GraphRows,
} from '../pgc/answer/graph-rows.js';
import { fileRoles } from '../pgc/format/facts.js';
import { isAside } from '../pgc/search/prior.js';
import { namedBeside } from '../pgc/search/question/asked-symbol.js';
import type { Question } from '../pgc/search/question/question.js';
import type {
  Answer,
  AskRequest,
  CodedError,
  Definition,
  Evidence,
  FlowEdge,
  NextStep,
  ShardPort,
  Unsure,
} from '../pgc/shapes.js';
import type { Lattice } from './lattice.js';
import { calleesOf, callersOf, implementationsOf } from './trace/call-sites.js';

/** Shards that are asked for evidence besides the likeliest, because they have rows. */
const askedMax = 8;

type Asks = NonNullable<Question['asks']>;

/** What the graph knows of the symbol that a question is about: all of it, whichever shards are asked for their evidence. */
export interface Related extends GraphRows {
  asks: Asks;
  symbol: string;
  definitions: readonly Definition[];
  /** Sites of which nothing proves what they call. */
  possible: number;
  /** Of the files that were looked at; empty: of all. */
  roles: readonly string[];
}

interface Limits {
  signal?: AbortSignal;
  roles: readonly string[];
}

/** Undefined: the question asks for no such thing, or the graph cannot tell. */
export async function relatedIn(
  lattice: Lattice,
  question: Question,
  { overlays, roles = [] }: Pick<AskRequest, 'overlays' | 'roles'>,
  signal: AbortSignal | undefined,
): Promise<Related | undefined> {
  const { asks } = question;
  const symbol = namedBeside(question);
  const isOfCalls = overlays.length === 0 || overlays.includes('O3');
  if (asks === undefined || symbol === undefined || !isOfCalls) return undefined;
  const limits = { roles, ...(signal !== undefined && { signal }) };
  const parts = await Promise.all([
    ...(asks === 'callers' || asks === 'chain' ? [callersIn(lattice, symbol, limits)] : []),
    ...(asks === 'callees' || asks === 'chain' ? [calleesIn(lattice, symbol, limits)] : []),
    ...(asks === 'implementations' ? [implementationsIn(lattice, symbol, limits)] : []),
  ]);
  const definitions = parts[0]?.definitions ?? [];
  const above = parts.flatMap((each) => each.above);
  const below = parts.flatMap((each) => each.below);
  const isKnown = parts.every(({ errors }) => errors.length === 0) && definitions.length > 0;
  const isCallable = definitions.some(({ kind }) => /^(?:function|method|macro)$/.test(kind));
  // A type or a constant is used, and not called: the shards say how.
  if (!isKnown || (!isCallable && above.length + below.length === 0)) return undefined;
  const possible = parts.reduce((sum, each) => sum + each.possible, 0);
  return { asks, symbol, definitions, above, below, possible, roles };
}

type Part = Omit<Related, 'asks' | 'symbol' | 'roles'> & { errors: CodedError[] };

async function callersIn(lattice: Lattice, symbol: string, limits: Limits): Promise<Part> {
  const calls = await callersOf(lattice, symbol, { ...limits, isOfCallsAlone: true });
  // What nothing calls by its name may be handed on: that takes reading.
  const isCalled = calls.callers.length + calls.possible_total > 0;
  const its = isCalled ? calls : await callersOf(lattice, symbol, limits);
  const { definitions, callers, possible_total: possible, errors } = its;
  const [only, ...others] = definitions.filter(({ declaration }) => !declaration);
  const place = only === undefined || others.length > 0 ? '' : `${only.file_path}:${only.line}`;
  const name = nameIn(definitions, symbol);
  const above = callers.map((site) => callerRow(site, name, place));
  return { definitions, above, below: [], possible, errors };
}

async function calleesIn(lattice: Lattice, symbol: string, limits: Limits): Promise<Part> {
  const { definitions, callees, errors } = await calleesOf(lattice, symbol, limits);
  const name = nameIn(definitions, symbol);
  const below = callees.map((site) => calleeRow(site, name));
  return { definitions, above: [], below, possible: 0, errors };
}

async function implementationsIn(lattice: Lattice, symbol: string, limits: Limits): Promise<Part> {
  const its = await implementationsOf(lattice, symbol, limits);
  const { definitions, implementations, errors } = its;
  const name = nameIn(definitions, symbol);
  const above = implementations.map((each) => implementationRow(each, name));
  return { definitions, above, below: [], possible: 0, errors };
}

/** `Type.method` is called by its last part. */
function nameIn([first]: readonly Definition[], symbol: string): string {
  return first?.symbol ?? symbol;
}

/** A shard that does not define the symbol may speak of another one of its name: what the graph knows and the definitions alone stay. */
export function only(related: Related, answer: Answer): Answer {
  // A chain goes on from what the graph knows of its middle.
  if (related.asks === 'chain') return answer;
  const sites = new Set([...related.above, ...related.below].map(({ site }) => site));
  const isNamed = [...related.definitions, ...placesOf(related)].map(isShownBy);
  const evidence = answer.evidence.filter(
    (each) => sites.has(siteOf(each)) || isNamed.some((isIt) => isIt(each)),
  );
  return { ...answer, evidence };
}

/** What implements it. */
function placesOf({ asks, above }: Related): Pick<Definition, 'file_path' | 'line'>[] {
  if (asks !== 'implementations') return [];
  return above.map(({ site }) => {
    const at = site.lastIndexOf(':');
    return { file_path: site.slice(0, at), line: Number(site.slice(at + 1)) };
  });
}

function isShownBy({
  file_path,
  line,
}: Pick<Definition, 'file_path' | 'line'>): (evidence: Evidence) => boolean {
  return (each) =>
    siteOf(each) === '' &&
    each.file_path === file_path &&
    each.line_start <= line &&
    line <= each.line_end;
}

/** The shards that define it, then those with most rows. */
export function portsOf(lattice: Lattice, related: Related): ShardPort[] {
  const sites = new Map(related.definitions.map(({ agent }) => [agent, Infinity]));
  for (const { agent } of [...related.above, ...related.below])
    sites.set(agent, (sites.get(agent) ?? 0) + 1);
  return [...sites]
    .sort(([, one], [, other]) => other - one)
    .slice(0, askedMax)
    .flatMap(([agent]) => lattice.ports.get(agent) ?? []);
}

/** Who asks for callers looks at them before definitions, and at tests, which call everything, last. */
export function placeAmong(
  { asks, above }: Related,
  isAsideWanted: boolean,
): ((evidence: Evidence) => number) | undefined {
  if (asks !== 'callers') return undefined;
  const sites = new Set(above.map(({ site }) => site));
  return (evidence) => {
    const role = fileRoles.find((each) => each === evidence.role) ?? 'source';
    if (!isAsideWanted && isAside(role)) return 2;
    return sites.has(siteOf(evidence)) ? 0 : 1;
  };
}

/** What each shard says of its own sites is not the whole. */
export function ofWhole(
  related: Related,
  its: Pick<Answer, 'flow' | 'evidence' | 'unsure' | 'next'>,
): Pick<Answer, 'flow' | 'unsure' | 'next'> {
  const { asks } = related;
  const { flow, left } = withRows(its, related, { most: rowsMax, besides: asks === 'chain' });
  const steps = stepsOf(related);
  const others = its.next.filter(({ operation }) =>
    steps.every((each) => each.operation !== operation),
  );
  return {
    flow,
    unsure: [...its.unsure.filter(({ kind }) => kind !== 'sites'), ...notShown(related, left)],
    next: [...steps, ...others].slice(0, nextMax),
  };
}

function stepsOf({ asks, symbol, above, below }: Related): NextStep[] {
  const step = (operation: string, rows: readonly FlowEdge[], what: string): NextStep => ({
    ...{ operation, arguments: { symbol } },
    why: rows.length < 2 ? `every ${what}` : `all ${rows.length} ${what}s`,
  });
  return [
    ...(asks === 'callers' || asks === 'chain' ? [step('callers', above, 'call site')] : []),
    ...(asks === 'callees' || asks === 'chain' ? [step('callees', below, 'call')] : []),
    ...(asks === 'implementations' ? [step('implementations', above, 'implementation')] : []),
  ];
}

const noneOf: Readonly<Record<Asks, (name: string) => string>> = {
  callers: (name) => `${name} is called nowhere`,
  callees: (name) => `${name} is not known to call anything`,
  implementations: (name) => `nothing is known to implement ${name}`,
  chain: (name) => `nothing is known to call ${name}, and it is not known to call anything`,
};

function notShown(related: Related, left: number): Unsure[] {
  const { asks, symbol, above, below, possible, roles } = related;
  // Files of other roles were left out, and may hold some.
  const where = roles.length === 0 ? '' : ` in files of the role ${roles.join(' or ')}`;
  const texts = [
    ...(above.length + below.length + possible > 0 ? [] : [`${noneOf[asks](symbol)}${where}`]),
    ...(left === 0 ? [] : [`the graph knows ${count(left, 'further place')} of ${symbol}`]),
    ...(possible === 0
      ? []
      : [`${symbol} may be called at ${count(possible, 'site')} that prove nothing`]),
  ];
  return texts.map((text) => ({ kind: 'sites', text }));
}

const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`;
