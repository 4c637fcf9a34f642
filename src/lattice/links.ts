import type { CodedError, Definition, Reference, ShardPort } from '../pgc/shapes.js';
import { fanOut } from './asking.js';
import type { LinkOffer } from './query.machine.js';
import { visibleDefinitions } from './visibility.js';

/** A reference that leaves one shard and the definition in another one that it means. */
export interface Link extends LinkOffer {
  from_agent: string;
  reference: Reference;
  target: Definition;
}

/** Shards that are asked for one name; a name that more of them define says nothing. */
const ownersAskedMax = 6;

export interface Linker {
  ports: ReadonlyMap<string, ShardPort>;
  /** Agents that define a name for others. */
  owners: ReadonlyMap<string, readonly string[]>;
  signal?: AbortSignal | undefined;
}

/**
 * Checks the far end of references: the shard that should define the name is asked, and the definition
 * must be visible to the calling file. What nobody defines is dropped: it lies outside the lattice.
 */
export async function linksOf(
  linker: Linker,
  agent: string,
  references: readonly Reference[],
): Promise<{ links: Link[]; asked: string[]; errors: CodedError[] }> {
  const wanted = new Map<string, Set<string>>();
  for (const { symbol } of references) {
    const owners = (linker.owners.get(symbol) ?? []).filter((each) => each !== agent);
    if (owners.length > ownersAskedMax) continue;
    for (const owner of owners) wanted.set(owner, (wanted.get(owner) ?? new Set()).add(symbol));
  }
  const ports = [...wanted.keys()].flatMap((each) => linker.ports.get(each) ?? []);
  const { answers, errors } = await fanOut(ports, linker.signal, (port) =>
    port.definitions([...(wanted.get(port.agent) ?? [])]),
  );
  const byName = new Map<string, Definition[]>();
  for (const each of answers.flat())
    byName.set(each.symbol, [...(byName.get(each.symbol) ?? []), each]);
  const links = references.flatMap((reference): Link[] => {
    const use = { path: reference.from_path, includes: reference.includes };
    const target = visibleDefinitions(use, byName.get(reference.symbol) ?? [])[0];
    if (target === undefined) return [];
    const id = `${reference.from_path}:${reference.from_line}>${target.file_path}#${target.symbol}`;
    return [
      {
        id,
        agent: target.agent,
        relevance: reference.relevance,
        from_agent: agent,
        reference,
        target,
      },
    ];
  });
  return { links, asked: ports.map((port) => port.agent), errors };
}
