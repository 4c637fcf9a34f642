import type { HighlighterCore, LanguageRegistration } from 'shiki/core';

/** A piece of a line, with its colour; the colours are variables of style.css. */
export interface Token {
  content: string;
  color?: string;
}

/** Longer lines stay plain: they are data, or made by a tool. */
const lineCharsMax = 1_000;
const charsMax = 200_000;

type Grammar = () => Promise<{ default: LanguageRegistration[] }>;

const grammars: Record<string, Grammar> = {
  bash: () => import('shiki/langs/bash.mjs'),
  c: () => import('shiki/langs/c.mjs'),
  cpp: () => import('shiki/langs/cpp.mjs'),
  dockerfile: () => import('shiki/langs/dockerfile.mjs'),
  go: () => import('shiki/langs/go.mjs'),
  ini: () => import('shiki/langs/ini.mjs'),
  java: () => import('shiki/langs/java.mjs'),
  javascript: () => import('shiki/langs/javascript.mjs'),
  json: () => import('shiki/langs/json.mjs'),
  make: () => import('shiki/langs/make.mjs'),
  markdown: () => import('shiki/langs/markdown.mjs'),
  proto: () => import('shiki/langs/proto.mjs'),
  python: () => import('shiki/langs/python.mjs'),
  rust: () => import('shiki/langs/rust.mjs'),
  toml: () => import('shiki/langs/toml.mjs'),
  tsx: () => import('shiki/langs/tsx.mjs'),
  typescript: () => import('shiki/langs/typescript.mjs'),
  yaml: () => import('shiki/langs/yaml.mjs'),
};

const byExtension: Record<string, string> = {
  ...{ c: 'c', h: 'c', cc: 'cpp', cpp: 'cpp', cxx: 'cpp', hh: 'cpp', hpp: 'cpp', hxx: 'cpp' },
  ...{ inl: 'cpp', ipp: 'cpp', tpp: 'cpp' },
  ...{ ts: 'typescript', mts: 'typescript', cts: 'typescript', tsx: 'tsx', jsx: 'tsx' },
  ...{ js: 'javascript', mjs: 'javascript', cjs: 'javascript', json: 'json' },
  ...{ py: 'python', pyi: 'python', go: 'go', rs: 'rust', java: 'java', proto: 'proto' },
  ...{ md: 'markdown', markdown: 'markdown', mk: 'make', sh: 'bash', bash: 'bash' },
  ...{ yml: 'yaml', yaml: 'yaml', toml: 'toml', ini: 'ini', cfg: 'ini' },
  ...{ service: 'ini', socket: 'ini', timer: 'ini' },
};

/** The language of a file, by its name; empty: not known. */
function languageOf(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (/^(?:GNU)?[Mm]akefile|^Kbuild/.test(name)) return 'make';
  if (/^(?:Docker|Container)file/.test(name)) return 'dockerfile';
  const extension = /\.([^.]*)$/.exec(name)?.[1]?.toLowerCase() ?? '';
  return Object.hasOwn(byExtension, extension) ? (byExtension[extension] ?? '') : '';
}

let made: Promise<HighlighterCore> | undefined;

async function make(): Promise<HighlighterCore> {
  const [{ createHighlighterCore, createCssVariablesTheme }, { createJavaScriptRegexEngine }] =
    await Promise.all([import('shiki/core'), import('shiki/engine/javascript')]);
  const theme = createCssVariablesTheme({ name: 'page', variablePrefix: '--code-' });
  const engine = createJavaScriptRegexEngine({ forgiving: true });
  return createHighlighterCore({ themes: [theme], langs: [], engine });
}

/** Lines of a file as tokens. Undefined: its language is not known, or the text too large. */
export async function tokensOf(code: string, path: string): Promise<Token[][] | undefined> {
  const language = languageOf(path);
  const grammar = grammars[language];
  if (grammar === undefined || code.length > charsMax) return undefined;
  made ??= make();
  const highlighter = await made;
  if (!highlighter.getLoadedLanguages().includes(language))
    await highlighter.loadLanguage((await grammar()).default);
  const { tokens } = highlighter.codeToTokens(code, {
    lang: language,
    theme: 'page',
    tokenizeMaxLineLength: lineCharsMax,
  });
  return tokens.map((line) =>
    line.map(({ content, color }) => (color === undefined ? { content } : { content, color })),
  );
}
