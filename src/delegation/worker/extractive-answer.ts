import { BusError } from '../../errors/bus-error.js';
import type { CallersAnswer, CallSite, Citation, Definition } from '../../pgc/shapes.js';
import {
  evidenceLimits,
  isEvidenceRequired,
  taskLimits,
  type DelegatedTask,
} from '../task/shapes.js';
import { noGrounding } from '../manager/strategy.js';
import {
  assertAllAsked,
  evidenceCitation,
  isUnknown,
  merged,
  nothingGathered,
  type Gathered,
  type Pgc,
} from '../grounding/gathered.js';
import { ground, measured } from '../grounding/grounding.js';
import { unknownNameQuestion, namesIn } from '../grounding/names.js';
import { outcome, type Outcome } from './runner-outcome.js';

/** Limit of names in a task that are checked before it is answered. */
const clearNamesMax = 4;
/** Limit of definitions in a question or a result. */
const placesNamed = 8;
/** Limit of what the shards say about finding nothing. */
const whyCharsMax = 500;
/** Limit of the listed call sites; the rest is counted, and `sigma callers` lists all. */
const listCharsMax = taskLimits.resultChars - 4_000;

/** What a list of callers is read from. */
const ofGraph: readonly string[] = ['O1', 'O3'];

const ofCallers =
  /\b(?:callers?|call[- ]?sites?|calls? (?:to|of)|who calls|what calls|(?:is|are|where) .{0,60}\bcalled)\b/i;
const named =
  /\b(?:callers?|call[- ]?sites?|calls?)\s+(?:to|of|for)\s+(?:the\s+)?(?:function\s+|method\s+|macro\s+)?[`'"]?((?:[\w./-]+#)?[A-Za-z_$][\w$.]*)/i;

/**
 * Answers a task from the PGC alone, without a model: every sentence comes from the PGC, with its place. A question about the callers of a symbol gets every call site, and whether it ignores the result. `given`: gathered before. Fails with NOT_FOUND where nothing answers; where no evidence is wanted, the context of the task may. Throws PGC_FAILED, OVERLAYS_MISSING.
 */
export async function answer(
  task: DelegatedTask,
  given: Gathered | null,
  pgc: Pgc | null,
): Promise<Outcome> {
  const context = isEvidenceRequired(task.grounding) ? '' : fromContext(task);
  try {
    const said = pgc === null ? notFound(nothingGathered) : await fromPgc(task, given, pgc);
    if (said.reason !== notFoundCode || context === '') return said;
    return outcome('finished', { result: context, gathered: said.gathered });
  } catch (error) {
    if (context === '') throw error;
    return outcome('finished', { result: context });
  }
}

async function fromPgc(task: DelegatedTask, given: Gathered | null, pgc: Pgc): Promise<Outcome> {
  const wanted = calleeIn(task.task);
  if (wanted === undefined) return fromQueries(task, given, pgc);
  const { found, looked } = await lookedUp([wanted], pgc);
  const known = found.get(wanted);
  const question = known === undefined ? '' : questionAbout(task, wanted, known);
  if (question !== '') return outcome('asked', { question, gathered: looked });
  const subject = symbolMeant(task, wanted, known);
  // A plain word that nothing is called by: the question is about something else.
  const isOther = subject === wanted && known !== undefined && isUnknown(known);
  const said = isOther
    ? await fromQueries(task, given, pgc)
    : await callersOf(task, subject, found.get(subject), given, pgc);
  return { ...said, gathered: merged(looked, said.gathered ?? nothingGathered) };
}

/** The evidence of the queries of a task, in their order. `given` and its cost are in the response already. */
async function fromQueries(
  task: DelegatedTask,
  given: Gathered | null,
  pgc: Pgc,
): Promise<Outcome> {
  const gathered = given ?? (await groundInWords(task, pgc));
  const own = given === null ? gathered : nothingGathered;
  if (!gathered.isClear && task.clarifications.length === 0) {
    // A name that the index does not know may be why; a person knows what was meant.
    const { found, looked } = await lookedUp(clearNames(task), pgc);
    const unknown = [...found].find(([, each]) => isUnknown(each));
    if (unknown !== undefined) {
      const question = unknownNameQuestion(unknown[0]);
      return outcome('asked', { question, gathered: merged(own, looked) });
    }
  }
  const isMissing = isEvidenceRequired(task.grounding) && gathered.citations.length === 0;
  const result = composed(gathered);
  if (result === '' || isMissing) return notFound(gathered, own, result);
  return outcome('finished', { result, gathered: own });
}

/** As `ground`; a task without hints is asked in its own words, for this is all that the runner does. */
function groundInWords(task: DelegatedTask, pgc: Pgc): Promise<Gathered> {
  return ground(
    { ...task, grounding: task.grounding ?? { ...noGrounding, strategy: 'none' } },
    pgc,
  );
}

/** Names and what the index knows of each. A shard that did not answer may know a name: then it is no question to a person. */
async function lookedUp(
  names: readonly string[],
  pgc: Pgc,
): Promise<{ found: ReadonlyMap<string, CallersAnswer>; looked: Gathered }> {
  const found = new Map<string, CallersAnswer>();
  const looked = await measured(async () => {
    for (const name of names) {
      const its = await pgc.callers(name, 0);
      if (isUnknown(its)) assertAllAsked(its);
      found.set(name, its);
    }
    return nothingGathered;
  }, pgc);
  return { found, looked };
}

const notFoundCode = 'NOT_FOUND';

/** Throws PGC_FAILED where a part of the PGC was silent: it may know. */
function notFound(gathered: Gathered, own = gathered, result = ''): Outcome {
  const { code, message, retryable } = new BusError(notFoundCode);
  const silent = gathered.errors.find((each) => each.retryable);
  if (silent !== undefined)
    throw new BusError('PGC_FAILED', { detail: `${silent.code}: ${silent.text}` });
  const why = gathered.warnings.join(' ').slice(0, whyCharsMax);
  const text = why === '' ? message : `${message}. ${why}`;
  const errors = [{ code, text, retryable }];
  return outcome('failed', { reason: code, errors, result, gathered: own });
}

/** The symbol whose callers a text asks for; undefined: it asks for something else. */
export function calleeIn(text: string): string | undefined {
  if (!ofCallers.test(text)) return undefined;
  const found = named.exec(text)?.[1];
  return found?.replace(/[.]$/, '') ?? namesIn(text).symbols[0];
}

async function callersOf(
  task: DelegatedTask,
  name: string,
  known: CallersAnswer | undefined,
  given: Gathered | null,
  pgc: Pgc,
): Promise<Outcome> {
  const meant = known === undefined ? [name] : meantBy(task, name, known.definitions);
  const lists: string[] = [];
  const gathered = await measured(async () => {
    const citations: Citation[] = [];
    for (const each of meant.slice(0, placesNamed)) {
      const cite = Math.max(1, Math.floor(evidenceLimits.citations / meant.length));
      const found = await pgc.callers(each, cite);
      assertAllAsked(found);
      if (!isUnknown(found)) lists.push(listed(each, found));
      citations.push(...found.citations);
    }
    return {
      ...nothingGathered,
      queries: meant.slice(0, placesNamed).map((each) => `callers of ${each}`),
      overlays: [...ofGraph],
      citations: citations.map((each) => evidenceCitation(each, each.text)),
    };
  }, pgc);
  if (meant.length > placesNamed)
    lists.push(`${name} has ${count(meant.length - placesNamed, 'definition')} more.`);
  // Hints are grounded as well; the list answers the text itself, unless nothing is called.
  const isAll = gathered.citations.length > 0 && !hasHints(task);
  const hinted = given ?? (isAll ? nothingGathered : await groundInWords(task, pgc));
  const all = merged(gathered, given === null ? hinted : nothingGathered);
  const whole = within(
    [...lists, isAll ? '' : composed(hinted)].filter((each) => each !== ''),
    '\n\n',
  );
  const isMissing =
    isEvidenceRequired(task.grounding) && all.citations.length + hinted.citations.length === 0;
  if (whole === '' || isMissing) return notFound(merged(all, hinted), all, whole);
  return outcome('finished', { result: whole, gathered: all });
}

function hasHints({ grounding }: DelegatedTask): boolean {
  if (grounding === null) return false;
  const { query_hints, analysis_hints, algebra_expression, overlay_hints } = grounding;
  const others = overlay_hints.filter((each) => !ofGraph.includes(each));
  const hints = [...query_hints, ...analysis_hints, ...others];
  return hints.length > 0 || algebra_expression !== '';
}

/** One line for each call site; those that ignore the result first. */
function listed(name: string, found: CallersAnswer): string {
  const { definitions, callers, possible, possible_total } = found;
  const calls = callers.filter(({ kind }) => kind !== 'slot');
  const slots = callers.filter(({ kind }) => kind === 'slot');
  const ignoring = calls.filter(({ ignored }) => ignored);
  const looking = calls.filter(({ ignored }) => !ignored);
  const head = `${name} is called at ${count(calls.length, 'place')}; ${ignoring.length} of them ignore its result.`;
  const lines = [
    head,
    ...definitions
      .filter(({ declaration }) => !declaration)
      .slice(0, placesNamed)
      .map((each) => `Defined at ${each.file_path}:${each.line}.`),
    ...section('Result ignored', ignoring),
    ...section('Result used', looking),
    ...section('Stands in a structure of operations, and is called through it', slots),
    ...section('May be called as well, which nothing proves', possible, possible_total),
  ];
  return within(lines);
}

function section(title: string, sites: readonly CallSite[], total = sites.length): string[] {
  if (sites.length === 0) return [];
  return [
    `${title} (${total}):`,
    ...sites.map(
      ({ file_path, line, symbol }) => `- ${file_path}:${line} in ${symbol || 'the file itself'}`,
    ),
  ];
}

function within(lines: readonly string[], between = '\n'): string {
  const kept: string[] = [];
  let chars = 0;
  for (const line of lines) {
    chars += line.length + 1;
    if (chars > listCharsMax) {
      kept.push(`… and ${lines.length - kept.length} lines more; \`sigma callers\` lists all.`);
      break;
    }
    kept.push(line);
  }
  return kept.join(between);
}

function composed({ answers }: Gathered): string {
  return within(answers.filter((each) => each.trim() !== ''));
}

/** The paragraphs of its context, and of answers to it, that share a word with the task; empty: none. */
function fromContext({ task, context, clarifications }: DelegatedTask): string {
  const words = new Set((task.toLowerCase().match(/[\w$]{4,}/g) ?? []).map(String));
  const paragraphs = [...context.split(/\n\s*\n/), ...clarifications.map((each) => each.answer)];
  const about = paragraphs.filter((each) =>
    (each.toLowerCase().match(/[\w$]{4,}/g) ?? []).some((word) => words.has(word)),
  );
  return about.join('\n\n').trim();
}

function clearNames({ task }: DelegatedTask): string[] {
  return namesIn(task).symbols.slice(0, clearNamesMax);
}

/** The question about a symbol that is unknown; empty: it is known, was clarified, or is a plain word. */
function questionAbout(
  { task, clarifications }: DelegatedTask,
  name: string,
  found: CallersAnswer,
): string {
  if (clarifications.length > 0 || name.includes('#') || !isUnknown(found)) return '';
  return namesIn(task).symbols.includes(name) ? unknownNameQuestion(name) : '';
}

/** The name in the last clarification, for a name that is unknown. */
function symbolMeant(
  { clarifications }: DelegatedTask,
  name: string,
  found: CallersAnswer | undefined,
): string {
  const isKnown = found !== undefined && !isUnknown(found);
  const answered = clarifications.at(-1)?.answer.trim() ?? '';
  if (isKnown || answered === '') return name;
  return namesIn(answered).symbols[0] ?? (/^[\w$.#/-]+$/.test(answered) ? answered : name);
}

/** One definition of each file, without declarations. */
function realPlaces(definitions: readonly Definition[]): Definition[] {
  const real = definitions.filter(({ declaration }) => !declaration);
  return [...new Map(real.map((each) => [each.file_path, each])).values()];
}

/** The definitions that the text or an answer names by their files; all of them, each by its file, where none is named. */
function meantBy(
  { task, clarifications }: DelegatedTask,
  name: string,
  definitions: readonly Definition[],
): string[] {
  if (name.includes('#')) return [name];
  const said = [task, ...clarifications.map((each) => each.answer)].join('\n');
  const places = realPlaces(definitions);
  const told = places.filter(({ file_path }) => said.includes(file_path));
  const meant = told.length > 0 ? told : places;
  // A bare name finds callers of declarations alone, too.
  if (told.length === 0 && meant.length < 2) return [name];
  return meant.map(({ file_path, symbol }) => `${file_path}#${symbol}`);
}

const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`;
