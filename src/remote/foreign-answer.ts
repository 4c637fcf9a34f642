import { BusError } from '../errors/bus-error.js';
import { clausesMax, nextMax } from '../pgc/answer/ask.js';
import { excerptLinesMax, lineCharsMax } from '../pgc/answer/deciding.js';
import { citationsMax, type Answer, type Evidence, type HopAnswer } from '../pgc/shapes.js';

/** More than any shard of ours ever sends in one answer. */
const hopEvidenceMax = 64;
const hopReferencesMax = 64;
const flowMax = 128;
const unsureMax = 64;

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
    hops.length === 0
  );
}

export function insane(agent: string): BusError {
  return new BusError('AGENT_FAILED', { agent, detail: 'its answer breaks the limits' });
}

export function isSaneHop(answer: HopAnswer): boolean {
  return isSane(answer, hopEvidenceMax) && answer.references.length <= hopReferencesMax;
}

function isSane({ evidence, flow }: Pick<HopAnswer, 'evidence' | 'flow'>, most: number): boolean {
  return (
    evidence.length <= most &&
    evidence.every((each, at) => each.id === at + 1 && isShort(each)) &&
    flow.length <= flowMax &&
    flow.every((edge) => edge.evidence <= evidence.length)
  );
}

function isShort({ excerpt }: Evidence): boolean {
  return (
    excerpt.length <= excerptLinesMax && excerpt.every(({ text }) => text.length <= lineCharsMax)
  );
}
