import { builtinModules } from 'node:module';
import {
  holds,
  notChecked,
  notFound,
  wrong,
  type Statement,
  type SymbolName,
  type Verdict,
} from './claim.js';
import { isInExample, type Looking } from './looking.js';
import { placeOf, type Place } from './places.js';
import type { Tree } from './tree.js';
import { hasWord, lineOfWord, nearest, placesOf, type Words } from './words.js';

const placeholder =
  /^(?:foo|bar|baz|qux|my[A-Z_]\w*|your[A-Z_]\w*|some[A-Z_]\w*|example\w*|xxx?|abc|test|name|value)$|(?:^|_)(?:foo|bar|baz|xxx|name|FOO|BAR|XXX|NAME|X|N)$|[a-z](?:X|N|XXX)$/;
/** Members of these belong to the language or to a library. */
const foreign = new Set([
  ...Object.getOwnPropertyNames(globalThis),
  ...builtinModules,
  ...['window', 'document', 'std', 'self', 'this', 'e', 'err', 'error'],
]);
const fileEnding =
  /^(?:[cm]?[jt]sx?|[ch](?:pp|c|xx)?|py|go|rs|java|rb|sh|md|rst|txt|ya?ml|json|toml|html?|css)$/;

/** Does the index define the name, or the code use it? */
export async function lookUpSymbol(looking: Looking, symbol: SymbolName): Promise<Verdict> {
  const { tree } = looking;
  const { name, container } = symbol;
  const { definitions, callers } = await tree.uses(name);
  const owners = container === '' ? [] : (await tree.uses(container)).definitions;
  const isOfClass = owners.some(({ kind }) => /class|struct|interface|enum/.test(kind));
  const own = definitions.filter((each) => each.container === container);
  const [definition] = own.length > 0 ? own : definitions;
  if (definition !== undefined && own.length === 0 && isOfClass)
    return notFound(
      `${name} is defined, but not in ${container}.`,
      await tree.evidenceOf(definition),
    );
  if (definition !== undefined)
    return holds(
      `${definition.kind} ${name} is defined at ${definition.file_path}:${definition.line}.`,
      await tree.evidenceOf(definition),
    );
  const words = await tree.words();
  const [call] = callers;
  const place =
    call === undefined ? words.placeOf(name) : { file: call.file_path, line: call.line };
  if (place !== undefined)
    return holds(
      `${place.file}:${place.line} uses ${name}.`,
      await tree.evidence(place.file, place.line, place.line, name),
      'medium',
    );
  const reason = `${name} is not in the code.`;
  if (fileEnding.test(name) || (container !== '' && isFileName(tree, `${container}.${name}`)))
    return notChecked('It is the name of a file.');
  if (!(await mayBeMissing(looking, symbol, words))) return notFound(reason);
  const near = nearest(name, words.all());
  const remedy = near === undefined ? '' : `It is probably ${near}.`;
  const owner = owners.find(({ kind }) => /class|interface|enum/.test(kind));
  if (owner !== undefined)
    return wrong(
      reason,
      remedy || `Name something that ${container} has.`,
      await tree.evidenceOf(owner),
    );
  const family = await familyOf(tree, name);
  if (family !== undefined)
    return wrong(
      `${reason} It has ${family.length} names with the same prefix.`,
      remedy || `Name one of them, such as ${family.slice(0, 3).join(', ')}.`,
      await evidenceOfWord(tree, words, near ?? family[0] ?? ''),
      'medium',
    );
  const isConstant = name === name.toUpperCase();
  if (!looking.owns.names || isConstant || (await isOfPackage(tree, container)))
    return notFound(`${reason} It may be defined elsewhere.`);
  return wrong(
    `${reason} Nearly all other names of the document are.`,
    remedy || 'Name something that exists.',
    near === undefined ? [] : await evidenceOfWord(tree, words, near),
    'medium',
  );
}

function isFileName(tree: Tree, stem: string): boolean {
  return [...tree.paths].some((each) => `/${each}`.includes(`/${stem}.`));
}

/** It looks like a name of code, and nothing else explains it: no example, no macro, no other document. */
async function mayBeMissing(
  looking: Looking,
  { name, container, isCall }: SymbolName,
  words: Words,
): Promise<boolean> {
  const isName = isCall || container !== '' || /_|[a-z\d][A-Z]/.test(name);
  return (
    words.isComplete &&
    isName &&
    name.length > 2 &&
    !placeholder.test(name) &&
    !foreign.has(name) &&
    !foreign.has(container) &&
    !/^_|_$/.test(name) &&
    !words.mayBePasted(name) &&
    !isInExample(looking, name) &&
    ![`${name}s`, name.replace(/s$/, ''), `CONFIG_${name}`].some((each) => words.has(each)) &&
    !(await looking.tree.isInDocuments(name))
  );
}

/** So many names with one prefix are a namespace of the tree, where the index defines most of them. */
const familyMin = 5;
const familyAsked = 8;

async function familyOf(tree: Tree, name: string): Promise<readonly string[] | undefined> {
  const family = (await tree.words()).familyOf(name);
  if (family.length < familyMin || name.startsWith('CONFIG_')) return undefined;
  const asked = family.slice(0, familyAsked);
  const uses = await Promise.all(asked.map((each) => tree.uses(each)));
  const defined = uses.filter(({ definitions }) => definitions.length > 0).length;
  return 4 * defined >= 3 * asked.length ? family : undefined;
}

async function isOfPackage(tree: Tree, container: string): Promise<boolean> {
  const json = (await tree.manifest())?.json ?? {};
  return ['dependencies', 'peerDependencies', 'devDependencies', 'optionalDependencies'].some(
    (each) => Object.hasOwn((json[each] as object | undefined) ?? {}, container),
  );
}

async function evidenceOfWord(
  tree: Tree,
  words: Words,
  word: string,
): Promise<Verdict['evidence']> {
  const place = words.placeOf(word);
  return place === undefined ? [] : tree.evidence(place.file, place.line, place.line, word);
}

/** Does the file hold the symbol? */
export async function lookUpDefinition(
  { tree }: Looking,
  { symbol, path: name, isDefined }: Extract<Statement, { kind: 'definition' }>,
): Promise<Verdict> {
  const place = placeOf(tree, name);
  const definitions = await tree.definitionsOf(symbol);
  const here = definitions.find(({ file_path }) => isWithin(place, file_path));
  if (here !== undefined)
    return holds(
      `${symbol.name} is defined at ${here.file_path}:${here.line}.`,
      await tree.evidenceOf(here),
    );
  if (place.is !== 'file') return notChecked('No one file is meant.');
  const text = (await tree.text(place.file)) ?? '';
  const [elsewhere] = definitions.filter(({ declaration }) => !declaration);
  const isNamed = hasWord(text, symbol.name);
  const mayDefine = [...placesOf(text, symbol.name)].some((at) =>
    /^['"]?\s*[:=](?!=)/.test(text.slice(at + symbol.name.length, at + symbol.name.length + 8)),
  );
  if (isNamed && (!isDefined || mayDefine || elsewhere === undefined)) {
    const line = lineOfWord(text, symbol.name);
    return holds(
      `${place.file} names ${symbol.name}.`,
      await tree.evidence(place.file, line, line, symbol.name),
      'medium',
    );
  }
  const reason = `${place.file} does not ${isNamed ? 'define' : 'name'} ${symbol.name}.`;
  if (elsewhere === undefined) return notFound(reason);
  return wrong(
    reason,
    `It is defined at ${elsewhere.file_path}:${elsewhere.line}.`,
    await tree.evidenceOf(elsewhere),
  );
}

function isWithin(place: Place, file: string): boolean {
  if (place.is === 'file') return file === place.file;
  if (place.is === 'folder') return place.folder === '' || file.startsWith(`${place.folder}/`);
  return (
    place.is === 'several' &&
    place.files.some((each) => file === each || file.startsWith(`${each}/`))
  );
}
