import path from 'node:path';
import type { Definition } from '../pgc/shapes.js';

/** Where a name is used. */
export interface Use {
  path: string;
  /** As the file writes them: `linux/dma-mapping.h`, `./frame.js`, `package.module`. */
  includes: readonly string[];
}

/** Definitions that fit equally well, without any import that decides: then nobody knows, and no link is made. */
const undecidedMax = 3;

/**
 * The definitions that a use may mean, best first: what its file includes or imports, then what lies
 * near it. Only definitions that are visible outside their file; declarations never.
 */
export function visibleDefinitions(use: Use, definitions: readonly Definition[]): Definition[] {
  const scored = definitions
    .filter((each) => !each.declaration && (each.exported || each.file_path === use.path))
    .map((definition) => ({
      definition,
      import: importScore(use, definition),
      near: nearness(use.path, definition.file_path),
    }))
    .sort(
      (one, other) =>
        other.import - one.import ||
        other.near - one.near ||
        one.definition.file_path.length - other.definition.file_path.length ||
        (one.definition.file_path < other.definition.file_path ? -1 : 1) ||
        one.definition.line - other.definition.line,
    );
  const isDecided = (scored[0]?.import ?? 0) > 0;
  if (!isDecided && scored.length > undecidedMax) return [];
  return scored.map((each) => each.definition);
}

/** 3: this very file is imported. 2: a header of the same name declares it. 0: nothing speaks for it. */
function importScore(use: Use, definition: Definition): number {
  if (definition.file_path === use.path) return 4;
  let best = 0;
  for (const target of use.includes)
    best = Math.max(best, importMatch(use.path, target, definition.file_path));
  return best;
}

function importMatch(from: string, target: string, file: string): number {
  if (target.startsWith('.')) {
    const resolved = withoutExtension(
      path.posix.join(path.posix.dirname(from), relativePath(target)),
    );
    const wanted = withoutExtension(file);
    return wanted === resolved || wanted === `${resolved}/index` ? 3 : 0;
  }
  if (/\.(?:h|hpp|hh)$/.test(target)) {
    if (file === target || file.endsWith(`/include/${target}`) || file === `include/${target}`)
      return 3;
    if (file.endsWith(`/${target}`)) return 2.5;
    return stemOf(file) === stemOf(target) ? 2 : 0;
  }
  const asPath = target.replaceAll('.', '/');
  return withoutExtension(file) === asPath || withoutExtension(file).endsWith(`/${asPath}`) ? 3 : 0;
}

/** `..package.module`, as Python writes it, is `../package/module`. */
function relativePath(target: string): string {
  const python = /^(\.+)(\w.*)$/.exec(target);
  if (python === null) return target;
  const [, dots = '.', rest = ''] = python;
  return `${'../'.repeat(dots.length - 1)}${rest.replaceAll('.', '/')}`;
}

function withoutExtension(file: string): string {
  return file.replace(/\.[a-z]+$/, '');
}

function stemOf(file: string): string {
  return withoutExtension(path.posix.basename(file));
}

/** Folders that both paths start with. */
function nearness(one: string, other: string): number {
  const [left, right] = [path.posix.dirname(one).split('/'), path.posix.dirname(other).split('/')];
  let shared = 0;
  while (shared < left.length && left[shared] === right[shared]) shared += 1;
  return shared;
}
