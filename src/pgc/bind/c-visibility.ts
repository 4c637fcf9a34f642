import { posix } from 'node:path';

const headerFile = /\.(?:h|hh|hpp)$/;

export function isHeader(path: string): boolean {
  return headerFile.test(path);
}

/** Top folders whose programs link against the rest of the tree, but not the other way round. */
const auxiliaryFolders = new Set(
  'tools scripts samples examples documentation docs test tests testing selftests bench benchmarks'.split(
    ' ',
  ),
);

/** The location of a definition. */
interface Placed {
  file_path: string;
  kind: string;
}

/**
 * Whether code of a C file can see a definition at all, by their locations: no build lets the core of a tree call its
 * tools and tests; no file sees the macros of another source file; a private header is seen from its own folder, or
 * where its path is included. `includes`: as written in the file. Transitive includes are not all known, so everything
 * public counts as visible, and what `sees` finds: of the files whose includes are known, those that are reached through them.
 */
export function mayBeVisible(
  from: string,
  includes: readonly string[],
  { file_path, kind }: Placed,
  sees: (header: string) => boolean = () => false,
): boolean {
  if (file_path === from) return true;
  if (isAuxiliary(file_path) && topOf(file_path) !== topOf(from)) return false;
  if (isOfAnotherArchitecture(from, file_path)) return false;
  if (!isHeader(file_path)) return kind !== 'macro';
  if (isPublicTo(from, file_path)) return true;
  return includes.some((each) => names(each, from, file_path)) || sees(file_path);
}

/** Tools, samples, tests and documents at the top of a tree. */
export function isAuxiliary(path: string): boolean {
  return auxiliaryFolders.has(topOf(path).toLowerCase());
}

function topOf(path: string): string {
  return path.slice(0, Math.max(0, path.indexOf('/')));
}

/**
 * A header below `X/include` is public to X and everything built against X; any other header is private to its folder.
 * A build has one architecture: each architecture includes its own headers, the rest of the tree those of the one that
 * is built.
 */
function isPublicTo(from: string, header: string): boolean {
  const cut = `/${header}`.lastIndexOf('/include/');
  if (cut < 0) return from.startsWith(`${posix.dirname(header)}/`) || posix.dirname(header) === '.';
  const owner = header.slice(0, cut);
  if (owner === '' || from.startsWith(owner)) return true;
  const arch = /^(?:.*\/)?arch\/[^/]+\/$/.test(owner);
  return arch && !from.startsWith(owner.replace(/[^/]+\/$/, ''));
}

/**
 * Sources of two architectures are not built together, except those that replace each other (`arch/x86/um`) and sister
 * architectures.
 */
function isOfAnotherArchitecture(from: string, path: string): boolean {
  const [one, other] = [architectureOf(from), architectureOf(path)];
  if (one === undefined || other === undefined || familyOf(one) === familyOf(other)) return false;
  return !isHeader(path) && !from.includes(`/${other}/`) && !path.includes(`/${one}/`);
}

/** Whether a path belongs to a sister architecture: arm64 builds some files of arm. */
export function isOfSister(from: string, path: string): boolean {
  const [one, other] = [architectureOf(from), architectureOf(path)];
  return (
    one !== other && one !== undefined && other !== undefined && familyOf(one) === familyOf(other)
  );
}

/** Folders shared by all architectures belong to none. */
function architectureOf(path: string): string | undefined {
  return /^(?:.*\/)?arch\/(?!(?:common|generic|shared)\/)([^/]+)\//.exec(path)?.[1];
}

/** `arm` for arm64 and aarch64, `x86` for i386, amd64 and x86_64. */
function familyOf(architecture: string): string {
  if (/^(?:i[3-6]86|amd64|x86_64)$/.test(architecture)) return 'x86';
  return architecture.replace(/^aarch/, 'arm').replace(/(?:32|64)$/, '');
}

/**
 * `../b/x.h` relative to its folder, `b/x.h` from anywhere in the same part of the tree, `x.h` from the same folder.
 */
function names(include: string, from: string, header: string): boolean {
  const beside = posix.normalize(posix.join(posix.dirname(from), include));
  if (beside === header) return true;
  return (
    include.includes('/') &&
    topOf(from) === topOf(header) &&
    header.endsWith(`/${include.replace(/^(?:\.\.?\/)+/, '')}`)
  );
}
