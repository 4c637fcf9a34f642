import { BusError } from '../../errors/bus-error.js';
import { addTo } from './planned-shards.js';
import { pathGlob, type GlobRules, type PathGlob } from '../source/path-glob.js';

/** Who owns which part of a tree according to a file in it: MAINTAINERS as in Linux, CODEOWNERS as on GitHub. */
export interface OwnersFile {
  owners: OwnersFormat;
  /** For messages. */
  file: string;
  text: string;
}

export const ownersFormats = ['maintainers', 'codeowners'] as const;
export type OwnersFormat = (typeof ownersFormats)[number];

/** A part of a tree with one title. */
export interface Section {
  title: string;
  patterns: readonly RankedGlob[];
  /** Paths that match one of these belong to another section. */
  except: readonly PathGlob[];
}

interface RankedGlob extends PathGlob {
  /** The matching pattern with the highest rank decides. */
  rank: number;
}

/** That of Linux has 750 KB with 7 000 patterns; GitHub reads at most 3 MB. */
export const ownersBytesMax = 8 * 1024 * 1024;
export const patternsMax = 50_000;
export const patternCharsMax = 1_000;

/** Title of everything that no section names. */
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
  if (sections.length === 0) fail(lines.length, `no line names a path`);
  return sections;
}

type Fail = (line: number, detail: string) => never;

const maintainersRules: GlobRules = { classes: true, below: 'plain' };

/**
 * A title, then lines with a letter: `F:` a pattern for its files, `X:` an exception. As in scripts/get_maintainer.pl,
 * the pattern that names the most folders wins, then the longest one. A section for every file in the root gets only
 * what no other section names. `N:` is ignored: it is an untrusted regular expression that may take exponential time,
 * and only 189 files of Linux 6.1 have no other owner.
 */
function maintainersSections(lines: readonly string[], fail: Fail): Section[] {
  const sections: { title: string; patterns: RankedGlob[]; except: PathGlob[] }[] = [];
  let title = '';
  let current: (typeof sections)[number] | undefined;
  let count = 0;
  for (const [at, line] of lines.entries()) {
    const [, tag, value = ''] = /^([A-Z]):(.*)$/.exec(line) ?? [];
    if (tag === undefined) {
      // A title begins at the start of a line; indented lines continue the one before.
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

/** More folders rank above longer text; at least 1. */
function rankOf(pattern: string): number {
  const folders = pattern.replace(/\/$/, '').split('/').length;
  return folders * (patternCharsMax + 1) + pattern.length;
}

/**
 * Lines of a pattern and its owners; the last match wins. Files with the same owners form one section. A pattern
 * without owners takes its files away from their owners. Section headings, as GitLab has them, are ignored.
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

/** The words before a `#` that begins a word. A space in a pattern is written `\ `. */
function wordsOf(line: string): string[] {
  const words = line.match(/(?:\\.|[^\s\\]|\\$)+/g) ?? [];
  const comment = words.findIndex((word) => word.startsWith('#'));
  return comment < 0 ? words : words.slice(0, comment);
}

/** As in .gitignore, a pattern without a folder matches at any depth. But the star of `docs/*` matches no folder. */
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
    fail(line, `${pattern} is outside the tree`);
  if (pattern.includes('\0')) fail(line, 'a pattern holds a NUL character');
  try {
    return pathGlob(pattern, rules);
  } catch (error) {
    return fail(line, error instanceof Error ? error.message : String(error));
  }
}

/** Returns a function from a path to the number of its section; -1 for none. */
export function sectionFinder(sections: readonly Section[]): (path: string) => number {
  const byFolder = new Map<string, { glob: RankedGlob; section: number }[]>();
  for (const [section, { patterns }] of sections.entries()) {
    for (const glob of patterns) addTo(byFolder, glob.under, { glob, section });
  }
  // Few patterns can match a path: those rooted in one of its folders.
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
