// What libclang says of the calls of C: `python3-clang` of Debian.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { cacheFolder, outputOf } from '../sources.mjs';

/** Objects with the field `is`; see ../README.md. Reading takes minutes, so what was said of a commit is kept. */
export async function factsOf(root) {
  const program = path.join(import.meta.dirname, 'facts.py');
  const commit = (await outputOf('git', ['rev-parse', 'HEAD'], root)).trim();
  const key = createHash('sha256').update(readFileSync(program)).update(root).update(commit);
  const kept = path.join(cacheFolder('c'), `${key.digest('hex').slice(0, 24)}.jsonl`);
  if (!existsSync(kept)) {
    writeFileSync(`${kept}.tmp`, await outputOf('/usr/bin/python3', [program, root], root));
    renameSync(`${kept}.tmp`, kept);
  }
  return readFileSync(kept, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}
