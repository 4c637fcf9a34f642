import { compact, renderSignature, splitList } from '../../signature.js';

/** The type of a variable, from what stands before its name. */
export function typeOf(specifiers: string): string {
  return withoutWords(
    specifiers,
    /\b(?:static|extern|inline|__inline__|__inline|register|const)\b/g,
  );
}

/** Also without the bracket of `DEFINE_MUTEX(name)`. */
function withoutWords(specifiers: string, words: RegExp): string {
  return compact(specifiers.replace(words, ' ')).replace(/\s*\($/, '');
}

export function functionSignature(name: string, specifiers: string, list: string): string {
  const source = compact(list);
  const inside = source.slice(1, -1);
  const parameters = splitList(inside).filter((each) => each !== 'void' && each !== '...');
  const returns = withoutWords(specifiers, /\b(?:static|extern|inline|__inline__|__inline)\b/g);
  const properties = {
    params: parameters.length,
    returns,
    static: /\bstatic\b/.test(specifiers),
    inline: /\b(?:inline|__inline__|__inline)\b/.test(specifiers),
  };
  return renderSignature('function', name, properties, source === '()' ? '' : source);
}

/** `int a, void (*done)(int), char *b[2]` → a, done, b. */
export function parameterNames(list: string): Set<string> {
  const names = splitList(list.slice(1, -1)).map(
    (each) =>
      /\(\s*\*+\s*(\w+)\s*(?:\[[^\]]*\]\s*)?\)\s*\(/.exec(each)?.[1] ??
      /(\w+)\s*(?:\[[^\]]*\]\s*)*$/.exec(each)?.[1] ??
      '',
  );
  return new Set(names.filter((each) => each !== ''));
}
