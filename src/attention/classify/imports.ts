import path from 'node:path/posix';

/** Which files of the tree a script loads: they run with it. */

export interface LocalImport {
  /** Where it may lie, most likely first. */
  candidates: string[];
  /** It names a file of the tree, and nothing else. */
  isCertain: boolean;
}

/** Of one script; what is more is not followed by these, but by the limit of scripts. */
const importsMax = 64;
const dataEndings = /\.(?:json|css|scss|less|svg|png|jpe?g|gif|txt|md|node|wasm|html|ya?ml|d\.ts)$/;

export function localImports(source: string, language: string, file: string): LocalImport[] {
  const folder = path.dirname(file) === '.' ? '' : path.dirname(file);
  const found = namesIn(source.replace(/[^\S\n]{65,}/g, ' '), language).slice(0, importsMax);
  return found.flatMap(({ name, isCertain }) => {
    const candidates = candidatesOf(name, language, folder).filter(
      (each) => !each.startsWith('..'),
    );
    return candidates.length === 0 ? [] : [{ candidates, isCertain }];
  });
}

function namesIn(source: string, language: string): { name: string; isCertain: boolean }[] {
  const pattern = {
    javascript: /(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\s*\(\s*)["'](\.{1,2}\/[^"'\n]+)["']/g,
    python: /^[ \t]*(?:from\s+(\.{0,40}[\w.]{0,200})\s+import\b|import\s+([\w.]{1,200}))/gm,
    ruby: /\brequire_relative\s*\(?\s*["']([^"'\n]+)["']/g,
    perl: /\b(?:require|do)\s+["'](\.{0,2}\/?[^"'\n]+)["']/g,
    php: /\b(?:require|include)(?:_once)?\s*\(?\s*(?:__DIR__\s*\.\s*)?["']\/?([^"'\n]+)["']/g,
  }[language];
  if (pattern === undefined) return [];
  return [...source.matchAll(pattern)].flatMap((match) => {
    const name = match[1] ?? match[2] ?? '';
    if (name === '' || dataEndings.test(name)) return [];
    return [{ name, isCertain: language === 'javascript' || language === 'ruby' }];
  });
}

function candidatesOf(name: string, language: string, folder: string): string[] {
  if (language === 'python') {
    const dots = /^\.*/.exec(name)?.[0].length ?? 0;
    const above = path.normalize(
      path.join(folder, ...Array<string>(Math.max(0, dots - 1)).fill('..')),
    );
    const base = path.join(above, name.slice(dots).replaceAll('.', '/'));
    return [`${base}.py`, `${base}/__init__.py`].map(clean);
  }
  const base = path.normalize(path.join(folder, name));
  if (language === 'ruby') return [base.endsWith('.rb') ? base : `${base}.rb`].map(clean);
  if (language !== 'javascript') return [clean(base)];
  const bare = base.replace(/\.[cm]?js$/, '');
  const endings = ['.js', '.mjs', '.cjs', '.ts', '.mts', '.tsx', '.jsx', '/index.js', '/index.ts'];
  return [
    base,
    ...endings.map((ending) => `${bare}${ending}`),
    ...endings.map((ending) => `${base}${ending}`),
  ].map(clean);
}

function clean(text: string): string {
  return path.normalize(text).replace(/^\.\//, '');
}
