/** Objects of which all members are written in one place: literals, modules, structures of C. */

import path from 'node:path';
import type { SymbolName } from './claim.js';
import { hasWord, lineOf, testPath, type KnownTree, type Words } from './known-tree.js';
import { contradicted, type Checking, type Verdict } from './verdict.js';

interface Closed {
  file: string;
  line: number;
  members: string;
}

/** Of an object, as it is written. */
const objectChars = 12_000;

/** Something of an object that none of its places has. Undefined: it may have it, or is not closed. */
export async function checkClosed(
  { tree, claim, areNamesOwn }: Checking,
  { name, container }: SymbolName,
  words: Words,
): Promise<Verdict | undefined> {
  if (!areNamesOwn || claim.stance !== 'asserted' || !words.isComplete) return undefined;
  // What is given away by that name may be anything.
  if (
    /^(?:opts?|options?|config|settings|params|args|props|this|self|module|exports)$/.test(
      container,
    )
  )
    return undefined;
  // In quotes it is a name of its own, as rights and events have.
  if (words.hasText(`${container}.${name}`)) return undefined;
  const access = new RegExp(
    `\\b${plain(container)}(?:\\?\\.|->)${plain(name)}\\b|\\bObject\\.\\w+\\(\\s*${plain(container)}\\b|\\b${plain(container)}\\[`,
  );
  const places: Closed[] = [];
  for (const { file, text } of words.texts()) {
    if (access.test(text)) return undefined;
    if (testPath.test(file)) continue;
    const its = (await closedIn(tree, file, text, container)) ?? [];
    if (its.some((each) => hasWord(each.members, name) || each.members.includes('...')))
      return undefined;
    places.push(...its);
  }
  const structure = await structureOf(tree, container);
  if (structure !== undefined) places.push(structure);
  const [first] = places;
  if (first === undefined || places.some((each) => hasWord(each.members, name))) return undefined;
  return contradicted(
    `${container} has no ${name}, at ${first.file}:${first.line}.`,
    `Name something that ${container} has.`,
    await tree.evidence(first.file, first.line, first.line, container),
  );
}

function plain(name: string): string {
  return name.replaceAll('$', '\\$');
}

async function structureOf(tree: KnownTree, container: string): Promise<Closed | undefined> {
  const [own, ...others] = (await tree.uses(container)).definitions.filter(
    ({ kind, declaration }) => kind === 'struct' && !declaration,
  );
  if (own === undefined || others.length > 0) return undefined;
  const lines = ((await tree.text(own.file_path)) ?? '').split('\n');
  const members = lines.slice(own.line - 1, own.line_end).join('\n');
  return { file: own.file_path, line: own.line, members };
}

/** Undefined: the file does not make it, or it cannot be told what it has. */
async function closedIn(
  tree: KnownTree,
  file: string,
  text: string,
  container: string,
): Promise<Closed[] | undefined> {
  if (!/\.[cm]?[jt]sx?$/.test(file) || !hasWord(text, container)) return undefined;
  const literal = new RegExp(
    `\\b(?:const|let|var)\\s+${plain(container)}\\s*=\\s*(?:[\\w.]{1,40}\\(\\s*)?\\{`,
  ).exec(text);
  if (literal !== null) {
    const open = literal.index + literal[0].length - 1;
    const members = inBrackets(text, open);
    return [{ file, line: lineOf(text, literal.index), members: members ?? '...' }];
  }
  const brought = new RegExp(
    `\\b(?:const|let|var)\\s+${plain(container)}\\s*=\\s*require\\(['"](\\.[^'"]{1,200})['"]\\)|\\bimport\\s+\\*\\s+as\\s+${plain(container)}\\s+from\\s+['"](\\.[^'"]{1,200})['"]`,
  ).exec(text);
  if (brought === null) return undefined;
  const base = path.posix.join(path.posix.dirname(file), brought[1] ?? brought[2] ?? '');
  const target = ['', '.js', '.ts', '.mjs', '.cjs', '/index.js', '/index.ts', '/index.mjs']
    .map((ending) => `${base}${ending}`)
    .find((each) => tree.paths.has(each));
  const members = target === undefined ? undefined : await tree.text(target);
  return target === undefined || members === undefined
    ? undefined
    : [{ file: target, line: 1, members: exportsOf(members) }];
}

function inBrackets(text: string, open: number): string | undefined {
  let depth = 0;
  for (let at = open; at < Math.min(text.length, open + objectChars); at += 1) {
    if (text[at] === '{') depth += 1;
    if (text[at] === '}') depth -= 1;
    if (depth === 0) return text.slice(open, at);
  }
  return undefined;
}

/** What leaves a module: `...` where that is not written out. */
function exportsOf(text: string): string {
  const listed = [...text.matchAll(/(?:\bmodule\.exports\s*=|\bexport)\s*(\{[^]{0,4000}?\})/g)].map(
    ([, inner = '']) => inner,
  );
  const single = [
    ...text.matchAll(
      /\b(?:module\.)?exports\.([\w$]{1,80})|\bexport\s+(?:async\s+)?(?:function\*?|const|let|var|class)\s+([\w$]{1,80})/g,
    ),
  ].map(([, one = '', other = '']) => one || other);
  const all = [...listed, ...single].join(' ');
  return /\bexport\s+\*|module\.exports\s*=\s*[^{\s]/.test(text) || all === '' ? '...' : all;
}
