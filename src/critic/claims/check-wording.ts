import { agrees } from './check-calls.js';
import type { Amount, Statement, SymbolName } from './claim.js';
import { isConstantName } from './relations.js';
import { hasWord, lineOf, placesOf, testPath } from './known-tree.js';
import { contradicted, unverified, verified, type Checking, type Verdict } from './verdict.js';

/** "two files, `a`, `b` and `c`": the document itself says otherwise. */
export function checkListCount(amount: Amount, listed: number): Verdict {
  const said = `${listed} are named.`;
  return agrees(listed, amount)
    ? verified(said, [])
    : contradicted(said, `Say ${listed}, or name the others.`, []);
}

/** A code stands in one of the files of the functions that are spoken of; where those have others and not this one, it is wrong. */
export async function checkErrorCode(
  { tree }: Checking,
  name: string,
  symbols: readonly SymbolName[],
): Promise<Verdict> {
  const files = new Set<string>();
  for (const each of symbols)
    for (const { file_path, declaration } of (await tree.uses(each.name)).definitions)
      if (!declaration) files.add(file_path);
  const codes = new Set<string>();
  for (const file of files) {
    const text = (await tree.text(file)) ?? '';
    const [at] = placesOf(text, name);
    if (at !== undefined)
      return verified(`${file} has it.`, await tree.evidence(file, lineOf(text, at)), 'medium');
    for (const [code] of text.matchAll(/(?<=-)E[A-Z]{3,14}\b/g)) codes.add(code);
  }
  if (codes.size < codesMin) return unverified(`Nothing is known of who returns ${name}.`);
  const [file = ''] = files;
  return contradicted(
    `${[...files].slice(0, 3).join(', ')} never has ${name}.`,
    `It has ${[...codes].slice(0, 6).join(', ')}.`,
    await tree.evidence(file, 1),
    'medium',
  );
}

const codesMin = 2;

/** What is printed stands in the code as it is, or nearly so, where one word is another. */
export async function checkWording(
  { tree, claim, areNamesOwn }: Checking,
  { text: wording, near, isError }: Extract<Statement, { kind: 'wording' }>,
): Promise<Verdict> {
  const words = await tree.words();
  const wanted = wordsOf(wording);
  for (const { file, text } of words.texts()) {
    if (testPath.test(file) || (near !== '' && !hasWord(text, near))) continue;
    if (!text.includes(wording)) continue;
    return verified(
      `${file} has it.`,
      await tree.evidence(file, lineOf(text, text.indexOf(wording))),
    );
  }
  for (const { file, text } of words.texts()) {
    if (testPath.test(file) || (near !== '' && !hasWord(text, near))) continue;
    const found = near === '' ? lineLike(text, wanted) : textOf(text, near, wanted);
    if (found === undefined) continue;
    return contradicted(
      `The code says: ${found.said}`,
      `Say: ${found.said}`,
      await tree.evidence(file, lineOf(text, found.at)),
    );
  }
  if (!areNamesOwn || isError !== true || claim.stance !== 'asserted')
    return unverified('It is no text of the code.');
  return contradicted('The code prints nothing like it.', 'Copy what it prints.', [], 'medium');
}

interface Found {
  said: string;
  at: number;
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}%$'-]+/gu) ?? [];
}

/** A line of as many words, of which one is another. */
function lineLike(text: string, wanted: readonly string[]): Found | undefined {
  let at = 0;
  for (const line of text.split('\n')) {
    const its = wordsOf(line);
    const others = its.filter((each, which) => each !== wanted[which]).length;
    if (its.length === wanted.length && others === 1) return { said: line.trim(), at };
    at += line.length + 1;
  }
  return undefined;
}

/** Of the texts behind a constant, one that is like it, and not the same. */
function textOf(text: string, near: string, wanted: readonly string[]): Found | undefined {
  for (const at of placesOf(text, near)) {
    const after = text.slice(at + near.length, at + near.length + textChars);
    const match =
      /^['"`]?\s*[:,=(][^"'`]{0,60}(?:['"`][A-Z_]{3,80}['"`]\s*,\s*)?(["'`])((?:(?!\1)[^\n\\]|\\.){8,200})\1/.exec(
        after,
      );
    const said = match?.[2] ?? '';
    const its = wordsOf(said);
    if (its.length < 3 || said.includes('${')) continue;
    const shared = its.filter((each) => wanted.includes(each)).length;
    if (
      shared >= 2 &&
      3 * shared >= Math.max(its.length, wanted.length) &&
      its.join(' ') !== wanted.join(' ')
    )
      return { said, at };
  }
  return undefined;
}

const textChars = 320;

export async function checkText(
  { tree, claim, areTextsOwn }: Checking,
  text: string,
): Promise<Verdict> {
  const words = await tree.words();
  if (words.hasText(text)) return verified('The code has it in quotes.', [], 'medium');
  // A word of the code may be the name of a field.
  if (!areTextsOwn || claim.stance !== 'asserted' || words.has(text) || isConstantName(text))
    return unverified('The code does not have it in quotes.');
  return contradicted(
    `'${text}' is nowhere in the code, which has nearly all other texts of the document.`,
    'Name a text that the code has.',
    [],
    'medium',
  );
}

/** A table is made, read or written by its name. */
export async function checkTable({ tree, claim }: Checking, name: string): Promise<Verdict> {
  const words = await tree.words();
  const used = new RegExp(
    `\\b(?:from|into|table|update|join|exists|on)\\s+["'\`[]?${name}\\b`,
    'i',
  );
  let isThere = false;
  for (const { file, text } of words.texts()) {
    const at = text.search(used);
    if (at >= 0) return verified(`${file} has it.`, await tree.evidence(file, lineOf(text, at)));
    isThere ||= /\bcreate table\b/i.test(text);
  }
  if (!isThere || !words.isComplete || claim.stance !== 'asserted')
    return unverified('No table is called so.');
  return contradicted(`No table is called ${name}.`, 'Name a table that is made.', [], 'medium');
}
