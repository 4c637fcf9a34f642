import { asBusError, BusError } from '../../errors/bus-error.js';
import { analyse } from './hinted-analyses.js';
import { consult } from './overlay-queries.js';
import { merged, nothingGathered, unique, type Gathered, type Pgc } from './gathered.js';
import { unknownNameIn } from './names.js';
import { isEvidenceRequired, type AnalysisHint, type DelegatedTask } from '../task/shapes.js';

/** Errors that answer a query (nothing found, bad query); any other error is a failure of the PGC. */
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
 * The grounding of a task: its hinted queries, or its own text where it hints at none, its analyses and its expression. Throws PGC_FAILED when the PGC cannot be asked, OVERLAYS_MISSING.
 */
export async function ground(
  task: DelegatedTask,
  pgc: Pgc,
  onProgress: (summary: string) => void = () => undefined,
): Promise<Gathered> {
  const hints = task.grounding;
  if (hints === null) return nothingGathered;
  return measured(async () => {
    const queries = unique(queriesOf(task, hints.query_hints));
    const required = { isEvidenceRequired: isEvidenceRequired(hints) };
    const asked = await consult(queries, unique(hints.overlay_hints), required, pgc);
    // One after the other: each has a time limit of its own.
    const analysed: Gathered[] = [];
    for (const hint of analysesOf(task)) {
      onProgress(`asking the PGC: ${titleOf(hint)}`);
      analysed.push(await analyseOne(pgc, hint));
    }
    return merged(...asked, ...analysed);
  }, pgc);
}

/**
 * The hinted queries, or the text of the task, and the answers to its clarifications. An answer that names the right symbol for an unknown one replaces it in the queries.
 */
export function queriesOf(
  { task, clarifications }: DelegatedTask,
  hints: readonly string[],
): string[] {
  const queries = hints.length > 0 ? [...hints] : [task];
  return clarifications.reduce((asked, { question, answer }) => {
    const meant = answer.trim();
    const wrong = unknownNameIn(question);
    const isNamed = wrong !== undefined && asked.some((each) => wholeName(wrong).test(each));
    if (isNamed && bareName.test(meant))
      return asked.map((each) => each.replace(wholeName(wrong), () => meant));
    // An answer without letters or digits is no query.
    return !/[\p{L}\p{N}]/u.test(meant) || asked.includes(meant) ? asked : [...asked, meant];
  }, queries);
}

const bareName = /^[A-Za-z_$][\w$]*$/;

/** A name where it is not a part of a longer one. */
function wholeName(name: string): RegExp {
  return new RegExp(`(?<![\\w$])${name.replace(/[.$]/g, '\\$&')}(?![\\w$])`, 'g');
}

/** Adds time and bytes to a result. Throws PGC_FAILED for any failure of the PGC, OVERLAYS_MISSING. */
export async function measured(work: () => Promise<Gathered>, pgc: Pgc): Promise<Gathered> {
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

function analysesOf({ grounding }: DelegatedTask): AnalysisHint[] {
  const { analysis_hints = [], algebra_expression = '' } = grounding ?? {};
  const expression: AnalysisHint = {
    type: 'algebra_query',
    target: algebra_expression,
    options: '',
  };
  return algebra_expression === '' ? analysis_hints : [...analysis_hints, expression];
}

/** The name of an analysis among the executed queries. */
const titleOf = ({ type, target }: AnalysisHint): string => `${type} ${target}`.trim();

async function analyseOne(pgc: Pgc, hint: AnalysisHint): Promise<Gathered> {
  const queries = [titleOf(hint)];
  try {
    const { insights, overlays, warnings, said } = await analyse(pgc, hint);
    return { ...nothingGathered, queries, insights, overlays, warnings, answers: [said] };
  } catch (error) {
    const { code, message, retryable } = asBusError(error);
    // A set has no partial result: it is left out with a warning.
    if (code === 'DEADLINE_EXCEEDED')
      return { ...nothingGathered, warnings: [`${titleOf(hint)} was left out: ${message}.`] };
    if (!answersInThemselves.has(code)) throw error;
    const said = `${titleOf(hint)}: ${message}`;
    const errors = [{ code, text: said, retryable }];
    const insights = [{ overlay: 'O1', place: '', text: said }];
    return { ...nothingGathered, queries, insights, errors, answers: [said] };
  }
}
