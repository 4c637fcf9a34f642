import { definitionsOf } from './check-symbols.js';
import type { SymbolName } from './claim.js';
import { aboveMax, basesOf, isClass } from './classes.js';
import { hasWord } from './known-tree.js';
import { contradicted, unverified, verified, type Checking, type Verdict } from './verdict.js';

/** What the head of a class says that it is made from, and what stands above that. */
export async function checkExtends(
  { tree }: Checking,
  symbol: SymbolName,
  base: SymbolName,
): Promise<Verdict> {
  const known = (await definitionsOf(tree, symbol)).filter(isClass);
  const [first] = known;
  if (first === undefined) return unverified(`No class ${symbol.name} is known.`);
  const evidence = await tree.evidence(first.file_path, first.line, first.line, symbol.name);
  // A class and its declaration, or several of one name: each of them may be meant.
  const heads = await Promise.all(known.slice(0, aboveMax).map((each) => basesOf(tree, each)));
  const above = heads.includes(undefined)
    ? undefined
    : [...new Set(heads.flatMap((each) => each ?? []))];
  if (above === undefined) return unverified(`The head of ${symbol.name} cannot be read.`);
  if (above.some((each) => hasWord(each, base.name)))
    return verified(`${symbol.name} is made from ${above.join(', ')}.`, evidence);
  const seen = new Set([symbol.name]);
  let isWhole = true;
  const open = [...above];
  for (let next = open.shift(); next !== undefined; next = open.shift()) {
    const name = /[\w$]+$/.exec(next)?.[0] ?? '';
    if (seen.has(name)) continue;
    seen.add(name);
    const every = (await tree.uses(name)).definitions.filter(isClass);
    const their = await Promise.all(every.slice(0, aboveMax).map((each) => basesOf(tree, each)));
    const further = their.flatMap((each) => each ?? []);
    if (their.includes(undefined) || seen.size > aboveMax)
      return unverified(`What stands above ${symbol.name} is not all known.`, evidence);
    isWhole &&= every.length > 0;
    if (further.some((each) => hasWord(each, base.name)))
      return verified(`${symbol.name} is made from it by way of ${name}.`, evidence);
    open.push(...further);
  }
  // What is not of the tree is not made from what is.
  const baseIsKnown = (await tree.uses(base.name)).definitions.some(isClass);
  if (!isWhole && !baseIsKnown)
    return unverified(`What stands above ${symbol.name} is not all known.`);
  const written = above.length === 0 ? 'nothing' : above.join(', ');
  return contradicted(
    `${symbol.name} is made from ${written}, at ${first.file_path}:${first.line}.`,
    above.length === 0 ? 'Say that it stands alone.' : `Say ${written}.`,
    evidence,
  );
}
