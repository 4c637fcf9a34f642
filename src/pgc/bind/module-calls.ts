import { filesByModule, importsInto } from './index-cache.js';
import { moduleOf, submodules } from './modules.js';
import { bindingLike, forwarded, forwardOf, type FileScope } from './scope.js';
import type { Lookup } from '../shapes.js';
import type { CallRow, ShardIndex } from '../format/shard-index.js';
import { candidatesNamed } from './symbol-candidate.js';
import { constructorsOf, visibleDefinitions } from './visibility.js';

/** Targets in this shard, and what another one may define instead. */
export interface ModuleTargets {
  inside: number[];
  lookup: Lookup | undefined;
}

const nowhere: ModuleTargets = { inside: [], lookup: undefined };
/** Re-exports or base classes followed on the way to a definition. */
const forwardsMax = 4;
/** Modules searched for one name, because barrels may re-export each other. */
export const forwardModulesMax = 256;
/** Receivers that mean the class around the caller. */
export const ownReceivers = /^(?:this|self|cls|super|super\(.*\))$/;
/** Methods of the runtime's own objects: without the receiver's type, their names prove nothing. */
const builtinMethods = new Set([
  ...[
    Array,
    ArrayBuffer,
    BigInt,
    Boolean,
    Date,
    Error,
    Function,
    Map,
    Number,
    Object,
    Promise,
    RegExp,
    Set,
    String,
    Symbol,
    Uint8Array,
    WeakMap,
    WeakSet,
    Buffer,
    EventTarget,
    AbortSignal,
    URL,
  ].flatMap((each) => [
    ...Object.getOwnPropertyNames(each),
    ...Object.getOwnPropertyNames(each.prototype as object),
  ]),
  ...(
    'on once off emit addListener removeListener next return throw then log warn info debug error ' +
    'append extend insert remove index count copy update items setdefault popitem pop difference union ' +
    'intersection discard isdisjoint format encode decode strip lstrip rstrip startswith endswith upper ' +
    'lower title capitalize casefold splitlines partition rpartition rsplit join isdigit isalpha isspace ' +
    'read readline readlines write writelines close flush seek tell'
  ).split(' '),
]);

/** Targets of a call in a language with modules. */
export function targetsInModules(index: ShardIndex, call: CallRow): ModuleTargets {
  if (call.receiver === '' && call.kind !== 'member') return namedTargets(index, call);
  if (ownReceivers.test(call.receiver)) return ownClassTargets(index, call);
  const scope = importsInto(index, call.file);
  const spaces = scope.bindings.get(call.receiver);
  if (spaces?.original === '*') {
    const kind = call.kind === 'construct' ? 'construct' : 'direct';
    return found(index, call.file, moduleLookup(call.callee, kind, spaces.modules));
  }
  return call.kind === 'construct' ? nowhere : memberTargets(index, call, scope);
}

/** `f()` and `new X()`: an import of the name decides, else the file's own definitions. */
function namedTargets(index: ShardIndex, call: CallRow): ModuleTargets {
  const { bindings, wildcards } = importsInto(index, call.file);
  const binding = bindings.get(call.callee);
  if (binding !== undefined) {
    const name = binding.original === 'default' ? call.callee : binding.original;
    return found(index, call.file, moduleLookup(name, call.kind, binding.modules));
  }
  const own = found(index, call.file, ownLookup(index, call.file, call.callee, call.kind));
  if (own.inside.length > 0) return own;
  return found(index, call.file, moduleLookup(call.callee, call.kind, wildcards));
}

/** `this.f()`: a method of the class around the call, or of a class that it extends. */
function ownClassTargets(index: ShardIndex, call: CallRow): ModuleTargets {
  const around = index
    .symbolsOf(call.file)
    .map((id) => index.symbol(id))
    .filter(
      (row) => row.kind === 'class' && row.line_start <= call.line && call.line <= row.line_end,
    )
    .at(-1);
  const caller = call.caller < 0 ? '' : index.symbol(call.caller).container;
  const container = around?.name ?? caller;
  if (container === '') return nowhere;
  return methodTargets(index, call.file, { name: call.callee, container }, 0);
}

interface Method {
  name: string;
  container: string;
}

/** A method of a class known to this file by name, or of its base classes. */
function methodTargets(
  index: ShardIndex,
  file: number,
  method: Method,
  depth: number,
): ModuleTargets {
  const own = { ...ownLookup(index, file, method.name, 'member'), container: method.container };
  const known = found(index, file, own);
  if (known.inside.length > 0 || depth >= forwardsMax) return known;
  const row = index
    .symbolsNamed(method.container)
    .map((id) => index.symbol(id))
    .find((each) => each.file === file && each.kind === 'class');
  for (const base of basesOf(row?.signature ?? '')) {
    const binding = importsInto(index, file).bindings.get(base);
    if (binding === undefined) {
      const inherited = methodTargets(
        index,
        file,
        { name: method.name, container: base },
        depth + 1,
      );
      if (inherited.inside.length > 0 || inherited.lookup !== undefined) return inherited;
      continue;
    }
    const container = binding.original === 'default' ? base : binding.original;
    const at = classFile(index, file, moduleLookup(container, 'construct', binding.modules));
    const inherited =
      at === undefined
        ? found(index, file, { ...moduleLookup(method.name, 'member', binding.modules), container })
        : methodTargets(index, at, { name: method.name, container }, depth + 1);
    if (inherited.inside.length > 0 || inherited.lookup !== undefined) return inherited;
  }
  return nowhere;
}

function classFile(index: ShardIndex, file: number, lookup: Lookup): number | undefined {
  const [first] = resolve(index, file, lookup, 0, new ForwardWalk()).inside;
  return first === undefined ? undefined : index.symbol(first).file;
}

function basesOf(signature: string): string[] {
  const bases = / \| extends:([^|]*)/.exec(signature)?.[1] ?? '';
  return bases
    .split(',')
    .map((each) => each.trim())
    .filter((each) => /^[\w$]+$/.test(each));
}

/** `receiver.f()`: a method of the class that the receiver is named after, else of any imported file. */
function memberTargets(index: ShardIndex, call: CallRow, scope: FileScope): ModuleTargets {
  const named = /(?:^|[.#_?!\s])([A-Za-z$][\w$]*)[?!]*$/.exec(call.receiver)?.[1] ?? '';
  if (named !== '') {
    const own = index
      .symbolsOf(call.file)
      .map((id) => index.symbol(id))
      .find(
        ({ name, kind }) =>
          (kind === 'class' || name === call.receiver) &&
          name.toLowerCase() === named.toLowerCase(),
      );
    if (own !== undefined && own.kind !== 'function') {
      const inherited = methodTargets(
        index,
        call.file,
        { name: call.callee, container: own.name },
        0,
      );
      if (own.kind === 'class' || inherited.inside.length > 0) return inherited;
    }
    const like = bindingLike(scope, named);
    if (like !== undefined) {
      const byClass = importedMember(index, call, like[0], like[1]);
      const isSurelyMeant = like[0] === call.receiver || byClass.inside.length > 0;
      if (isSurelyMeant || builtinMethods.has(call.callee)) return byClass;
      if (byClass.lookup !== undefined) return byClass;
    }
  }
  if (builtinMethods.has(call.callee)) return nowhere;
  const own = found(index, call.file, ownLookup(index, call.file, call.callee, 'member'));
  if (own.inside.length > 0) return own;
  return found(index, call.file, moduleLookup(call.callee, 'member', scope.all));
}

function importedMember(
  index: ShardIndex,
  call: CallRow,
  local: string,
  { original, modules }: { original: string; modules: string[] },
): ModuleTargets {
  const container = original === 'default' || original === '*' ? local : original;
  // PEP 8: a lower-case name is a module rather than a class.
  if (
    index.file(call.file).language === 'python' &&
    /^[a-z]/.test(original) &&
    local === call.receiver
  )
    return found(
      index,
      call.file,
      moduleLookup(call.callee, 'direct', submodules(modules, original)),
    );
  return found(index, call.file, { ...moduleLookup(call.callee, 'member', modules), container });
}

function moduleLookup(name: string, kind: string, modules: readonly string[]): Lookup {
  return { name, kind, container: '', modules: [...modules], path: '', line: 0 };
}

function ownLookup(index: ShardIndex, file: number, name: string, kind: string): Lookup {
  return moduleLookup(name, kind, [moduleOf(index.file(file).path)]);
}

/** Adds the constructor for a class that is constructed. */
function found(index: ShardIndex, file: number, lookup: Lookup): ModuleTargets {
  if (lookup.modules.length === 0) return nowhere;
  const targets = resolve(index, file, lookup, 0, new ForwardWalk());
  if (targets.inside.length === 0) return targets;
  const constructors = targets.inside.flatMap((id) => {
    const { name, file: at } = index.symbol(id);
    return constructorsOf({ ...ownLookup(index, at, name, lookup.kind) }).flatMap(
      (each) => resolve(index, at, each, forwardsMax, new ForwardWalk()).inside,
    );
  });
  return { ...targets, inside: [...targets.inside, ...constructors] };
}

/** Limits one search through re-exports. */
export class ForwardWalk {
  readonly #depths = new Map<string, number>();
  #left = forwardModulesMax;

  /** Whether to search a module: not yet searched for this name, or only at a greater depth. */
  enter(module: string, { name, container }: Lookup, depth: number): boolean {
    const key = [module, name, container].join('\0');
    if (this.#left === 0 || depth >= (this.#depths.get(key) ?? Infinity)) return false;
    this.#depths.set(key, depth);
    this.#left -= 1;
    return true;
  }
}

/** Follows re-exports. Modules that this shard does not hold remain in the lookup. */
function resolve(
  index: ShardIndex,
  file: number,
  lookup: Lookup,
  depth: number,
  walk: ForwardWalk,
): ModuleTargets {
  const candidates = candidatesNamed(index, lookup.name);
  const use = { path: index.file(file).path, lookup, includes: [] };
  const inside = visibleDefinitions(use, candidates).map((each) => each.id);
  if (inside.length > 0) return { inside, lookup: undefined };
  const elsewhere = new Set<string>();
  let name = lookup.name;
  let container = lookup.container;
  for (const module of lookup.modules) {
    const holder = filesByModule(index).get(module);
    if (holder === undefined) {
      elsewhere.add(module);
      continue;
    }
    const wanted = lookup.container || (lookup.kind === 'member' ? '' : lookup.name);
    const forward = wanted === '' ? undefined : forwardOf(importsInto(index, holder), wanted);
    if (forward === undefined || depth >= forwardsMax) continue;
    if (!walk.enter(module, lookup, depth)) continue;
    const next = forwarded(lookup, forward);
    const further = resolve(index, holder, next, depth + 1, walk);
    if (further.inside.length > 0) return further;
    for (const each of further.lookup?.modules ?? []) elsewhere.add(each);
    name = further.lookup?.name ?? name;
    container = further.lookup?.container ?? container;
  }
  if (elsewhere.size === 0) return nowhere;
  return { inside: [], lookup: { ...lookup, name, container, modules: [...elsewhere] } };
}
