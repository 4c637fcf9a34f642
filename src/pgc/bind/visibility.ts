import path from 'node:path';
import { isHeader, isOfSister, mayBeVisible } from './c-visibility.js';
import type { Lookup } from '../shapes.js';

/** More equally good definitions than this are no evidence: no link is made. */
export const candidatesMax = 4;

/** Kinds that can be called. In C, a struct and a function may share a name. */
const callableKinds = new Set(['function', 'macro', 'class', 'variable', 'constant']);
export const constructorNames: ReadonlySet<string> = new Set(['constructor', '__init__']);
const cFile = /\.(?:c|h|cc|cpp|hpp|hh)$/;

/** Whether calls of a file are bound by linkage, so that a definition may only stand in for another one. */
export function mayCallStandIns(path: string): boolean {
  return cFile.test(path);
}

/** A definition, of this shard or of another one. */
export interface Candidate {
  symbol: string;
  kind: string;
  file_path: string;
  line: number;
  exported: boolean;
  declaration: boolean;
  container: string;
}

/** A use of a name: the file, the lookup, and the file's include targets as written. */
export interface Use {
  path: string;
  lookup: Lookup;
  includes: readonly string[];
  /** Whether the file reaches a header through its includes, as far as they are known. */
  sees?: (header: string) => boolean;
}

/**
 * The rule for what a call may mean, best first: the definition that the binder found, or in C the callable definitions of the
 * name that are visible at the call: those that the file includes, then those nearest to it. Empty when too many fit equally well. Never a declaration, nor a definition private to another file; a stand-in only
 * when no real definition is visible.
 */
export function visibleDefinitions<C extends Candidate>(use: Use, candidates: readonly C[]): C[] {
  const { lookup } = use;
  if (lookup.path !== '') return candidates.filter((each) => isExactly(lookup, each));
  const visible = candidates.filter(
    (each) =>
      each.symbol === lookup.name &&
      !each.declaration &&
      (each.exported || each.file_path === use.path) &&
      isCallable(each),
  );
  const real = withoutStandIns(visible, candidates);
  const meant = inC(use, real);
  return meant.length > 0 || real.length === visible.length ? meant : inC(use, visible);
}

/**
 * Whether a definition in a C header stands in for the real one in configurations that lack it: the header also
 * declares the name, and no preprocessor takes both. `all`: every symbol of the name.
 */
export function isStandIn(
  candidate: Candidate,
  all: readonly Pick<Candidate, 'symbol' | 'file_path' | 'declaration'>[],
): boolean {
  return (
    mayStandIn(candidate) &&
    all.some(
      (each) =>
        each.declaration &&
        each.symbol === candidate.symbol &&
        each.file_path === candidate.file_path,
    )
  );
}

/** Whether a symbol could be a stand-in, judged without the other symbols of its name. */
export function mayStandIn({ kind, declaration, file_path }: Candidate): boolean {
  return !declaration && (kind === 'function' || kind === 'macro') && isHeader(file_path);
}

/**
 * The real definitions, or the stand-ins when there are no real ones. `all`: every symbol of the names, declarations
 * included.
 */
export function withoutStandIns<C extends Candidate>(found: readonly C[], all: readonly C[]): C[] {
  const real = found.filter((each) => !each.declaration && !isStandIn(each, all));
  return real.length > 0 ? real : [...found];
}

/** Whether a symbol of this kind can be called by its name alone. */
export function isCallable({ kind }: Candidate): boolean {
  return callableKinds.has(kind);
}

/** Constructors are not called by name; their class is. */
export function isConstructor(name: string): boolean {
  return constructorNames.has(name);
}

/** The definition that the binder found. */
function isExactly({ name, container, path: file, line }: Lookup, candidate: Candidate): boolean {
  return (
    (line === 0 || candidate.line === line) &&
    candidate.symbol === name &&
    candidate.file_path === file &&
    candidate.container === container
  );
}

/** The candidates that code of a C file can see. */
function seenInC<C extends Candidate>(
  { path: from, includes, sees }: Use,
  candidates: readonly C[],
): C[] {
  const seen = candidates.filter(
    (each) => cFile.test(each.file_path) && mayBeVisible(from, includes, each, sees),
  );
  const own = seen.filter((each) => !isOfSister(from, each.file_path));
  return own.length > 0 ? own : seen;
}

/** Whether a call in C sees a public definition. If so it means that one, even when too many fit equally well. */
export function seesPublic(use: Use, candidates: readonly Candidate[]): boolean {
  return seenInC(use, candidates).some(
    (each) => each.exported && !each.declaration && isCallable(each),
  );
}

function inC<C extends Candidate>(use: Use, visible: C[]): C[] {
  const own = visible.filter(({ file_path }) => file_path === use.path && cFile.test(file_path));
  if (own.length > 0) return own.slice(0, candidatesMax);
  const inLanguage = seenInC(use, visible);
  if (inLanguage.length <= 1) return inLanguage;
  const scored = scoredIn(use, inLanguage).sort(
    (one, other) =>
      other.include - one.include ||
      other.near - one.near ||
      one.definition.file_path.length - other.definition.file_path.length ||
      (one.definition.file_path < other.definition.file_path ? -1 : 1) ||
      one.definition.line - other.definition.line,
  );
  const isDecided = (scored[0]?.include ?? 0) > 0;
  if (!isDecided && scored.length > candidatesMax) return [];
  return scored.slice(0, candidatesMax).map((each) => each.definition);
}

/** Of a header that others include. */
const seenScore = 2.25;

/**
 * 3: the file itself is included. 2.5: a file of that path's tail. 2: a header of the same base name. 0: no evidence.
 */
function includeScore(target: string, file: string): number {
  if (file === target || file.endsWith(`/include/${target}`) || file === `include/${target}`)
    return 3;
  if (file.endsWith(`/${target}`)) return 2.5;
  return stemOf(file) === stemOf(target) ? 2 : 0;
}

interface Scored<C> {
  definition: C;
  include: number;
  near: number;
}

/** What is reached through other headers is asked for where no header that the file names decides: it takes longer. */
function scoredIn<C extends Candidate>(use: Use, definitions: readonly C[]): Scored<C>[] {
  const scored = definitions.map((definition) => ({
    definition,
    include: Math.max(0, ...use.includes.map((each) => includeScore(each, definition.file_path))),
    near: nearness(use.path, definition.file_path),
  }));
  if (scored.some(({ include }) => include > seenScore)) return scored;
  for (const each of scored)
    if (isHeader(each.definition.file_path) && use.sees?.(each.definition.file_path) === true)
      each.include = seenScore;
  return scored;
}

/**
 * How many of the first of these definitions, in the order of `visibleDefinitions`, are equally good: a compiler that sees one of
 * them takes none of the others.
 */
export function equallyGood(use: Use, definitions: readonly Candidate[]): number {
  if (definitions.length <= 1) return definitions.length;
  const [best, ...others] = scoredIn(use, definitions);
  return (
    1 + others.filter((each) => each.include === best?.include && each.near === best.near).length
  );
}

function stemOf(file: string): string {
  return path.posix.basename(file).replace(/\.[a-z]+$/, '');
}

/** Number of leading folders that both paths share. */
export function nearness(one: string, other: string): number {
  let shared = 0;
  for (let at = 0; at < one.length && one[at] === other[at]; at += 1)
    if (one[at] === '/') shared += 1;
  // Both at the top share it.
  return shared === 0 && !one.includes('/') && !other.includes('/') ? 1 : shared;
}
