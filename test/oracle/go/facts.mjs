// What the type checker of Go says of a tree.
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { cacheFolder, outputOf } from '../sources.mjs';

/** Facts as in ../README.md. Needs Go 1.19 or later, as in Debian's package `golang-go`. */
export async function factsOf(root) {
  const lines = (await outputOf(await program(), [root], root)).trim().split('\n');
  return lines.map((line) => JSON.parse(line));
}

async function program() {
  const binary = path.join(cacheFolder('bin'), 'oracle-go');
  const sources = readdirSync(import.meta.dirname).filter((each) => /\.go$|^go\.mod$/.test(each));
  const newest = Math.max(
    ...sources.map((each) => statSync(path.join(import.meta.dirname, each)).mtimeMs),
  );
  const built = statSync(binary, { throwIfNoEntry: false });
  if (built === undefined || built.mtimeMs < newest)
    await outputOf('go', ['build', '-o', binary, '.'], import.meta.dirname);
  return binary;
}
