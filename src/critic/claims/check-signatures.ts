import type { Definition } from '../../pgc/shapes.js';
import { parametersOf } from './check-counts.js';
import { definitionsOf } from './check-symbols.js';
import type { Statement } from './claim.js';
import { testPath, type KnownTree } from './known-tree.js';
import { nearestPath, placeOf } from './places.js';
import { nearest } from './spelling.js';
import { contradicted, unverified, verified, type Checking, type Verdict } from './verdict.js';

type Signature = Extract<Statement, { kind: 'signature' }>;

/** Nothing takes more than the most that any definition of its name takes; a declaration says it all. */
export async function checkSignature(checking: Checking, its: Signature): Promise<Verdict> {
  const { tree } = checking;
  const { symbol, parameters } = its;
  const definitions = (await definitionsOf(tree, symbol)).filter(
    ({ file_path, kind }) =>
      !testPath.test(file_path) && !/variable|constant|module|macro/.test(kind),
  );
  const [first] = definitions;
  if (first === undefined) return its.isWhole ? undeclared(checking, its) : unknown(symbol.name);
  const lists = definitions.map((each) => parametersOf(each.signature, symbol.name));
  const counts = definitions.map((each, at) => lists[at]?.length ?? countIn(each));
  if (counts.some((each) => each === undefined)) return unknown(symbol.name);
  const isOpen =
    lists.some((each) => each?.some((one) => one.includes('...'))) ||
    (await anyReads(tree, definitions, /\barguments\b/));
  const most = Math.max(...counts.map((each) => each ?? 0));
  const evidence = await tree.evidence(first.file_path, first.line, first.line, symbol.name);
  const shown = `${symbol.name} takes ${most}: ${first.signature.slice(0, 160)}`;
  const isTooMany = parameters.length > most;
  if (!its.isWhole && isTooMany && !lists.some((each) => shares(each, parameters)))
    return unverified(`${shown} Another ${symbol.name} may be meant.`, evidence);
  if ((isTooMany && !isOpen) || (its.isWhole && !counts.includes(parameters.length) && !isOpen))
    return contradicted(shown, `Say ${most}.`, evidence);
  if (!its.isWhole) return isTooMany ? unverified(shown, evidence) : verified(shown, evidence);
  return declared(its, definitions, evidence);
}

/** One of them is called the same. */
function shares(parameters: readonly string[] | undefined, written: readonly string[]): boolean {
  const names = new Set((parameters ?? []).map(nameOf));
  return written.some((each) => names.has(nameOf(each)));
}

function nameOf(parameter: string): string {
  return /^[\s.]*([\w$]+)/.exec(parameter)?.[1] ?? '';
}

function unknown(name: string): Verdict {
  return unverified(`No signature of ${name} is known.`);
}

function countIn({ signature }: Definition): number | undefined {
  const count = /\| params:(\d{1,3})\b/.exec(signature)?.[1];
  return count === undefined ? undefined : Number(count);
}

async function anyReads(
  tree: KnownTree,
  definitions: readonly Definition[],
  pattern: RegExp,
): Promise<boolean> {
  for (const { file_path, line, line_end } of definitions) {
    const lines = ((await tree.text(file_path)) ?? '').split('\n').slice(line - 1, line_end);
    if (lines.some((each) => pattern.test(each))) return true;
  }
  return false;
}

/** What is returned, and each type, as one of the definitions has them. */
function declared(
  { symbol, parameters, returns }: Signature,
  definitions: readonly Definition[],
  evidence: Awaited<ReturnType<KnownTree['evidence']>>,
): Verdict {
  const wanted = typeOf(returns);
  const told = definitions.flatMap(({ signature }) => {
    const type = /\| returns:([^|]{1,120})/.exec(signature)?.[1];
    return type === undefined ? [] : [type.trim()];
  });
  const [type] = told;
  if (type !== undefined && told.every((each) => typeOf(each) !== wanted))
    return contradicted(`${symbol.name} returns ${type}.`, `Say ${type}.`, evidence);
  const lists = definitions.flatMap((each) => parametersOf(each.signature, symbol.name) ?? []);
  const types = new Set(lists.map(structIn));
  const other = parameters.find((each) => structIn(each) !== '' && !types.has(structIn(each)));
  if (lists.length > 0 && other !== undefined)
    return contradicted(
      `${symbol.name} takes no ${structIn(other)}: (${lists.join(', ').slice(0, 160)})`,
      'Copy the declaration.',
      evidence,
    );
  return verified(`${symbol.name} is declared so.`, evidence);
}

/** Of C: without what says nothing of the value. */
function typeOf(text: string): string {
  return text
    .replaceAll(/\b(?:static|inline|extern|const|__\w+|asmlinkage|struct)\b/g, '')
    .replaceAll(/\s+/g, '');
}

function structIn(parameter: string): string {
  return /\bstruct\s+(\w+)/.exec(parameter)?.[1] ?? '';
}

/** A declaration of what the tree does not have, of whose name it has others. */
async function undeclared({ tree }: Checking, { symbol }: Signature): Promise<Verdict> {
  const words = await tree.words();
  if (words.has(symbol.name) || (await tree.uses(symbol.name)).definitions.length > 0)
    return unknown(symbol.name);
  const names = await tree.namesLike(symbol.name);
  const [prefix = ''] = symbol.name.split('_');
  const family = names.filter((each) => each.startsWith(`${prefix}_`));
  if (prefix.length < 2 || family.length < familyMin) return unknown(symbol.name);
  const near = nearest(symbol.name, names);
  return contradicted(
    `${symbol.name} is not in the code, which has ${family.length} names that begin like it.`,
    near === undefined
      ? `Name one that is there, such as ${family.slice(0, 3).join(', ')}.`
      : `It is probably ${near}.`,
    [],
    'medium',
  );
}

const familyMin = 3;

/** `name/a/b` of the package itself is a file of it, and what is taken from the package is in its code. */
export async function checkModule(
  { tree, areNamesOwn }: Checking,
  specifier: string,
  names: readonly string[],
): Promise<Verdict> {
  const json = (await tree.packageFile())?.json;
  const own = json?.['name'];
  const isOwn = specifier === own || specifier.startsWith(`${String(own)}/`);
  if (typeof own !== 'string' || !isOwn) return unverified('It is of another package.');
  const words = await tree.words();
  const absent = names.find((each) => !words.has(each));
  // Where what is built is all that is loaded, the tree does not have it.
  if (!areNamesOwn) return unverified('What is loaded is built from something else.');
  if (absent !== undefined && words.isComplete)
    return contradicted(
      `${absent} is not in the code.`,
      `It is probably ${nearest(absent, words.all()) ?? 'something else that is exported'}.`,
      [],
    );
  const sub = specifier.slice(own.length + 1);
  if (sub === '') return verified('It is this package.', [], 'medium');
  const paths = json?.['exports'];
  if (typeof paths === 'object' && paths !== null)
    return Object.keys(paths).some((each) => each === `./${sub}` || each.includes('*'))
      ? verified('The package exports it.', [])
      : contradicted(
          `The package does not export ./${sub}.`,
          `It exports ${Object.keys(paths).slice(0, 8).join(', ')}.`,
          [],
        );
  const name = { path: sub, line_start: 0, line_end: 0, anchor: '', isLink: true, isStem: false };
  const place = placeOf(tree, name);
  if (place.is !== 'nowhere') return verified('It is there.', [], 'medium');
  const near = nearestPath(tree, sub);
  return contradicted(
    `There is no ${sub} in the package.`,
    near === undefined ? 'Name a module that is there.' : `It is probably ${near}.`,
    near === undefined ? [] : await tree.evidence(near, 1),
  );
}
