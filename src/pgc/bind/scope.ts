import { importedModules, submodules } from './modules.js';
import type { Lookup } from '../shapes.js';
import type { ShardIndex } from '../format/shard-index.js';

/** What one import brings into a file. */
interface Binding {
  /** The name in the imported module; `*`: the whole module; `default`: a default export. */
  original: string;
  /** Modules that may hold it; empty for packages and the runtime's own modules. */
  modules: string[];
}

/** The imports of one file, by local name. */
export interface FileScope {
  bindings: ReadonlyMap<string, Binding>;
  /** Modules of which every name is in scope or re-exported. */
  wildcards: readonly string[];
  /** All modules of the code base that the file imports. */
  all: readonly string[];
}

/** More imports than this prove nothing. */
const modulesMax = 128;

export function scopeOf(index: ShardIndex, file: number): FileScope {
  const { path, language } = index.file(file);
  const bindings = new Map<string, Binding>();
  const wildcards = new Set<string>();
  const all = new Set<string>();
  for (const { target, names } of index.importsOf(file)) {
    const modules = importedModules(path, target, language);
    for (const each of modules) all.add(each);
    for (const written of names) {
      const cut = written.indexOf(':');
      const original = cut < 0 ? written : written.slice(0, cut);
      const local = cut < 0 ? written : written.slice(cut + 1);
      if (local === '*') for (const each of modules) wildcards.add(each);
      else {
        const known = bindings.get(local)?.modules ?? [];
        bindings.set(local, { original, modules: [...new Set([...known, ...modules])] });
        // In Python, a name imported from a package may be one of its modules.
        if (language === 'python' && original !== '*')
          for (const each of submodules(modules, original)) all.add(each);
      }
    }
  }
  return {
    bindings,
    wildcards: [...wildcards].slice(0, modulesMax),
    all: [...all].slice(0, modulesMax),
  };
}

/** Where a file re-exports a name from; undefined when it does not. */
export function forwardOf(scope: FileScope, name: string): Binding | undefined {
  const binding = scope.bindings.get(name);
  if (binding !== undefined && binding.original !== '*') return binding;
  return scope.wildcards.length === 0
    ? undefined
    : { original: name, modules: [...scope.wildcards] };
}

/** The binding of a name that equals this one apart from case: `broker` is most likely a `Broker`. */
export function bindingLike(scope: FileScope, name: string): [string, Binding] | undefined {
  const exact = scope.bindings.get(name);
  if (exact !== undefined) return [name, exact];
  const folded = name.toLowerCase();
  return [...scope.bindings].find(([local]) => local.toLowerCase() === folded);
}

/** The lookup to continue with in the module that a re-export names. */
export function forwarded(
  lookup: Lookup,
  forward: { original: string; modules: readonly string[] },
): Lookup {
  const modules = [...forward.modules];
  const real = forward.original === 'default' ? undefined : forward.original;
  return lookup.container === ''
    ? { ...lookup, name: real ?? lookup.name, modules }
    : { ...lookup, container: real ?? lookup.container, modules };
}
