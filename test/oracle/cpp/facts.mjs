// What libclang says of the calls of C++: `python3-clang` of Debian. Kept in the cache: a large tree takes minutes.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { cacheFolder, outputOf } from '../sources.mjs';

/** Objects with the field `is`; see ../README.md. */
export async function factsOf(root) {
  const own = ['facts.py', 'places.py'].map((name) => path.join(import.meta.dirname, name));
  const commit = (await outputOf('git', ['rev-parse', 'HEAD'], root)).trim();
  const digest = createHash('sha256').update(commit);
  for (const each of own) digest.update(readFileSync(each));
  const kept = path.join(cacheFolder('cpp'), `${digest.digest('hex').slice(0, 16)}.jsonl`);
  if (!existsSync(kept))
    writeFileSync(kept, await outputOf('/usr/bin/python3', [own[0], root], root));
  return readFileSync(kept, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}
