import { decoded } from '../artifact/markdown-anchors.js';
import { claimLimits, type PathName, type SymbolName } from './claim.js';

/** What a code span, a link or a run of text names. */
export type Reference =
  | { type: 'symbol'; symbol: SymbolName }
  | { type: 'path'; path: PathName }
  | { type: 'option'; flags: string[]; command: string }
  | { type: 'command'; runner: string; name: string }
  | { type: 'version'; name: string; value: string }
  | { type: 'assignment'; symbol: SymbolName; value: string }
  | { type: 'value'; value: string };

const endings =
  'c|h|cc|cpp|cxx|hpp|hh|rs|go|java|py|rb|php|s|S|ts|tsx|mts|cts|js|jsx|mjs|cjs|json|jsonc|json5|ya?ml|toml|ini|cfg|conf|md|mdx|rst|txt|sh|bash|proto|html|css|scss|sql|xml|lock|wasm|mk|gyp|gypi|cmake|service|csv';
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
const errorCode = /^-?(?:E[A-Z]{3,14}|(?:[A-Z]{2,4}_)?(?:ERR|ERROR)(?:_[A-Z0-9]+)+)$/;
const literal =
  /^(?:[-+]?(?:0x[\da-f]{1,16}|0b[01]{1,32}|\d(?:[\d_,]{0,20}\d)?(?:\.\d{1,10})?(?:e\d{1,3})?)(?:n|ms|s|UL|L|U)?|true|false|null|undefined|NULL|'[^']{0,100}'|"[^"]{0,100}"|[\d_]{1,10}(?:\s?\*\s?[\d_]{1,10}){1,4}|[\d_]{1,10}\s?<<\s?\d{1,2}|[v^~>=]{1,2}\s?\d[\d.\sx|^~>=<-]{0,40})$/i;

/** Names in running text that need no quotes: paths with a folder, files with a line, calls, words with underscores, flags. */
const plain = new RegExp(
  [
    String.raw`(?<url>\b[a-z][a-z+]{1,10}:\/\/[^\s)>\]]{1,300})`,
    String.raw`(?<node>\bNode(?:\.js)?\s(?:version\s)?(?:(?:>=|≥)\s?v?(?<least>\d{1,3}(?:\.\d{1,3}){0,2})|v?(?<later>\d{1,3}(?:\.\d{1,3}){0,2})(?:\+|\sor\s(?:higher|later|newer|above))))`,
    String.raw`(?<file>(?<![\w/.@<-])(?:\.{0,2}\/)?(?:[\w@+.-]{1,80}\/){1,12}[\w@+.-]{0,80}(?::\d{1,6}(?:-\d{1,6})?)?)`,
    String.raw`(?<bare>(?<![\w/.@$-])[\w+-]{1,80}(?:\.[\w-]{1,30}){0,2}\.(?:${endings})(?![\w(])(?::\d{1,6}(?:-\d{1,6})?)?)`,
    `(?<call>(?<![\\w$.])${identifier}(?:(?:\\.|::|->)${identifier}){0,5}\\(\\))`,
    String.raw`(?<word>(?<![\w$.@/-])[A-Za-z][A-Za-z0-9]{0,60}(?:_[A-Za-z0-9]{1,60}){1,12}(?![\w$@(-]|\.\w))`,
    String.raw`(?<flag>(?<![\w-])--[A-Za-z][\w-]{1,60})`,
    String.raw`(?<variable>\$\{?[A-Z][A-Z0-9_]{2,60}\}?)`,
  ].join('|'),
  'g',
);

/** A reference in running text, with its offsets there. */
export interface PlainReference {
  reference: Reference;
  at: number;
  end: number;
}

export function referencesInText(text: string): PlainReference[] {
  return [...text.matchAll(plain)].flatMap((match) => {
    const reference = namedBy(match.groups ?? {});
    return reference === undefined
      ? []
      : [{ reference, at: match.index, end: match.index + match[0].length }];
  });
}

function namedBy(groups: Record<string, string | undefined>): Reference | undefined {
  const { node, least, later = '', file, bare, call, word, flag } = groups;
  if (node !== undefined) return { type: 'version', name: 'node', value: least ?? later };
  if (file !== undefined || bare !== undefined) return plainFile(file ?? bare ?? '');
  if (call !== undefined || word !== undefined) return symbolReference(call ?? word ?? '');
  if (flag !== undefined) return { type: 'option', flags: [flag], command: '' };
  return undefined;
}

function plainFile(text: string): Reference | undefined {
  const path = pathIn(text.replace(/[.,]+$/, ''));
  const last = path.path.split('/').at(-1) ?? '';
  const isFile = fileName.test(last) || wellKnownFile.test(last) || path.path.endsWith('/');
  // `Node.js` and its like are products.
  if (!isFile || !isPath(path.path) || /^[A-Z][a-z]+\.js$/.test(path.path)) return undefined;
  return { type: 'path', path };
}

/** A link that leads into the tree; undefined: elsewhere. */
export function referenceOfLink(target: string): Reference | undefined {
  if (/^[a-z][a-z+.-]{1,20}:|^\/\//i.test(target) || target.startsWith('/')) return undefined;
  return { type: 'path', path: { ...pathIn(decoded(target)), isLink: true } };
}

/** What a code span names; undefined: nothing that can be looked up. */
export function referenceOfCode(code: string): Reference | undefined {
  const text = code.trim();
  if (text === '' || text.length > claimLimits.quoteChars) return undefined;
  const command = commandIn(text);
  if (command !== undefined) return command;
  if (/^\$\{?[A-Z][A-Z0-9_]{1,60}\}?$/.test(text)) return undefined;
  if (errorCode.test(text)) return undefined;
  const [, name = '', value = ''] =
    /^((?:@[\w-]+\/)?[a-z][\w.-]{1,60})@v?(\d[\w.-]*)$/.exec(text) ?? [];
  if (name !== '') return { type: 'version', name, value };
  if (isLiteral(text)) return { type: 'value', value: text };
  return assignmentIn(text) ?? pathSpan(text) ?? symbolReference(text);
}

/** `npm run x`, `make x`, `program sub --flag`. */
export function commandIn(line: string): Reference | undefined {
  const text = line.replace(/^\$\s+/, '').trim();
  const script =
    /^(?:npm|pnpm|yarn)\s+run(?:-script)?\s+(?:-s\s+|--silent\s+)?([\w:.-]{0,59}\w)(?![\w:…*<{$-])/.exec(
      text,
    );
  if (script?.[1] !== undefined) return { type: 'command', runner: 'npm run', name: script[1] };
  const target = /^make\s+([a-z][\w.-]{1,60})$/.exec(text);
  if (target?.[1] !== undefined) return { type: 'command', runner: 'make', name: target[1] };
  const [, runner = '', name = ''] =
    /^(?:npx\s+)?([a-z@-][\w./@-]{0,60})(?:\s+([a-z][\w-]{1,40})(?=\s|$))?/.exec(text) ?? [];
  const flags = [...text.matchAll(/(?<![\w-])--[A-Za-z][\w-]{1,60}/g)].map(([flag]) => flag);
  if (flags.length > 0)
    return { type: 'option', flags, command: runner.startsWith('-') ? '' : runner };
  return runner === '' || runner.startsWith('-') || name === '' || keyword.test(text)
    ? undefined
    : { type: 'command', runner, name };
}

export function isLiteral(text: string): boolean {
  return literal.test(text);
}

function assignmentIn(text: string): Reference | undefined {
  const match = new RegExp(
    `^(?:(?:const|let|var|#define|static|int|export)\\s){0,3}([A-Za-z_$][\\w$.]{0,100})(?:\\s?=\\s?|\\s(?=\\d))(.{1,60}?);?$`,
  ).exec(text);
  const named = match === null ? undefined : symbolReference(match[1] ?? '');
  const value = match?.[2]?.trim() ?? '';
  if (named?.type !== 'symbol' || !isLiteral(value) || fileName.test(match?.[1] ?? ''))
    return undefined;
  return { type: 'assignment', symbol: named.symbol, value };
}

function pathSpan(text: string): Reference | undefined {
  const path = pathIn(text);
  const last = path.path.split('/').at(-1) ?? '';
  if (/\s/.test(path.path) || !isPath(path.path)) return undefined;
  const isFolder = path.path.includes('/') && /^[\w@+.*/<>{}-]{1,200}$/.test(path.path);
  if (!fileName.test(last) && !wellKnownFile.test(last) && !isFolder) return undefined;
  return { type: 'path', path };
}

/** Media types, fractions, names of packages and absolute paths are none. */
function isPath(path: string): boolean {
  if (/^(?:application|text|image|audio|video|multipart|font)\/[\w.+*-]{1,60}$/.test(path))
    return false;
  if (/^[\d./]+$/.test(path) || path.startsWith('/')) return false;
  return (
    !/^@[\w-]{1,60}\/[\w.-]{1,60}$/.test(path) && !/^(?:and|or|he|s|w|n|i|a)\/\w+$/i.test(path)
  );
}

/** `Class.method`, `foo(a, b)`, `struct foo`, `foo(a) -> Promise`. */
function symbolReference(text: string): Reference | undefined {
  const bare = text
    .replace(/^>\s/, '')
    .replace(/\)\s?(?:->|=>|→)\s?[^]{1,80}$/, ')')
    .replace(keyword, '')
    .replace(/^[&*.]{1,2}(?=[A-Za-z_$])/, '')
    .replace(/;$/, '')
    .trim();
  const [, path = '', brackets] = qualified.exec(bare) ?? [];
  const parts = path.split(/\.|::|->|#/);
  const name = parts.at(-1) ?? '';
  if (name === '' || /^(?:true|false|null|undefined|NULL|this)$/.test(name)) return undefined;
  const symbol = { name, container: parts.at(-2) ?? '', isCall: brackets !== undefined };
  return { type: 'symbol', symbol };
}

/** `a/b.ts:12`, `a/b.ts:12-20`, `a/b.ts#L1-L20`, `b.md#a-heading`. */
export function pathIn(text: string): PathName {
  const placed = /^([^:#]{1,300})(?::|#L)(\d{1,6})(?:[-–]L?(\d{1,6}))?(?::\d{1,4})?$/.exec(text);
  const line_start = Number(placed?.[2] ?? 0);
  const line_end = Number(placed?.[3] ?? line_start);
  const [path = '', anchor = ''] = placed === null ? text.split('#', 2) : [placed[1]];
  return { path: path.replace(/\?.*$/, ''), line_start, line_end, anchor, isLink: false };
}
