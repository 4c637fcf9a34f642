/** What classes are made from, as their heads are written. */

import type { Definition } from '../../pgc/shapes.js';
import type { KnownTree } from './known-tree.js';

/** Classes above a class that are looked through. */
export const aboveMax = 8;
/** Of the head of a class, which may take lines. */
const headLines = 6;
const headChars = 600;

export function isClass({ kind }: Definition): boolean {
  return /class|interface|struct/.test(kind);
}

/** Names of what stands above a class, nearest first, as far as the tree has it. */
export async function ancestorsOf(tree: KnownTree, of: Definition): Promise<string[]> {
  const found = new Set<string>();
  const open = [of];
  for (let next = open.shift(); next !== undefined && found.size < aboveMax; next = open.shift()) {
    for (const base of (await basesOf(tree, next)) ?? []) {
      const name = /[\w$]+$/.exec(base)?.[0] ?? '';
      if (name === '' || found.has(name)) continue;
      found.add(name);
      open.push(...(await tree.uses(name)).definitions.filter(isClass).slice(0, 1));
    }
  }
  return [...found];
}

/** Undefined: nothing is known of how this language writes it. */
export async function basesOf(tree: KnownTree, of: Definition): Promise<string[] | undefined> {
  const lines = ((await tree.text(of.file_path)) ?? '').split('\n');
  const head = lines
    .slice(of.line - 1, of.line - 1 + headLines)
    .join('\n')
    .slice(0, headChars);
  if (/\.[cm]?[jt]sx?$/.test(of.file_path) || of.file_path.endsWith('.java')) {
    const [, before] = /\b(?:class|interface)\s([^{]{1,500})\{/.exec(head) ?? [];
    if (before === undefined) return undefined;
    const named = /\b(?:extends|implements)\b(.{1,400})$/s.exec(before)?.[1] ?? '';
    return partsOf(named.replaceAll(/\b(?:extends|implements)\b/g, ','));
  }
  if (!of.file_path.endsWith('.py')) return undefined;
  const [, before] =
    /\bclass\s{1,4}\w{1,80}\s{0,4}(?:\(([^()]{0,300})\))?\s{0,4}:/.exec(head) ?? [];
  return /\bclass\s/.test(head) ? partsOf(before ?? '') : undefined;
}

/** Undefined: one of them is made by a call, or is no name. */
function partsOf(list: string): string[] | undefined {
  const plain = list
    .replaceAll(/<[^<>]{0,200}>/g, '')
    .split(',')
    .map((each) => each.trim());
  const parts = plain.filter((each) => each !== '' && !/^metaclass=/.test(each));
  return parts.every((each) => /^[\w$.]{1,100}$/.test(each)) ? parts : undefined;
}
