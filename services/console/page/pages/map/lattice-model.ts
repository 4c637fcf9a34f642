import type { TopologyAnswer } from '../../../../../src/pgc/shapes.js';

/** A shard as it is drawn and listed. */
export interface Shard {
  agent: string;
  files: number;
  lines: number;
  /** Part of the tree it belongs to: the first folder in which the shards differ. */
  group: string;
  /** Online, stale or offline; empty: not known. */
  state: string;
  scope: string[];
}

export interface Link {
  from: string;
  to: string;
  references: number;
  symbols: string[];
}

export interface Model {
  shards: Shard[];
  /** The strongest first. */
  links: Link[];
  /** The largest first. */
  groups: string[];
  isTruncated: boolean;
}

export interface Known {
  id: string;
  alias: string;
  scope: string[];
  state: string;
}

/** Colours of style.css; more groups than these share the last one. */
export const coloursMax = 8;

export function modelOf(topology: TopologyAnswer, agents: readonly Known[]): Model {
  const known = new Map(agents.flatMap((each) => [[each.alias, each] as const, [each.id, each]]));
  const sizes = new Map(topology.nodes.map((node) => [node.agent, node]));
  const scopes = topology.shards.map((agent) => known.get(agent)?.scope ?? []);
  const groups = groupsOf(scopes);
  const shards = topology.shards.map((agent, at) => ({
    agent,
    files: sizes.get(agent)?.files ?? 0,
    lines: sizes.get(agent)?.lines ?? 0,
    group: groups[at] || (scopes[at]?.includes('.') === true ? 'root' : aliasGroup(agent)),
    state: known.get(agent)?.state ?? '',
    scope: scopes[at] ?? [],
  }));
  const weights = new Map<string, number>();
  for (const { group, lines } of shards) weights.set(group, (weights.get(group) ?? 0) + lines + 1);
  return {
    shards: shards.toSorted((one, other) => other.lines - one.lines),
    links: topology.edges.toSorted((one, other) => other.references - one.references),
    groups: [...weights].sort((one, other) => other[1] - one[1]).map(([group]) => group),
    isTruncated: topology.truncated,
  };
}

/** Of each shard the first folder in which the shards differ; empty where its scope says nothing. */
function groupsOf(scopes: readonly (readonly string[])[]): string[] {
  const paths = scopes.map(([first = '']) =>
    first.split('/').filter((part) => part !== '' && part !== '.'),
  );
  const known = paths.filter((parts) => parts.length > 0);
  const [first = []] = known;
  let depth = 0;
  while (depth < first.length && known.every((parts) => parts[depth] === first[depth])) depth += 1;
  return paths.map((parts) => parts[depth] ?? parts.at(-1) ?? '');
}

function aliasGroup(alias: string): string {
  return alias.split(/[-_.:/]/)[0] ?? alias;
}

export function colourOf(model: Model, group: string): number {
  return Math.min(model.groups.indexOf(group), coloursMax - 1);
}

/** So many links that a drawing can be read: the strongest of all, and of each shard its strongest. */
export function drawnLinks({ shards, links }: Model, least: number): Link[] {
  const most = linksPerShard * shards.length;
  const strongest = new Set<Link>();
  const connected = new Set<string>();
  for (const link of links) {
    if (link.references < least) break;
    const isFirst = !connected.has(link.from) || !connected.has(link.to);
    if (strongest.size >= most && !isFirst) continue;
    strongest.add(link);
    connected.add(link.from).add(link.to);
  }
  return [...strongest];
}

const linksPerShard = 4;

/** A link as it is drawn. */
export interface Line {
  id: string;
  from: string;
  to: string;
  width: number;
}

/** What stands out in a drawing, by their ids; what is not near steps back. */
export interface Stress {
  shards: ReadonlySet<string>;
  links: ReadonlySet<string>;
  near: ReadonlySet<string>;
  /** Links of a way that the drawing leaves out. */
  added: readonly Line[];
}

/** What is shown among the drawn links: shards, or a way of `steps` from one shard to another. */
export interface Shown {
  shards: readonly string[];
  steps?: readonly (readonly [from: string, to: string])[];
}

const addedWidth = 2;

export function lineId(from: string, to: string): string {
  return `${from}\n${to}`;
}

/** One shard stands out with its links and those at their other ends; several alone; a way with its links. */
export function stressOf(lines: readonly Line[], { shards, steps }: Shown): Stress | undefined {
  if (shards.length === 0) return undefined;
  const front = new Set(shards);
  if (steps !== undefined) {
    const drawn = new Set(lines.map(({ id }) => id));
    const way = steps
      .filter(([from, to]) => from !== to)
      .map(([from, to]) => ({ id: lineId(from, to), from, to, width: addedWidth }));
    const added = way.filter(({ id }) => !drawn.has(id));
    return { shards: front, links: new Set(way.map(({ id }) => id)), near: front, added };
  }
  const own = lines.filter(
    ({ from, to }) => front.size === 1 && (front.has(from) || front.has(to)),
  );
  const ends = own.flatMap(({ from, to }) => [from, to]);
  const links = new Set(own.map(({ id }) => id));
  return { shards: front, links, near: new Set([...front, ...ends]), added: [] };
}

export function matching({ shards }: Model, words: string): Shard[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  if (wanted.length === 0) return [];
  return shards.filter(({ agent, scope }) => {
    const text = [agent, ...scope].join(' ').toLowerCase();
    return wanted.every((word) => text.includes(word));
  });
}

/** The links along a path of shards; undefined where the model has none. */
export function linksAlong(model: Model, path: readonly string[]): (Link | undefined)[] {
  return path
    .slice(1)
    .map((to, at) => model.links.find((link) => link.from === path[at] && link.to === to));
}

export function widthOf(lines: number, most: number): number {
  return 16 + 48 * Math.sqrt(lines / Math.max(1, most));
}

export function thicknessOf(references: number, most: number): number {
  return 1 + (5 * Math.log(1 + references)) / Math.log(1 + Math.max(1, most));
}
