import { BusError } from '../errors/bus-error.js';
import { clausesMax, nextMax } from '../pgc/answer/ask.js';
import { excerptLinesMax, lineCharsMax } from '../pgc/answer/deciding.js';
import { sourceLinesMax, sourcesMax } from '../pgc/answer/sources.js';
import {
  citationsMax,
  contentMax,
  type Answer,
  type Evidence,
  type HopAnswer,
  type SeekAnswer,
  type SourceText,
  type WordCounts,
} from '../pgc/shapes.js';

/** More than any shard of ours ever sends in one answer. */
const hopEvidenceMax = 64;
const hopReferencesMax = 64;
const flowMax = 128;
const unsureMax = 64;

/** A question is the longest text: it is told back as it was asked. */
const textCharsMax = 100_000;
/** Of one piece of evidence: a place, a name, a sentence about it. */
const evidenceCharsMax = 16_384;
/** Of a list in an answer: the files that one file includes are the longest. */
const listMax = 2_048;
/** Of all texts of an answer together. */
const answerCharsMax = 4 * 1024 * 1024;
/** Call sites of one name, or definitions, in one shard; and all their texts. */
const rowsMax = 262_144;
const rowsCharsMax = 256 * 1024 * 1024;

/** Whether an answer of another process is whole, keeps the limits, and refers to nothing that it does not hold. */
export function isSaneAnswer(answer: Answer): boolean {
  const { clauses, unsure, next, hops } = answer;
  // Absent messages decode as null, against their types.
  const parts: unknown[] = [answer.metadata, answer.query_intent];
  return (
    parts.every((part) => part !== null) &&
    isSane(answer, citationsMax) &&
    clauses.length <= clausesMax &&
    clauses.every((each) => each.evidence.every((id) => id <= answer.evidence.length)) &&
    unsure.length <= unsureMax &&
    next.length <= nextMax &&
    isShare(answer.likelihood) &&
    hops.length === 0
  );
}

export function insane(agent: string): BusError {
  return new BusError('AGENT_FAILED', { agent, detail: 'its answer breaks the limits' });
}

/** Whether rows of another process, such as call sites, keep the limits of their texts and lists. */
export function isSaneRows(rows: readonly object[]): boolean {
  const limits = { text: evidenceCharsMax, list: rowsMax, whole: rowsCharsMax };
  return isBounded([rows], limits);
}

export function isSaneCounts({ having, lengths }: WordCounts): boolean {
  const isCount = (each: number): boolean => each >= 0 && each < Infinity;
  return [having, lengths].every((all) => all.length <= listMax && all.every(isCount));
}

export function isSaneSeek(answer: SeekAnswer): boolean {
  const limits = { text: textCharsMax, list: listMax, whole: answerCharsMax };
  return (
    isBounded([answer], limits) &&
    answer.similarities.length <= citationsMax &&
    answer.similarities.every(isShare)
  );
}

export function isSaneHop(answer: HopAnswer): boolean {
  const { references, likelihood } = answer;
  return (
    isSane(answer, hopEvidenceMax) && references.length <= hopReferencesMax && isShare(likelihood)
  );
}

/** Definitions with their lines. */
export function areSaneSources(sources: readonly SourceText[]): boolean {
  const limits = { text: evidenceCharsMax, list: sourceLinesMax, whole: answerCharsMax };
  return (
    sources.length <= sourcesMax &&
    isBounded([...sources], limits) &&
    // An absent message decodes as null, against its type.
    sources.every(
      ({ definition, lines }) =>
        (definition as unknown) !== null && lines.every(({ text }) => text.length <= lineCharsMax),
    )
  );
}

/** What is no number is none. */
function isShare(value: number): boolean {
  return value >= 0 && value <= 1;
}

function isSane(its: Pick<HopAnswer, 'evidence' | 'flow'>, most: number): boolean {
  const { evidence, flow } = its;
  return (
    isBounded([its], { text: textCharsMax, list: listMax, whole: answerCharsMax }) &&
    evidence.length <= most &&
    evidence.every((each, at) => each.id === at + 1 && isShort(each)) &&
    flow.length <= flowMax &&
    flow.every((edge) => edge.evidence <= evidence.length)
  );
}

function isShort(evidence: Evidence): boolean {
  const { excerpt, content } = evidence;
  const limits = { text: evidenceCharsMax, list: listMax, whole: evidenceCharsMax };
  return (
    content.length <= contentMax &&
    isBounded([evidence], limits) &&
    excerpt.length <= excerptLinesMax &&
    excerpt.every(({ text }) => text.length <= lineCharsMax)
  );
}

/** Every text and list in these values, however deep, and all texts together. */
function isBounded(
  left: unknown[],
  limits: { text: number; list: number; whole: number },
): boolean {
  let chars = 0;
  while (left.length > 0) {
    const value = left.pop();
    if (typeof value === 'string') {
      chars += value.length;
      if (value.length > limits.text || chars > limits.whole) return false;
    } else if (Array.isArray(value)) {
      if (value.length > limits.list) return false;
      for (const each of value as unknown[]) left.push(each);
    } else if (typeof value === 'object' && value !== null)
      for (const [name, each] of Object.entries(value)) left.push(name, each);
  }
  return true;
}
