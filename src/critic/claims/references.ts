import { claimLimits, type PathName, type SymbolName } from './claim.js';
import { writtenParameters } from './parameters.js';

/** Something in a sentence that names a part of the code; `at` and `end` in its text. */
export type Reference = { at: number; end: number } &
  /** `parameters`: as written behind it. */
  (
    | { type: 'symbol'; symbol: SymbolName; parameters?: string[] }
    | { type: 'path'; path: PathName; isMarked: boolean }
    | { type: 'option'; flags: string[]; command: string }
    | { type: 'environment'; name: string }
    | { type: 'script'; name: string }
    | { type: 'assignment'; symbol: SymbolName; value: string }
    | { type: 'module'; specifier: string }
    | { type: 'value'; value: string }
    | { type: 'url' }
  );
type Named = Reference extends infer R
  ? R extends Reference
    ? Omit<R, 'at' | 'end'>
    : never
  : never;

const endings =
  'c|h|cc|cpp|cxx|hpp|hh|rs|go|java|py|rb|php|s|S|ts|tsx|mts|cts|js|jsx|mjs|cjs|json|jsonc|json5|ya?ml|toml|ini|cfg|conf|md|mdx|rst|txt|sh|bash|proto|html|css|scss|sql|xml|lock|wasm|mk|gyp|gypi|cmake|service|snap|log|env|csv|Kconfig|Makefile|Dockerfile';
const fileName = new RegExp(`^[\\w@+~.-]{1,100}\\.(?:${endings})$`);
const wellKnownFile =
  /^(?:Makefile|Kconfig|Dockerfile|LICENSE|README|CHANGELOG|MAINTAINERS|Kbuild)$/;
const identifier = '[A-Za-z_$][\\w$]{0,100}';
const qualified = new RegExp(
  `^(${identifier}(?:(?:\\.|::|->|#)${identifier}){0,6})(\\(.{0,150}\\))?$`,
  's',
);
const keyword =
  /^(?:async |await |new |struct |class |enum |union |interface |type |typeof |function |const |let |var |static |void |int |export |import |return |#define |@)+/;

/** One pass over a sentence: whatever comes first, and the longest of what begins there. All repetitions are bounded. */
const lexer = new RegExp(
  [
    String.raw`(?<link>!?\[(?<label>[^\]\n]{0,200})\]\((?<target>[^()\s]{1,300}(?:\([^()\s]{0,50}\))?)(?:\s"[^"\n]{0,100}")?\))`,
    // The name that an item of a list of options begins with.
    String.raw`(?<bold>^\W{0,4}\*\*(?<boldName>[A-Za-z_$][\w$]{0,60})\*\*(?=:?\s[\x60(]))`,
    String.raw`(?<ticks>\x60{1,3})(?<span>[^\x60]{1,200})\k<ticks>`,
    String.raw`(?<url>\b[a-z][a-z+]{1,10}:\/\/[^\s)>\]]{1,300})`,
    String.raw`(?<file>(?<![\w/.@<-])(?:\.{0,2}\/)?(?:[\w@+.-]{1,80}\/){1,12}[\w@+.-]{0,80}(?::\d{1,6}(?:-\d{1,6})?|#L\d{1,6}(?:-L?\d{1,6})?)?)`,
    `(?<bare>(?<![\\w/.@$-])[\\w+-]{1,80}(?:\\.[\\w-]{1,30}){0,2}\\.(?:${endings})(?![\\w(])(?::\\d{1,6}(?:-\\d{1,6})?|#L\\d{1,6}(?:-L?\\d{1,6})?)?)`,
    `(?<call>(?<![\\w$.])${identifier}(?:(?:\\.|::|->)${identifier}){0,5}\\(\\))`,
    String.raw`(?<flag>(?<![\w-])--[A-Za-z][\w-]{1,60})`,
    String.raw`(?<variable>\$\{?[A-Z][A-Z0-9_]{2,60}\}?)`,
    String.raw`(?<word>(?<![\w$.@/-])(?:_{0,4}[A-Za-z][A-Za-z0-9]{0,60}(?:_[A-Za-z0-9]{1,60}){1,12}|[a-z][a-z0-9]{1,40}(?:[A-Z][a-z0-9]{0,40}){1,8}|[A-Z][a-z0-9]{1,40}(?:[A-Z][a-z0-9]{1,40}){1,8})(?![\w$@-]|\.\w))`,
  ].join('|'),
  'g',
);

export function referencesIn(sentence: string): Reference[] {
  const found: Reference[] = [];
  for (const match of sentence.matchAll(lexer)) {
    const place = { at: match.index, end: match.index + match[0].length };
    for (const named of namedBy(match.groups ?? {}))
      found.push(asFolder({ ...named, ...place }, sentence));
  }
  return found;
}

/** "the folder `lib`": a word beside it says what it names. */
function asFolder(reference: Reference, sentence: string): Reference {
  if (reference.type !== 'symbol' || reference.symbol.container !== '') return reference;
  const { at, end, symbol } = reference;
  const isFolder =
    /\b(?:folder|directory|files (?:in|under|below|inside)) $/i.test(
      sentence.slice(Math.max(0, at - 16), at),
    ) ||
    /^ (?:folder\b|directory\b|(?:holds|contains|has) [\w ]{1,12} files\b)/i.test(
      sentence.slice(end, end + 32),
    );
  if (!isFolder || !symbol.isMarked || symbol.isCall) return reference;
  return { type: 'path', path: pathIn(`${symbol.name}/`), isMarked: true, at, end };
}

function namedBy(groups: Record<string, string | undefined>): Named[] {
  const {
    link,
    label = '',
    target = '',
    span,
    boldName,
    url,
    file,
    bare,
    call,
    flag,
    variable,
    word,
  } = groups;
  if (link !== undefined) return linked(label, target);
  if (span !== undefined) return spanned(span.trim());
  if (boldName !== undefined) return spanned(boldName);
  if (url !== undefined) return [{ type: 'url' }];
  if (file !== undefined) return plainFile(file);
  if (bare !== undefined) return /^[A-Z][a-z]+\.js$/.test(bare) ? [] : plainFile(bare);
  if (flag !== undefined) return [{ type: 'option', flags: [flag], command: '' }];
  if (variable !== undefined)
    return [{ type: 'environment', name: variable.replaceAll(/[${}]/g, '') }];
  const symbol = symbolIn(call ?? word ?? '', call !== undefined);
  return symbol === undefined ? [] : [{ type: 'symbol', symbol }];
}

/** What a link says: where it leads, and what its words name. */
function linked(label: string, target: string): Named[] {
  const inner = /^[`*_]{0,3}([^`]{1,200}?)[`*_]{0,3}$/.exec(label.trim())?.[1] ?? '';
  const isName =
    label.includes('`') || /^[\w$]{1,60}(?:\.[\w$]{1,60}){0,3}(?:\(\)|\.[\w$]{1,60})$/.test(inner);
  const named = isName && !isDocument(inner) ? spanned(inner) : [];
  // From the root of a site, or of the tree where it leads to a document.
  const isRooted = /^\/[^/].{0,250}\.(?:md|rst)(?:#|$)/.test(target);
  const isElsewhere =
    /^[a-z][a-z+.-]{1,20}:|^\/\/|^mailto/i.test(target) || (target.startsWith('/') && !isRooted);
  if (isElsewhere) return named.length > 0 ? named : [{ type: 'url' }];
  const path = { ...pathIn(decoded(isRooted ? target.slice(1) : target)), isLink: true };
  const isSame = named.some((each) => each.type === 'path');
  return [...(isSame ? [] : named), { type: 'path', path, isMarked: true }];
}

function isDocument(text: string): boolean {
  return /\.(?:md|rst|txt|html)$/i.test(text);
}

function decoded(target: string): string {
  try {
    return decodeURIComponent(target);
  } catch {
    return target;
  }
}

function plainFile(text: string): Named[] {
  const bare = text.replace(/[.,]+$/, '');
  const { path } = pathIn(bare);
  const last = path.split('/').at(-1) ?? '';
  const isFile = fileName.test(last) || wellKnownFile.test(last) || path.endsWith('/');
  return isFile && isPath(path) ? [{ type: 'path', path: pathIn(bare), isMarked: false }] : [];
}

/** What stands in a code span. */
function spanned(text: string): Named[] {
  if (text === '' || text.length > claimLimits.referenceChars) return [];
  const run =
    /^(?:npm|pnpm|yarn)\s(?:run(?:-script)?\s(?:-s\s|--silent\s)?)([\w:.-]{0,59}\w)(?![\w:…*<{$-])/.exec(
      text,
    )?.[1];
  if (run !== undefined) return [{ type: 'script', name: run }];
  const specifier = /\b(?:require|import)\(['"]([\w@./-]{1,100})['"]\)/.exec(text)?.[1];
  if (specifier !== undefined) return [{ type: 'module', specifier }];
  const flags = [...text.matchAll(/(?<![\w-])--[A-Za-z][\w-]{1,60}/g)].map(([flag]) => flag);
  if (flags.length > 0) {
    const command = /^(?:\$\s)?(?:npx\s)?([\w./@-]{1,60})\s/.exec(text)?.[1] ?? '';
    return [{ type: 'option', flags, command: command.startsWith('-') ? '' : command }];
  }
  const variable = /^\$\{?([A-Z][A-Z0-9_]{1,60})\}?$/.exec(text)?.[1];
  if (variable !== undefined) return [{ type: 'environment', name: variable }];
  return [
    literalIn(text) ??
      assignmentIn(text) ??
      pathSpan(text) ??
      symbolSpan(text) ?? { type: 'value', value: text },
  ];
}

function literalIn(text: string): Named | undefined {
  return isLiteral(text) ? { type: 'value', value: text } : undefined;
}

export function isLiteral(text: string): boolean {
  return /^(?:[-+]?(?:0x[\da-f]{1,16}|0b[01]{1,32}|\d(?:[\d_,]{0,20}\d)?(?:\.\d{1,10})?(?:e\d{1,3})?)(?:n|ms|s|UL|L|U)?|true|false|null|undefined|NULL|'[^']{0,100}'|"[^"]{0,100}"|\[(?:(?:'[\w./:-]{1,40}'|"[\w./:-]{1,40}"|[\d.]{1,12})(?:,\s?)?){0,8}\]|\{\}|[\d_]{1,10}(?:\s?[*+-]\s?[\d_]{1,10}){1,4}|[\d_]{1,10}\s?<<\s?\d{1,2})$/i.test(
    text,
  );
}

function assignmentIn(text: string): Named | undefined {
  const match = new RegExp(
    `^(?:(?:const|let|var|#define|static|int|export)\\s){0,3}([A-Za-z_$][\\w$.]{0,100})(?:\\s?[:=]\\s?|\\s(?=\\d))(.{1,60}?);?$`,
  ).exec(text);
  const symbol = match === null ? undefined : symbolIn(match[1] ?? '', false);
  const value = match?.[2]?.trim() ?? '';
  if (symbol === undefined || !isLiteral(value) || fileName.test(match?.[1] ?? ''))
    return undefined;
  return { type: 'assignment', symbol: { ...symbol, isMarked: true }, value };
}

function pathSpan(text: string): Named | undefined {
  const path = pathIn(text);
  const last = path.path.split('/').at(-1) ?? '';
  if (/\s/.test(path.path) || !isPath(path.path)) return undefined;
  const isFile = fileName.test(last) || wellKnownFile.test(last);
  const isFolder = path.path.includes('/') && /^[\w@+.*/<>{}-]{1,200}$/.test(path.path);
  if (isFile || isFolder) return { type: 'path', path, isMarked: true };
  if (!/^[a-z][a-z0-9]{0,40}(?:-[a-z0-9]{1,40}){1,6}\*?$/.test(path.path)) return undefined;
  return { type: 'path', path: { ...path, isStem: true }, isMarked: true };
}

/** Types of media, fractions, and words with a slash between them are none. */
function isPath(path: string): boolean {
  if (/^(?:application|text|image|audio|video|multipart|font)\/[\w.+*-]{1,60}$/.test(path))
    return false;
  if (/^[\d./]+$/.test(path) || /^\/[\w-]{0,40}\/?$/.test(path) || path.startsWith('/'))
    return false;
  return (
    !/^@[\w-]{1,60}\/[\w.-]{1,60}$/.test(path) && !/^(?:and|or|he|s|w|n|i|a)\/\w+$/i.test(path)
  );
}

function symbolSpan(text: string): Named | undefined {
  // `> a.b(c) -> Promise`, as some write the heads of their functions.
  const bare = text.replace(/^>\s/, '').replace(/\)\s?(?:->|=>|→)\s?[^]{1,80}$/, ')');
  const symbol = symbolIn(bare, false);
  if (symbol === undefined) return undefined;
  const list = /\(([^]{1,150})\)$/.exec(bare)?.[1];
  return {
    ...{ type: 'symbol', symbol: { ...symbol, isMarked: true } },
    ...(list === undefined ? {} : { parameters: writtenParameters(list) }),
  };
}

/** `Class.method`, `foo(a, b)`, `struct foo`; undefined: something else. */
export function symbolIn(text: string, isCall: boolean): SymbolName | undefined {
  const bare = text
    .replace(keyword, '')
    .replace(/^[&*.]{1,2}(?=[A-Za-z_$])/, '')
    .replace(/;$/, '')
    .trim();
  const [, name = '', brackets] = qualified.exec(bare) ?? [];
  const parts = name.split(/\.|::|->|#/);
  const last = parts.at(-1) ?? '';
  if (last === '' || /^(?:true|false|null|undefined|NULL|this)$/.test(last)) return undefined;
  return {
    name: last,
    container: parts.at(-2) ?? '',
    isCall: isCall || brackets !== undefined,
    isMarked: isCall || brackets !== undefined,
  };
}

/** A path with its place: `a/b.ts:12`, `a/b.ts:12-20`, `a/b.ts#L1-L20`, `b.md#a-heading`. */
export function pathIn(text: string): PathName {
  const [, before = '', from, to] =
    /^([^:#]{1,300})(?::(\d{1,6})(?:[-–](\d{1,6}))?(?::\d{1,4})?|#L(\d{1,6})(?:-L?(\d{1,6}))?)$/.exec(
      text,
    ) ?? [];
  const hashed = /^([^:#]{1,300})#L(\d{1,6})(?:-L?(\d{1,6}))?$/.exec(text);
  const begin = Number(from ?? hashed?.[2] ?? 0);
  const end = Number(to ?? hashed?.[3] ?? begin);
  const [path = '', anchor = ''] = begin > 0 ? [hashed?.[1] ?? before] : text.split('#', 2);
  const none = { isLink: false, isStem: false };
  return { path: path.replace(/\?.*$/, ''), line_start: begin, line_end: end, anchor, ...none };
}
