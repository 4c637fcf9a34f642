import type { TableRows } from '../../src/model/token-table.js';

/** Words of similar meaning, by line. Each line is one direction. */
const meanings = [
  ['release', 'free', 'drop'],
  ['buffer', 'packet'],
  ['open', 'start', 'begin'],
  ['clock', 'time'],
  ['page', 'memory'],
  ['lock', 'mutex'],
  ['send', 'transmit'],
];
const marks = ['[PAD]', '[UNK]', '[CLS]', '[SEP]'];

/** A vocabulary in the order of its ids. */
export const tinyVocabulary: readonly string[] = [...marks, ...meanings.flat()];

/** A table small enough to know what it finds; words that it does not hold say nothing. */
export function tinyTable(): TableRows {
  const dims = 16;
  const rows = new Int8Array(tinyVocabulary.length * dims);
  const scales = new Float32Array(tinyVocabulary.length);
  for (const [direction, words] of meanings.entries())
    for (const [at, word] of words.entries()) {
      const id = tinyVocabulary.indexOf(word);
      scales[id] = 1 / 127;
      rows[id * dims + direction] = 127;
      // Alike, not the same.
      rows[id * dims + 8 + at] = 20;
    }
  return { dims, rows, scales };
}
