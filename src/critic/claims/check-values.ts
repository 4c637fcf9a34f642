import { builtinModules } from 'node:module';
import path from 'node:path';
import { claimLimits, type SymbolName } from './claim.js';
import { hasWord, lineOf, placesOf, testPath, type KnownTree } from './known-tree.js';
import { isLiteral } from './references.js';
import { isConstantName } from './relations.js';
import { nearest, partsOf } from './spelling.js';
import { contradicted, unverified, verified, type Checking, type Verdict } from './verdict.js';

interface Site {
  file: string;
  line: number;
  value: string;
}

/** `X = 5`, `X: 5`, `#define X 5`, `X ?? 5`, as the code writes them. */
export async function checkConstant(
  { tree, document, claim }: Checking,
  symbol: SymbolName,
  value: string,
  unit: string,
): Promise<Verdict> {
  const isName = isConstantName(value);
  if (!isLiteral(value) && !isName) return unverified(`${value} is no plain value.`);
  const { sites, isCut } = await sitesOf(tree, symbol.name);
  const wanted = meanings(value, unit);
  const match = sites.find((each) => meanings(each.value, '').some((its) => wanted.includes(its)));
  if (match !== undefined)
    return verified(
      `${match.file}:${match.line} has ${match.value}.`,
      await tree.evidence(match.file, match.line, match.line, symbol.name),
    );
  // Null, undefined and none are often the same to whoever reads an option.
  const literal = sites.filter(
    (each) => typeOf(each.value) === typeOf(value) && typeOf(value) !== 'other',
  );
  const different = new Set(literal.map((each) => each.value));
  const [first] = literal;
  if (first === undefined) return unverified(`No value of ${symbol.name} is written in the code.`);
  const evidence = (
    await Promise.all(
      literal
        .slice(0, 2)
        .map((each) => tree.evidence(each.file, each.line, each.line, symbol.name)),
    )
  ).flat();
  const found = literal
    .map((each) => `${each.value} at ${each.file}:${each.line}`)
    .slice(0, 3)
    .join(', ');
  // A name with several values is several things, of which this may be another.
  if (isCut || different.size > 1)
    return unverified(`${symbol.name} has several values: ${found}.`, evidence);
  if (
    !/\bdefault/i.test(claim.text) &&
    hasWord(document.fenced, symbol.name) &&
    new RegExp(`${escaped(symbol.name)}['"]?\\s?[:=]\\s?${escaped(value)}`).test(document.fenced)
  )
    return unverified('An example of the document sets it so.', evidence);
  return contradicted(`${symbol.name} is ${found}.`, `Say ${first.value}.`, evidence);
}

async function sitesOf(tree: KnownTree, name: string): Promise<{ sites: Site[]; isCut: boolean }> {
  const words = await tree.words();
  const sites: Site[] = [];
  const texts: { file: string; text: string }[] = words.isComplete ? [...words.texts()] : [];
  if (!words.isComplete) {
    for (const { file_path } of (await tree.uses(name)).definitions.slice(
      0,
      claimLimits.valueSites,
    ))
      texts.push({ file: file_path, text: (await tree.text(file_path)) ?? '' });
  }
  for (const { file, text } of texts) {
    if (testPath.test(file) || /\.(?:d\.[cm]?ts|lock|min\.js)$|package(?:-lock)?\.json$/.test(file))
      continue;
    for (const at of placesOf(text, name)) {
      const value = valueAfter(text, at, name);
      if (value === undefined || isInComment(text, at) || isInString(text, at)) continue;
      sites.push({ file, line: lineOf(text, at), value });
      if (sites.length > claimLimits.valueSites) return { sites, isCut: true };
    }
  }
  return { sites, isCut: false };
}

function isInComment(text: string, at: number): boolean {
  return /^\s*(?:\/\/|\*|\/\*)/.test(text.slice(text.lastIndexOf('\n', at) + 1, at));
}

/** Words of a text that is printed are no definition; the name of a field in quotes is one. */
function isInString(text: string, at: number): boolean {
  const before = text.slice(text.lastIndexOf('\n', at) + 1, at);
  return ["'", '"', '`'].some(
    (quote) => !before.endsWith(quote) && before.split(quote).length % 2 === 0,
  );
}

/** `x == null ? 5 : x`, `x !== undefined ? x : 5`, `x > 0 ? x : 5`: what is taken where none was given. */
const chosen =
  /^\s{0,9}(?:[!=]==?|[<>]=?)\s{0,9}[\w.'-]{1,20}\s{0,9}\?\s{0,9}([^:?\n]{1,60}?)\s{0,9}:\s{0,9}([^\n;,})?]{1,60})/;
/** `x = options.x !== false`, `x = !!options.x`: a flag that is on, or off, where none was given. */
const flagged =
  /^\s{0,9}[:=]\s{0,9}(!!)?(?:[\w$]{1,40}\.){0,3}([\w$]{1,60})(?:\s{0,9}(!==?|===?)\s{0,9}(false|true))?\s{0,9}[;,})\n]/;

/** `x = Number(options.x) || 5`: what is left where none was given. */
const otherwise =
  /^\s{0,9}[:=]\s{0,9}(?:[\w$]{1,40}\(|\+)?(?:[\w$]{1,40}\.){0,3}([\w$]{1,60})\)?\s{0,9}(?:\|\||\?\?)\s{0,9}([^\n;,})]{1,60})/;

function takenByDefault(after: string, name: string): string | undefined {
  const [, one, other] = chosen.exec(after) ?? [];
  if (one !== undefined && other !== undefined) {
    const isFirst = hasWord(one, name);
    if (isFirst !== hasWord(other, name)) return isFirst ? other : one;
  }
  const [, converted, fallback] = otherwise.exec(after) ?? [];
  if (converted === name) return fallback;
  const [, twice, same, sign, value] = flagged.exec(after) ?? [];
  if (same !== name) return undefined;
  if (twice !== undefined) return sign === undefined ? 'false' : undefined;
  if (sign?.startsWith('!') === true) return value === 'false' ? 'true' : undefined;
  return value === 'true' ? 'false' : undefined;
}

function valueAfter(text: string, at: number, name: string): string | undefined {
  const after = text.slice(at + name.length, at + name.length + 160);
  // A field that is set in the course of things has no one value.
  if (text.slice(Math.max(0, at - 2), at) === '->') return undefined;
  const defined = /#\s*define\s+$/.test(text.slice(Math.max(0, at - 20), at));
  const pattern = defined
    ? /^[ \t]+\(?([^\n]{1,60}?)\)?(?:\s*\/[/*].*)?(?:\n|$)/
    : /^['"]?(?:\s*:\s*(?:number|string|boolean|int)\s*)?\s*(?:=(?![=>])|:|\?\?=?|\|\|)\s*(\[[^\]\n]{0,60}\]|[^\n;,})]{1,60})/;
  const value = (takenByDefault(after, name) ?? pattern.exec(after)?.[1])
    ?.replace(/\s*(?:\/\/|\/\*).*$/, '')
    .replace(/\s+as const$/, '')
    .trim();
  return value !== undefined && (isLiteral(value) || isConstantName(value)) ? value : undefined;
}

function typeOf(value: string): string {
  if (/^['"]/.test(value)) return 'text';
  if (/^\[/.test(value)) return 'list';
  if (/^(?:true|false)$/.test(value)) return 'boolean';
  if (isConstantName(value)) return 'name';
  return /^[-+]?\d/.test(value) ? 'number' : 'other';
}

const scales: readonly [RegExp, readonly number[]][] = [
  [/^(?:ms|millisecond)/i, [1, 0.001]],
  [/^(?:s|secs?|seconds?)$/i, [1, 1_000]],
  [/^minute/i, [60, 60_000]],
  [/^hour/i, [1, 60, 3_600, 3_600_000]],
  [/^day/i, [1, 24, 86_400, 86_400_000]],
  [/^k/i, [1, 1_024, 1_000]],
  [/^m(?:i?b|ega)/i, [1, 1_024 ** 2, 1_000_000, 1_024]],
  [/^g/i, [1, 1_024 ** 3, 1_000_000_000]],
];

/** What a literal may mean, in whatever unit the code has it. */
function meanings(value: string, unit: string): string[] {
  const number = numberOf(value);
  if (number === undefined)
    return [
      value.startsWith('[')
        ? value.replaceAll(/["\s]/g, (sign) => (sign === '"' ? "'" : ''))
        : value.replace(/^['"]|['"]$/g, ''),
    ];
  const factors = scales.find(([pattern]) => pattern.test(unit))?.[1] ?? [1];
  return (unit === '' ? [1] : factors).map((factor) => String(number * factor));
}

/** Also of `64 * 1024`, `1 << 20` and `60_000`. */
export function numberOf(text: string): number | undefined {
  const bare = text
    .replaceAll(/[_,\s]/g, '')
    .replace(/^\((.*)\)$/, '$1')
    .replace(/(?<=\d)(?:n|ms|s|UL|L|U)$/i, '');
  if (/^[-+]?(?:0x[\da-f]+|0b[01]+|\d+(?:\.\d+)?(?:e\d{1,3})?)$/i.test(bare)) return Number(bare);
  const shift = /^(\d+)<<(\d+)$/.exec(bare);
  if (shift !== null) return Number(shift[1]) * 2 ** Number(shift[2]);
  const product = bare.split('*');
  if (product.length > 1 && product.every((each) => /^\d+$/.test(each)))
    return product.reduce((all, each) => all * Number(each), 1);
  return undefined;
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}

/** Options that a program knows stand in its sources with their dashes. */
export async function checkOption(
  { tree, document, claim }: Checking,
  flag: string,
  command: string,
  isListed = false,
): Promise<Verdict> {
  const words = await tree.words();
  const bare = flag.replace(/^--no-/, '--');
  const known = [flag, bare].find((each) => words.flags.has(each));
  if (known !== undefined) {
    const file = words.flags.get(known) ?? '';
    const text = (await tree.text(file)) ?? '';
    return verified(
      `${file} knows it.`,
      await tree.evidence(file, lineOf(text, text.indexOf(known)), undefined, known),
      'medium',
    );
  }
  if (!isListed && document.fenced.includes(flag))
    return unverified('An example of the document has it.');
  if (!words.isComplete) return unverified('The tree is too large to be read as a whole.');
  const camel = bare.slice(2).replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
  if (words.flags.size < optionsMin) return unverified('The tree has no options of its own.');
  if (words.has(camel) && camel !== bare.slice(2))
    return unverified(`The code has ${camel}, and no ${flag}.`);
  const isOwn =
    (await isOwnCommand(tree, command, claim.text)) &&
    !(command === '' && (await isOfAnother(tree, flag, claim.text)));
  const near = nearest(flag, words.flags.keys());
  if (!isOwn && (near === undefined || command !== ''))
    return unverified(`${flag} may be of another program.`);
  const file = words.flags.get(near ?? '') ?? [...words.flags.values()][0] ?? '';
  const text = (await tree.text(file)) ?? '';
  const shown = near ?? [...words.flags.keys()][0] ?? '';
  return contradicted(
    `Nothing in the sources knows ${flag}, and ${words.flags.size} other options are there.`,
    near === undefined ? 'Name an option that is there.' : `It is probably ${near}.`,
    await tree.evidence(file, lineOf(text, text.indexOf(shown)), undefined, shown),
    'medium',
  );
}

const optionsMin = 3;

/** The command is one of the package, or the sentence names one. */
async function isOwnCommand(tree: KnownTree, command: string, sentence: string): Promise<boolean> {
  const json = (await tree.packageFile())?.json;
  const { bin, name } = json ?? {};
  const names = typeof bin === 'object' && bin !== null ? Object.keys(bin) : [];
  if (typeof name === 'string') names.push(name.replace(/^@[^/]*\//, ''));
  if (command !== '') return names.includes(path.posix.basename(command));
  return names.some((each) => hasWord(sentence.replaceAll('-', '_'), each.replaceAll('-', '_')));
}

/** `other run -- own` (… `--flag` …): the command that is shown before it is not of the package. */
async function isOfAnother(tree: KnownTree, flag: string, sentence: string): Promise<boolean> {
  const before = sentence.slice(0, Math.max(0, sentence.indexOf(flag)));
  const shown = [...before.matchAll(/`([a-z][\w.-]{0,40}) [^`\n]{1,200}`/g)].at(-1)?.[1];
  return shown !== undefined && !(await isOwnCommand(tree, shown, ''));
}

export async function checkEnvironment(
  { tree, document, claim }: Checking,
  name: string,
): Promise<Verdict> {
  const words = await tree.words();
  const place = words.placeOf(name);
  if (place !== undefined)
    return verified(
      `The code reads or names it.`,
      await tree.evidence(place.file, place.line, place.line, name),
      'medium',
    );
  if (!words.isComplete || claim.stance !== 'asserted')
    return unverified(`${name} is not in the code.`);
  if (hasWord(document.fenced, name)) return unverified('An example of the document has it.');
  const [first = ''] = partsOf(name);
  const like = [...words.all()].filter((each) => /^[A-Z][A-Z0-9]*_[A-Z0-9_]+$/.test(each));
  const family = like.filter((each) => each.startsWith(`${first.toUpperCase()}_`));
  const near = nearest(name, like) ?? (family.length >= 2 ? family[0] : undefined);
  if (near === undefined)
    return unverified(`${name} is not in the code; it may be read by something else.`);
  const its = words.placeOf(near);
  return contradicted(
    `${name} is not in the code.`,
    `The code has ${[near, ...family.filter((each) => each !== near)].slice(0, 3).join(', ')}.`,
    its === undefined ? [] : await tree.evidence(its.file, its.line, its.line, near),
    'medium',
  );
}

export async function checkScript({ tree }: Checking, name: string): Promise<Verdict> {
  const known = await tree.packageFile();
  const scripts = known?.json['scripts'];
  if (known === undefined || typeof scripts !== 'object' || scripts === null)
    return unverified('No package.json with scripts is there.');
  const names = Object.keys(scripts);
  const text = (await tree.text(known.file)) ?? '';
  const at = lineOf(text, text.indexOf(`"${names.includes(name) ? name : 'scripts'}"`));
  const evidence = await tree.evidence(known.file, at);
  if (names.includes(name)) return verified(`${known.file} has it.`, evidence);
  const near =
    nearest(name, names) ?? names.find((each) => each.split(/[:-]/)[0] === name.split(/[:-]/)[0]);
  return contradicted(
    `${known.file} has no script ${name}.`,
    near === undefined ? `It has ${names.slice(0, 8).join(', ')}.` : `It is probably ${near}.`,
    evidence,
  );
}

export async function checkPackage(
  { tree, claim }: Checking,
  what: 'version' | 'engine' | 'dependency',
  name: string,
  value: string,
  isSaidOfIt = false,
): Promise<Verdict> {
  const known = await tree.packageFile();
  if (known === undefined) return unverified('No package.json is there.');
  const { file, json } = known;
  const text = (await tree.text(file)) ?? '';
  const shown = (key: string): ReturnType<KnownTree['evidence']> =>
    tree.evidence(file, lineOf(text, Math.max(0, text.indexOf(`"${key}"`))));
  if (what === 'dependency')
    return checkDependency({ tree, claim }, json, { name, isSaidOfIt }, shown);
  const engines = json['engines'];
  const stated =
    what === 'version'
      ? json['version']
      : (engines as Record<string, unknown> | undefined)?.['node'];
  if (typeof stated !== 'string') return unverified(`${file} does not say.`);
  const evidence = await shown(what === 'version' ? 'version' : 'engines');
  const wanted = value.replace(/^(?:v|[>=≥^~ ]+)/, '');
  const numbers = [...stated.matchAll(/\d+(?:\.\d+){0,2}/g)].map(([each]) => each);
  // A range of several parts is the whole of what is stated, or is another.
  const isSame = /\|\|/.test(value)
    ? plain(value) === plain(stated)
    : numbers.some(
        (each) =>
          each === wanted ||
          each.startsWith(`${wanted}.`) ||
          (what === 'engine' && wanted.replace(/(?:\.0)+$/, '') === each.replace(/(?:\.0)+$/, '')),
      );
  if (isSame) return verified(`${file} says ${stated}.`, evidence);
  return contradicted(`${file} says ${stated}.`, `Say ${stated}.`, evidence);
}

function plain(range: string): string {
  return range.replaceAll(/\s+/g, '');
}

async function checkDependency(
  { tree, claim }: Pick<Checking, 'tree' | 'claim'>,
  json: Record<string, unknown>,
  { name, isSaidOfIt }: { name: string; isSaidOfIt: boolean },
  shown: (key: string) => ReturnType<KnownTree['evidence']>,
): Promise<Verdict> {
  const lists = ['dependencies', 'optionalDependencies', 'peerDependencies', 'devDependencies'];
  const all = lists.flatMap((each) => Object.keys((json[each] as object | undefined) ?? {}));
  if (json['name'] === name) return unverified('It is the package itself.');
  if (all.includes(name)) return verified('It is a dependency.', await shown(name));
  const { definitions } = await tree.uses(name);
  const isOwn =
    definitions.length > 0 ||
    [...tree.folders].some((each) => path.posix.basename(each) === name) ||
    (await tree.words()).has(name);
  const near = nearest(name, all);
  if (
    isSaidOfIt &&
    !isOwn &&
    !builtinModules.includes(name) &&
    claim.stance === 'asserted' &&
    all.length > 0
  )
    return contradicted(
      'It is no dependency of the package.',
      near === undefined ? `It has ${all.slice(0, 8).join(', ')}.` : `It is probably ${near}.`,
      await shown(lists.find((each) => json[each] !== undefined) ?? 'name'),
    );
  if (isOwn || near === undefined || claim.stance !== 'asserted')
    return unverified('It is no dependency of the package; something else may be meant.');
  return contradicted(
    `It is no dependency of the package.`,
    `It is probably ${near}.`,
    await shown(near),
    'medium',
  );
}
