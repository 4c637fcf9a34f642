import { importedModules } from './modules.js';
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
}

/** More imports than this prove nothing. */
const modulesMax = 128;

export function scopeOf(index: ShardIndex, file: number): FileScope {
  const { path, language } = index.file(file);
  const bindings = new Map<string, Binding>();
  const wildcards = new Set<string>();
  for (const { target, names } of index.importsOf(file)) {
    const modules = importedModules(path, target, language);
    for (const written of names) {
      const cut = written.indexOf(':');
      const original = cut < 0 ? written : written.slice(0, cut);
      const local = cut < 0 ? written : written.slice(cut + 1);
      if (local === '*') for (const each of modules) wildcards.add(each);
      else {
        const known = bindings.get(local)?.modules ?? [];
        bindings.set(local, { original, modules: [...new Set([...known, ...modules])] });
      }
    }
  }
  return { bindings, wildcards: [...wildcards].slice(0, modulesMax) };
}

/** Where a file re-exports a name from; undefined when it does not. */
export function forwardOf(scope: FileScope, name: string): Binding | undefined {
  const binding = scope.bindings.get(name);
  if (binding !== undefined && binding.original !== '*') return binding;
  return scope.wildcards.length === 0
    ? undefined
    : { original: name, modules: [...scope.wildcards] };
}
