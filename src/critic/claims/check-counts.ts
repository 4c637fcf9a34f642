import path from 'node:path';
import type { Amount, PathName, SymbolName } from './claim.js';
import { agrees } from './check-calls.js';
import type { Definition } from '../../pgc/shapes.js';
import type { Evidence } from '../shapes.js';
import { definitionsOf } from './check-symbols.js';
import { hasWord, testPath, type FileSymbol, type KnownTree } from './known-tree.js';
import { placeOf } from './places.js';
import { contradicted, unverified, verified, type Checking, type Verdict } from './verdict.js';

const kindsOf: readonly [RegExp, readonly string[]][] = [
  [/method/, ['method']],
  [/function/, ['function', 'method']],
  [/class/, ['class']],
  [/struct/, ['struct']],
  [/macro/, ['macro']],
  [/interface/, ['interface']],
  [/type/, ['type', 'interface', 'enum']],
  [/constant/, ['constant', 'macro', 'variable']],
  [/export|symbol/, []],
];

export async function checkSymbolCount(
  { tree, claim }: Checking,
  name: PathName,
  what: string,
  amount: Amount,
): Promise<Verdict> {
  const place = placeOf(tree, name);
  if (place.is !== 'file') return unverified('There is no one such file to count in.');
  const symbols = await tree.symbolsOf(place.file);
  if (symbols.length === 0) return unverified(`The index has no symbols of ${place.file}.`);
  const kinds = kindsOf.find(([pattern]) => pattern.test(what.toLowerCase()))?.[1] ?? [];
  const some = symbols.filter(({ kind }) => kinds.length === 0 || kinds.includes(kind));
  const counts = countsOf(some, /export|public/.test(claim.text.toLowerCase()));
  const evidence = await tree.evidence(place.file, some[0]?.line ?? 1);
  const shown = `${place.file} has ${some.length} of them, ${some.filter((each) => each.isExported).length} exported.`;
  if (counts.some((count) => agrees(count, amount))) return verified(shown, evidence);
  return contradicted(shown, `Say ${some.length}, or what is counted.`, evidence);
}

/** With methods or without, exported ones or all. */
function countsOf(symbols: readonly FileSymbol[], saysExported: boolean): number[] {
  const exported = symbols.filter((each) => each.isExported);
  const plain = (some: readonly FileSymbol[]): number =>
    some.filter(({ kind }) => kind !== 'method').length;
  const ofExported = [exported.length, plain(exported)];
  return saysExported ? ofExported : [symbols.length, plain(symbols), ...ofExported];
}

const languages: Readonly<Record<string, RegExp>> = {
  typescript: /\.[cm]?tsx?$/,
  javascript: /\.[cm]?jsx?$/,
  c: /\.c$/,
  header: /\.(?:h|hpp|hh)$/,
  python: /\.py$/,
  go: /\.go$/,
  rust: /\.rs$/,
  java: /\.java$/,
  markdown: /\.md$/,
  json: /\.json$/,
  source: /\.(?:c|cc|cpp|[cm]?[jt]sx?|py|go|rs|java)$/,
};

export async function checkFileCount(
  { tree }: Checking,
  name: PathName,
  what: string,
  amount: Amount,
): Promise<Verdict> {
  const place = placeOf(tree, name);
  if (place.is !== 'folder') return unverified('There is no one such folder to count in.');
  const inside = [...tree.paths].filter(
    (each) => place.folder === '' || each.startsWith(`${place.folder}/`),
  );
  const direct = inside.filter((each) => path.posix.dirname(each) === (place.folder || '.'));
  const word = what.toLowerCase().split(/\s+/).at(-1) ?? '';
  const ending =
    languages[word] ??
    (/^\.?[a-z]{1,4}$/.test(word) && word !== ''
      ? new RegExp(`\\.${word.replace('.', '')}$`)
      : undefined);
  const counts = [direct, inside].flatMap((files) => {
    const some = ending === undefined ? files : files.filter((each) => ending.test(each));
    return [some.length, some.filter((each) => !testPath.test(path.posix.basename(each))).length];
  });
  const folders = new Set(inside.map((each) => each.slice(place.folder.length + 1).split('/')[0]));
  const shown = `${place.folder || 'The root'} holds ${counts[0] ?? 0} directly, and ${counts[2] ?? 0} with all below it.`;
  if ([...counts, folders.size].some((count) => agrees(count, amount))) return verified(shown, []);
  const evidence = direct[0] === undefined ? [] : await tree.evidence(direct[0], 1);
  return contradicted(shown, `Say ${counts[0] ?? 0}, or what is counted.`, evidence);
}

export async function checkLineCount(
  { tree }: Checking,
  name: PathName,
  amount: Amount,
): Promise<Verdict> {
  const place = placeOf(tree, name);
  if (place.is !== 'file') return unverified('There is no one such file to count in.');
  const text = (await tree.text(place.file)) ?? '';
  const lines = text.replace(/\n$/, '').split('\n').length;
  const shown = `${place.file} has ${lines} lines.`;
  const evidence = await tree.evidence(place.file, lines);
  if (agrees(lines, amount)) return verified(shown, evidence);
  return contradicted(shown, `Say ${lines}.`, evidence);
}

export async function checkParameterCount(
  { tree }: Checking,
  symbol: SymbolName,
  amount: Amount,
): Promise<Verdict> {
  const known = (await definitionsOf(tree, symbol)).flatMap((each) => {
    const parameters = parametersOf(each.signature, symbol.name) ?? unnamed(each.signature);
    return parameters === undefined ? [] : [{ each, parameters }];
  });
  const [first] = known;
  if (first === undefined) return unverified(`No signature of ${symbol.name} is known.`);
  const { each, parameters } = first;
  const evidence = await tree.evidence(each.file_path, each.line, each.line, symbol.name);
  const shown = `${symbol.name} takes ${parameters.length}: ${each.signature.slice(0, 160)}`;
  // `...` stands for any number, and as one it may have been counted.
  const isOpen = known.some(
    ({ parameters: its }) => its.some((one) => one.startsWith('...')) && agreesBeyond(its, amount),
  );
  const fits = known.some(({ parameters: its }) => {
    const needed = its.filter(
      (parameter) => !/[?=]|^\.\.\./.test(parameter.replace(/=>/g, '')),
    ).length;
    const counts = Array.from({ length: its.length - needed + 1 }, (_, at) => needed + at);
    return counts.some((count) => agrees(count, amount));
  });
  if (fits) return verified(shown, evidence);
  if (isOpen) return unverified(`${shown} It takes any number.`, evidence);
  return contradicted(shown, `Say ${parameters.length}.`, evidence);
}

function agreesBeyond(parameters: readonly string[], amount: Amount): boolean {
  return amount.bound !== 'exactly' || amount.value > parameters.length;
}

/** A signature that was cut still tells how many there are. */
function unnamed(signature: string): string[] | undefined {
  const count = /\| params:(\d{1,3})\b/.exec(signature)?.[1];
  return count === undefined
    ? undefined
    : Array.from({ length: Number(count) }, (_, at) => `#${at}`);
}

/** Of `foo(a, b = 1, { c })`: each as written. Undefined: there are no brackets. */
export function parametersOf(signature: string, name: string): string[] | undefined {
  const at = signature.indexOf(name);
  const open = signature.indexOf('(', at < 0 ? 0 : at);
  if (open < 0) return undefined;
  const parameters: string[] = [];
  // The bracket that a signature of the index begins its list with stands behind its parts.
  let depth = 0;
  let begin = open + 1;
  for (let end = open; end < signature.length; end += 1) {
    const sign = signature[end] ?? '';
    if ('([{<'.includes(sign)) depth += 1;
    if (')]}'.includes(sign) || (sign === '>' && signature[end - 1] !== '=')) depth -= 1;
    const isLast = depth === 0;
    if (!isLast && !(depth === 1 && sign === ',')) continue;
    parameters.push(signature.slice(begin, end).trim());
    begin = end + 1;
    if (isLast) return parameters.filter((each) => each !== '' && each !== 'void');
  }
  // It was cut.
  return undefined;
}

export async function checkParameter(
  { tree }: Checking,
  symbol: SymbolName,
  parameter: string,
): Promise<Verdict> {
  const definitions = await definitionsOf(tree, symbol);
  const [first] = definitions;
  if (first === undefined) return unverified(`No signature of ${symbol.name} is known.`);
  let isOpen = false;
  for (const each of definitions) {
    const evidence = await tree.evidence(each.file_path, each.line, each.line, symbol.name);
    if (hasWord(each.signature, parameter))
      return verified(`It stands in the signature of ${symbol.name}.`, evidence);
    const lines = ((await tree.text(each.file_path)) ?? '').split('\n');
    if (hasWord(lines.slice(Math.max(0, each.line - 1), each.line_end).join('\n'), parameter))
      return verified(`${symbol.name} speaks of ${parameter}.`, evidence, 'medium');
    // What a class takes its constructor says, and an object may have anything.
    const parameters = parametersOf(each.signature, symbol.name);
    isOpen ||=
      parameters === undefined ||
      parameters.some((its) =>
        /[[{]|\.\.\.|\b(?:options|opts|params|config|args|props|init)\b/i.test(its),
      );
  }
  if (isOpen) return unverified(`The signature of ${symbol.name} does not say.`);
  return contradicted(
    `${symbol.name} has no parameter ${parameter}: ${first.signature.slice(0, 160)}`,
    'Name a parameter that it has.',
    await tree.evidence(first.file_path, first.line, first.line, symbol.name),
  );
}

const primitives = new Set([
  'void',
  'int',
  'bool',
  'boolean',
  'string',
  'number',
  'undefined',
  'long',
  'char',
  'size_t',
  'never',
  'bigint',
  'symbol',
]);

/** A type that is written in the signature; only two plain ones can be said to differ. */
export async function checkReturns(
  { tree }: Checking,
  symbol: SymbolName,
  type: string,
): Promise<Verdict> {
  const [first] = await definitionsOf(tree, symbol);
  if (first === undefined) return unverified(`No signature of ${symbol.name} is known.`);
  const evidence = await tree.evidence(first.file_path, first.line, first.line, symbol.name);
  const told = returnedBy(first.signature, symbol.name);
  if (hasWord(told, type))
    return verified(`Its signature says so: ${first.signature.slice(0, 160)}`, evidence);
  const plain = told.replace(/^Promise<(.*)>$/, '$1').trim();
  if (primitives.has(plain) && primitives.has(type.trim()))
    return contradicted(`${symbol.name} returns ${plain}.`, `Say ${plain}.`, evidence);
  return byBody(tree, first, type, evidence);
}

/** Every `return` of a body gives a plain value, and this one is none of them. */
async function byBody(
  tree: KnownTree,
  first: Definition,
  type: string,
  evidence: Evidence[],
): Promise<Verdict> {
  const unknown = unverified('What it returns is not written in its signature.', evidence);
  if (!plainValue.test(type) || /\basync\b/.test(first.signature)) return unknown;
  const lines = ((await tree.text(first.file_path)) ?? '').split('\n');
  const body = lines.slice(first.line - 1, first.line_end).join('\n');
  const returned = [...body.matchAll(/\breturn\b\s*([^;\n]{0,80})/g)].map(([, its = '']) =>
    its.trim(),
  );
  const same = returned.includes(type);
  if (same) return verified(`It has return ${type}.`, evidence, 'medium');
  const isPointer = /\| returns:[^|]*\*/.test(first.signature);
  const isError = /^-E[A-Z]/.test(type);
  const isOther =
    (isPointer && isError && !/ERR_(?:PTR|CAST)/.test(body)) ||
    (returned.length > 0 && returned.every((each) => plainValue.test(each)));
  if (!isOther) return unknown;
  const said = [...new Set(returned)].slice(0, 4).join(', ');
  return contradicted(`${first.symbol} returns ${said}.`, `Say ${said}.`, evidence, 'medium');
}

const plainValue =
  /^(?:true|false|null|undefined|NULL|-?E[A-Z]{3,12}|-?\d{1,10}|'[^']{0,40}'|"[^"]{0,40}")$/;

function returnedBy(signature: string, name: string): string {
  const mined = /\| returns:([^|]{1,200})/.exec(signature)?.[1];
  if (mined !== undefined) return mined.trim();
  const after = /\)\s*(?::|->)\s*([^={]{1,200})/.exec(
    signature.slice(Math.max(0, signature.indexOf(name))),
  )?.[1];
  if (after !== undefined) return after.trim();
  const before = signature.slice(0, Math.max(0, signature.indexOf(name)));
  return before
    .replace(/\b(?:static|inline|extern|const|async|export|function|public|private)\b/g, '')
    .trim();
}
