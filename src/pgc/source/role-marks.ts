import { pathGlob, type PathGlob } from './path-glob.js';
import type { RoleMarks } from './role.js';
import type { LeftOut, ReadableTree } from './source-tree.js';

/** Of all files together; a tree with more marks its files one by one. */
const linesMax = 10_000;

export const attributesName = /(?:^|\/)\.gitattributes$/;

/** Of those files of a tree that are no source: attributes have no language. */
export async function readRoleMarks(
  tree: ReadableTree,
  leftOut: readonly LeftOut[],
): Promise<(path: string) => RoleMarks> {
  const files: AttributesFile[] = [];
  for (const { path } of leftOut) {
    if (!attributesName.test(path)) continue;
    const read = await tree.read({ path, language: 'settings' });
    if ('bytes' in read) files.push({ path, text: read.bytes.toString('utf8') });
  }
  return roleMarks(files);
}

/** One line: what it says of the files that it matches, below the folder of its file. */
interface MarkedPaths {
  folder: string;
  glob: PathGlob;
  marks: RoleMarks;
}

/** A `.gitattributes`, by its path. */
interface AttributesFile {
  path: string;
  text: string;
}

/**
 * What attributes of linguist say of each path. As in git the last line that matches counts, and files of deeper folders come
 * last.
 */
export function roleMarks(files: readonly AttributesFile[]): (path: string) => RoleMarks {
  const depth = ({ path }: AttributesFile): number => path.split('/').length;
  const all = [...files]
    .sort((one, other) => depth(one) - depth(other))
    .flatMap(({ path, text }) => markedPaths(path.slice(0, path.lastIndexOf('/') + 1), text))
    .slice(0, linesMax);
  return (path) => {
    const found: RoleMarks = {};
    for (const { folder, glob, marks } of all)
      if (path.startsWith(folder) && glob.matches(path.slice(folder.length)))
        Object.assign(found, marks);
    return found;
  };
}

function markedPaths(folder: string, text: string): MarkedPaths[] {
  return text.split('\n').flatMap((line) => {
    const [, quoted, plain = '', rest = ''] =
      /^\s*(?:"((?:[^"\\]|\\.)*)"|([^\s#"]\S*))\s+(.*)$/.exec(line) ?? [];
    const pattern = quoted ?? plain;
    const marks = marksIn(rest.split(/\s+/));
    // Git matches files, and a slash at the end means folders.
    if (pattern === '' || pattern.endsWith('/') || Object.keys(marks).length === 0) return [];
    const glob = globOf(pattern);
    return glob === undefined ? [] : [{ folder, glob, marks }];
  });
}

/** A pattern without a slash matches in every folder. Undefined for one that git cannot read either. */
function globOf(pattern: string): PathGlob | undefined {
  const text = pattern.includes('/') ? pattern : `**/${pattern}`;
  try {
    return pathGlob(text, { classes: true, below: 'never' });
  } catch {
    return undefined;
  }
}

/** `linguist-vendored`, `-linguist-generated`, `linguist-documentation=false`. */
function marksIn(attributes: readonly string[]): RoleMarks {
  const marks: RoleMarks = {};
  for (const each of attributes) {
    const [, sign = '', name = '', value = ''] =
      /^([-!]?)linguist-(vendored|generated|documentation)(?:=(.*))?$/.exec(each) ?? [];
    if (name === '') continue;
    const isSet = sign === '' && value !== 'false';
    marks[name as keyof RoleMarks] = sign === '!' ? undefined : isSet;
  }
  return marks;
}
