import path from 'node:path';
import type { FactsLanguage } from './facts.js';

/** Suffix that any folder may precede: Python does not say where its search path begins. */
const anywhere = '**/';
/** Prefixes that bundlers resolve to a source folder, and that no package can have. */
const aliasPrefix = /^[@~]\//;

/** `src/wire/frame.ts` is `src/wire/frame`, `lib/index.ts` is `lib`, `app/models/__init__.py` is `app/models`. */
export function moduleOf(file: string): string {
  return file.replace(/(?:\.d)?\.(?:[cm]?[jt]sx?|pyi?)$/, '').replace(/\/(?:index|__init__)$/, '');
}

/**
 * The modules of the code base that an import may mean, from its text alone; none for packages and for
 * what the runtime brings along. Extensions are dropped: `./frame.js` is written for `frame.ts`.
 */
export function importedModules(from: string, target: string, language: FactsLanguage): string[] {
  if (language === 'c') return [];
  return language === 'python' ? pythonModules(from, target) : esModules(from, target);
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

/** Where an import is made of a module inside the modules: `from package import module`. */
export function submodules(modules: readonly string[], name: string): string[] {
  return modules.map((module) => (module === '' ? name : `${module}/${name}`));
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
  // One word is more often the standard library: only what stands where Python looks first.
  return [...new Set([name, ...inside(path.posix.join(folder, name)), `src/${name}`])];
}

/** Nothing above the root of the tree can be meant. */
function inside(joined: string): string[] {
  const normal = joined.replace(/\/$/, '');
  if (normal.startsWith('..')) return [];
  return [normal === '.' ? '' : moduleOf(normal)];
}
