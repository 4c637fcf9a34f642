import type { FlowEdge, Step, Via } from '../../pgc/shapes.js';
import { placeOf, type Link } from './links.js';

/** The calls of a link, each from the end of the one before; the last one enters the shard. */
export function edgesOf({ reference, definition, from }: Link): FlowEdge[] {
  const { chain, symbol, from_path, from_line } = reference;
  const inner = chain.slice(1).flatMap((step, at): FlowEdge[] => {
    const caller = chain[at];
    return caller === undefined
      ? []
      : [edge(caller, step.symbol, step, `${step.file_path}:${step.line}`)];
  });
  const last = chain.at(-1) ?? { symbol: reference.from_symbol, agent: from };
  const call = { call_site: `${from_path}:${from_line}`, certainty: reference.certainty };
  return [...inner, edge(last, symbol, call, placeOf(definition))];
}

function edge(
  { symbol, agent }: Pick<Step, 'symbol' | 'agent'>,
  to: string,
  { call_site: site, certainty: said }: Pick<Step, 'call_site' | 'certainty'>,
  definition: string,
): FlowEdge {
  const certainty = said === '' ? 'possible' : said;
  return { from: symbol, to, site, kind: 'call', certainty, agent, evidence: 0, definition };
}

/** How a link is told of a hop. */
export function viaOf({ reference, definition, from }: Link, relevance: number): Via {
  return {
    symbol: reference.symbol,
    from: `${reference.from_path}:${reference.from_line}`,
    to: placeOf(definition),
    // The last inline function on the way makes the call, in its own shard.
    from_agent: reference.chain.at(-1)?.agent ?? from,
    chain: reference.chain,
    relevance,
  };
}
