// What the compiler of the JDK says of a tree.
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { cacheFolder, outputOf } from '../sources.mjs';

/** The compiler's own trees: the public ones do not tell which constructor runs. */
const packages = ['api', 'code', 'comp', 'tree', 'util'].flatMap((each) => [
  '--add-exports',
  `jdk.compiler/com.sun.tools.javac.${each}=ALL-UNNAMED`,
]);

/** Facts as in ../README.md. Needs a JDK of version 17 or later, as in Debian's package `default-jdk-headless`. */
export async function factsOf(root) {
  const classes = await program();
  const options = ['-Xmx6g', '-Xss16m', ...packages];
  const printed = await outputOf('java', [...options, '-cp', classes, 'Oracle', root], root);
  return printed
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

async function program() {
  const here = import.meta.dirname;
  const classes = cacheFolder('java');
  const sources = readdirSync(here)
    .filter((each) => each.endsWith('.java'))
    .map((each) => path.join(here, each));
  const newest = Math.max(...sources.map((each) => statSync(each).mtimeMs));
  const built = statSync(path.join(classes, 'Oracle.class'), { throwIfNoEntry: false });
  if (built === undefined || built.mtimeMs < newest)
    await outputOf('javac', [...packages, '-d', classes, ...sources], here);
  return classes;
}
