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

let made: Promise<HighlighterCore> | undefined;

async function make(): Promise<HighlighterCore> {
  const [{ createHighlighterCore, createCssVariablesTheme }, { createJavaScriptRegexEngine }] =
    await Promise.all([import('shiki/core'), import('shiki/engine/javascript')]);
  const theme = createCssVariablesTheme({ name: 'page', variablePrefix: '--code-' });
  const engine = createJavaScriptRegexEngine({ forgiving: true });
  return createHighlighterCore({ themes: [theme], langs: [], engine });
}

/** Lines of a text as tokens. Undefined: the language is not known, or the text too large. */
export async function tokensOf(code: string, language: string): Promise<Token[][] | undefined> {
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
