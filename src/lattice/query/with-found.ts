import { judged } from '../../pgc/answer/ask.js';
import { clearFrom } from '../../pgc/search/likelihood.js';
import type { Answer, CodedError, Evidence, FlowEdge } from '../../pgc/shapes.js';
import { placeOf } from '../ask.js';
import { merged } from '../fan-out.js';

/**
 * What a query found on its way, behind what the same ranking as of `ask` finds in all shards: the way alone rarely holds what it joins.
 * An agent that fails in either is told of.
 */
export function withFound(way: Answer, found: Answer): Answer {
  const failed = found.errors.filter(({ code }) => code !== 'NOT_FOUND');
  // What has changed may be what was asked for.
  const isBehind = failed.some(({ code }) => code === 'INDEX_BEHIND');
  const told = isBehind ? { ...way, errors: othersThanNone(way.errors) } : way;
  const overlay_warnings = [...new Set([...told.overlay_warnings, ...found.overlay_warnings])];
  const partial = way.partial || found.partial;
  if (found.evidence.length === 0) {
    const isNothing = failed.length === 0 && !told.partial && told.likelihood < clearFrom;
    const its = isNothing ? nothing(told) : told;
    const errors = merged(told.errors, isNothing ? found.errors : failed);
    return { ...its, overlay_warnings, errors, partial };
  }
  const ids = new Map<string, number>();
  const evidence: Evidence[] = [];
  const idsOf = (all: readonly Evidence[]): ReadonlyMap<number, number> =>
    new Map(
      all.map((each) => {
        const place = placeOf(each);
        const known = ids.get(place) ?? evidence.push({ ...each, id: evidence.length + 1 });
        ids.set(place, known);
        return [each.id, known];
      }),
    );
  const idOfFound = idsOf(found.evidence);
  const idOfTold = idsOf(told.evidence);
  const flow = joined(
    told.flow.map((edge) => ({ ...edge, evidence: idOfTold.get(edge.evidence) ?? 0 })),
    found.flow.map((edge) => ({ ...edge, evidence: idOfFound.get(edge.evidence) ?? 0 })),
  );
  return {
    ...told,
    ...judged(told.question, evidence, Math.max(told.likelihood, found.likelihood)),
    evidence,
    flow,
    ...{ unsure: found.unsure, next: found.next },
    hops: told.hops.map((hop) => ({
      ...hop,
      evidence: [...new Set(hop.evidence.flatMap((id) => idOfTold.get(id) ?? []))],
    })),
    overlay_warnings,
    // That no way was found does not mean that nothing was.
    errors: merged(othersThanNone(told.errors), failed),
    partial,
    metadata: {
      ...told.metadata,
      agents_asked: Math.max(told.metadata.agents_asked, found.metadata.agents_asked),
    },
  };
}

/** Without that no way was found. */
function othersThanNone(errors: readonly CodedError[]): CodedError[] {
  return errors.filter(({ code, agent }) => code !== 'NOT_FOUND' || agent !== '');
}

/**
 * Each call as the one tells it that knows more: what a query has checked at both ends, unless what was found names what is called, or
 * several of which each may be.
 */
function joined(told: readonly FlowEdge[], found: readonly FlowEdge[]): FlowEdge[] {
  const foundBy = new Map<string, FlowEdge[]>();
  for (const edge of found) foundBy.set(callOf(edge), [...(foundBy.get(callOf(edge)) ?? []), edge]);
  const isKept = (edge: FlowEdge): boolean => {
    const others = foundBy.get(callOf(edge)) ?? [];
    return others.length < 2 && (edge.definition !== '' || (others[0]?.definition ?? '') === '');
  };
  const kept = new Map(told.filter(isKept).map((edge) => [callOf(edge), edge]));
  return [...kept.values(), ...found.filter((edge) => !kept.has(callOf(edge)))];
}

function callOf({ from, to, site }: FlowEdge): string {
  return [from, to, site].join('\0');
}

/** A way begins where some words of the question stand: without anything that answers it leads nowhere. */
function nothing(told: Answer): Answer {
  const none = { evidence: [], flow: [], unsure: [], next: [], hops: [], query_path: [] };
  return { ...told, ...none, ...judged(told.question, []) };
}
