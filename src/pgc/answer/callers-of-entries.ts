import { targetsOfCall } from '../bind/call-graph.js';
import { siteCount } from '../bind/index-cache.js';
import type { CallRow, ShardIndex } from '../format/shard-index.js';
import type { NameMatcher } from '../search/name-matcher.js';
import type { Node } from './hop-report.js';

/** Levels of callers above an entry. */
const levelsMax = 2;
/** Entries whose callers are looked for, the strongest first. */
const entriesMax = 10;
/** What is called at more places than this is used by everyone, and none of them is the story. */
const sitesMax = 100;
/** What a caller has of the strength of what it calls, when its name says all or nothing of the question. */
const callerShare = 0.6;
const unnamedShare = 0.3;

/**
 * The functions that lead to the best entries, as entries: a question may be found at the end of what it asks about. Also
 * through the members of structures that hold an entry.
 */
export function callersOfEntries(
  index: ShardIndex,
  matcher: NameMatcher,
  entries: readonly Node[],
): Node[] {
  const known = new Set(entries.map(({ symbol }) => symbol));
  const found: Node[] = [];
  let level: readonly Node[] = entries;
  for (let depth = 0; depth < levelsMax; depth += 1) {
    const next = level.slice(0, entriesMax).flatMap((node) => {
      const callers = callersOf(index, node.symbol);
      return callers.flatMap((symbol): Node[] => {
        if (known.has(symbol)) return [];
        known.add(symbol);
        const match = matcher.match(index.symbolPlace(symbol).name);
        const share = callerShare * (unnamedShare + (1 - unnamedShare) * match);
        const strength = (node.strength * share) / Math.sqrt(callers.length);
        return [{ ...node, symbol, depth: 0, strength, above: node }];
      });
    });
    level = next.sort((one, other) => other.strength - one.strength || one.symbol - other.symbol);
    found.push(...level);
  }
  return found;
}

function callersOf(index: ShardIndex, symbol: number): number[] {
  const { name } = index.symbolPlace(symbol);
  if (siteCount(index, name) > sitesMax) return [];
  const sites = [
    ...index.callsTo(name).filter((call) => reaches(index, call, symbol)),
    ...throughMembers(index, symbol, name),
  ];
  if (sites.length > sitesMax) return [];
  const callers = new Set(sites.map(({ caller }) => caller));
  return [...callers].filter((caller) => caller >= 0 && caller !== symbol);
}

function reaches(index: ShardIndex, call: CallRow, symbol: number): boolean {
  return targetsOfCall(index, call).inside.includes(symbol);
}

/** Calls of what holds the function: nothing at the call says its name. */
function throughMembers(index: ShardIndex, symbol: number, name: string): CallRow[] {
  const { bound } = index;
  if (bound === undefined) return [];
  const own = bound.targetsNamed(name).filter((each) => bound.target(each).symbol === symbol);
  const holding = new Set(own.flatMap((each) => bound.replacedBy(each)));
  return [...holding]
    .flatMap((member) => bound.callsOf(member))
    .slice(0, sitesMax + 1)
    .map((id) => index.site(id));
}
