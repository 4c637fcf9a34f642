import { posix } from 'node:path';
import type { Manifest } from '../rules.js';

const extension = /(?:\.d)?\.[cm]?[jt]sx?$/;
/** Where a build puts what it makes of sources. */
const built = /^(?:dist|build|lib|out|es|esm|cjs)\/(?:(?:esm|cjs|src)\/)?/;
const sourceFolders = ['', 'src/', 'source/', 'lib/'];

interface Alias {
  /** Of the project: files below it mean it. */
  folder: string;
  pattern: string;
  target: string;
}

/** Which files an import means: by paths, by the aliases of projects, and by the names of packages. */
export class Modules {
  /** By path without extension. */
  readonly #files = new Map<string, string[]>();
  readonly #packages = new Map<string, { folder: string; entries: Map<string, string[]> }>();
  readonly #aliases: Alias[];
  readonly #known = new Map<string, string[]>();

  constructor(paths: readonly string[], manifests: readonly Manifest[]) {
    for (const path of paths) {
      const plain = path.replace(extension, '');
      const all = this.#files.get(plain) ?? [];
      all.push(path);
      this.#files.set(plain, all);
    }
    for (const manifest of manifests) this.#addPackage(manifest);
    // The nearest project decides.
    this.#aliases = manifests
      .flatMap(aliasesOf)
      .sort((one, other) => other.folder.length - one.folder.length);
  }

  #addPackage({ path, types }: Manifest): void {
    const name = types.find(({ role }) => role === 'package')?.name;
    if (posix.basename(path) !== 'package.json' || name === undefined || this.#packages.has(name))
      return;
    const entries = new Map<string, string[]>();
    for (const each of types)
      if (each.role === 'alias')
        entries.set(each.name, [...(entries.get(each.name) ?? []), each.type]);
    this.#packages.set(name, { folder: folderOf(path), entries });
  }

  /** The files that an import in a file may mean, the likeliest first; none: it leaves the program. */
  meantBy(target: string, from: string): string[] {
    const isRelative = /^\.{1,2}(?:\/|$)/.test(target);
    const key = `${isRelative ? folderOf(from) : from} ${target}`;
    let found = this.#known.get(key);
    if (found === undefined) {
      found = isRelative ? this.#at(posix.join(folderOf(from), target)) : this.#named(target, from);
      this.#known.set(key, found);
    }
    // A script means scripts, all others what says more of types.
    const isScript = /\.[cm]?jsx?$/.test(from);
    return found.toSorted((one, other) => rankOf(one, isScript) - rankOf(other, isScript));
  }

  /** A file of this path, or the index of the folder. */
  #at(path: string): string[] {
    const plain = path.replace(/\/$/, '').replace(/^\.$/, '');
    const candidates = [plain, plain.replace(extension, ''), posix.join(plain, 'index')];
    for (const each of candidates) {
      const found = this.#files.get(each);
      if (found !== undefined) return found;
    }
    return this.#entryOf(plain);
  }

  /** Of a folder that is a package of its own. */
  #entryOf(folder: string): string[] {
    for (const { folder: its, entries } of this.#packages.values())
      if (its === folder) return this.#entry(folder, entries.get('.') ?? []);
    return [];
  }

  #named(target: string, from: string): string[] {
    for (const { folder, pattern, target: path } of this.#aliases) {
      if (folder !== '' && !from.startsWith(`${folder}/`)) continue;
      const rest = matched(pattern, target);
      const found =
        rest === undefined
          ? []
          : this.#at(
              posix.join(
                folder,
                path.replace('*', () => rest),
              ),
            );
      if (found.length > 0) return found;
    }
    return this.#inPackages(target);
  }

  #inPackages(target: string): string[] {
    const parts = target.split('/');
    const name = parts.slice(0, target.startsWith('@') ? 2 : 1).join('/');
    const its = this.#packages.get(name);
    if (its === undefined) return [];
    const rest = target.slice(name.length + 1);
    const { folder, entries } = its;
    if (rest === '') return this.#entry(folder, [...(entries.get('.') ?? []), 'index']);
    for (const [key, paths] of entries) {
      const inner = matched(key, `./${rest}`);
      const found =
        inner === undefined
          ? []
          : this.#entry(
              folder,
              paths.map((each) => each.replace('*', () => inner)),
            );
      if (found.length > 0) return found;
    }
    return this.#entry(folder, [rest]);
  }

  /** What is built is not there: its source has the same path in another folder. */
  #entry(folder: string, paths: readonly string[]): string[] {
    for (const each of paths) {
      const plain = posix.normalize(each).replace(/^\.\//, '');
      const source = plain.replace(built, '');
      for (const path of [plain, ...sourceFolders.map((before) => before + source)]) {
        const at = posix.join(folder, path.replace(extension, ''));
        const found = this.#files.get(at) ?? this.#files.get(posix.join(at, 'index'));
        if (found !== undefined) return found;
      }
    }
    return [];
  }
}

function rankOf(path: string, isScript: boolean): number {
  if (/\.d\.[cm]?ts$/.test(path)) return 1;
  return /\.[cm]?jsx?$/.test(path) === isScript ? 0 : 2;
}

function aliasesOf({ path, types }: Manifest): Alias[] {
  if (posix.basename(path) === 'package.json') return [];
  return types
    .filter(({ role }) => role === 'alias')
    .map(({ name, type }) => ({ folder: folderOf(path), pattern: name, target: type }));
}

/** What stands for the star of a pattern. */
function matched(pattern: string, text: string): string | undefined {
  const star = pattern.indexOf('*');
  if (star < 0) return pattern === text ? '' : undefined;
  const end = pattern.slice(star + 1);
  const isLike =
    text.length >= pattern.length - 1 &&
    text.startsWith(pattern.slice(0, star)) &&
    text.endsWith(end);
  return isLike ? text.slice(star, text.length - end.length) : undefined;
}

function folderOf(path: string): string {
  const folder = posix.dirname(path);
  return folder === '.' ? '' : folder;
}
