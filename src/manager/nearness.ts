import { systemClock } from '../base/clock.js';
import { confidenceOf, type Confidence } from '../base/confidence.js';
import { queriesOf } from '../delegation/grounding/grounding.js';
import {
  overlayHints,
  type DelegatedTask,
  type EvidenceCitation,
  type GroundingEvidence,
} from '../delegation/task/shapes.js';
import { calleeIn } from '../delegation/worker/extractive-answer.js';
import type { Nearness } from '../delegation/manager/review.js';
import { asBusError } from '../errors/bus-error.js';
import { Lattice } from '../lattice/lattice.js';
import { LatticeQuestions } from '../lattice/questions.js';
import { plainName } from '../pgc/answer/verify.js';

/** Queries that are asked again, of a task and of a response. */
const queriesMax = 32;
/** Trees that are asked. */
const latticesMax = 4;
const askMsMax = 10_000;
/** Call sites of one symbol. */
const citedCalls = 10;
const order: readonly Confidence[] = ['low', 'medium', 'high'];
const ofCalls = /^(?:definitions and )?callers of (\S+)$/;

type Cited = Pick<EvidenceCitation, 'file_path' | 'line_start' | 'line_end' | 'similarity'>;

/** What the PGC says to some queries. */
interface Said {
  places: Cited[];
  /** Without those of calls: these are lists, and sure of themselves. */
  answers: { confidence: Confidence; places: Cited[] }[];
  /** A part of it did not answer, and may know more. */
  isSilent: boolean;
}

/**
 * How near evidence is to its task. The manager asks the PGC what the task asks, because what a worker says of its own evidence, and what else it asked, shows
 * nothing. Only where it claims more than that are its own queries asked as well: an honest claim rests on them.
 */
export async function nearnessOf(
  all: readonly Lattice[],
  task: DelegatedTask,
  { citations, queries_executed, overlays_consulted, grounding_confidence }: GroundingEvidence,
): Promise<Nearness> {
  const lattices = all.flatMap((each) => within(each, task.pgc)).slice(0, latticesMax);
  const { query_hints = [], overlay_hints = [] } = task.grounding ?? {};
  // What stood in for a missing overlay was asked beside it.
  const overlays =
    overlay_hints.length === 0
      ? []
      : overlayHints.filter((each) => [...overlay_hints, ...overlays_consulted].includes(each));
  const callee = calleeIn(task.task);
  const calls = queries_executed.filter(
    (each) => plainName(ofCalls.exec(each)?.[1] ?? '') === callee,
  );
  const wanted = callee === undefined ? [] : [`callers of ${callee}`, ...calls];
  const asked = [...queriesOf(task, query_hints), ...wanted];
  const said = await ask(lattices, asked, overlays);
  const measured = citations.map(({ similarity: _, ...each }): EvidenceCitation => {
    const similarity = nearest(each, said.places);
    return similarity === undefined ? each : { ...each, similarity };
  });
  const shown = confidenceOf(measured.map(({ similarity = 0 }) => similarity));
  const answered = said.answers
    .filter(
      ({ places }) =>
        citations.length > 0 && citations.every((each) => nearest(each, places) !== undefined),
    )
    .map(({ confidence }) => confidence)
    .sort((one, other) => order.indexOf(other) - order.indexOf(one))[0];
  if (order.indexOf(grounding_confidence) <= order.indexOf(shown))
    return { citations: measured, answered, claimable: shown };
  const own = await ask(lattices, queries_executed, overlays);
  const places = [...said.places, ...own.places];
  const found = confidenceOf(citations.map((each) => nearest(each, places) ?? 0));
  // That the PGC found nothing does not show that a claim is inflated.
  const claimable = said.isSilent || own.isSilent ? grounding_confidence : found;
  return { citations: measured, answered, claimable };
}

/** The shards of it that a task asks; `agent`: empty, all. */
function within(lattice: Lattice, agent: string): Lattice[] {
  if (agent === '') return [lattice];
  const cards = [...lattice.cards.values()].filter((each) =>
    [each.agent, each.alias].includes(agent),
  );
  const ports = cards.flatMap((each) => lattice.ports.get(each.agent) ?? []);
  return ports.length === 0 ? [] : [new Lattice(ports, cards)];
}

/** A query that fails finds nothing. */
async function ask(
  lattices: readonly Lattice[],
  queries: readonly string[],
  overlays: string[],
): Promise<Said> {
  const options = { deadlineMs: askMsMax };
  const questions = lattices.map((each) => new LatticeQuestions(each, systemClock));
  const asked = [...new Set(queries)].slice(0, queriesMax);
  const said: Said = { places: [], answers: [], isSilent: lattices.length === 0 };
  const one = async (its: LatticeQuestions, question: string): Promise<void> => {
    const symbol = ofCalls.exec(question)?.[1];
    if (symbol !== undefined) {
      said.places.push(...(await its.callers({ symbol, cite: citedCalls }, options)).citations);
      return;
    }
    const answer = await its.ask({ question, overlays, top_k: 0 }, options);
    if (answer.partial) said.isSilent = true;
    said.places.push(...answer.evidence);
    said.answers.push({ confidence: answer.confidence, places: answer.evidence });
  };
  const tried = (its: LatticeQuestions, question: string): Promise<void> =>
    one(its, question).catch((error: unknown) => {
      if (asBusError(error).retryable) said.isSilent = true;
    });
  await Promise.all(questions.flatMap((its) => asked.map((each) => tried(its, each))));
  return said;
}

/** Of the place of the PGC in which it stands; undefined: the PGC gives no such place. */
function nearest(citation: Cited, places: readonly Cited[]): number | undefined {
  const { file_path, line_start, line_end } = citation;
  const around = places.filter(
    (each) =>
      each.file_path === file_path && each.line_start <= line_start && line_end <= each.line_end,
  );
  return around.length === 0 ? undefined : Math.max(...around.map((each) => each.similarity ?? 0));
}
