import { BusError } from '../../errors/bus-error.js';
import type { CallersAnswer, CallSite, Definition } from '../../pgc/shapes.js';
import { evidenceLimits, taskLimits, type DelegatedTask } from '../task/shapes.js';
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
/** Limit of the listed call sites; the rest is counted, and `sigma callers` lists all. */
const listCharsMax = taskLimits.resultChars - 4_000;

const ofCallers =
  /\b(?:callers?|call[- ]?sites?|calls? (?:to|of)|who calls|what calls|(?:is|are|where) .{0,60}\bcalled)\b/i;
const named =
  /\b(?:callers?|call[- ]?sites?|calls?)\s+(?:to|of|for)\s+(?:the\s+)?(?:function\s+|method\s+|macro\s+)?[`'"]?((?:[\w./-]+#)?[A-Za-z_$][\w$.]*)/i;

/**
 * Answers a task from the PGC alone, without a model: every sentence comes from the PGC, with its place. A question about the callers of a symbol gets every call site, and whether it ignores the result. `given`: gathered before. Throws PGC_FAILED, OVERLAYS_MISSING.
 */
export async function answer(
  task: DelegatedTask,
  given: Gathered | null,
  pgc: Pgc | null,
): Promise<Outcome> {
  if (pgc === null) return fromContext(task);
  const wanted = calleeIn(task.task);
  const known = new Map<string, CallersAnswer>();
  const looked = await measured(async () => {
    for (const name of wanted === undefined ? clearNames(task) : [wanted]) {
      const found = await pgc.callers(name, 0);
      // A shard that did not answer may know the name: then it is no question to a person.
      if (isUnknown(found)) assertAllAsked(found);
      known.set(name, found);
    }
    return nothingGathered;
  }, pgc);
  for (const [name, found] of known) {
    const question = questionAbout(task, name, found, wanted !== undefined);
    if (question !== '') return outcome('asked', { question, gathered: merged(looked) });
  }
  if (wanted !== undefined) {
    const subject = symbolMeant(task, wanted, known.get(wanted));
    const said = await callersOf(task, subject, known.get(subject), given, pgc);
    return { ...said, gathered: merged(looked, said.gathered ?? nothingGathered) };
  }
  // `given` and its cost are in the response already.
  if (given !== null) return outcome('finished', { result: composed(given), gathered: looked });
  const gathered = await ground(task, pgc);
  return outcome('finished', { result: composed(gathered), gathered: merged(looked, gathered) });
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
  const chosen = known === undefined ? name : chosenName(task, name, known.definitions);
  const queries = [`callers of ${chosen}`];
  let result = '';
  const gathered = await measured(async () => {
    const found = await pgc.callers(chosen, evidenceLimits.citations);
    assertAllAsked(found);
    result = listed(chosen, found);
    return {
      ...nothingGathered,
      queries,
      overlays: ['O1', 'O3'],
      citations: found.citations.map((each) => evidenceCitation(each, each.text)),
    };
  }, pgc);
  // Hints are grounded as well; the list answers the text itself.
  const hinted = hasHints(task) ? (given ?? (await ground(task, pgc))) : (given ?? nothingGathered);
  const besides = hasHints(task) && hinted.answers.length > 0 ? `\n\n${composed(hinted)}` : '';
  return outcome('finished', {
    result: result + besides,
    gathered: given === null ? merged(gathered, hinted) : gathered,
  });
}

function hasHints({ grounding }: DelegatedTask): boolean {
  if (grounding === null) return false;
  const { query_hints, analysis_hints, algebra_expression } = grounding;
  return query_hints.length + analysis_hints.length > 0 || algebra_expression !== '';
}

/** One line for each call site; those that ignore the result first. */
function listed(name: string, { definitions, callers }: CallersAnswer): string {
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
  ];
  return within(lines);
}

function section(title: string, sites: readonly CallSite[]): string[] {
  if (sites.length === 0) return [];
  return [
    `${title} (${sites.length}):`,
    ...sites.map(
      ({ file_path, line, symbol }) => `- ${file_path}:${line} in ${symbol || 'the file itself'}`,
    ),
  ];
}

function within(lines: readonly string[]): string {
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
  return kept.join('\n');
}

function composed({ answers }: Gathered): string {
  return within(answers.filter((each) => each.trim() !== ''));
}

/** Without a PGC the answer comes from the context of the task. */
function fromContext({ task, context, clarifications }: DelegatedTask): Outcome {
  const words = new Set((task.toLowerCase().match(/[\w$]{4,}/g) ?? []).map(String));
  const paragraphs = [...context.split(/\n\s*\n/), ...clarifications.map((each) => each.answer)];
  const about = paragraphs.filter((each) =>
    (each.toLowerCase().match(/[\w$]{4,}/g) ?? []).some((word) => words.has(word)),
  );
  const result = about.join('\n\n').trim();
  if (result !== '') return outcome('finished', { result });
  const { code, message: text, retryable } = new BusError('NOT_FOUND');
  return outcome('failed', { reason: code, errors: [{ code, text, retryable }] });
}

function clearNames({ task }: DelegatedTask): string[] {
  return namesIn(task).symbols.slice(0, clearNamesMax);
}

/** The question about a name that is unknown or defined in several files; empty: it is clear, or was clarified. */
function questionAbout(
  task: DelegatedTask,
  name: string,
  found: CallersAnswer,
  isSubject: boolean,
): string {
  if (task.clarifications.length > 0 || name.includes('#')) return '';
  const { definitions } = found;
  if (isUnknown(found)) return unknownNameQuestion(name);
  if (!isSubject) return '';
  const places = realPlaces(definitions);
  if (places.length < 2 || places.some(({ file_path }) => task.task.includes(file_path))) return '';
  const shown = places.slice(0, placesNamed).map((each) => `${each.file_path}#${each.symbol}`);
  const more = places.length > placesNamed ? ` and ${places.length - placesNamed} more` : '';
  return `${name} is defined in ${places.length} files: ${shown.join(', ')}${more}. Which one is meant? Answer with one of them, or "all".`;
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

/** The definition that the text or an answer names by its file; the bare name where none is named. */
function chosenName(
  { task, clarifications }: DelegatedTask,
  name: string,
  definitions: readonly Definition[],
): string {
  if (name.includes('#')) return name;
  const said = [task, ...clarifications.map((each) => each.answer)].join('\n');
  const places = realPlaces(definitions).filter(({ file_path }) => said.includes(file_path));
  const [only] = places;
  return places.length === 1 && only !== undefined ? `${only.file_path}#${only.symbol}` : name;
}

const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`;
