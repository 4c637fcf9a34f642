import type { FactsLanguage, ItemFact } from '../../format/facts.js';
import type { SymbolDraft } from '../draft.js';
import { blanked } from '../comment.js';
import { splitList } from '../signature.js';
import { fenceAfter, linesOf } from '../document.js';
import { isCommented, Items, lineHead, type ItemSource } from './item.js';

/** A documented parameter list is looked for this far above its function. */
const commentCharsMax = 8_000;
/** The list of what a module offers is read this far. */
const listCharsMax = 40_000;

/**
 * O7 as far as one text shows it: documented parameters that the signature lacks. And notes that the whole code
 * base must confirm: `mention` of a function in a document, `option` of a configuration in code, `made` where
 * a makefile gives an option its value or a script defines a function, and `undocumented`, which a comment
 * elsewhere may mend. They become items of O7 only where nothing answers to the name.
 */
export function coherenceItems(source: ItemSource): ItemFact[] {
  const items = new Items(source, 7);
  switch (source.language) {
    case 'markdown':
    case 'rst':
    case 'text':
      mentions(source, items);
      break;
    case 'maintainers':
    case 'settings':
    case 'kconfig':
      break;
    case 'shell':
      for (const { name, start, end } of source.draft.symbols)
        items.add('made', start, end, `defines ${name}`, { subject: name });
      break;
    case 'make':
      makeOptions(source, items);
      break;
    default:
      documentedParameters(source, items);
      undocumented(source, items);
      if (source.language === 'c' || source.language === 'cpp') options(source, items);
  }
  return items.found;
}

/** Names of examples. */
const example =
  /(?:^|_)(?:foo|bar|baz|qux|xxx+|xyz|xyzzy|yyy|my|your|some|something|example|dummy|sample|active_users|func\d*|thread\d+|p\d|cpu\d)(?:_|\d|$)|^(?:do_)?(?:this|that|other|stuff|work)$/i;
/** One letter stands for several: `ioreadX`, `SYSCALL_DEFINEn`, `funcA`. */
const family = /[a-z]X(?:_|$)|XXX|[A-Z]n$|^func[A-Z]$/;
/** Of the C library, which no code base defines. */
const library = /^pthread_/;

/** Words by which a document says that a name is gone. */
const past =
  /\b(?:gone|remov\w*|renam\w*|deprecat\w*|replac\w*|no longer|used to|obsolete\w*|old|older|former\w*|previous\w*|historic\w*|was|were|had|instead|killed|died|dropp\w*|delet\w*|earlier|once|originally|does(?:n't| not) exist|no such|nonexist\w*|new|proposed|future|planned|todo|should be)\b/i;

const called =
  /(?<![\w.>$/:)}\]*%@#,-])([A-Za-z]\w{1,120})\(\)(?![\w{]|[ \t]{0,8}(?:\{|suffix|prefix|variant))/g;
/** `read_it`, `readIt`; not `read`. */
const severalParts = /^[A-Za-z][A-Za-z0-9]*?(?:_\w|[a-z0-9][A-Z])/;

/**
 * Names of several parts that prose writes like functions: not those that code shown there holds, which may
 * define them itself, nor those that the text says are gone.
 */
function mentions({ text, language }: ItemSource, items: Items): void {
  const seen = new Set<string>();
  const lines = Array.from(linesOf(text));
  const shown = literalLines(
    lines.map(({ line }) => line),
    language,
  );
  const code = new Set(
    lines.flatMap(({ line }, at) =>
      shown.has(at) ? (line.match(/\b\w+(?=[ \t]{0,8}\()/g) ?? []) : [],
    ),
  );
  for (const [at, { line, start }] of lines.entries()) {
    if (!line.includes('()') || shown.has(at)) continue;
    let isPast: boolean | undefined;
    for (const found of line.matchAll(called)) {
      const name = found[1] ?? '';
      if (!severalParts.test(name) || seen.has(name) || code.has(name)) continue;
      if (example.test(name) || family.test(name) || library.test(name)) continue;
      seen.add(name);
      isPast ??= past.test([lines[at - 1]?.line, line, lines[at + 1]?.line].join(' '));
      if (isPast) continue;
      const from = start + found.index;
      items.add('mention', from, from + found[0].length, `mentions ${name}()`, { subject: name });
    }
  }
}

/** Numbers of the lines that show code: in fences, behind `::` and directives for code, or made like it. */
function literalLines(lines: readonly string[], language: FactsLanguage): Set<number> {
  const found = new Set<number>();
  let fence = '';
  /** Indentation of the line that announced code. */
  let literal: number | undefined;
  for (const [at, line] of lines.entries()) {
    const indent = line.length - line.trimStart().length;
    const before = fence;
    fence = fenceAfter(fence, line, language);
    if (literal !== undefined && line.trim() !== '' && indent <= literal) literal = undefined;
    const looksLikeCode =
      /[;{}]\s*$|^\s*#\s*(?:define|include|if)|^(?: {4,}|\t)\S+\(\)\s*$|->\s|\s=\s|\||^\s*[<>+-]/;
    const isIndented = language !== 'rst' && /^(?: {8,}|\t)/.test(line);
    const isFenced = before !== '' || fence !== '';
    if (isFenced || literal !== undefined || isIndented || looksLikeCode.test(line)) found.add(at);
    else if (
      language === 'rst' &&
      /::\s*$|^\s*\.\. (?:code|code-block|literalinclude|parsed-literal)::/.test(line)
    )
      literal = indent;
  }
  return found;
}

/** Of the preprocessor and of the macros that ask for an option; what strings and comments say is no use. */
function options(source: ItemSource, items: Items): void {
  const { text } = source;
  if (!text.includes('CONFIG_')) return;
  const seen = new Set<string>();
  for (const found of text.matchAll(
    /^[ \t]*#[ \t]*(?:if|ifdef|ifndef|elif)\b(?:[^\n\\]|\\\r?\n|\\.){0,4000}|\bIS_(?:ENABLED|BUILTIN|MODULE|REACHABLE)\s*\(\s*CONFIG_\w+/gm,
  )) {
    if (isCommented(source, found.index)) continue;
    const code = found[0].replace(/\/\*[^]*?(?:\*\/|$)|\/\/[^\n]*/g, blanked);
    noteOptions(code, found.index, items, seen);
  }
}

function makeOptions({ text }: ItemSource, items: Items): void {
  if (!text.includes('CONFIG_')) return;
  const made =
    /^[ \t]*(?:export[ \t]+|override[ \t]+)?(CONFIG_\w+)[ \t]*[:?+]?=|\bdetected(?:_var)?,\s*(CONFIG_\w+)|-D(CONFIG_\w+)/gm;
  for (const found of text.matchAll(made)) {
    const name = found[1] ?? found[2] ?? found[3] ?? '';
    items.add('made', found.index, found.index + found[0].length, `makes ${name}`, {
      subject: name,
    });
  }
  const seen = new Set<string>();
  for (const { line, start } of linesOf(text)) {
    const comment = line.search(/(?<!\\)#/);
    const code = comment < 0 ? line : line.slice(0, comment);
    if (/\$[({]CONFIG_\w+[)}]|^[ \t]*ifn?def[ \t]+CONFIG_\w/.test(code))
      noteOptions(code, start, items, seen);
  }
}

/** Variables of the build itself, by kbuild. */
const buildVariables = new Set(['CONFIG_SHELL']);

function noteOptions(code: string, at: number, items: Items, seen: Set<string>): void {
  for (const found of code.matchAll(/\bCONFIG_([A-Z0-9][A-Z0-9_]*?)(?:_MODULE)?\b(?!\w|##|\*)/g)) {
    const name = `CONFIG_${found[1] ?? ''}`;
    if (seen.has(name) || name.endsWith('_') || buildVariables.has(name)) continue;
    seen.add(name);
    const from = at + found.index;
    items.add('option', from, from + found[0].length, `uses ${name}`, { subject: name });
  }
}

const apiKinds: ReadonlySet<string> = new Set('function method class interface struct'.split(' '));

/** Exported symbols, by the marks of their language, without documentation. */
function undocumented({ text, language, draft }: ItemSource, items: Items): void {
  const say = ({ name, start, kind }: SymbolDraft): void =>
    items.add(
      'undocumented',
      start,
      start + 1,
      `${kind} ${name} is exported without documentation`,
      { subject: name },
    );
  if (language !== 'c' && language !== 'cpp') {
    const offered = language === 'python' ? listedNames(text) : undefined;
    for (const symbol of draft.symbols)
      if (
        (offered === undefined ? symbol.exported : offered.has(symbol.name)) &&
        symbol.doc === '' &&
        symbol.container === '' &&
        apiKinds.has(symbol.kind)
      )
        say(symbol);
    return;
  }
  if (!text.includes('EXPORT_SYMBOL')) return;
  const byName = new Map(
    draft.symbols.flatMap((symbol) =>
      symbol.kind === 'function' && !symbol.declaration ? [[symbol.name, symbol] as const] : [],
    ),
  );
  for (const found of text.matchAll(/^EXPORT_SYMBOL\w*\s*\(\s*(\w+)/gm)) {
    const symbol = byName.get(found[1] ?? '');
    if (symbol?.doc === '' && !hasCommentAbove(text, symbol.start)) say(symbol);
  }
}

/** What a module of Python offers by name; a name alone without an underscore is no promise. */
function listedNames(text: string): ReadonlySet<string> {
  const open = /^__all__[ \t]*=[ \t]*[[(]/m.exec(text);
  const from = open === null ? text.length : open.index + open[0].length;
  const rest = text.slice(from, from + listCharsMax);
  const list = rest.slice(0, Math.max(0, rest.search(/[\])]/)));
  return new Set(Array.from(list.matchAll(/['"](\w+)['"]/g), ([, name]) => name ?? ''));
}

/** Even one that says too little to be read as documentation, or stands a blank line away. */
function hasCommentAbove(text: string, at: number): boolean {
  const head = lineHead(text, at);
  return (
    head !== undefined &&
    text
      .slice(Math.max(0, at - head.length - 200), at - head.length)
      .trimEnd()
      .endsWith('*/')
  );
}

function documentedParameters(source: ItemSource, items: Items): void {
  const { language } = source;
  for (const symbol of source.draft.symbols) {
    if (symbol.kind !== 'function' && symbol.kind !== 'method') continue;
    if (language !== 'python' && symbol.wordsStart === symbol.start) continue;
    const list = listOf(symbol.signature);
    const isCut = symbol.signature.endsWith('…');
    // A destructured parameter has no name, so the documentation may call it anything.
    if (splitList(list).some((each) => /^(?:\.{3})?[{[]/.test(each))) continue;
    const has = parameterNames(list, language);
    for (const { name, at } of documented(source, symbol)) {
      // What was cut off the signature may hold it; `...` and parts of a parameter are no names of one.
      if (isCut || has.has(name) || [...has].some((each) => name.startsWith(`${each}.`))) continue;
      const text = `${symbol.name} documents the parameter ${name}, which it does not have`;
      items.add('parameter', at, at + name.length, text, { subject: symbol.name });
    }
  }
}

/** The first two words: `name - what it does`, `void name`. */
const kernelDocHead = /^\/\*\*[ \t]*(?:\r?\n[ \t]*\*[ \t]*)?([\w~]+(?:::[\w~]+)*)(?:[ \t]+(\w+))?/;

/** `[from, to)` of the string that a function of Python begins with: nested ones have their own. */
function docstringOf(text: string, { start, end }: SymbolDraft): [from: number, to: number] {
  const source = text.slice(start, Math.min(end, start + commentCharsMax));
  const body = headEnd(source);
  const [open = '', mark = ''] =
    /^(?:[ \t]*#[^\n]*)?\s*[rRuU]?("""|''')/.exec(source.slice(body)) ?? [];
  if (mark === '') return [start, start];
  const from = body + open.length;
  const to = source.indexOf(mark, from);
  return [start + from, start + (to < 0 ? source.length : to)];
}

/** Behind the colon that ends the head of a function. */
function headEnd(source: string): number {
  let depth = 0;
  // Strings and comments may hold anything.
  for (const { 0: sign, index } of source.matchAll(
    /#[^\n]*|"(?:[^"\\\n]+|\\[^])*"?|'(?:[^'\\\n]+|\\[^])*'?|[()[\]{}:]/g,
  )) {
    if ('([{'.includes(sign)) depth += 1;
    else if (')]}'.includes(sign)) depth -= 1;
    else if (sign === ':' && depth <= 0) return index + 1;
  }
  return source.length;
}

function* documented({ text, language }: ItemSource, symbol: SymbolDraft) {
  const isPython = language === 'python';
  const [from, to] = isPython
    ? docstringOf(text, symbol)
    : [Math.max(symbol.wordsStart, symbol.start - commentCharsMax), symbol.start];
  const comment = text.slice(from, to);
  const isC = language === 'c' || language === 'cpp';
  if (isC && !comment.startsWith('/**')) return;
  // Only the head of a kernel-doc comment that is of this very function.
  if (isC && !(kernelDocHead.exec(comment)?.slice(1).includes(symbol.name) === true)) return;
  const pattern = isC
    ? /^[ \t]*\*[ \t]*@(\w+(?:\.\w+)*):/gm
    : isPython
      ? /^[ \t]*:param[ \t]+(?:[\w.[\]]+[ \t]+)?(\w+):/gm
      : /^[ \t]*(?:\*[ \t]*)?@param[ \t]+(?:\{[^}]{0,200}\}[ \t]*)?\[?([A-Za-z_$][\w$]*)/gm;
  for (const found of comment.matchAll(pattern)) {
    const name = found[1] ?? '';
    if (isC && /^(?:return|returns|context|note)$/i.test(name)) continue;
    yield { name, at: from + found.index + found[0].lastIndexOf(name) };
  }
}

/** What stands between the brackets that a signature ends with. */
function listOf(signature: string): string {
  const at = signature.indexOf(' | (');
  return at < 0 ? '' : signature.slice(at + 4).replace(/\)$/, '');
}

function parameterNames(list: string, language: ItemSource['language']): Set<string> {
  const names = splitList(list).flatMap((each) => {
    const plain = (each.split('=', 1)[0] ?? '').trimEnd();
    if (language === 'c' || language === 'cpp' || language === 'java') {
      const pointer = /\(\s*\*+\s*(?:\w+\s+)*(\w+)/.exec(plain)?.[1];
      return pointer ?? /([A-Za-z_]\w*)\s*(?:\[[^\]]*\]\s*)*$/.exec(plain)?.[1] ?? [];
    }
    return (
      /^(?:\.{3}|\*{1,2}|(?:public|private|protected|readonly|mut|final)\s+)*&?([A-Za-z_$][\w$]*)/.exec(
        plain,
      )?.[1] ?? []
    );
  });
  return new Set(names);
}
