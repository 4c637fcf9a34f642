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
  // A macro may make a constant of its parts, and a pattern of names is written like one.
  const isDecidable = words.isComplete && name !== name.toUpperCase();
  const near = isDecidable ? nearest(name, words.all()) : undefined;
  const isForeign = foreign.has(name) || foreign.has(container);
  const isOwned = container === '' || owners.length > 0;
  if (near === undefined || isForeign || !isOwned || !(await isOfTree(looking, symbol, near)))
    return notFound(reason);
  return wrong(
    reason,
    `It is probably ${near}.`,
    await evidenceOfWord(tree, words, near),
    isOfClass ? 'high' : 'medium',
  );
}

function isFileName(tree: Tree, stem: string): boolean {
  return [...tree.paths].some((each) => `/${each}`.includes(`/${stem}.`));
}

/** The index defines the name that is probably meant, and nothing explains this one: no example, no other document. */
async function isOfTree(looking: Looking, { name }: SymbolName, near: string): Promise<boolean> {
  const { definitions } = await looking.tree.uses(near);
  return (
    definitions.length > 0 &&
    // The plural of a name is a word.
    near !== name.replace(/s$/, '') &&
    !isInExample(looking, name) &&
    !(await looking.tree.isInDocuments(name))
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
