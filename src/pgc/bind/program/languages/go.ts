import { posix } from 'node:path';
import type { ImportRow, TypeRow } from '../../../format/shard-index.js';
import { packagesIn, type PackagePlace } from './manifests.js';
import type { LanguageRules, Manifest, Places } from '../rules.js';
import type { Imported, SourceText } from '../source-text.js';

/** Of the specification, "Predeclared identifiers". */
const predeclared =
  'any bool byte comparable complex64 complex128 error float32 float64 int int8 int16 int32 int64 rune string uint ' +
  'uint8 uint16 uint32 uint64 uintptr true false iota nil append cap clear close complex copy delete imag len make ' +
  'max min new panic print println real recover';

/** Packages are folders; a test package of the same folder has its own names. `manifests`: of the modules that the tree holds. */
export function goRules(manifests: readonly Manifest[]): LanguageRules {
  const modules = packagesIn(manifests, 'go.mod');
  return {
    languages: ['go'],
    placesOf: (files) => placesOf(files, modules),
    builtins: new Set(predeclared.split(' ')),
    isStructural: true,
    constructors: [],
  };
}

function placesOf(
  files: readonly { path: string; types: readonly TypeRow[] }[],
  modules: readonly PackagePlace[],
): Places {
  const packages = new Map<string, Set<string>>();
  const scopes = files.map(({ path, types }) => {
    const name = types.find(({ role }) => role === 'package')?.name ?? '';
    const folder = folderOf(path);
    const known = packages.get(folder) ?? new Set();
    packages.set(folder, known.add(name));
    return scopeOf(folder, name);
  });
  const folders = new FolderOfImport(packages, modules);
  return {
    scopes,
    imported: (_, imports) => importedBy(imports, folders, packages),
  };
}

function importedBy(
  rows: readonly ImportRow[],
  folders: FolderOfImport,
  packages: ReadonlyMap<string, ReadonlySet<string>>,
): Pick<SourceText, 'imports' | 'wildcards' | 'isOpen'> {
  const imports = new Map<string, Imported>();
  const wildcards: string[] = [];
  let isOpen = false;
  for (const { target, names } of rows) {
    const folder = folders.of(target);
    const declared = folder === undefined ? [] : importable(packages.get(folder) ?? []);
    const scopes = declared.map((name) => scopeOf(folder ?? '', name));
    for (const written of names) {
      const [, alias] = written.split(':');
      if (written === '*') {
        wildcards.push(...scopes);
        isOpen ||= scopes.length === 0;
      } else if (alias !== undefined && alias !== '_' && alias !== '.') {
        imports.set(alias, { scopes, name: '' });
        // Without an alias, a package is called what it calls itself.
        for (const name of declared)
          if (!imports.has(name)) imports.set(name, { scopes, name: '' });
      }
    }
  }
  return { imports, wildcards, isOpen };
}

/** No file imports a test package; a program in the same folder is not meant where there is a package. */
function importable(names: Iterable<string>): string[] {
  const all = [...names].filter((name) => !name.endsWith('_test'));
  const packages = all.filter((name) => name !== 'main');
  return packages.length > 0 ? packages : all;
}

/** Where a package of the program is; by the modules that the tree holds, else by the end of the path. */
class FolderOfImport {
  readonly #known = new Map<string, string | undefined>();
  readonly #modules: readonly PackagePlace[];

  constructor(
    readonly packages: ReadonlyMap<string, unknown>,
    modules: readonly PackagePlace[],
  ) {
    // A module within another one has the longer path.
    this.#modules = modules.toSorted(([one], [other]) => other.length - one.length);
  }

  of(target: string): string | undefined {
    if (!this.#known.has(target)) this.#known.set(target, this.#find(target));
    return this.#known.get(target);
  }

  #find(target: string): string | undefined {
    for (const [path, folder] of this.#modules) {
      if (target !== path && !target.startsWith(`${path}/`)) continue;
      const inside = posix.join(folder, target.slice(path.length)).replace(/^\/|^\.\/?/, '');
      if (this.packages.has(inside)) return inside;
    }
    if (!this.packages.has(`vendor/${target}`))
      return this.#modules.length > 0 ? undefined : this.#tail(target);
    return `vendor/${target}`;
  }

  /** Without modules: the longest end of the path that is a folder of at least two parts. */
  #tail(target: string): string | undefined {
    const parts = target.split('/');
    for (let first = 0; first < parts.length - 1; first += 1) {
      const tail = parts.slice(first).join('/');
      if (this.packages.has(tail)) return tail;
    }
    return undefined;
  }
}

function folderOf(path: string): string {
  const folder = posix.dirname(path);
  return folder === '.' ? '' : folder;
}

function scopeOf(folder: string, name: string): string {
  return `${folder}\0${name}`;
}
