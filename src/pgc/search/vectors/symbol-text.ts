import { partsOf } from '../../format/words.js';
import type { ShardIndex, SymbolOutline } from '../../format/shard-index.js';

/** What says what a program does, with documentation or without. */
const explaining = new Set([
  ...['function', 'method', 'class', 'struct', 'union', 'interface', 'type', 'enum', 'trait'],
]);
/** First sentences. More of a text dilutes a sum of words: 600 characters find a tenth less than 200. */
const docCharsMax = 200;

/** Raised whenever a text is made in another way: then its vector is another one. */
export const textRecipe = 1;

/** Whether a symbol has a vector. A declaration repeats what is defined elsewhere. */
export function explains(
  { kind, declaration }: Pick<SymbolOutline, 'kind' | 'declaration'>,
  isDocumented: boolean,
): boolean {
  return isDocumented || (explaining.has(kind) && !declaration);
}

/**
 * What a symbol is embedded as: its name in words, what it belongs to, the begin of its documentation. `fit` takes out
 * what may not leave this machine, and sees the documentation as it is written: in words a credential is none any more.
 */
export function symbolText(
  index: ShardIndex,
  symbol: number,
  fit: (text: string) => string = (text) => text,
): string {
  const { name, container, doc } = index.symbol(symbol);
  const named = container === '' ? inWords(name) : `${inWords(name)} ${inWords(container)}`;
  return doc === '' ? named : `${named}. ${plainText(fit(doc).slice(0, docCharsMax))}`;
}

/** Of a question or a passage: the names in it are read as words. */
export function plainText(text: string): string {
  return text.replace(/\w{2,64}/g, inWords);
}

/** `dma_alloc_coherent` and `dmaAllocCoherent` in three words. */
export function inWords(name: string): string {
  return partsOf(name).join(' ');
}
