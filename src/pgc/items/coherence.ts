import type { ItemFact } from '../facts.js';
import type { SymbolDraft } from '../miners/draft.js';
import { splitList } from '../miners/signature.js';
import { Items, type ItemSource } from './item.js';

/** A documented parameter list is looked for this far above its function. */
const commentCharsMax = 8_000;
/** Names that documents write like functions and that are none of the code base's. */
const notNames = new Set('if for while switch return sizeof typeof main printf errno'.split(' '));

/**
 * O7 as far as one text shows it: documented parameters that the signature lacks. And what the whole code
 * base must confirm: `mention` of a function in a document, `option` of a configuration in code. The last
 * two become items of O7 only where nothing answers to the name.
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
    case 'shell':
      break;
    case 'kconfig':
    case 'make':
      options(source, items);
      break;
    default:
      documentedParameters(source, items);
      undocumented(source, items);
      if (source.language === 'c' || source.language === 'cpp') options(source, items);
  }
  return items.found;
}

function mentions({ text }: ItemSource, items: Items): void {
  const seen = new Set<string>();
  for (const found of text.matchAll(/(?<![\w.>$/:-])([A-Za-z_]\w{3,63})\(\)/g)) {
    const name = found[1] ?? '';
    if (seen.has(name) || notNames.has(name)) continue;
    seen.add(name);
    items.add('mention', found.index, found.index + found[0].length, `mentions ${name}()`, {
      subject: name,
    });
  }
}

function options({ text }: ItemSource, items: Items): void {
  if (!text.includes('CONFIG_')) return;
  const seen = new Set<string>();
  for (const found of text.matchAll(/\bCONFIG_([A-Z0-9][A-Z0-9_]*?)(?:_MODULE)?\b(?!\w|##|\*)/g)) {
    const name = `CONFIG_${found[1] ?? ''}`;
    if (seen.has(name) || name.endsWith('_')) continue;
    seen.add(name);
    items.add('option', found.index, found.index + found[0].length, `uses ${name}`, {
      subject: name,
    });
  }
}

const apiKinds: ReadonlySet<string> = new Set('function method class interface struct'.split(' '));

/** What others are meant to use, by the marks of its language, and nothing says how. */
function undocumented({ text, language, draft }: ItemSource, items: Items): void {
  const say = ({ name, start, kind }: SymbolDraft): void =>
    items.add(
      'undocumented',
      start,
      start + 1,
      `${kind} ${name} is exported without documentation`,
      {
        subject: name,
      },
    );
  if (language !== 'c' && language !== 'cpp') {
    for (const symbol of draft.symbols)
      if (
        symbol.exported &&
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
    if (symbol?.doc === '') say(symbol);
  }
}

function documentedParameters(source: ItemSource, items: Items): void {
  const { language } = source;
  for (const symbol of source.draft.symbols) {
    if (symbol.kind !== 'function' && symbol.kind !== 'method') continue;
    if (language !== 'python' && symbol.wordsStart === symbol.start) continue;
    const list = listOf(symbol.signature);
    const isCut = symbol.signature.endsWith('…');
    const has = parameterNames(list, language);
    for (const { name, at } of documented(source, symbol)) {
      // What was cut off the signature may hold it; `...` and parts of a parameter are no names of one.
      if (isCut || has.has(name) || [...has].some((each) => name.startsWith(`${each}.`))) continue;
      const text = `${symbol.name} documents the parameter ${name}, which it does not have`;
      items.add('parameter', at, at + name.length, text, { subject: symbol.name });
    }
  }
}

function* documented({ text, language }: ItemSource, symbol: SymbolDraft) {
  const isPython = language === 'python';
  const from = isPython
    ? symbol.start
    : Math.max(symbol.wordsStart, symbol.start - commentCharsMax);
  const to = isPython ? Math.min(symbol.end, symbol.start + commentCharsMax) : symbol.start;
  const comment = text.slice(from, to);
  const isC = language === 'c' || language === 'cpp';
  if (isC && !comment.startsWith('/**')) return;
  // Only the head of a kernel-doc comment that is of this very function.
  if (
    isC &&
    !new RegExp(`^/\\*\\*\\s*\\n?\\s*\\*?\\s*(?:\\w+\\s+)?${symbol.name}\\b`).test(comment)
  )
    return;
  const pattern = isC
    ? /^\s*\*\s*@(\w+(?:\.\w+)*):/gm
    : isPython
      ? /^\s*:param\s+(?:[\w.[\]]+\s+)?(\w+):/gm
      : /^\s*\*?\s*@param\s+(?:\{[^}]*\}\s*)?\[?([A-Za-z_$][\w$]*)/gm;
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
    const plain = each.replace(/\s*=[^]*$/, '');
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
