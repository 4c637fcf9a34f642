import type { Confidence } from '../base/confidence.js';
import type { DelegatedTask, GroundingEvidence } from '../delegation/task/shapes.js';
import { ask } from '../lattice/ask.js';
import type { Lattice } from '../lattice/lattice.js';
import type { Answer } from '../pgc/shapes.js';

/** Queries of one response that are asked again. */
const queriesMax = 4;
const askMsMax = 10_000;
const order: readonly Confidence[] = ['low', 'medium', 'high'];

/**
 * How surely the PGC answers what a response cites it for: the manager asks it the same, so that no claim of the worker counts. Undefined: the citations are not what these queries find.
 */
export async function confidenceOfAnswers(
  lattices: readonly Lattice[],
  { pgc, grounding }: Pick<DelegatedTask, 'pgc' | 'grounding'>,
  { citations, queries_executed }: GroundingEvidence,
): Promise<Confidence | undefined> {
  const queries = [...new Set(citations.map(({ relevance }) => relevance))];
  const isAsked = queries.every((each) => queries_executed.includes(each));
  if (pgc !== '' || queries.length === 0 || queries.length > queriesMax || !isAsked)
    return undefined;
  const agents = new Set(citations.map(({ agent }) => agent));
  const lattice = lattices.find(({ ports }) => [...agents].every((each) => ports.has(each)));
  if (lattice === undefined) return undefined;
  const signal = AbortSignal.timeout(askMsMax);
  const overlays = [...new Set(grounding?.overlay_hints)];
  const answers = await Promise.all(
    queries.map((question) =>
      ask(lattice, { question, overlays, top_k: 0 }, signal).catch(() => undefined),
    ),
  );
  const places = new Set(answers.flatMap((answer) => answer?.evidence ?? []).map(placeOf));
  if (!citations.every((each) => places.has(placeOf(each)))) return undefined;
  const found = answers.flatMap((answer) => answer?.confidence ?? []);
  return found.sort((one, other) => order.indexOf(other) - order.indexOf(one))[0];
}

function placeOf({
  file_path,
  line_start,
  overlay,
}: Pick<Answer['evidence'][number], 'file_path' | 'line_start' | 'overlay'>): string {
  return `${overlay} ${file_path}:${line_start}`;
}
