import { isC, rememberedTargets, type CallTargets } from './index-memory.js';
import { ownReceivers, targetsInModules } from './module-calls.js';
import type { CallRow, ShardIndex } from './shard-index.js';
import { candidateOf, isStandInOf } from './symbol-candidate.js';
import { isCallable, visibleDefinitions } from './visibility.js';

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

/** In C the name of a member says nothing about the function that the pointer holds. */
function targetsInC(index: ShardIndex, call: CallRow): CallTargets {
  if (call.kind === 'member') return nowhere;
  const lookup = { name: call.callee, kind: call.kind, container: '', modules: [] };
  const candidates = index.symbolsNamed(call.callee).map((each) => candidateOf(index, each));
  const use = {
    path: index.file(call.file).path,
    lookup,
    includes: candidates.length > 1 ? index.importsOf(call.file).map((each) => each.target) : [],
  };
  const inside = visibleDefinitions(use, candidates).map((each) => each.id);
  const isAmbiguous =
    inside.length === 0 &&
    candidates.some((each) => each.exported && !each.declaration && isCallable(each, lookup));
  const isOpen = !isAmbiguous && inside.every((each) => isStandInOf(index, each));
  return { inside, lookup: isOpen ? lookup : undefined };
}
