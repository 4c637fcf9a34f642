/** What makes a word a name of the code, and what speaks for a name that the code does not have. */

import type { SymbolName } from './claim.js';
import { hasWord, placesOf, testPath, type KnownTree, type Words } from './known-tree.js';
import { partsOf } from './spelling.js';

/** What a sentence calls the word that it marks. */
const roles =
  'option|property|field|member|method|function|flag|event|hook|parameter|argument|setting|callback|symbol|constant|class|error|code|key';

/** "the `x` option", "the member `x`": a plain word that is said to be a name of the code. */
export function isRole(sentence: string, { name, container, isMarked }: SymbolName): boolean {
  if (!isMarked || name.length < 3) return false;
  const own = container === '' ? name : `${container}.${name}`;
  if (container === 'options') return true;
  const at = sentence.indexOf(`\`${own}\``);
  if (at < 0) return false;
  const [before, after] = [sentence.slice(0, at), sentence.slice(at + own.length + 2)];
  return (
    container !== '' ||
    // An item of a list of names.
    (/^\W*$/.test(before) &&
      /^`(?: \([^()]{1,60}\))?(?::| [–-]) /.test(sentence.slice(at + own.length + 1))) ||
    new RegExp(`\\b(?:${roles})s? \`?$`, 'i').test(before) ||
    new RegExp(`^\`?,? (?:and \`\\w+\` )?(?:${roles})s?\\b`, 'i').test(after)
  );
}

/** "the method `.x`", "the `x` function". */
export function isMethodOf(sentence: string, name: string): boolean {
  return new RegExp(
    `\\b(?:method|function)s? \`\\.?${name.replaceAll('$', '\\$')}\`|\`\\.?${name.replaceAll('$', '\\$')}\` (?:method|function)\\b`,
  ).test(sentence);
}

const isFunctionAfter =
  /^['"]?\]?(?:<|\s*\(|\s*(?:\?\.\(|\?:|:(?!\s*(?:true|false|null|\d|string|number|boolean))|=(?!=|\s*(?:true|false|null|undefined|\d|['"]))))/;

/** It is called, given a value that may be a function, named in a list of what is exported, or a text by which it may be made. */
export function isCallable(words: Words, name: string): boolean {
  for (const { file, text } of words.texts()) {
    if (testPath.test(file)) continue;
    for (const at of placesOf(text, name)) {
      const [before, after] = [
        text.slice(at - 12, at),
        text.slice(at + name.length, at + name.length + 24),
      ];
      if (isFunctionAfter.test(after) || /['"`]$/.test(before)) return true;
      if (/(?:[{,]|\bdefine)\s*$/.test(before) && /^\s*(?:[,}]|$)/.test(after)) return true;
    }
  }
  return false;
}

export const optionsName = /^(?:opts?|options?|config|settings)$/;

/** As a member of options, a key, or taken apart. */
export function isRead(words: Words, name: string): boolean {
  const plain = name.replaceAll('$', '\\$');
  const member = new RegExp(
    `\\b(?:\\w*(?:[oO]pts?|[oO]ptions?)|\\w*[cC]onfig|\\w*[sS]ettings|params?|args?|argv|defaults?|this|self|init)\\??\\.${plain}\\b|['"]${plain}['"]|[{,(]\\s*${plain}\\s*[,}=:]|\\n\\s*(?:readonly )?${plain}\\??\\s*[,:=]`,
  );
  for (const { file, text } of words.texts())
    if (!testPath.test(file) && member.test(text)) return true;
  return false;
}

/** "the two `shells`": of something that there may be several of, and not called a structure itself. */
export async function isPlural(tree: KnownTree, name: string, sentence: string): Promise<boolean> {
  if (!name.endsWith('s') || sentence.includes(`struct ${name}`)) return false;
  const { definitions } = await tree.uses(name.slice(0, -1));
  return definitions.some(({ kind }) => /struct|class|type|interface|union|enum/.test(kind));
}

/** Within the brackets of `f(a, name)`. */
export function isParameterIn(text: string, name: string): boolean {
  return [...text.matchAll(/[\w$]\(([^()`]{1,150})\)/g)].some(([, inner = '']) =>
    hasWord(inner, name),
  );
}

/** Two calls of a sentence that the code does not have are of something else. */
export function isAmongOthers(sentence: string, words: Words): boolean {
  const called = [...sentence.matchAll(/`(?:[\w$]{1,60}\.)?([\w$]{3,80})\([^`]{0,80}\)`/g)];
  return called.filter(([, name = '']) => !words.has(name)).length > 1;
}

/** A pattern of names, a text of a family of texts that others add to, or something of a package that is used: `ssri.parse`. */
export async function mayBeElsewhere(
  tree: KnownTree,
  { name, container }: SymbolName,
  words: Words,
): Promise<boolean> {
  if (name.length < 3) return true;
  if (/(?:^|_)(?:foo|bar|baz|xxx|name)$|[a-z](?:X|N|XXX)$/.test(name)) return true;
  const family = familyOf(name, [...words.all()]);
  if (family.length > 0 && family.some((each) => words.isOnlyText(each))) return true;
  const json = (await tree.packageFile())?.json ?? {};
  return ['dependencies', 'peerDependencies', 'devDependencies', 'optionalDependencies'].some(
    (each) => Object.hasOwn((json[each] as object | undefined) ?? {}, container),
  );
}

/** Names that begin with the same two parts, or one long part, of a name with underscores. */
export function familyOf(name: string, names: readonly string[]): string[] {
  const parts = partsOf(name);
  if (!name.includes('_') || parts.length < 2) return [];
  const [first = '', second = ''] = parts;
  const isConstant = name === name.toUpperCase();
  const isLong = parts.length > 2 && first.length < 5;
  const prefix = isLong ? `${first}_${second}_` : `${first}_`;
  // Constants of a family stand together, also under a short name.
  if (prefix.length < (isConstant ? 3 : 4)) return [];
  return names.filter((each) => each.toLowerCase().startsWith(prefix));
}
