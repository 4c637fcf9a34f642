import { posix } from 'node:path';
import { givingModules, standardModules } from './python-standard.js';
import type { Imported } from '../source-text.js';

/** Files that make a folder a project: what it imports begins there, or in a folder of sources in it. */
const projectFile = /(?:^|\/)(?:pyproject\.toml|setup\.cfg|setup\.py)$/;
const sourceFolders = ['', 'src', 'lib'];

/** The modules of a tree. A module is meant by its path without its ending; a package by its folder. */
export class PythonModules {
  /** Modules, and all folders with modules below them. */
  readonly #known = new Set<string>();
  readonly #packages = new Set<string>();
  readonly #projects: readonly string[];
  readonly #found = new Map<string, Imported>();

  constructor(paths: readonly string[], manifests: readonly string[]) {
    for (const path of paths) {
      const scope = PythonModules.scopeOf(path);
      if (/(?:^|\/)__init__\.pyi?$/.test(path)) this.#packages.add(scope);
      for (let each = scope; each !== '' && !this.#known.has(each); each = folderOf(each))
        this.#known.add(each);
    }
    const projects = [...paths, ...manifests]
      .filter((path) => projectFile.test(path))
      .map(folderOf);
    this.#projects = [...new Set(projects)];
  }

  static scopeOf(path: string): string {
    const whole = path.replace(/\.pyi?$/, '');
    return whole === '__init__' ? '' : whole.replace(/\/__init__$/, '');
  }

  /** A module of a package. */
  inner(scope: string, name: string): string | undefined {
    const inner = posix.join(scope, name);
    return this.#known.has(inner) ? inner : undefined;
  }

  /** What `import target` means in a file. */
  meantBy(target: string, path: string): Imported {
    const folder = folderOf(path);
    const key = `${folder} ${target}`;
    let found = this.#found.get(key);
    if (found === undefined) this.#found.set(key, (found = this.#meant(target, folder)));
    return found;
  }

  #meant(target: string, folder: string): Imported {
    const dots = /^\.*/.exec(target)?.[0].length ?? 0;
    const parts = target
      .slice(dots)
      .split('.')
      .filter((part) => part !== '');
    if (dots > 0) {
      let base = folder;
      for (let up = 1; up < dots; up += 1) base = folderOf(base);
      const scope = posix.join(base, ...parts);
      return inside(scope === '.' ? '' : scope);
    }
    const [first = ''] = parts;
    const isStandard = standardModules.has(first);
    for (const root of isStandard ? this.#nearRoots(folder).slice(0, 1) : this.#roots(folder)) {
      const scope = posix.join(root, ...parts);
      const isPart = this.#known.has(scope) && this.#known.has(posix.join(root, first));
      if (isPart && (!isStandard || !this.#packages.has(folder))) return inside(scope);
    }
    return { scopes: [], name: '', isStandard: isStandard && !givingModules.has(first) };
  }

  /** Where absolute imports in a folder may begin, the likeliest first. */
  #roots(folder: string): string[] {
    const near = this.#nearRoots(folder);
    const projects = this.#projects
      .toSorted(
        (one, other) => shared(other, folder) - shared(one, folder) || one.length - other.length,
      )
      .flatMap((project) => sourceFolders.map((each) => posix.join(project, each)))
      .map((each) => (each === '.' ? '' : each));
    return [...new Set([...near, '', 'src', ...projects])];
  }

  /** The folders above that are no packages, the nearest first. */
  #nearRoots(folder: string): string[] {
    const roots: string[] = [];
    for (let each = folder; each !== ''; each = folderOf(each))
      if (!this.#packages.has(each)) roots.push(each);
    return [...roots, ''];
  }
}

function inside(scope: string): Imported {
  return { scopes: [scope], name: '' };
}

/** How many folders two paths have in common at their beginning. */
function shared(one: string, other: string): number {
  const [parts, others] = [one.split('/'), other.split('/')];
  const at = parts.findIndex((part, place) => part !== others[place]);
  return one === '' ? 0 : at < 0 ? parts.length : at;
}

function folderOf(path: string): string {
  const folder = posix.dirname(path);
  return folder === '.' ? '' : folder;
}
