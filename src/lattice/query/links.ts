import type { CodedError, Definition, Reference, ShardPort } from '../../pgc/shapes.js';
import type { Directory } from '../topology/directory.js';
import { FarDefinitions, type FarUse } from '../topology/far-definitions.js';
import type { LinkWeigher } from './link-weight.js';
import type { LinkOffer } from './hop-choice.js';

/** A reference that leaves one shard and the definition in another one that it means. */
export interface Link extends LinkOffer {
  reference: Reference;
  definition: Definition;
}

export interface Linker {
  ports: ReadonlyMap<string, ShardPort>;
  directory: Directory;
  weigher: LinkWeigher;
  signal?: AbortSignal | undefined;
}

/**
 * Checks the far end of an agent's references: asks the shards that should define each name; the definition must be visible to the calling file. Names without an owner are dropped: they lie outside the lattice. `followed`: the links that led to the agent.
 */
export async function linksOf(
  linker: Linker,
  agent: string,
  references: readonly Reference[],
  followed: readonly Link[] = [],
): Promise<{ links: Link[]; asked: string[]; errors: CodedError[] }> {
  const far = new FarDefinitions(linker.ports, linker.directory, linker.signal);
  const uses = references.flatMap((reference): [Reference, FarUse][] => {
    const { from_path, includes, lookup } = reference;
    return lookup === null ? [] : [[reference, { agent, path: from_path, includes, lookup }]];
  });
  await far.learn(uses.map(([, use]) => use));
  const links = uses.flatMap(([reference, use]): Link[] => {
    // What only declares a name, such as the method of an interface, leads nowhere.
    const targets = far.of(use).filter((each) => each.agent !== agent && !each.declaration);
    const [target] = targets;
    if (target === undefined) return [];
    const id = `${reference.from_path}:${reference.from_line}>${target.file_path}#${target.symbol}`;
    const isSure = alike(target, targets) === 1 || reference.certainty === 'dispatch';
    const link: Link = {
      id,
      agent: target.agent,
      from: agent,
      target: placeOf(target),
      ...linker.weigher.weigh(reference, target, alike(target, targets)),
      continues: followed.find((each) => startsAt(reference, each.definition))?.id ?? '',
      reference: isSure ? reference : { ...reference, certainty: 'possible' },
      definition: target,
      passes: [],
    };
    return [link];
  });
  return { links, asked: [...far.asked], errors: far.errors };
}

/**
 * The number of definitions that may be meant, for example one of each architecture. Definitions in another top folder are copies for tools and tests, and do not count.
 */
function alike(target: Definition, targets: readonly Definition[]): number {
  const topOf = ({ file_path }: Definition): string =>
    file_path.slice(0, file_path.indexOf('/') + 1);
  return targets.filter((each) => topOf(each) === topOf(target)).length;
}

export function placeOf({ file_path, line }: Definition): string {
  return `${file_path}:${line}`;
}

function startsAt({ chain: [first] }: Reference, target: Definition): boolean {
  return first?.file_path === target.file_path && first.line === target.line;
}
