/** Links of lower relevance are not followed. */
export const relevanceFloor = 0.06;
/** Nor are links below this share of the best link that was followed. */
const storyShare = 0.35;
/** Symbols that one hop enters a shard at. */
export const symbolsPerHop = 4;
/** Links weaker than this share of a hop's best one are left out of it. */
const companionShare = 0.5;
/** What a link loses when the followed links cover all concepts of its name. */
const coveredDiscount = 0.5;
/** The same within one line of calls, which may stay with its subject. */
const lineDiscount = 0.25;
/** Another agent is asked at the same time when its best link is nearly as relevant as the first's. */
const branchShare = 0.95;
const branchesMax = 2;

/** A checked link, as the machine sees it; `Findings` keeps the rest under `id`. */
export interface LinkOffer {
  id: string;
  agent: string;
  /** The agent whose call it is. */
  from: string;
  /** Where the definition stands, `path:line`. */
  target: string;
  relevance: number;
  /** Positions of the question's concepts that the target's name or documentation speaks of. */
  covers: readonly number[];
  /** The link to the definition at which the chain to this one begins; empty: found by search. */
  continues: string;
  /** Links to inline functions that were looked through on the way, by id. */
  passes: readonly string[];
}

/** How far a query has come. */
export interface QuerySituation {
  /** Agents that may be visited. */
  maxHops: number;
  /** In the order in which they were asked, the entry first; those still asked included. */
  visited: readonly string[];
  asking: readonly string[];
  /** The links that were followed to an agent, the most telling first. */
  followed: Readonly<Record<string, readonly LinkOffer[]>>;
  frontier: readonly LinkOffer[];
}

export interface NextHop {
  agent: string;
  relevance: number;
  links: LinkOffer[];
}

/** The next agents to ask. Concepts that one hop covers count less for the next. */
export function nextHops(context: QuerySituation): NextHop[] {
  const budget = Math.min(
    branchesMax - context.asking.length,
    context.maxHops - context.visited.length,
  );
  const chosen: NextHop[] = [];
  while (chosen.length < budget) {
    const followed = { ...context.followed };
    for (const { agent, links } of chosen) followed[agent] = links;
    const next = bestHop({ ...context, followed }, [
      ...context.visited,
      ...chosen.map((each) => each.agent),
    ]);
    if (next === undefined || next.relevance < branchShare * (chosen[0]?.relevance ?? 0)) break;
    chosen.push(next);
  }
  return chosen;
}

function bestHop(context: QuerySituation, taken: readonly string[]): NextHop | undefined {
  const byAgent = new Map<string, LinkOffer[]>();
  const best = Math.max(
    0,
    ...Object.values(context.followed).map(([main]) => main?.relevance ?? 0),
  );
  const floor = Math.max(relevanceFloor, storyShare * best);
  const passed = new Set(Object.values(context.followed).flatMap(([main]) => main?.passes ?? []));
  for (const link of context.frontier) {
    if (link.relevance < floor || passed.has(link.id) || taken.includes(link.agent)) continue;
    byAgent.set(link.agent, [...(byAgent.get(link.agent) ?? []), link]);
  }
  return [...byAgent].map(([agent, links]) => hopTo(context, agent, links)).sort(byRelevance)[0];
}

/** The share of a link's concepts that the followed links do not cover. */
function freshness(link: LinkOffer, followed: QuerySituation['followed']): number {
  const line = new Set(lineOf(link, followed));
  const mains = Object.values(followed).flatMap((links) => links.slice(0, 1));
  const covered = new Set(mains.filter(({ id }) => !line.has(id)).flatMap((each) => each.covers));
  const onLine = new Set(mains.filter(({ id }) => line.has(id)).flatMap((each) => each.covers));
  let lost = 0;
  for (const each of link.covers) {
    if (onLine.has(each)) lost += lineDiscount;
    else if (covered.has(each)) lost += coveredDiscount;
  }
  return 1 - lost / Math.max(1, link.covers.length);
}

/** The links whose line of calls a link carries on, the last one first. */
function lineOf(link: LinkOffer, followed: QuerySituation['followed']): string[] {
  const last = (followed[link.from] ?? []).find((each) => each.id === link.continues);
  return last === undefined ? [] : [last.id, ...lineOf(last, followed)];
}

/** From the entry itself, or carrying on a line of main links that began there. */
function isMainLine(
  link: LinkOffer,
  { visited, followed }: Pick<QuerySituation, 'visited' | 'followed'>,
): boolean {
  if (link.from === visited[0]) return true;
  const [before] = followed[link.from] ?? [];
  return (
    before !== undefined &&
    before.id === link.continues &&
    isMainLine(before, { visited, followed })
  );
}

function hopTo(context: QuerySituation, agent: string, links: LinkOffer[]): NextHop {
  const weighed = links
    .map((link) => ({ link, worth: link.relevance * freshness(link, context.followed) }))
    .sort((one, other) => other.worth - one.worth || (one.link.id < other.link.id ? -1 : 1));
  const best = weighed[0]?.worth ?? 0;
  const chosen = weighed
    .filter(({ worth }) => worth >= companionShare * best)
    .slice(0, symbolsPerHop)
    .map(({ link }) => link);
  // Links on the main line from the entry come first.
  const main = chosen.filter((link) => isMainLine(link, context));
  const side = chosen.filter((link) => !main.includes(link));
  return { agent, relevance: best, links: [...main, ...side] };
}

function byRelevance(one: NextHop, other: NextHop): number {
  return other.relevance - one.relevance || (one.agent < other.agent ? -1 : 1);
}
