import { BusError } from '../../errors/bus-error.js';
import { pathGlob, type GlobRules, type PathGlob } from './path-glob.js';

/** Who has which part of a tree by a file of the tree: MAINTAINERS as in Linux, CODEOWNERS as on GitHub. */
export interface OwnersFile {
  owners: OwnersFormat;
  /** For messages. */
  file: string;
  text: string;
}

export const ownersFormats = ['maintainers', 'codeowners'] as const;
export type OwnersFormat = (typeof ownersFormats)[number];

/** A part of a tree that goes by one name. */
export interface Section {
  title: string;
  patterns: readonly RankedGlob[];
  /** What matches one of these belongs to another section. */
  except: readonly PathGlob[];
}

export interface RankedGlob extends PathGlob {
  /** Of several that match a path, the one of the highest rank has it. */
  rank: number;
}

/** Linux has 750 KB with 7 000 patterns. GitHub reads at most 3 MB. */
export const ownersBytesMax = 8 * 1024 * 1024;
export const patternsMax = 50_000;
export const patternCharsMax = 1_000;

/** Of everything that no section names. */
export const restTitle = 'the rest';

/** Throws SHARD_PLAN_INVALID with the line. */
export function sectionsOf({ owners, file, text }: OwnersFile): Section[] {
  const fail: Fail = (line, detail) => {
    throw new BusError('SHARD_PLAN_INVALID', { detail: `${file} line ${line}: ${detail}` });
  };
  if (Buffer.byteLength(text) > ownersBytesMax)
    fail(1, `the file has more than ${ownersBytesMax} bytes`);
  const lines = text.split(/\r?\n/);
  const sections =
    owners === 'maintainers' ? maintainersSections(lines, fail) : codeownersSections(lines, fail);
  if (sections.length === 0) fail(lines.length, `nothing in it names a path`);
  return sections;
}

type Fail = (line: number, detail: string) => never;

const maintainersRules: GlobRules = { classes: true, below: 'plain' };

/**
 * A title, then lines with a letter: `F:` a pattern of what belongs to it, `X:` of what does not after all. As in
 * scripts/get_maintainer.pl, the pattern that names the most folders has a file; of those the longest one. A
 * section that has every file of the root has only what no other one names. `N:` is passed over: a regular expression
 * of whoever wrote the tree may take for ever, and of Linux 6.1 only 189 files have no other owner.
 */
function maintainersSections(lines: readonly string[], fail: Fail): Section[] {
  const sections: { title: string; patterns: RankedGlob[]; except: PathGlob[] }[] = [];
  let title = '';
  let current: (typeof sections)[number] | undefined;
  let count = 0;
  for (const [at, line] of lines.entries()) {
    const [, tag, value = ''] = /^([A-Z]):(.*)$/.exec(line) ?? [];
    if (tag === undefined) {
      // A title stands at the beginning of its line; lines that are indented go on with the one before.
      if (line.trim() !== '' && !/^\s/.test(line)) [title, current] = [line.trim(), undefined];
      continue;
    }
    if (tag !== 'F' && tag !== 'X') continue;
    if (title === '') fail(at + 1, `${tag}: before the title of a section`);
    if ((count += 1) > patternsMax) fail(at + 1, `more than ${patternsMax} patterns`);
    const pattern = value.trim();
    const glob = globOf(pattern, at + 1, maintainersRules, fail);
    if (current === undefined) sections.push((current = { title, patterns: [], except: [] }));
    if (tag === 'X') current.except.push(glob);
    else current.patterns.push({ ...glob, rank: isEverything(pattern) ? 0 : rankOf(pattern) });
  }
  return sections.filter(({ patterns }) => patterns.length > 0);
}

function isEverything(pattern: string): boolean {
  return pattern === '*' || pattern === '*/';
}

/** More folders before a longer text; at least 1. */
function rankOf(pattern: string): number {
  const folders = pattern.replace(/\/$/, '').split('/').length;
  return folders * (patternCharsMax + 1) + pattern.length;
}

/**
 * A pattern, then who owns it; the last one that matches a file has it. Those with the same owners are one
 * section. A pattern without owners takes its files from whoever had them. Headings of sections, as GitLab
 * has them, are passed over.
 */
function codeownersSections(lines: readonly string[], fail: Fail): Section[] {
  const sections = new Map<string, { title: string; patterns: RankedGlob[]; except: PathGlob[] }>();
  let count = 0;
  for (const [at, line] of lines.entries()) {
    const words = wordsOf(line);
    const [pattern, ...owners] = words;
    if (pattern === undefined || /^\^?\[[^\]]*\]/.test(line.trim())) continue;
    if ((count += 1) > patternsMax) fail(at + 1, `more than ${patternsMax} patterns`);
    if (pattern.startsWith('!')) fail(at + 1, 'a pattern cannot begin with !');
    const title = owners.join(' ') || restTitle;
    const section = sections.get(title) ?? { title, patterns: [], except: [] };
    sections.set(title, section);
    section.patterns.push({ ...codeownersGlob(pattern, at + 1, fail), rank: at + 1 });
  }
  return [...sections.values()];
}

/** Up to a `#` that begins a word; a space in a pattern is written `\ `. */
function wordsOf(line: string): string[] {
  const words = line.match(/(?:\\.|[^\s\\]|\\$)+/g) ?? [];
  const comment = words.findIndex((word) => word.startsWith('#'));
  return comment < 0 ? words : words.slice(0, comment);
}

/** As in .gitignore: one that names no folder matches at any depth. But the star of `docs/*` matches no folder. */
function codeownersGlob(pattern: string, line: number, fail: Fail): PathGlob {
  const isAnchored = /\/./.test(pattern);
  const rooted = pattern.replace(/^\//, '');
  const below = pattern.endsWith('/*') ? 'never' : 'always';
  const text = isAnchored ? rooted : `**/${rooted}`;
  return globOf(rooted === '' ? '**/' : text, line, { classes: false, below }, fail);
}

function globOf(pattern: string, line: number, rules: GlobRules, fail: Fail): PathGlob {
  if (pattern === '') fail(line, 'a pattern is missing');
  if (pattern.length > patternCharsMax)
    fail(line, `a pattern has more than ${patternCharsMax} characters`);
  if (pattern.startsWith('/') || pattern.split('/').includes('..'))
    fail(line, `${pattern} lies outside the tree`);
  if (pattern.includes('\0')) fail(line, 'a pattern holds a NUL character');
  try {
    return pathGlob(pattern, rules);
  } catch (error) {
    return fail(line, error instanceof Error ? error.message : String(error));
  }
}

/** Which section has a path: its number; -1 when none does. */
export function sectionFinder(sections: readonly Section[]): (path: string) => number {
  const byFolder = new Map<string, { glob: RankedGlob; section: number }[]>();
  for (const [section, { patterns }] of sections.entries()) {
    for (const glob of patterns) {
      const known = byFolder.get(glob.under);
      if (known === undefined) byFolder.set(glob.under, [{ glob, section }]);
      else known.push({ glob, section });
    }
  }
  // Few patterns can match a path: those that are rooted in a folder around it.
  return (path) => {
    let best = -1;
    let bestRank = -1;
    for (let folder = path; folder !== '';) {
      folder = folder.slice(0, Math.max(folder.lastIndexOf('/'), 0));
      for (const { glob, section } of byFolder.get(folder) ?? []) {
        if (glob.rank <= bestRank || !glob.matches(path)) continue;
        if (sections[section]?.except.some((each) => each.matches(path)) === true) continue;
        [best, bestRank] = [section, glob.rank];
      }
    }
    return best;
  };
}
