import { isHeader } from '../../pgc/bind/c-visibility.js';
import { BusError } from '../../errors/bus-error.js';
import type { CodedError } from '../../pgc/shapes.js';
import { failureOf, orAborted } from '../fan-out.js';
import { linksOf, placeOf, type Link, type Linker } from './links.js';
import { relevanceFloor } from './hop-choice.js';
import { inherited } from './query.machine.js';

/** Limit of inline functions that are followed at once, the most relevant first. */
const inlinesMax = 8;
/** Levels of headers behind headers. */
const layersMax = 2;
const referencesOfInlines = 8;
/** Share that a link to an inline function keeps when its calls are linked themselves. */
const inlineShare = 0.5;

export interface HeaderLinks {
  links: Link[];
  asked: string[];
  errors: CodedError[];
}

/**
 * Adds the links behind inline functions and macros of headers. Headers are in shards of their own, and a visit to each would use up the hops of a question; their calls are reached in the same hop and checked like any other. A header that cannot be asked is in `errors`.
 */
export async function linksThroughHeaders(
  linker: Linker,
  question: string,
  agent: string,
  found: readonly Link[],
): Promise<HeaderLinks> {
  const links = new Map(found.map((link) => [link.id, link]));
  const asked = new Set<string>();
  const errors: CodedError[] = [];
  let layer = found;
  for (let depth = 0; depth < layersMax; depth += 1) {
    const inlines = layer.filter(isInline).sort(byRelevance).slice(0, inlinesMax);
    const byAgent = new Map<string, Link[]>();
    for (const link of inlines) byAgent.set(link.agent, [...(byAgent.get(link.agent) ?? []), link]);
    const further = await Promise.all(
      [...byAgent].map(([header, through]) => linksBeyond(linker, question, header, through)),
    );
    for (const header of byAgent.keys()) asked.add(header);
    for (const each of further.flatMap((one) => one.asked)) asked.add(each);
    errors.push(...further.flatMap((one) => one.errors));
    layer = further.flatMap((one) => one.links).filter((link) => link.agent !== agent);
    for (const link of layer) {
      const known = links.get(link.id);
      if (known === undefined || known.relevance < link.relevance) links.set(link.id, link);
    }
    for (const { id } of inlines) {
      const passed = links.get(id);
      const leadsOn = layer.some((link) => link.passes.includes(id));
      if (passed !== undefined && leadsOn)
        links.set(id, { ...passed, relevance: passed.relevance * inlineShare });
    }
  }
  return { links: [...links.values()], asked: [...asked], errors };
}

/** What the targets of some links call outside their header's shard. */
async function linksBeyond(
  linker: Linker,
  question: string,
  header: string,
  through: readonly Link[],
): Promise<HeaderLinks> {
  const symbols = [...new Set(through.map(({ definition }) => placeOf(definition)))];
  const request = { question, symbols, top_k: 1, references_max: referencesOfInlines };
  try {
    const port = linker.ports.get(header);
    if (port === undefined) throw new BusError('AGENT_OFFLINE', { agent: header });
    const { references } = await orAborted(port.hop(request, linker.signal), linker.signal);
    const { links, asked, errors } = await linksOf(linker, header, references, through);
    const carried = inherited(links, through);
    return { links: carried.flatMap((link) => joined(link, through)), asked, errors };
  } catch (error) {
    // The link to the header stays; the links behind it are missing.
    return { links: [], asked: [], errors: [failureOf(header, error)] };
  }
}

/** As one link, from where the first began. */
function joined(link: Link, through: readonly Link[]): Link[] {
  const first = through.find((each) => each.id === link.continues);
  if (first === undefined) return [];
  const chain = [...first.reference.chain, ...withCall(link, first)];
  return [
    {
      ...link,
      id: `${first.id} ${link.id}`,
      from: first.from,
      continues: first.continues,
      covers: [...new Set([...first.covers, ...link.covers])],
      passes: [...first.passes, first.id],
      relevance: link.relevance * first.reference.strength,
      reference: { ...link.reference, chain },
    },
  ];
}

/** The steps inside the header; the first of them is called where the link to it says. */
function withCall({ reference }: Link, first: Link): Link['reference']['chain'] {
  const { from_path, from_line, certainty } = first.reference;
  const call_site = `${from_path}:${from_line}`;
  return reference.chain.map((step, at) => (at === 0 ? { ...step, call_site, certainty } : step));
}

function isInline({ definition, relevance }: Link): boolean {
  return relevance >= relevanceFloor && isHeader(definition.file_path);
}

function byRelevance(one: Link, other: Link): number {
  return other.relevance - one.relevance || (one.id < other.id ? -1 : 1);
}
