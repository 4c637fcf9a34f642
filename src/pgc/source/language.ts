import type { FactsLanguage } from '../format/facts.js';

/** A header shows near its beginning whether it is C++. */
const headerBytes = 64 * 1024;

const languageByExtension: Record<string, FactsLanguage> = {
  '.c': 'c',
  '.h': 'c',
  '.cc': 'cpp',
  '.cpp': 'cpp',
  '.cxx': 'cpp',
  '.hh': 'cpp',
  '.hpp': 'cpp',
  '.hxx': 'cpp',
  '.inl': 'cpp',
  '.ipp': 'cpp',
  '.tpp': 'cpp',
  '.ts': 'typescript',
  '.mts': 'typescript',
  '.cts': 'typescript',
  '.tsx': 'tsx',
  '.js': 'javascript',
  '.mjs': 'javascript',
  '.cjs': 'javascript',
  '.jsx': 'javascript',
  '.py': 'python',
  '.pyi': 'python',
  '.go': 'go',
  '.rs': 'rust',
  '.java': 'java',
  '.md': 'markdown',
  '.markdown': 'markdown',
  '.rst': 'rst',
  '.txt': 'text',
  '.mk': 'make',
  '.yml': 'settings',
  '.yaml': 'settings',
  '.toml': 'settings',
  '.ini': 'settings',
  '.cfg': 'settings',
  '.service': 'settings',
  '.socket': 'settings',
  '.timer': 'settings',
  '.sh': 'shell',
  '.bash': 'shell',
};

const languageByName: readonly (readonly [RegExp, FactsLanguage])[] = [
  [/^Kconfig(?:[.-].+)?$/, 'kconfig'],
  [/^(?:GNU)?[Mm]akefile(?:\..+)?$|^Kbuild(?:\..+)?$/, 'make'],
  [/^MAINTAINERS$/, 'maintainers'],
  [
    /^(?:Docker|Container)file(?:\..+)?$|^package\.json$|^[jt]sconfig(?:\..+)?\.json$|^go\.mod$/,
    'settings',
  ],
  [/^(?:README|INSTALL|HACKING|CONTRIBUTING|SECURITY|CHANGES|NEWS|CODEOWNERS)$/, 'text'],
];

/** The language that a file name suggests; undefined where no miner reads such files. */
export function languageOf(path: string): FactsLanguage | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const named = languageByName.find(([pattern]) => pattern.test(name))?.[1];
  if (named !== undefined) return named;
  const extension = /^[^/]+(\.[a-z]+)$/.exec(name)?.[1];
  return extension === undefined ? undefined : languageByExtension[extension];
}

/** Decides by content whether a `.h` header is C or C++. */
export function languageIn(language: FactsLanguage, path: string, bytes: Buffer): FactsLanguage {
  if (language !== 'c' || !path.endsWith('.h')) return language;
  return isCpp(bytes.subarray(0, headerBytes).toString('latin1')) ? 'cpp' : 'c';
}

/** Constructs that a C compiler refuses: a `.h` header that contains one is C++. */
const cppOnly =
  /^[ \t]*(?:(?:inline\s{1,50})?namespace\s{1,50}(?:[\w:]+\s{0,50})?\{|template\s{0,50}<|using\s{1,50}(?:namespace\s{1,50})?[\w:]+\s{0,50}[;=]|class\s{1,50}(?:\w+\s{1,50})?\w+\s{0,50}(?:final\s{0,50})?[:{]|(?:public|private|protected)\s{0,50}:|virtual\s|#[ \t]{0,20}include\s{0,20}<[a-z_]{1,40}>|[^\n"'/*]{0,200}\b(?:std|[A-Z]\w{0,100})::\w|[^\n"'/*]{0,200}\boperator\s{0,20}(?:\(\s{0,20}\)|\[|[=!]=|<<|->|[-+*/]?=\s{0,20}\())/m;

export function isCpp(text: string): boolean {
  return cppOnly.test(text);
}
