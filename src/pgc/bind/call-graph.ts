import { includesOf, isC, pathOf, rememberedTargets, type CallTargets } from './index-memory.js';
import { ownReceivers, targetsInModules } from './module-calls.js';
import type { CallRow, ShardIndex } from '../format/shard-index.js';
import { candidateOf } from './symbol-candidate.js';
import { isStandIn, seesPublic, visibleDefinitions } from './visibility.js';

const nowhere: CallTargets = { inside: [], lookup: undefined };

/**
 * Where a call leads, for everything that follows calls. In C: what its own file defines, or else what is
 * visible through its includes; a header that both declares and defines a name holds a stand-in for
 * configurations that lack the real one, so a call that reaches only stand-ins may also leave the shard.
 * In languages with modules: what its file defines or imports; a method of the caller's own class and its
 * bases, or one of an imported file, where the name of the receiver decides between classes.
 */
export function targetsOfCall(index: ShardIndex, call: CallRow): CallTargets {
  const scope = ownReceivers.test(call.receiver) ? call.caller : '';
  const key = `${call.kind} ${call.file} ${call.receiver} ${scope} ${call.callee}`;
  return rememberedTargets(index, key, () =>
    isC(index, call.file) ? targetsInC(index, call) : targetsInModules(index, call),
  );
}

/** The same for all calls of one name: what bears it is looked up once, and its includes decide once per file. */
export function targetsOfCalls(index: ShardIndex, calls: readonly CallRow[]): CallTargets[] {
  const known = new Map<string, CallTargets>();
  let named: NamedCandidate[] | undefined;
  return calls.map((call) => {
    if (!isC(index, call.file)) return targetsOfCall(index, call);
    if (call.kind === 'member') return nowhere;
    named ??= namedAs(index, call.callee);
    // Nothing of this file matters where nothing bears the name.
    const key = named.length === 0 ? call.kind : `${call.kind} ${call.file}`;
    const targets = known.get(key) ?? targetsInC(index, call, named);
    known.set(key, targets);
    return targets;
  });
}

type NamedCandidate = ReturnType<typeof candidateOf>;

function namedAs(index: ShardIndex, name: string): NamedCandidate[] {
  return index.symbolsNamed(name).map((each) => candidateOf(index, each));
}

/** In C the name of a member says nothing about the function that the pointer holds. */
function targetsInC(
  index: ShardIndex,
  call: CallRow,
  candidates: readonly NamedCandidate[] = namedAs(index, call.callee),
): CallTargets {
  if (call.kind === 'member') return nowhere;
  const lookup = { name: call.callee, kind: call.kind, container: '', modules: [] };
  const use = {
    path: pathOf(index, call.file),
    lookup,
    includes: candidates.length > 0 ? includesOf(index, call.file) : [],
  };
  const inside = visibleDefinitions(use, candidates);
  const isAmbiguous = inside.length === 0 && seesPublic(use, candidates);
  const isOpen = !isAmbiguous && inside.every((each) => isStandIn(each, candidates));
  return { inside: inside.map((each) => each.id), lookup: isOpen ? lookup : undefined };
}
