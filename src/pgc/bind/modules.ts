import path from 'node:path';
import { hasModules, type FactsLanguage } from '../format/facts.js';

/** Matches below any folder: Python does not say where its search path begins. */
const anywhere = '**/';
/** Prefixes that bundlers map to a source folder; no package name begins with them. */
const aliasPrefix = /^[@~]\//;

/**
 * `src/wire/frame.ts` → `src/wire/frame`, `lib/index.ts` → `lib`, `app/models/__init__.py` → `app/models`,
 * `src/net/mod.rs` → `src/net`. In Go and Java, all files of a folder are one module.
 */
export function moduleOf(file: string): string {
  if (isPackaged(file)) return folderOf(file);
  if (file.endsWith('.rs'))
    return file.replace(/\.rs$/, '').replace(/(?:^|\/)(?:mod|lib|main)$/, '');
  return file.replace(/(?:\.d)?\.(?:[cm]?[jt]sx?|pyi?)$/, '').replace(/\/(?:index|__init__)$/, '');
}

/**
 * The modules of the code base that an import may mean, by its text alone; none for packages and the runtime's own
 * modules. Extensions are dropped: `./frame.js` stands for `frame.ts`.
 */
export function importedModules(from: string, target: string, language: FactsLanguage): string[] {
  if (!hasModules(language)) return [];
  switch (language) {
    case 'python':
      return pythonModules(from, target);
    case 'go':
      return goModules(target);
    case 'java':
      return javaModules(target);
    case 'rust':
      return rustModules(from, target);
    default:
      return esModules(from, target);
  }
}

function isPackaged(file: string): boolean {
  return /\.(?:go|java)$/.test(file);
}

function folderOf(file: string): string {
  const folder = path.posix.dirname(file);
  return folder === '.' ? '' : folder;
}

/** Whether a file is one of the modules. */
export function isModule(file: string, modules: readonly string[]): boolean {
  const own = moduleOf(file);
  return modules.some((module) =>
    module.startsWith(anywhere)
      ? own === module.slice(anywhere.length) || own.endsWith(module.slice(2))
      : own === module,
  );
}

function esModules(from: string, target: string): string[] {
  if (aliasPrefix.test(target)) return [`${anywhere}${moduleOf(target.slice(2))}`];
  if (!/^\.{1,2}(?:\/|$)/.test(target)) return [];
  return inside(path.posix.join(path.posix.dirname(from), target));
}

function pythonModules(from: string, target: string): string[] {
  const [, dots = '', dotted = ''] = /^(\.*)(.*)$/.exec(target) ?? [];
  const name = dotted.replaceAll('.', '/');
  const folder = path.posix.dirname(from);
  if (dots !== '') return inside(path.posix.join(folder, '../'.repeat(dots.length - 1), name));
  if (name.includes('/')) return [`${anywhere}${name}`];
  // A single word is usually the standard library: only the places where Python looks first.
  return [...new Set([name, ...inside(path.posix.join(folder, name)), `src/${name}`])];
}

/**
 * The import does not say where the module's root is, so it is matched by its tail. The standard library has no dot.
 */
function goModules(target: string): string[] {
  const parts = target.split('/').filter((part) => !/^v\d+$/.test(part));
  return parts.length === 0 ? [] : [`${anywhere}${parts.slice(-2).join('/')}`];
}

/** Packages are folders; a part that begins with a capital is a class. */
function javaModules(target: string): string[] {
  const parts = target.split('.');
  const type = parts.findIndex((part) => /^[A-Z]/.test(part));
  const folders = type < 0 ? parts : parts.slice(0, type);
  return folders.length === 0 ? [] : [`${anywhere}${folders.join('/')}`];
}

/** Paths of this crate. Other crates are outside the code base, unless a folder has their name. */
function rustModules(from: string, target: string): string[] {
  const parts = target.split('::').filter((part) => part !== '');
  const [first = '', ...rest] = parts;
  const own = moduleOf(from);
  const root = /^(.*?(?:^|\/)src)(?:\/|$)/.exec(from)?.[1] ?? path.posix.dirname(from);
  if (first === 'crate') return inside(path.posix.join(root, ...rest));
  if (first === 'self') return inside(path.posix.join(own, ...rest));
  if (first === 'super') {
    const ups = parts.findIndex((part) => part !== 'super');
    const up = ups < 0 ? parts.length : ups;
    return inside(path.posix.join(own, '../'.repeat(up), ...parts.slice(up)));
  }
  if (['std', 'core', 'alloc', ''].includes(first)) return [];
  return [`${anywhere}${first.replaceAll('_', '-')}/src${rest.map((each) => `/${each}`).join('')}`];
}

/** Nothing above the root can be meant. */
function inside(joined: string): string[] {
  const normal = joined.replace(/\/$/, '');
  if (normal.startsWith('..')) return [];
  return [normal === '.' ? '' : moduleOf(normal)];
}
