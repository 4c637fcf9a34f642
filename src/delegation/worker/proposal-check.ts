import { Semaphore } from '../../base/semaphore.js';
import {
  assertAllAsked,
  evidenceCitation,
  isUnknown,
  merged,
  nothingGathered,
  type Gathered,
  type Pgc,
} from '../grounding/gathered.js';
import { BusError } from '../../errors/bus-error.js';
import { askOne } from '../grounding/overlay-queries.js';
import { ground, measured } from '../grounding/grounding.js';
import { namesIn, namesMax } from '../grounding/names.js';
import type { Outcome } from './runner-outcome.js';
import { strategyInForce } from './task-response.js';
import type { DelegatedTask, EvidenceCitation } from '../task/shapes.js';

/** A name in a proposal that the index does not know. */
export interface Conflict {
  name: string;
  why: string;
}

export interface CheckedProposal {
  gathered: Gathered;
  conflicts: Conflict[];
  /** Number of names that were looked up. */
  names: number;
  /** Of what it names itself. */
  named: EvidenceCitation[];
}

/** Call sites cited for one name. */
const citedPerName = 2;
/** Concurrent lookups: each name is sent to every shard. */
const lookedUpAtOnce = 4;
/** Sentences of a result that are searched for citations. */
const sentencesMax = 4;
const sentenceChars = { min: 20, max: 400 } as const;

/**
 * Looks up every symbol and path that a proposal names, and runs the grounding of the task. Names from the task itself are not conflicts of the proposal. Throws PGC_FAILED.
 */
export async function checkProposal(
  task: DelegatedTask,
  proposal: string,
  pgc: Pgc,
): Promise<CheckedProposal> {
  const conflicts: Conflict[] = [];
  const { symbols, paths, isCut } = namesIn(proposal);
  const gathered = await measured(async () => {
    const turns = new Semaphore({
      atOnce: lookedUpAtOnce,
      waitingMax: 2 * namesMax,
      refusal: (limit) => new BusError('BROKER_BUSY', { limit }),
    });
    const looked = await Promise.all([
      ...symbols.map((name) => turns.run(() => lookUpSymbol(name, pgc, conflicts))),
      ...paths.map((name) => turns.run(() => lookUpPath(name, pgc, conflicts))),
    ]);
    const cut = isCut
      ? [{ ...nothingGathered, warnings: ['Only the first names of the proposal were looked up.'] }]
      : [];
    return merged(...looked, ...cut);
  }, pgc);
  const hinted = await ground(task, pgc);
  const given = namesIn(task.task);
  const isClaim = ({ name }: Conflict): boolean =>
    !given.symbols.includes(name) && !given.paths.includes(name);
  const order = (each: Conflict): number => [...symbols, ...paths].indexOf(each.name);
  return {
    gathered: merged(gathered, hinted),
    conflicts: conflicts.filter(isClaim).sort((one, other) => order(one) - order(other)),
    names: symbols.length + paths.length,
    named: gathered.citations,
  };
}

/** Finds citations for a finished result: its names, its first sentences, and the grounding of the task. */
async function citeResult(task: DelegatedTask, result: string, pgc: Pgc): Promise<CheckedProposal> {
  const checked = await checkProposal(task, result, pgc);
  const stated = await measured(
    async () =>
      merged(...(await Promise.all(sentencesOf(result).map((each) => askOne(pgc, each, []))))),
    pgc,
  );
  return { ...checked, gathered: merged(checked.gathered, stated) };
}

/** A result as its strategy has it verified. Of words of its own only what they name is evidence: that the question can be answered shows nothing of them. Throws PGC_FAILED. */
export async function verified(
  task: DelegatedTask,
  { result, isOwnWords }: Pick<Outcome, 'result' | 'isOwnWords'>,
  pgc: Pgc,
): Promise<CheckedProposal> {
  const check = strategyInForce(task) === 'pgc_cite' ? citeResult : checkProposal;
  const found = await check(task, result, pgc);
  return isOwnWords ? { ...found, gathered: { ...found.gathered, citations: found.named } } : found;
}

async function lookUpSymbol(name: string, pgc: Pgc, conflicts: Conflict[]): Promise<Gathered> {
  const found = await pgc.callers(name, citedPerName);
  const { definitions, callers, citations } = found;
  if (isUnknown(found)) {
    // A shard that did not answer may define it.
    assertAllAsked(found);
    conflicts.push({ name, why: 'no such symbol is defined or called' });
  }
  return {
    ...nothingGathered,
    queries: [`definitions and callers of ${name}`],
    overlays: ['O1', 'O3'],
    insights: definitions.slice(0, citedPerName).map((each) => ({
      overlay: 'O1',
      place: `${each.file_path}:${each.line}`,
      text: `${each.signature || `${each.kind} ${each.symbol}`}, called ${callers.length} times`,
    })),
    citations: citations.map((each) => evidenceCitation(each, `${name} is called here`)),
  };
}

async function lookUpPath(name: string, pgc: Pgc, conflicts: Conflict[]): Promise<Gathered> {
  const bare = name.replace(/^\.?\//, '');
  const isThere =
    (await pgc.algebra(`O1[path="**/${bare}"] | O1[path="${bare}"]`, 1)).count > 0 ||
    (await pgc.ask(bare, ['O1'])).evidence.some(({ file_path }) =>
      `/${file_path}`.endsWith(`/${bare}`),
    );
  if (!isThere) conflicts.push({ name, why: 'there is no such file' });
  return { ...nothingGathered, queries: [`file ${bare}`], overlays: ['O1'] };
}

/** Sentences as queries: without list marks, and long enough. */
function sentencesOf(result: string): string[] {
  return result
    .split(/\n+|(?<=[.!?])\s+(?=[A-Z`])/)
    .map((each) => each.replace(/^[\s>*#-]+/, '').trim())
    .filter(({ length }) => length >= sentenceChars.min)
    .map((each) => each.slice(0, sentenceChars.max))
    .slice(0, sentencesMax);
}
