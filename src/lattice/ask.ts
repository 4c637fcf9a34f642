import { BusError, RemoteError } from '../errors/bus-error.js';
import { judged, nextMax } from '../pgc/answer/ask.js';
import { fileRoles } from '../pgc/format/facts.js';
import { isAside, wantsAsides } from '../pgc/search/prior.js';
import { analyse, withHints, type Question } from '../pgc/search/question/question.js';
import {
  engineName,
  type Answer,
  type AskRequest,
  type CallersAnswer,
  type Citation,
  type CodedError,
  type Evidence,
  type FlowEdge,
  type LeftOut,
  type ShardPort,
  type Unsure,
} from '../pgc/shapes.js';
import { fanOut, merged } from './fan-out.js';
import type { Lattice } from './lattice.js';
import { inTurn, shareOfBest, Sought } from './sought.js';
import { callersOf } from './trace/call-sites.js';

/** Shards that are asked besides the likeliest, because they call what a question asks the callers of. */
const callingMax = 8;

/**
 * Asks the shards that most likely know, and merges their answers by similarity. Throws EMPTY_QUESTION and NO_SHARDS; a shard that fails is in `errors[]`.
 */
export async function ask(
  lattice: Lattice,
  request: AskRequest,
  signal?: AbortSignal,
): Promise<Answer> {
  if (lattice.ports.size === 0) throw new BusError('NO_SHARDS');
  const question = withHints(analyse(request.question), request.query_hints ?? []);
  const likely = lattice.router
    .probed(question)
    .flatMap(({ agent }) => lattice.ports.get(agent) ?? []);
  const called = await calledIn(lattice, question, request.overlays, signal);
  // A model words the merged answer once, not that of each shard.
  const asked = { ...request, engine: engineName };
  // A single shard knows all that there is, and of what is called the graph has told all.
  const sought = called || lattice.ports.size < 2 ? undefined : new Sought(question, asked, signal);
  await sought?.among(likely, othersThan(likely, lattice));
  const ports = called ? [...new Set([...likely, ...portsOf(lattice, called)])] : likely;
  const wanted =
    sought?.chosen() ?? ports.map((port) => ({ agent: port.agent, port, request: asked }));
  const { answers: given, errors: failed } = await fanOut(wanted, signal, (each) =>
    each.port.ask(each.request, signal),
  );
  const errors = merged(sought?.errors ?? [], failed, lattice.unknownShards());
  const answers = given.map((answer) => (called ? only(called, answer) : answer));
  const found = answers
    .filter((answer) => answer.evidence.length > 0)
    .sort((one, other) => best(other) - best(one));
  const first = found[0] ?? answers[0];
  if (first === undefined) throw everyShardFailed(errors);
  // Every caller counts, however little its shard has to do with the words of the question.
  const used = called ? found : found.filter((answer) => best(answer) >= best(first) * shareOfBest);
  const telling = used.length === 0 ? [first] : used;
  const all = [...answers, ...(sought?.answers ?? [])];
  const shown = merge(
    telling,
    first.metadata.top_k,
    called && placeAmong(called, wantsAsides(question)),
  );
  return {
    ...first,
    ...shown,
    ...(called && ofWhole(called, shown)),
    left_out: leftOutOf(all),
    overlay_warnings: [...new Set(all.flatMap((each) => each.overlay_warnings))],
    errors: merged(
      telling.flatMap((answer) => answer.errors),
      gapsOf(all),
      errors,
    ),
    partial: errors.length > 0,
    metadata: {
      ...first.metadata,
      index_version: telling.map((answer) => answer.metadata.index_version).join('+'),
      cached: telling.every((answer) => answer.metadata.cached),
      agents_asked: sought?.asked ?? ports.length,
    },
  };
}

function othersThan(ports: readonly ShardPort[], { ports: all, cards }: Lattice): ShardPort[] {
  return [...all.values()].filter((port) => cards.has(port.agent) && !ports.includes(port));
}

/** Of the symbol whose callers a question asks for: all of them, whichever shards are asked for their evidence. */
async function calledIn(
  lattice: Lattice,
  { asks, scoped, identifiers }: Question,
  overlays: readonly string[],
  signal: AbortSignal | undefined,
): Promise<CallersAnswer | undefined> {
  const [symbol, ...others] = scoped.length > 0 ? scoped : identifiers;
  const isOfCalls = overlays.length === 0 || overlays.includes('O3');
  if (asks !== 'callers' || symbol === undefined || others.length > 0 || !isOfCalls)
    return undefined;
  const of = signal === undefined ? {} : { signal };
  const calls = await callersOf(lattice, symbol, { ...of, isOfCallsAlone: true });
  // What nothing calls by its name may be handed on: that takes reading.
  const isCalled = calls.callers.length + calls.possible_total > 0;
  const called = isCalled ? calls : await callersOf(lattice, symbol, of);
  const isCallable = called.definitions.some(({ kind }) =>
    /^(?:function|method|macro)$/.test(kind),
  );
  const isKnown = called.errors.length === 0 && called.definitions.length > 0;
  // A type or a constant is used, and not called: the shards say how.
  return isKnown && (isCallable || called.callers.length > 0) ? called : undefined;
}

/** A shard that does not define the symbol may speak of another one of its name: the callers and definitions alone stay. */
function only({ callers, definitions }: CallersAnswer, answer: Answer): Answer {
  const sites = new Set(callers.map(({ file_path, line }) => `${file_path}:${line}`));
  const flow = answer.flow.filter(({ site }) => sites.has(site));
  const isDefined = ({ file_path, symbol, line_start, line_end }: Evidence): boolean =>
    definitions.some(
      (each) =>
        each.file_path === file_path &&
        each.symbol === symbol &&
        line_start <= each.line &&
        each.line <= line_end,
    );
  const evidence = answer.evidence.filter((each) => sites.has(siteOf(each)) || isDefined(each));
  return { ...answer, evidence, flow };
}

/** The shards that define it, then those with most callers. */
function portsOf(lattice: Lattice, called: CallersAnswer | undefined): ShardPort[] {
  const defining = new Set(called?.definitions.map(({ agent }) => agent));
  const sites = new Map([...defining].map((agent) => [agent, Infinity]));
  for (const { agent } of called?.callers ?? []) sites.set(agent, (sites.get(agent) ?? 0) + 1);
  return [...sites]
    .sort(([, one], [, other]) => other - one)
    .slice(0, callingMax)
    .flatMap(([agent]) => lattice.ports.get(agent) ?? []);
}

/** What each shard says of its own sites is not the whole. */
function ofWhole(called: CallersAnswer, { unsure, evidence, next }: Merged): Partial<Answer> {
  const { symbol, callers } = called;
  const why = callers.length < 2 ? 'every call site' : `all ${callers.length} call sites`;
  const others = next.filter(({ operation }) => operation !== 'callers');
  return {
    unsure: [...unsure.filter(({ kind }) => kind !== 'sites'), ...notShown(called, evidence)],
    next: [{ operation: 'callers', arguments: { symbol }, why }, ...others].slice(0, nextMax),
  };
}

/** Of a call, or of where a function is held; empty: the evidence shows something else. */
function siteOf({ kind, file_path, line_start }: Evidence): string {
  return kind === 'call' || kind === 'slot' ? `${file_path}:${line_start}` : '';
}

function notShown(
  { symbol, callers, possible_total }: CallersAnswer,
  evidence: readonly Evidence[],
): Unsure[] {
  const shown = new Set(evidence.map(siteOf));
  const rest = callers.filter(({ file_path, line }) => !shown.has(`${file_path}:${line}`));
  const further = rest.length === callers.length ? '' : 'further ';
  const isHeld = rest.some(({ kind }) => kind === 'slot');
  const how = isHeld ? 'is called, held or passed on' : 'is called';
  const texts = [
    ...(callers.length + possible_total > 0 ? [] : [`${symbol} is called nowhere`]),
    ...(rest.length === 0 ? [] : [`${symbol} ${how} at ${sites(rest.length, further)}`]),
    ...(possible_total === 0
      ? []
      : [`${symbol} may be called at ${sites(possible_total)} that prove nothing`]),
  ];
  return texts.map((text) => ({ kind: 'sites', text }));
}

function sites(n: number, further = ''): string {
  return `${n} ${further}site${n === 1 ? '' : 's'}`;
}

/** Who asks for callers looks at them before definitions, and at tests, which call everything, last. */
function placeAmong(
  { callers }: CallersAnswer,
  isAsideWanted: boolean,
): (evidence: Evidence) => number {
  const sites = new Set(callers.map(({ file_path, line }) => `${file_path}:${line}`));
  return (evidence) => {
    const role = fileRoles.find((each) => each === evidence.role) ?? 'source';
    if (!isAsideWanted && isAside(role)) return 2;
    return sites.has(siteOf(evidence)) ? 0 : 1;
  };
}

type Told = Pick<Answer, 'left_out' | 'overlay_warnings' | 'errors'>;

/** Each once: many shards may lack an overlay for the same reason. */
function leftOutOf(answers: readonly Told[]): LeftOut[] {
  const all = answers.flatMap(({ left_out }) => left_out);
  return [...new Map(all.map((each) => [`${each.overlay} ${each.why}`, each])).values()];
}

/** That one of several shards finds nothing is no error. */
function gapsOf(answers: readonly Told[]): CodedError[] {
  return answers.flatMap(({ errors }) => errors.filter(({ code }) => code !== 'NOT_FOUND'));
}

function best(answer: Answer): number {
  return Math.max(0, ...answer.evidence.map((each) => each.similarity));
}

type Merged = Pick<
  Answer,
  'clauses' | 'confidence' | 'likelihood' | 'evidence' | 'flow' | 'unsure' | 'next' | 'query_path'
>;

/**
 * The likeliest evidence of all answers, each place once (`placeOfEach`: the lower ones first), with what belongs to it: a call goes
 * with the place that shows it, whichever answer that came from.
 */
export function merge(
  answers: readonly Answer[],
  topK: number,
  placeOfEach: (evidence: Evidence) => number = () => 0,
): Merged {
  const places = new Map<string, Evidence>();
  for (const each of inTurn(answers.map((answer) => answer.evidence)))
    if (!places.has(placeOf(each))) places.set(placeOf(each), each);
  const evidence = [...places.values()]
    .sort((one, other) => placeOfEach(one) - placeOfEach(other))
    .slice(0, topK)
    .map((each, at) => ({ ...each, id: at + 1 }));
  const idOf = new Map(evidence.map((each) => [placeOf(each), each.id]));
  const flow = new Map<string, FlowEdge>();
  for (const answer of answers) {
    const shown = new Map(answer.evidence.map((each) => [each.id, idOf.get(placeOf(each))]));
    for (const edge of answer.flow) {
      const id = shown.get(edge.evidence);
      if (id !== undefined && !flow.has(callOf(edge)))
        flow.set(callOf(edge), { ...edge, evidence: id });
    }
  }
  const isWeak = ({ kind }: Unsure): boolean => kind === 'weak';
  const others = answers.flatMap(({ unsure }) => unsure).filter((each) => !isWeak(each));
  const telling = answers.filter((answer) => answer.evidence.length > 0);
  const weak = telling.every(({ unsure }) => unsure.some(isWeak)) ? telling[0]?.unsure : [];
  return {
    // The likeliest answer speaks for all: the others add to it.
    ...judged(
      answers[0]?.question ?? '',
      evidence,
      Math.max(0, ...answers.map(({ likelihood }) => likelihood)),
    ),
    evidence,
    flow: [...flow.values()].sort((one, other) => one.evidence - other.evidence),
    unsure: [...(weak ?? []).filter(isWeak), ...others],
    next: answers.flatMap(({ next }) => next).slice(0, nextMax),
    query_path: [...new Set(evidence.map(({ agent }) => agent))],
  };
}

export function placeOf({ overlay, section, file_path, line_start, line_end }: Citation): string {
  return [overlay, section, file_path, line_start, line_end].join('\0');
}

/** The same call may be in the answers of several. */
function callOf({ from, to, site }: FlowEdge): string {
  return [from, to, site].join('\0');
}

/** A damaged index is said to be one: asking again does not help. */
function everyShardFailed([first]: readonly CodedError[]): BusError {
  if (first?.code === 'INDEX_CORRUPT') return new RemoteError(first);
  return new BusError('AGENT_FAILED', { agent: 'every shard', detail: first?.text ?? '' });
}
