import { judged } from '../../pgc/answer/ask.js';
import { clearFrom } from '../../pgc/search/likelihood.js';
import type { Answer, Evidence, FlowEdge } from '../../pgc/shapes.js';
import { placeOf } from '../ask.js';
import { merged } from '../fan-out.js';

/**
 * What a query found on its way, behind what the same ranking as of `ask` finds in all shards: the way alone rarely holds what it joins.
 * An agent that fails in either is told of.
 */
export function withFound(told: Answer, found: Answer): Answer {
  const failed = found.errors.filter(({ code }) => code !== 'NOT_FOUND');
  const partial = told.partial || found.partial;
  if (found.evidence.length === 0) {
    const isNothing = failed.length === 0 && !told.partial && told.likelihood < clearFrom;
    const its = isNothing ? nothing(told) : told;
    return { ...its, errors: merged(told.errors, isNothing ? found.errors : failed), partial };
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
  const flow = new Map<string, FlowEdge>();
  // What a query has checked at both ends says more of a call than one shard can.
  const edges = [
    ...told.flow.map((edge) => ({ ...edge, evidence: idOfTold.get(edge.evidence) ?? 0 })),
    ...found.flow.map((edge) => ({ ...edge, evidence: idOfFound.get(edge.evidence) ?? 0 })),
  ];
  for (const edge of edges) {
    const call = [edge.from, edge.to, edge.site].join('\0');
    if (!flow.has(call)) flow.set(call, edge);
  }
  return {
    ...told,
    ...judged(told.question, evidence, Math.max(told.likelihood, found.likelihood)),
    evidence,
    flow: [...flow.values()],
    ...{ unsure: found.unsure, next: found.next },
    hops: told.hops.map((hop) => ({
      ...hop,
      evidence: [...new Set(hop.evidence.flatMap((id) => idOfTold.get(id) ?? []))],
    })),
    // That no way was found does not mean that nothing was.
    errors: merged(
      told.errors.filter(({ code, agent }) => code !== 'NOT_FOUND' || agent !== ''),
      failed,
    ),
    partial,
    metadata: {
      ...told.metadata,
      agents_asked: Math.max(told.metadata.agents_asked, found.metadata.agents_asked),
    },
  };
}

/** A way begins where some words of the question stand: without anything that answers it leads nowhere. */
function nothing(told: Answer): Answer {
  const none = { evidence: [], flow: [], unsure: [], next: [], hops: [], query_path: [] };
  return { ...told, ...none, ...judged(told.question, []) };
}
