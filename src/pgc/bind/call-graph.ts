import {
  headersSeen,
  includesOf,
  isC,
  pathOf,
  cachedTargets,
  type CallTargets,
} from './index-cache.js';
import type { BoundTarget, CallBinding } from '../format/bound-calls.js';
import type { Certainty, Lookup } from '../shapes.js';
import type { CallRow, ShardIndex } from '../format/shard-index.js';
import { saidRole } from '../source/role.js';
import { candidatesNamed, type SymbolCandidate } from './symbol-candidate.js';
import { equallyGood, isStandIn, seesPublic, visibleDefinitions } from './visibility.js';

const nowhere: CallTargets = { inside: [], lookups: [], sure: 0, binding: 'unbound' };

/**
 * The definitions that a call leads to; used by everything that follows calls.
 *
 * What the binder has seen is what it says. Other calls are of C: the definitions of the call's own file, else those
 * visible through its includes. A header that both declares and defines a name holds a stand-in for other configurations,
 * so a call that reaches only stand-ins may also leave the shard.
 */
export function targetsOfCall(index: ShardIndex, call: CallRow): CallTargets {
  const bound = boundTargets(index, call);
  if (bound !== undefined) return bound;
  if (!isC(index, call.file)) return nowhere;
  const key = `${call.kind} ${call.file} ${call.callee}`;
  return cachedTargets(index, key, () => targetsInC(index, call));
}

/** Of a call that the binder has seen; a method of an interface also leads to those that implement it. */
function boundTargets(index: ShardIndex, { id, kind }: CallRow): CallTargets | undefined {
  const { bound } = index;
  if (bound === undefined || id < 0) return undefined;
  const binding = bound.bindingOf(id);
  if (binding === 'unbound') return undefined;
  const isUse = kind === 'value' || kind === 'type';
  // What a variable holds is called, not the variable.
  const targets = bound
    .targetsOf(id)
    .filter((target) => isUse || bound.target(target).kind !== 'variable');
  return cachedTargets(index, `${binding} ${targets.join(' ')}`, () => {
    const own = targets.map((target) => bound.target(target));
    const by =
      binding === 'dispatch' ? targets.flatMap((target) => bound.implementing(target)) : [];
    const implementing = by.map((target) => bound.target(target));
    // A mock stands in for the real one: it comes last.
    const isAside = ({ path }: BoundTarget): boolean => saidRole(index.info, path) !== '';
    const asides = new Set(implementing.length < 2 ? [] : implementing.filter(isAside));
    const all = [...own, ...implementing.filter((each) => !asides.has(each)), ...asides];
    const inside = all.flatMap(({ symbol }) => (symbol < 0 ? [] : [symbol]));
    return {
      ...{ inside, sure: inside.length },
      lookups: all.flatMap((each) => (each.symbol < 0 ? [lookupOf(each)] : [])),
      asked: own.filter(({ symbol }) => symbol < 0).length,
      binding,
    };
  });
}

/** Of all that a call may reach. */
export function certaintyOfCall(index: ShardIndex, call: CallRow): Certainty {
  const { binding, inside, lookups } = targetsOfCall(index, call);
  return certaintyOf(binding, inside.length + lookups.length);
}

/** What no binder has seen is exact where one definition is visible. */
export function certaintyOf(binding: CallBinding, targets: number): Certainty {
  if (binding === 'unbound') return targets === 1 ? 'exact' : 'possible';
  return binding === 'value' ? 'possible' : binding;
}

/** Exactly this definition of another shard. */
function lookupOf({ path, container, name, line }: BoundTarget): Lookup {
  return { name, container, path, line };
}

/** As `targetsOfCall` for all calls of one name: candidates are looked up once, includes once for each file. */
export function targetsOfCalls(index: ShardIndex, calls: readonly CallRow[]): CallTargets[] {
  const known = new Map<string, CallTargets>();
  let named: readonly SymbolCandidate[] | undefined;
  return calls.map((call) => {
    if (!isC(index, call.file)) return targetsOfCall(index, call);
    const bound = boundTargets(index, call);
    if (bound !== undefined) return bound;
    if (call.kind === 'member') return nowhere;
    named ??= candidatesNamed(index, call.callee);
    // Without candidates in this shard, the file makes no difference.
    const key = named.length === 0 ? call.kind : `${call.kind} ${call.file}`;
    const targets = known.get(key) ?? targetsInC(index, call, named);
    known.set(key, targets);
    return targets;
  });
}

/** In C, the name of a member does not say which function its pointer holds. */
function targetsInC(
  index: ShardIndex,
  call: CallRow,
  candidates: readonly SymbolCandidate[] = candidatesNamed(index, call.callee),
): CallTargets {
  if (call.kind === 'member') return nowhere;
  const lookup = { name: call.callee, container: '', path: '', line: 0 };
  const use = {
    path: pathOf(index, call.file),
    lookup,
    includes: candidates.length > 0 ? includesOf(index, call.file) : [],
    sees: headersSeen(index, call.file),
  };
  const inside = visibleDefinitions(use, candidates);
  const isAmbiguous = inside.length === 0 && seesPublic(use, candidates);
  const isOpen = !isAmbiguous && inside.every((each) => isStandIn(each, candidates));
  return {
    inside: inside.map((each) => each.id),
    lookups: isOpen ? [lookup] : [],
    sure: equallyGood(use, inside),
    binding: 'unbound',
  };
}
