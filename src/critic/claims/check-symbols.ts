import { builtinModules } from 'node:module';
import type { Definition } from '../../pgc/shapes.js';
import type { PathName, SymbolName } from './claim.js';
import { ancestorsOf } from './classes.js';
import {
  hasWord,
  lineOfWord,
  placesOf,
  testPath,
  type KnownTree,
  type Words,
} from './known-tree.js';
import { placeOf } from './places.js';
import { checkClosed } from './check-objects.js';
import {
  familyOf,
  isAmongOthers,
  isCallable,
  isMethodOf,
  isParameterIn,
  isPlural,
  isRead,
  isRole,
  mayBeElsewhere,
  optionsName,
} from './own-names.js';
import { isSlip, nearest, partsOf } from './spelling.js';
import { contradicted, unverified, verified, type Checking, type Verdict } from './verdict.js';

const placeholder =
  /^(?:foo|bar|baz|qux|my[A-Z_]\w*|your[A-Z_]\w*|some[A-Z_]\w*|example\w*|xxx?|abc|test|name|value)$/i;
/** Objects of the language and of its own modules: what they have is not of the tree. */
const foreign = new Set([
  ...Object.getOwnPropertyNames(globalThis),
  ...builtinModules,
  'window',
  'document',
  'std',
  'self',
  'self',
  'this',
  'e',
  'err',
  'error',
]);

/** Sentences that speak of what is not this tree. */
const elsewhereSaid =
  /\b(?:user ?space|user-space|g?libc|POSIX|in (?:Python|Go|Rust|Java|C\+\+|Ruby|PHP|Erlang|Haskell)|Windows|FreeBSD|Solaris|macOS)\b/i;

export async function definitionsOf(tree: KnownTree, symbol: SymbolName): Promise<Definition[]> {
  const { definitions } = await tree.uses(symbol.name);
  const own = definitions.filter(({ container }) => container === symbol.container);
  return symbol.container === '' || own.length === 0 ? definitions : own;
}

export async function checkSymbol(checking: Checking, symbol: SymbolName): Promise<Verdict> {
  const { tree } = checking;
  const { definitions, callers } = await tree.uses(symbol.name);
  const words = await tree.words();
  // `cycle.machine` is a file: `cycle.machine.ts`.
  const stem = symbol.container === '' ? '' : `/${symbol.container}.${symbol.name}.`;
  const file = stem === '' ? undefined : [...tree.paths].find((each) => `/${each}`.includes(stem));
  if (file !== undefined) return verified(`${file} is called so.`, await tree.evidence(file, 1));
  if (symbol.container !== '') {
    const absent = await checkMember(checking, symbol, definitions, words);
    if (absent !== undefined) return absent;
  }
  const closed = symbol.container === '' ? undefined : await checkClosed(checking, symbol, words);
  if (closed !== undefined) return closed;
  const isUnread = optionsName.test(symbol.container) && !isRead(words, symbol.name);
  if (isUnread && checking.areNamesOwn && checking.claim.stance === 'asserted') {
    const place = words.placeOf(symbol.name);
    const evidence = place === undefined ? [] : await tree.evidence(place.file, place.line);
    if (place !== undefined)
      return contradicted(
        `${symbol.name} is a word of the code, and no option.`,
        'Name an option that is read.',
        evidence,
        'medium',
      );
  }
  const [definition] = definitions;
  if (definition !== undefined && symbol.container !== '') {
    const member = await memberOf(tree, symbol, definitions);
    if (member !== undefined) return member;
  }
  if (definition !== undefined)
    return verified(
      `${kindOf(definition)} ${symbol.name} is defined at ${definition.file_path}:${definition.line}.`,
      await tree.evidence(definition.file_path, definition.line, definition.line, symbol.name),
    );
  const [call] = callers;
  if (call !== undefined)
    return verified(
      `${symbol.name} is called at ${call.file_path}:${call.line}.`,
      await tree.evidence(call.file_path, call.line, call.line, symbol.name),
      'medium',
    );
  const place = words.placeOf(symbol.name);
  const isCall = symbol.isCall || isMethodOf(checking.claim.text, symbol.name);
  if (
    /\.[cm]?[jt]sx?$/.test(place?.file ?? '') &&
    place !== undefined &&
    isCall &&
    checking.areNamesOwn &&
    !isCallable(words, symbol.name)
  )
    return checking.claim.stance === 'asserted' && !foreign.has(symbol.container)
      ? contradicted(
          `${symbol.name} is a word of the code, and nothing there defines or calls it.`,
          'Name a function that is there.',
          await tree.evidence(place.file, place.line, place.line, symbol.name),
          'medium',
        )
      : unverified(`Nothing calls ${symbol.name}.`);
  if (place !== undefined)
    return verified(
      `${symbol.name} is a word of the code.`,
      await tree.evidence(place.file, place.line, place.line, symbol.name),
      'medium',
    );
  return absentSymbol(checking, symbol, words);
}

/** Of a class of the tree, something of the same name elsewhere bears out nothing. Undefined: it is its own, or of no class. */
async function memberOf(
  tree: KnownTree,
  { name, container }: SymbolName,
  definitions: readonly Definition[],
): Promise<Verdict | undefined> {
  if (definitions.some((each) => each.container === container)) return undefined;
  const owners = (await tree.uses(container)).definitions.filter(({ kind }) => kind === 'class');
  const [owner] = owners;
  if (owner === undefined) return undefined;
  for (const { file_path } of owners) {
    const text = (await tree.text(file_path)) ?? '';
    if (!hasWord(text, name)) continue;
    const line = lineOfWord(text, name);
    return verified(
      `${name} stands in ${file_path}, as ${container} does.`,
      await tree.evidence(file_path, line, line, name),
      'medium',
    );
  }
  const above = await inherited(tree, owner, name);
  if (above !== undefined) return above;
  return unverified(`${name} is there, but is not known to be of ${container}.`);
}

/** Defined by a class that this one is made from. */
async function inherited(
  tree: KnownTree,
  owner: Definition,
  name: string,
): Promise<Verdict | undefined> {
  for (const base of await ancestorsOf(tree, owner)) {
    const own = (await tree.uses(name)).definitions.find(({ container }) => container === base);
    if (own !== undefined)
      return verified(
        `${name} is of ${base}, at ${own.file_path}:${own.line}.`,
        await tree.evidence(own.file_path, own.line, own.line, name),
      );
  }
  return undefined;
}

function kindOf({ kind, declaration }: Definition): string {
  return declaration ? `declaration of ${kind}` : kind;
}

const fileEnding =
  /^(?:[cm]?[jt]sx?|[ch](?:pp|c|xx)?|hh|py|go|rs|java|kt|rb|sh|md|rst|txt|ya?ml|json|toml|proto|sql|html?|css)$/;

/** Undefined: nothing speaks against it. */
async function checkMember(
  { tree, document }: Checking,
  { name, container }: SymbolName,
  definitions: readonly Definition[],
  words: Words,
): Promise<Verdict | undefined> {
  if (definitions.length > 0 || words.has(name) || !words.isComplete) return undefined;
  // `ring.c` is a file, and no member of `ring`.
  if (fileEnding.test(name)) return undefined;
  if (foreign.has(container) || hasWord(document.fenced, name)) return undefined;
  const owner = await ownerOf(tree, container);
  if (owner === undefined) return undefined;
  const near = nearest(name, words.all());
  return contradicted(
    `${container} is known, but ${name} is nowhere in the code.`,
    near === undefined ? `Name something that ${container} has.` : `It is probably ${near}.`,
    await tree.evidence(owner.file_path, owner.line, owner.line, container),
    near === undefined ? 'medium' : 'high',
  );
}

/** A class or an object that the tree defines, also where the words begin small: `reply` of class `Reply`. */
async function ownerOf(tree: KnownTree, container: string): Promise<Definition | undefined> {
  const large = container.slice(0, 1).toUpperCase() + container.slice(1);
  for (const each of new Set([container, large])) {
    const [definition] = (await tree.uses(each)).definitions;
    if (definition !== undefined) return definition;
  }
  return undefined;
}

/** Nowhere in the index and nowhere in the code: wrong only where the tree has a name of which it is a misspelling, or its family. */
async function absentSymbol(
  { tree, document, claim, areNamesOwn }: Checking,
  symbol: SymbolName,
  words: Words,
): Promise<Verdict> {
  const { name } = symbol;
  const reason = `${name} is not in the code.`;
  const isName =
    symbol.isCall || /_|[a-z][A-Z]|^E[A-Z]{4,}$/.test(name) || isRole(claim.text, symbol);
  if (!isName) return unverified(reason);
  if (placeholder.test(name)) return unverified(`${reason} It reads like a placeholder.`);
  if (foreign.has(name) || foreign.has(symbol.container) || /^pthread_/.test(name))
    return unverified(`${reason} It belongs to the language.`);
  if (elsewhereSaid.test(claim.text))
    return unverified(`${reason} The sentence speaks of another system.`);
  if (words.mayBePasted(name)) return unverified(`${reason} A macro may make it.`);
  if (/^_|_$/.test(name) && /\b(?:pre|suf)fix|ending|ends? (?:in|with)|begin/i.test(claim.text))
    return unverified(`${reason} It is a part of names.`);
  if (document.passages.some(({ text }) => text.includes(`\`${name} = `)))
    return unverified(`${reason} The document calls something so.`);
  if (hasWord(document.fenced, name))
    return unverified(`${reason} An example of the document has it.`);
  if (!symbol.isMarked && !/_/.test(name)) return unverified(reason);
  if (
    !symbol.isCall &&
    symbol.container === '' &&
    document.passages.some(({ text }) => isParameterIn(text, name))
  )
    return unverified(`${reason} The document calls a parameter so.`);
  if (!symbol.isCall && [`${name}s`, `CONFIG_${name}`].some((each) => words.has(each)))
    return unverified(`${reason} It is one of several that are.`);
  if (await isPlural(tree, name, claim.text))
    return unverified(`${reason} It is one of several that are.`);
  if (await tree.isInDocuments(name))
    return unverified(`${reason} Other documents of the tree name it.`);
  if (claim.stance !== 'asserted') return unverified(reason);
  const names = await tree.namesLike(name);
  const near =
    nearest(name, names) ??
    (words.isComplete && (symbol.isCall || partsOf(name).length > 2)
      ? nearest(name, words.all())
      : undefined);
  const [definition] = near === undefined ? [] : (await tree.uses(near)).definitions;
  // A text like others may be made by what is not in the tree; only a slip of the pen tells.
  if (near !== undefined && !symbol.isCall && words.isOnlyText(near) && !isSlip(name, near))
    return unverified(`${reason} It may be a text of something else.`);
  if (near !== undefined) {
    const evidence =
      definition === undefined
        ? []
        : await tree.evidence(definition.file_path, definition.line, definition.line, near);
    const where = definition === undefined ? '' : `, at ${definition.file_path}:${definition.line}`;
    return contradicted(reason, `It is probably ${near}${where}.`, evidence, 'medium');
  }
  if (name.startsWith('CONFIG_'))
    return unverified(`${reason} Kconfig defines such names without their prefix.`);
  const family = familyOf(name, names);
  const isShort = name.indexOf('_') < 3;
  if (family.length < (isShort ? shortFamilyMin : familyMin) || (isShort && !words.isComplete))
    return areNamesOwn &&
      symbol.isMarked &&
      !isAmongOthers(claim.text, words) &&
      !(await mayBeElsewhere(tree, symbol, words))
      ? contradicted(
          `${reason} Nearly all that the document names is.`,
          'Name something that is there.',
          [],
          'medium',
        )
      : unverified(`${reason} It may be defined elsewhere.`);
  const [first = ''] = family;
  const [relative] = (await tree.uses(first)).definitions;
  return contradicted(
    `${reason} The tree has ${family.length} names that begin like it, and not this one.`,
    `Name one that is there, such as ${family.slice(0, 3).join(', ')}.`,
    relative === undefined
      ? []
      : await tree.evidence(relative.file_path, relative.line, relative.line, first),
    'medium',
  );
}

const familyMin = 3;
const shortFamilyMin = 8;

export async function checkDefinition(
  { tree, claim }: Checking,
  symbol: SymbolName,
  name: PathName,
  how: 'defined' | 'in' | 'exported',
): Promise<Verdict> {
  const place = placeOf(tree, name);
  if (place.is === 'nowhere' || place.is === 'pattern')
    return unverified('There is no one such place to look into.');
  const isWithin = (file: string): boolean =>
    place.is === 'file'
      ? file === place.file
      : place.is === 'several'
        ? place.files.some((each) => file === each || file.startsWith(`${each}/`))
        : place.folder === '' || file.startsWith(`${place.folder}/`);
  const definitions = await definitionsOf(tree, symbol);
  const here = definitions.find(({ file_path }) => isWithin(file_path));
  if (here !== undefined) return definedHere(tree, symbol, here, how);
  const files =
    place.is === 'file' ? [place.file] : [...tree.paths].filter(isWithin).slice(0, folderFilesMax);
  const found = await firstWith(tree, files, symbol.name);
  const [elsewhere] = definitions;
  const said = `${symbol.name} is not in ${name.path}.`;
  if (found !== undefined) {
    const evidence = await tree.evidence(found.file, found.line, found.line, symbol.name);
    const isDefined =
      how === 'in' || elsewhere === undefined || looksDefined(found.text, symbol.name);
    if (isDefined) return verified(`${symbol.name} stands in ${found.file}.`, evidence, 'medium');
    return contradicted(
      `${found.file} uses ${symbol.name}, and does not define it.`,
      `It is defined at ${elsewhere.file_path}:${elsewhere.line}.`,
      [
        ...(await tree.evidence(elsewhere.file_path, elsewhere.line, elsewhere.line, symbol.name)),
        ...evidence,
      ],
    );
  }
  if (elsewhere !== undefined)
    return contradicted(
      said,
      `It is defined at ${elsewhere.file_path}:${elsewhere.line}.`,
      await tree.evidence(elsewhere.file_path, elsewhere.line, elsewhere.line, symbol.name),
    );
  const words = await tree.words();
  const other = words.placeOf(symbol.name);
  if (place.is !== 'file' || (other === undefined && !isCodeName(symbol)))
    return unverified(`${said} Nothing is known of it.`);
  if (!isCodeName(symbol) && how === 'in') return unverified(said);
  if (claim.stance !== 'asserted') return unverified(said);
  return other === undefined
    ? contradicted(
        words.isComplete ? `${said} It is nowhere else in the code either.` : said,
        `Name what ${place.file} has.`,
        await tree.evidence(place.file, 1),
        'medium',
      )
    : contradicted(
        said,
        `It stands at ${other.file}:${other.line}.`,
        await tree.evidence(other.file, other.line, other.line, symbol.name),
        'medium',
      );
}

const folderFilesMax = 400;

function isCodeName({ name, isCall }: SymbolName): boolean {
  return isCall || /_|[a-z][A-Z]|^[A-Z][A-Z0-9]+$/.test(name);
}

async function definedHere(
  tree: KnownTree,
  symbol: SymbolName,
  here: Definition,
  how: 'defined' | 'in' | 'exported',
): Promise<Verdict> {
  const evidence = await tree.evidence(here.file_path, here.line, here.line, symbol.name);
  const text = (await tree.text(here.file_path)) ?? '';
  const mayExport = here.exported || here.container !== '' || isExportedByText(text, symbol.name);
  if (how === 'exported' && !mayExport)
    return contradicted(
      `${here.file_path}:${here.line} defines ${symbol.name}, and does not export it.`,
      'Say that it is of the file alone, or name what is exported.',
      evidence,
    );
  return verified(`${symbol.name} is defined at ${here.file_path}:${here.line}.`, evidence);
}

function isExportedByText(text: string, name: string): boolean {
  if (/\b(?:EXPORT_SYMBOL|__all__)\b/.test(text)) return true;
  const lines = text.split('\n');
  return (
    lines.some((line) => /\bexports?\b/.test(line) && hasWord(line, name)) ||
    (/\b(?:module\.exports\s*=|export)\s*\{[^}]{0,4000}\}/s.test(text) &&
      [...text.matchAll(/\b(?:module\.exports\s*=|export)\s*\{([^}]{0,4000})\}/gs)].some(
        ([, inner = '']) => hasWord(inner, name),
      ))
  );
}

/** What miners do not know as a symbol: a key, a member that is set, a define. */
function looksDefined(text: string, name: string): boolean {
  for (const at of placesOf(text, name)) {
    const before = text.slice(Math.max(0, at - 40), at);
    const after = text.slice(at + name.length, at + name.length + 40);
    if (isBrought(after)) continue;
    if (/^['"]?\s*(?:[:=](?!=)|\?:)/.test(after)) return true;
    if (
      /(?:#define|class|function|const|let|var|type|interface|def|func|fn|static|async|get|set|typedef)\s+\*?$/.test(
        before,
      )
    )
      return true;
    if (/(?:struct|enum|union)\s+$/.test(before) && /^\s*\{/.test(after)) return true;
    if (/\n\s*(?:async\s+|static\s+|\*\s*|#)?$/.test(before) && /^\s*[({]/.test(after)) return true;
  }
  return false;
}

/** `X = require('./x')`, `X = await import(…)`: it is defined there. */
function isBrought(after: string): boolean {
  return /^\s*=\s*(?:await\s+import|require)\s*\(/.test(after);
}

async function firstWith(
  tree: KnownTree,
  files: readonly string[],
  word: string,
): Promise<{ file: string; line: number; text: string } | undefined> {
  for (const file of files) {
    const text = (await tree.text(file)) ?? '';
    if (hasWord(text, word)) return { file, line: lineOfWord(text, word), text };
  }
  return undefined;
}

/** A test names it. That none does proves nothing: it may be tested by way of something else. */
export async function checkTest(
  { tree }: Checking,
  symbol: SymbolName,
  name: PathName | undefined,
): Promise<Verdict> {
  if (name !== undefined) {
    const place = placeOf(tree, name);
    if (place.is !== 'file') return unverified('There is no one such file to look into.');
    const text = (await tree.text(place.file)) ?? '';
    if (hasWord(text, symbol.name))
      return verified(
        `${place.file} names it.`,
        await tree.evidence(place.file, lineOfWord(text, symbol.name), undefined, symbol.name),
        'medium',
      );
    const known = (await tree.uses(symbol.name)).definitions.length > 0;
    if (!known) return unverified(`${place.file} does not name it.`);
    const words = await tree.words();
    const other = [...words.texts()].find(
      (each) => testPath.test(each.file) && hasWord(each.text, symbol.name),
    );
    return contradicted(
      `${place.file} does not name ${symbol.name}.`,
      other === undefined ? 'No test names it.' : `${other.file} does.`,
      await tree.evidence(place.file, 1),
      'medium',
    );
  }
  const words = await tree.words();
  for (const { file, text } of words.texts())
    if (testPath.test(file) && hasWord(text, symbol.name))
      return verified(
        `${file} names it.`,
        await tree.evidence(file, lineOfWord(text, symbol.name)),
        'medium',
      );
  return unverified('No test names it; it may be tested by way of something else.');
}
