import {
  claimLimits,
  holds,
  notChecked,
  notFound,
  wrong,
  type SymbolName,
  type Verdict,
} from './claim.js';
import { isInExample, type Looking } from './looking.js';
import { isLiteral } from './references.js';
import type { Tree } from './tree.js';
import { lineOf, placesOf, testPath } from './words.js';

interface Site {
  file: string;
  line: number;
  value: string;
  /** Written as `name: value`. */
  isKey: boolean;
}

/** Which value does the code give the name: `X = 5`, `X: 5`, `#define X 5`, `X ?? 5`? */
export async function lookUpValue(
  looking: Looking,
  symbol: SymbolName,
  value: string,
  unit: string,
): Promise<Verdict> {
  const { tree } = looking;
  if (!isLiteral(value)) return notChecked(`${value} is no literal.`);
  const { sites, isCut } = await sitesOf(tree, symbol.name);
  const wanted = meanings(value, unit);
  const match = sites.find((each) => meanings(each.value, '').some((one) => wanted.includes(one)));
  if (match !== undefined)
    return holds(
      `${match.file}:${match.line} has ${match.value}.`,
      await tree.evidence(match.file, match.line, match.line, symbol.name),
    );
  // `x: true` is more often passed than declared.
  const same = sites.filter(
    (each) => typeOf(each.value) === typeOf(value) && !(each.isKey && /^[tf]/.test(each.value)),
  );
  const [first] = same;
  if (first === undefined)
    return notFound(`No line of the code gives ${symbol.name} a plain value to compare it with.`);
  const evidence = await tree.evidence(first.file, first.line, first.line, symbol.name);
  const found = same.slice(0, 3).map((each) => `${each.value} at ${each.file}:${each.line}`);
  const reason = `${symbol.name} is ${found.join(', ')}.`;
  // A name with several values is several things.
  if (isCut || new Set(same.map((each) => each.value)).size > 1)
    return notChecked(reason, evidence);
  if (!/default/i.test(looking.claim.text) && isInExample(looking, symbol.name))
    return notChecked(`${reason} An example of the document sets it.`, evidence);
  return wrong(reason, `Say ${first.value}.`, evidence);
}

async function sitesOf(tree: Tree, name: string): Promise<{ sites: Site[]; isCut: boolean }> {
  const words = await tree.words();
  const texts = words.isComplete ? [...words.texts()] : await definingTexts(tree, name);
  const sites: Site[] = [];
  for (const { file, text } of texts) {
    if (/\.(?:d\.[cm]?ts|lock|min\.js)$|package(?:-lock)?\.json$/.test(file)) continue;
    for (const at of placesOf(text, name)) {
      const value = valueAt(file, text, at, name);
      if (value === undefined || isQuoted(text, at)) continue;
      const isKey = /^['"]?\s*:/.test(text.slice(at + name.length, at + name.length + 8));
      sites.push({ file, line: lineOf(text, at), value, isKey });
      if (sites.length > claimLimits.valueSites) return { sites, isCut: true };
    }
  }
  return { sites, isCut: false };
}

/** Of a tree too large to be read as a whole: the files that define the name. */
async function definingTexts(tree: Tree, name: string): Promise<{ file: string; text: string }[]> {
  const { definitions } = await tree.uses(name);
  const files = new Set(definitions.map(({ file_path }) => file_path));
  const own = [...files].filter((file) => !testPath.test(file)).slice(0, claimLimits.valueSites);
  return Promise.all(own.map(async (file) => ({ file, text: (await tree.text(file)) ?? '' })));
}

/** Within a comment, or a string that is longer than the name. */
function isQuoted(text: string, at: number): boolean {
  const before = text.slice(text.lastIndexOf('\n', at) + 1, at);
  return (
    /^\s*(?:\/\/|\*|\/\*)/.test(before) ||
    ["'", '"', '`'].some((mark) => !before.endsWith(mark) && before.split(mark).length % 2 === 0)
  );
}

const defined = /^[ \t]+\(?([^\n]{1,60}?)\)?(?:\s*\/[/*].*)?(?:\n|$)/;
const assigned = /^['"]?\s*(?:=(?![=>])|:|\?\?=?|\|\|)\s*([^\n;,})]{1,60})/;
/** With the type between the name and the value: `limit: usize = 5`. */
const typed = /^\s*:\s*(?:[\w&'.:|?*[\] ]|<[^<>\n]{0,40}>){1,60}?\s*=(?![=>])\s*([^\n;,})]{1,60})/;
/** The same of Go: `limit int = 5`. */
const typedInGo = /^[ \t]+[\w.*[\]]{1,60}[ \t]*=(?!=)\s*([^\n;,})]{1,60})/;
/** What stands before a name that is declared with its type; elsewhere a colon is another thing. */
const declaring =
  /(?:^|\b(?:const|static|let|var|val|final|readonly|mut|pub|public|private|protected))\s*$/;

function typedOf(file: string): RegExp {
  return file.endsWith('.go') ? typedInGo : typed;
}

function valueAt(file: string, text: string, at: number, name: string): string | undefined {
  const after = text.slice(at + name.length, at + name.length + 160);
  // A field that is set while the program runs has no one value.
  if (text.slice(Math.max(0, at - 2), at) === '->') return undefined;
  const isMacro = /#\s*define\s+$/.test(text.slice(Math.max(0, at - 20), at));
  const before = text.slice(text.lastIndexOf('\n', at) + 1, at);
  const found = isMacro
    ? defined.exec(after)
    : ((declaring.test(before) ? typedOf(file).exec(after) : null) ?? assigned.exec(after));
  const value = found?.[1]
    ?.replace(/\s*(?:\/\/|\/\*).*$/, '')
    .replace(/\s+as const$/, '')
    .trim();
  return value !== undefined && isLiteral(value) ? value : undefined;
}

function typeOf(value: string): string {
  if (/^['"]/.test(value)) return 'text';
  if (/^(?:true|false)$/.test(value)) return 'boolean';
  return /^[-+]?\d/.test(value) ? 'number' : value;
}

/** Factors between the unit of a document and those that code counts in. */
const scales: readonly [RegExp, readonly number[]][] = [
  [/^(?:ms|millisecond)/i, [1, 0.001]],
  [/^(?:s|seconds?)$/i, [1, 1_000]],
  [/^minute/i, [1, 60, 60_000]],
  [/^hour/i, [1, 60, 3_600, 3_600_000]],
  [/^day/i, [1, 24, 86_400, 86_400_000]],
  [/^k/i, [1, 1_024, 1_000]],
  [/^m/i, [1, 1_024 ** 2, 1_000_000, 1_024]],
  [/^g/i, [1, 1_024 ** 3, 1_000_000_000]],
];

/** What a literal may be in the units of the code. */
function meanings(value: string, unit: string): string[] {
  const number = numberOf(value);
  if (number === undefined) return [value.replace(/^['"]|['"]$/g, '')];
  const factors = unit === '' ? [1] : (scales.find(([pattern]) => pattern.test(unit))?.[1] ?? [1]);
  return factors.map((factor) => String(number * factor));
}

/** Also of `64 * 1024`, `1 << 20` and `60_000`. */
function numberOf(text: string): number | undefined {
  const bare = text.replaceAll(/[_,\s]/g, '').replace(/(?<=\d)(?:n|ms|s|UL|L|U)$/i, '');
  if (/^[-+]?(?:0x[\da-f]+|0b[01]+|\d+(?:\.\d+)?(?:e\d{1,3})?)$/i.test(bare)) return Number(bare);
  const [, base, bits] = /^(\d+)<<(\d+)$/.exec(bare) ?? [];
  if (base !== undefined) return Number(base) * 2 ** Number(bits);
  const factors = bare.split('*');
  return factors.length > 1 && factors.every((each) => /^\d+$/.test(each))
    ? factors.reduce((product, each) => product * Number(each), 1)
    : undefined;
}
