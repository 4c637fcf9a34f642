import { BusError, RemoteError } from '../errors/bus-error.js';
import { judged, nextMax } from '../pgc/answer/ask.js';
import { wantsAsides } from '../pgc/search/prior.js';
import { analyse, withHints } from '../pgc/search/question/question.js';
import {
  engineName,
  type Answer,
  type AskRequest,
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
import { ofWhole, only, placeAmong, portsOf, relatedIn } from './related.js';
import { inTurn, shareOfBest, Sought } from './sought.js';

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
  const related = await relatedIn(lattice, question, request, signal);
  // A model words the merged answer once, not that of each shard.
  const asked = { ...request, engine: engineName };
  // A single shard knows all that there is, and of a symbol the graph has told all.
  const sought =
    related || lattice.ports.size < 2 ? undefined : new Sought(question, asked, signal);
  await sought?.among(likely, othersThan(likely, lattice));
  const ports = related === undefined ? likely : portsOf(lattice, related);
  const wanted =
    sought?.chosen() ?? ports.map((port) => ({ agent: port.agent, port, request: asked }));
  const { answers: given, errors: failed } = await fanOut(wanted, signal, (each) =>
    each.port.ask(each.request, signal),
  );
  const errors = merged(sought?.errors ?? [], failed, lattice.unknownShards());
  const answers = given.map((answer) => (related ? only(related, answer) : answer));
  const found = answers
    .filter((answer) => answer.evidence.length > 0)
    .sort((one, other) => best(other) - best(one));
  const first = found[0] ?? answers.find(isBehind) ?? answers[0];
  if (first === undefined) throw everyShardFailed(errors);
  // Every row counts, however little its shard has to do with the words of the question.
  const used = related
    ? found
    : found.filter((answer) => best(answer) >= best(first) * shareOfBest);
  const telling = used.length === 0 ? [first] : used;
  const all = [...answers, ...(sought?.answers ?? [])];
  const shown = merge(
    telling,
    first.metadata.top_k,
    related && placeAmong(related, wantsAsides(question)),
  );
  return {
    ...first,
    ...shown,
    ...(related && ofWhole(related, shown)),
    left_out: leftOutOf(all),
    overlay_warnings: [...new Set(all.flatMap((each) => each.overlay_warnings))],
    errors: merged(
      telling.flatMap((answer) => answer.errors),
      gapsOf(found.length === 0 ? all : all.filter((each) => !isBehind(each))),
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

type Told = Pick<Answer, 'left_out' | 'overlay_warnings' | 'errors'>;

/** Each once: many shards may lack an overlay for the same reason. */
function leftOutOf(answers: readonly Told[]): LeftOut[] {
  const all = answers.flatMap(({ left_out }) => left_out);
  return [...new Map(all.map((each) => [`${each.overlay} ${each.why}`, each])).values()];
}

/** Whether it holds nothing because its files have changed, which its warnings say, too. */
function isBehind({ errors }: Told): boolean {
  return errors.some(({ code }) => code === 'INDEX_BEHIND');
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
      // What no evidence shows is known all the same.
      const id = edge.evidence === 0 ? 0 : shown.get(edge.evidence);
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
    flow: [...flow.values()].sort((one, other) => placeIn(one) - placeIn(other)),
    unsure: [...(weak ?? []).filter(isWeak), ...others],
    next: answers.flatMap(({ next }) => next).slice(0, nextMax),
    query_path: [...new Set(evidence.map(({ agent }) => agent))],
  };
}

function placeIn({ evidence }: FlowEdge): number {
  return evidence === 0 ? Infinity : evidence;
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
