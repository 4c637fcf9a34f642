import { BusError } from '../../errors/bus-error.js';
import type { Answer, CodedError, Evidence } from '../../pgc/shapes.js';
import { evidenceLine, leftOutLine } from '../../pgc/answer/evidence-line.js';
import {
  evidenceCitation,
  nothingGathered,
  unique,
  type Gathered,
  type Insight,
  type MissingOverlays,
  type Pgc,
} from './gathered.js';

/** Errors of a shard about an overlay that a new build may correct. */
const rebuildable = new Set([
  'OVERLAY_MISSING',
  'OVERLAY_FAILED',
  'OVERLAY_BUILDING',
  // Its file is damaged or missing.
  'INDEX_CORRUPT',
]);

interface QueryResult {
  query: string;
  /** The overlays named in the query; none: all that are ready. */
  overlays: readonly string[];
  answer: Answer;
}

/** One query as evidence. Throws what `pgc.ask` throws. */
export async function askOne(
  pgc: Pgc,
  query: string,
  overlays: readonly string[],
): Promise<Gathered> {
  return gatheredFrom(await ask(pgc, query, overlays));
}

/**
 * Queries over the overlays that a task hints at. The answers of the shards decide whether an overlay is there, not the registry. Missing overlays are built and their queries asked again; O1 replaces those that cannot be built. Throws what `pgc.ask` throws, and OVERLAYS_MISSING when none of them is there and evidence is required.
 */
export async function consult(
  queries: readonly string[],
  hinted: readonly string[],
  { isEvidenceRequired }: { isEvidenceRequired: boolean },
  pgc: Pgc,
): Promise<Gathered[]> {
  let all = await Promise.all(queries.map((query) => ask(pgc, query, hinted)));
  const lack = missingIn(all);
  if (lack.overlays.length === 0) return all.map(gatheredFrom);
  const hindrances = await pgc.generate(lack, async () => {
    all = await askAgain(all, hinted, pgc);
    return all.every(isWhole);
  });
  const still = missingIn(all).overlays;
  if (still.length === 0) return all.map(gatheredFrom);
  if (isEvidenceRequired && hinted.every((each) => !isAnywhere(each, all)))
    throw new BusError('OVERLAYS_MISSING', { overlays: hinted.join(', ') });
  all = await askAgain(all, unique([...hinted, 'O1']), pgc);
  const why = hindrances.length === 0 ? 'it is not made yet' : hindrances.join('; ');
  return all.map((each) => withFallback(each, still, why));
}

async function ask(pgc: Pgc, query: string, overlays: readonly string[]): Promise<QueryResult> {
  return { query, overlays, answer: await pgc.ask(query, overlays) };
}

/** Repeats the queries that lacked an overlay. */
function askAgain(
  all: readonly QueryResult[],
  overlays: readonly string[],
  pgc: Pgc,
): Promise<QueryResult[]> {
  return Promise.all(
    all.map(async (each) => (isWhole(each) ? each : ask(pgc, each.query, overlays))),
  );
}

/** Overlays that could not be consulted, and the agents that lack them. */
function missingIn(all: readonly QueryResult[]): MissingOverlays {
  return {
    overlays: unique(all.flatMap(leftOut)),
    agents: unique(all.flatMap((each) => gapsOf(each).map(({ agent }) => agent))),
  };
}

function isWhole(each: QueryResult): boolean {
  return leftOut(each).length === 0;
}

function leftOut(each: QueryResult): string[] {
  if (gapsOf(each).length === 0) return [];
  return each.overlays.filter((name) => isLeftOut(each.answer, name));
}

function gapsOf({ answer }: QueryResult): CodedError[] {
  return answer.errors.filter(({ code }) => rebuildable.has(code));
}

/** Whether any shard has the overlay: fewer shards lack one than were asked, or it is cited. */
function isAnywhere(name: string, all: readonly QueryResult[]): boolean {
  return all.some((each) => {
    const { answer } = each;
    const lacking = new Set(gapsOf(each).map(({ agent }) => agent));
    return (
      !isLeftOut(answer, name) ||
      lacking.size < answer.metadata.agents_asked ||
      answer.evidence.some(({ overlay }) => overlay === name)
    );
  });
}

function isLeftOut({ left_out }: Answer, name: string): boolean {
  return left_out.some(({ overlay }) => overlay === name);
}

/** One warning for all shards that lack an overlay; the errors name each shard. */
function withFallback(each: QueryResult, missing: readonly string[], why: string): Gathered {
  const left_out = each.answer.left_out.filter(({ overlay }) => !missing.includes(overlay));
  return {
    ...gatheredFrom(each),
    warnings: [
      ...missing.map((name) => `${name} is missing (${why}); O1 was consulted instead.`),
      ...warningsOf({ ...each.answer, left_out }),
    ],
  };
}

function gatheredFrom({ query, overlays, answer }: QueryResult): Gathered {
  return {
    ...nothingGathered,
    queries: [query],
    overlays: consulted(answer, overlays),
    insights: answer.evidence.map((source): Insight => ({
      overlay: source.overlay,
      place: `${source.file_path}:${source.line_start}`,
      text: source.text,
    })),
    citations: answer.evidence.map((source) => evidenceCitation(source, query)),
    answers: [...headOf(answer), ...answer.evidence.map(evidenceLine), ...tailOf(answer)],
    warnings: warningsOf(answer),
    doubts: doubtsOf(answer),
    errors: answer.errors.map(({ code, text, retryable }) => ({ code, text, retryable })),
    isClear: answer.evidence.length > 0 && doubtsOf(answer).length === 0,
  };
}

function warningsOf(answer: Answer): string[] {
  const { left_out, overlay_warnings } = answer;
  return [...left_out.map(leftOutLine), ...overlay_warnings];
}

/** That it may be about something else. */
function doubtsOf({ unsure }: Answer): string[] {
  return unsure.filter(({ kind }) => kind === 'weak').map(({ text }) => text);
}

/** What the list of places is: that they are near to the words of a question does not make them what it asks for. */
function headOf(answer: Answer): string[] {
  if (answer.evidence.length === 0) return [];
  const [doubt] = doubtsOf(answer);
  if (doubt !== undefined) return [`${doubt.charAt(0).toUpperCase()}${doubt.slice(1)}:`];
  return answer.evidence.some(isOfGraph) ? [] : ['Nearest to the words of the question:'];
}

/** What is not shown, and which command shows it. */
function tailOf({ unsure, next }: Answer): string[] {
  const [first] = next;
  const symbol = (first?.arguments as { symbol?: string } | undefined)?.symbol;
  const how =
    first === undefined || symbol === undefined ? '' : `: \`sigma ${first.operation} ${symbol}\``;
  const left = unsure.filter(({ kind }) => kind === 'sites').map(({ text }) => text);
  return left.map((text, at) => `Not shown: ${text}${at === left.length - 1 ? how : ''}`);
}

function isOfGraph({ kind, why }: Evidence): boolean {
  return (
    ['call', 'slot', 'message'].includes(kind) || why.some((each) => /^implements /.test(each))
  );
}

/** The overlays behind an answer: the named ones without those left out, and the cited ones. */
function consulted(answer: Answer, named: readonly string[]): string[] {
  const cited = answer.evidence.map(({ overlay }) => overlay);
  // Without names all overlays are asked, O1 always.
  const wanted = named.length === 0 ? ['O1'] : named;
  return unique([...cited, ...wanted.filter((name) => !isLeftOut(answer, name))]);
}
