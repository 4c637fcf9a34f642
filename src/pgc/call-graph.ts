import { targetsOf } from './definitions.js';
import type { CallRow, ShardIndex } from './shard-index.js';

/** A call that more definitions of this shard could mean is not followed: it leads everywhere. */
const targetsMax = 4;

export interface CallTargets {
  /** Definitions in this shard that the call may reach. */
  inside: number[];
  /** The shard defines nothing that this call surely means: another shard may. */
  leaves: boolean;
}

/**
 * Where a call leads, for walks over the call graph. A header that both declares and defines a name holds
 * a stand-in for configurations that lack the real one (`#ifdef CONFIG_X` … `#else static inline` …), so a
 * call that reaches only such a stand-in may also leave the shard.
 */
export function targetsOfCall(index: ShardIndex, call: CallRow): CallTargets {
  if (call.kind === 'member') return computeTargets(index, call);
  const { targets } = memoryOf(index);
  const key = `${call.kind} ${call.file} ${call.callee}`;
  let known = targets.get(key);
  if (known === undefined) {
    known = computeTargets(index, call);
    if (targets.size >= targetsRemembered) targets.clear();
    targets.set(key, known);
  }
  return known;
}

/** Call sites of a name in this shard. */
export function siteCount(index: ShardIndex, name: string): number {
  const { sites } = memoryOf(index);
  let known = sites.get(name);
  if (known === undefined) {
    known = index.callsTo(name).length;
    if (sites.size >= targetsRemembered) sites.clear();
    sites.set(name, known);
  }
  return known;
}

interface Memory {
  targets: Map<string, CallTargets>;
  sites: Map<string, number>;
}

/** An index never changes, so what was worked out of it stays true for as long as it lives. */
const memories = new WeakMap<ShardIndex, Memory>();
/** Entries of one kind per index; at the limit the memory starts anew. */
const targetsRemembered = 100_000;

function memoryOf(index: ShardIndex): Memory {
  let memory = memories.get(index);
  if (memory === undefined)
    memories.set(index, (memory = { targets: new Map(), sites: new Map() }));
  return memory;
}

function computeTargets(index: ShardIndex, call: CallRow): CallTargets {
  const inside = targetsOf(index, call);
  // Of a call on some object only the name is known; one candidate is a fair guess, several are not.
  if (call.kind === 'member') {
    const isSure =
      inside.length === 1 || inside.every((each) => index.symbol(each).file === call.file);
    return { inside: isSure ? inside.slice(0, targetsMax) : [], leaves: false };
  }
  if (inside.length > targetsMax) return { inside: [], leaves: false };
  return { inside, leaves: inside.every((each) => isStandIn(index, each)) };
}

/** Defined in a header that also declares it. */
function isStandIn(index: ShardIndex, symbol: number): boolean {
  const row = index.symbol(symbol);
  if (!/\.(?:h|hh|hpp)$/.test(index.file(row.file).path)) return false;
  return index.symbolsNamed(row.name).some((each) => {
    const other = index.symbol(each);
    return other.file === row.file && other.declaration;
  });
}
