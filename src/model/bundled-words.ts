import { readFileSync } from 'node:fs';
import { findBundledModel } from './bundled-model.js';
import { WordPiece } from './word-piece.js';

let vocabulary: WordPiece | undefined;
let isRead = false;

/** The words of the bundled model, which need not run for that. Read when first needed; undefined: not installed, or damaged. */
export function bundledWords(): WordPiece | undefined {
  if (isRead) return vocabulary;
  isRead = true;
  const found = findBundledModel();
  if (!('files' in found)) return undefined;
  try {
    vocabulary = WordPiece.fromJson(readFileSync(found.files.tokenizer, 'utf8'));
  } catch {
    // Whoever runs the model reports what is wrong with it.
  }
  return vocabulary;
}
