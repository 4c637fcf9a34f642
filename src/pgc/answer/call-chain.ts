import { targetsOfCall } from '../bind/call-graph.js';
import { resolveSymbol } from '../bind/definitions.js';
import type { CallRow, ShardIndex } from '../format/shard-index.js';
import { callersFor, referenceOf } from './relations.js';

/** Calls between the function that a chain is asked of and its ends, above and below. */
const levelsMax = 4;
/** Functions looked at, above and below. */
const lookedAtMax = 200;

/** One call of a chain. */
export interface Link {
  caller: number;
  call: CallRow;
  /** What it leads to in this shard; undefined: another shard may define it. */
  target: number | undefined;
  /** How far it is from the function, above it negative. */
  level: number;
}

/** The proven calls that lead to a function, and those that lead on from it, in the order in which they happen. */
export function chainThrough(index: ShardIndex, symbol: number): Link[] {
  const above = levelsOf(symbol, -1, (each) => linksTo(index, each));
  const below = levelsOf(symbol, 1, (each) => linksFrom(index, each));
  return [...above, ...below].sort((one, other) => one.level - other.level);
}

type Step = Omit<Link, 'level'> & { next: number | undefined };

function levelsOf(symbol: number, way: 1 | -1, steps: (symbol: number) => Step[]): Link[] {
  const links: Link[] = [];
  const seen = new Set([symbol]);
  let level = [symbol];
  for (let depth = 1; depth <= levelsMax && level.length > 0; depth += 1) {
    const following: number[] = [];
    for (const { next, ...link } of level.flatMap(steps)) {
      links.push({ ...link, level: way * depth });
      if (next === undefined || seen.has(next) || seen.size >= lookedAtMax) continue;
      seen.add(next);
      following.push(next);
    }
    level = following;
  }
  return links;
}

/** Each callee once, in the order of the text; what leads to a library says nothing of the code base. */
function linksFrom(index: ShardIndex, caller: number): Step[] {
  const steps = new Map<string, Step>();
  for (const call of index.callsFrom(caller)) {
    const { inside, lookups } = targetsOfCall(index, call);
    const [target] = inside;
    if ((target === undefined && lookups.length === 0) || steps.has(call.callee)) continue;
    steps.set(call.callee, { caller, call, target, next: target });
  }
  return [...steps.values()];
}

/** Each caller once, those of sources first. */
function linksTo(index: ShardIndex, callee: number): Step[] {
  const steps = new Map<number, Step>();
  for (const site of callersFor(index, referenceOf(index, callee)).callers) {
    const { file_path, container, symbol, line } = site;
    const name = container === '' ? symbol : `${container}.${symbol}`;
    for (const caller of symbol === '' ? [] : resolveSymbol(index, `${file_path}#${name}`)) {
      const call = index
        .callsFrom(caller)
        .find((each) => each.line === line && targetsOfCall(index, each).inside.includes(callee));
      if (call === undefined || steps.has(caller)) continue;
      steps.set(caller, { caller, call, target: callee, next: caller });
    }
  }
  return [...steps.values()];
}
