import { asBusError, BusError } from '../errors/bus-error.js';
import { analysis } from './analyse.js';
import {
  evidenceCitation,
  merged,
  nothingGathered,
  unique,
  type Gathered,
  type Insight,
  type Pgc,
} from './gathered.js';
import { namesIn } from './names.js';
import { isEvidenceRequired, type AnalysisHint, type DelegatedTask } from './shapes.js';
import type { AskAnswer, CodedError } from '../pgc/shapes.js';

/** What the PGC says of a question is an answer to it, even that there is none; the rest is a failure of asking. */
const answersInThemselves = new Set([
  'NO_SUCH_SYMBOL',
  'NOT_FOUND',
  'EMPTY_QUESTION',
  'OVERLAY_MISSING',
  'ALGEBRA_SYNTAX',
  'USAGE',
  'TOO_LARGE',
]);

/**
 * Everything that a task wants to be known before, or after: its hinted queries, or its own text where it hints at none,
 * its analyses and its expression. Throws PGC_FAILED when the PGC cannot be asked, OVERLAYS_MISSING.
 */
export async function ground(
  task: DelegatedTask,
  pgc: Pgc,
  onProgress: (summary: string) => void = () => undefined,
): Promise<Gathered> {
  const hints = task.grounding;
  if (hints === null) return nothingGathered;
  return guarded(async () => {
    const { wanted, warnings } = await overlaysFor(task, pgc);
    const queries = queriesOf(task, hints.query_hints);
    const asked = await Promise.all(unique(queries).map((query) => askOne(pgc, query, wanted)));
    // One after the other, as they are worked on: each has its own time.
    const analysed: Gathered[] = [];
    for (const hint of analysesOf(task)) {
      onProgress(`asking the PGC: ${titleOf(hint)}`);
      analysed.push(await analyseOne(pgc, hint));
    }
    const all = merged(...asked, ...analysed);
    return {
      ...all,
      warnings: unique([...warnings, ...all.warnings]),
      overlays: all.overlays.filter((each) => !isWithout(warnings, each)),
    };
  }, pgc);
}

/**
 * Its hints, or its text. What somebody answered to a question about it is asked as well; where that is a name in place of one
 * that is nowhere, the text with the right name says it all.
 */
function queriesOf({ task, clarifications }: DelegatedTask, hints: readonly string[]): string[] {
  const queries = hints.length > 0 ? [...hints] : [task];
  return clarifications.reduce((asked, { question, answer }) => {
    const meant = answer.trim();
    const known = namesIn(question).symbols;
    const isIn = (text: string, name: string): boolean => namesIn(text).symbols.includes(name);
    const wrong = known.find((name) => asked.some((each) => isIn(each, name)));
    if (wrong !== undefined && wrong !== meant && bareName.test(meant))
      return asked.map((each) => (isIn(each, wrong) ? each.replaceAll(wrong, meant) : each));
    return meant === '' || asked.includes(meant) ? asked : [...asked, meant];
  }, queries);
}

const bareName = /^[A-Za-z_$][\w$]*$/;

/** One query, as evidence. Throws what asking throws. */
export async function askOne(
  pgc: Pgc,
  query: string,
  overlays: readonly string[],
): Promise<Gathered> {
  const answer = await pgc.ask(query, overlays);
  return {
    ...nothingGathered,
    queries: [query],
    overlays: consulted(answer, overlays),
    insights: answer.sources.map((source): Insight => ({
      overlay: source.overlay,
      place: `${source.file_path}:${source.line_start}`,
      text: source.text,
    })),
    citations: answer.sources.map((source) => evidenceCitation(source, query)),
    answers: [placed(answer)],
    warnings: answer.overlay_warnings,
    errors: failuresOf(answer.errors),
  };
}

/** Times it, counts what it read, and says PGC_FAILED for whatever kept the PGC from answering. */
export async function guarded(work: () => Promise<Gathered>, pgc: Pgc): Promise<Gathered> {
  const startedMs = pgc.clock.monotonicMs();
  const bytesBefore = pgc.bytes;
  try {
    const gathered = await work();
    return {
      ...gathered,
      bytes: gathered.bytes + pgc.bytes - bytesBefore,
      ms: gathered.ms + Math.floor(pgc.clock.monotonicMs() - startedMs),
    };
  } catch (error) {
    const cause = asBusError(error);
    if (['PGC_FAILED', 'OVERLAYS_MISSING'].includes(cause.code)) throw cause;
    const detail = `${cause.code}: ${cause.message}`;
    throw new BusError('PGC_FAILED', { detail }, { cause: error });
  }
}

/** What of the hints can be asked; the rest is made first, or named. */
async function overlaysFor(
  task: DelegatedTask,
  pgc: Pgc,
): Promise<{ wanted: string[]; warnings: string[] }> {
  const hinted: string[] = task.grounding?.overlay_hints ?? [];
  if (hinted.length === 0) return { wanted: [], warnings: [] };
  let ready = await pgc.overlays();
  const missing = hinted.filter((each) => !ready.has(each));
  if (missing.length === 0) return { wanted: hinted, warnings: [] };
  const hindrances = await pgc.generate(missing);
  ready = await pgc.overlays();
  const there = hinted.filter((each) => ready.has(each));
  const still = hinted.filter((each) => !ready.has(each));
  if (there.length === 0 && isEvidenceRequired(task.grounding))
    throw new BusError('OVERLAYS_MISSING', { overlays: hinted.join(', ') });
  const why = hindrances.length === 0 ? 'it is not made yet' : hindrances.join('; ');
  const warnings = still.map((each) => `${each} is missing (${why}); O1 was consulted instead.`);
  return { wanted: still.length === 0 ? there : unique([...there, 'O1']), warnings };
}

function isWithout(warnings: readonly string[], overlay: string): boolean {
  return warnings.some((each) => each.startsWith(`${overlay} is missing`));
}

/** What the answer came from: what was named, without what it says was left out. */
function consulted({ sources, overlay_warnings }: AskAnswer, named: readonly string[]): string[] {
  const cited = sources.map(({ overlay }) => overlay);
  const left = (name: string): boolean =>
    overlay_warnings.some((each) => each.startsWith(`${name} was not consulted`));
  // Without names all are asked; O1 always is.
  const asked = named.length === 0 ? ['O1'] : named;
  return unique([...cited, ...asked.filter((name) => !left(name))]);
}

/** The answer with places instead of the numbers of its sources. */
function placed({ answer, sources }: AskAnswer): string {
  return answer.replace(/\[(\d+)\]/g, (whole, number: string) => {
    const source = sources[Number(number) - 1];
    return source === undefined ? whole : `[${source.file_path}:${source.line_start}]`;
  });
}

function failuresOf(errors: readonly CodedError[]) {
  return errors.map(({ code, text, retryable }) => ({ code, text, retryable }));
}

function analysesOf({ grounding }: DelegatedTask): AnalysisHint[] {
  const { analysis_hints = [], algebra_expression = '' } = grounding ?? {};
  const expression: AnalysisHint = {
    type: 'algebra_query',
    target: algebra_expression,
    options: '',
  };
  return algebra_expression === '' ? analysis_hints : [...analysis_hints, expression];
}

/** How an analysis is called among the queries that were executed. */
const titleOf = ({ type, target }: AnalysisHint): string => `${type} ${target}`.trim();

async function analyseOne(pgc: Pgc, hint: AnalysisHint): Promise<Gathered> {
  const queries = [titleOf(hint)];
  try {
    const { insights, overlays, warnings, said } = await analysis(pgc, hint);
    return { ...nothingGathered, queries, insights, overlays, warnings, answers: [said] };
  } catch (error) {
    const { code, message, retryable } = asBusError(error);
    // There is no part of a set that could be told: it is done without, and said.
    if (code === 'DEADLINE_EXCEEDED')
      return { ...nothingGathered, warnings: [`${titleOf(hint)} was left out: ${message}.`] };
    if (!answersInThemselves.has(code)) throw error;
    const errors = [{ code, text: `${titleOf(hint)}: ${message}`, retryable }];
    const insights = [{ overlay: 'O1', place: '', text: `${titleOf(hint)}: ${message}` }];
    return { ...nothingGathered, queries, insights, errors };
  }
}
