import type { FactsLanguage } from '../facts.js';

const languageByExtension: Record<string, FactsLanguage> = {
  '.c': 'c',
  '.h': 'c',
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
};

/** The miner that reads a file, by its name alone; undefined where none does. */
export function languageOf(path: string): FactsLanguage | undefined {
  const extension = /[^/.][^/]*?(\.[a-z]+)$/.exec(path)?.[1];
  return extension === undefined ? undefined : languageByExtension[extension];
}
