// What libclang says of the calls of C: `python3-clang` of Debian.
import path from 'node:path';
import { outputOf } from '../sources.mjs';

/** Objects with the field `is`; see ../README.md. */
export async function factsOf(root) {
  const program = path.join(import.meta.dirname, 'facts.py');
  const lines = await outputOf('/usr/bin/python3', [program, root], root);
  return lines
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}
