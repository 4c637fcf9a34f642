import type { Definition } from '../../pgc/shapes.js';
import { definitionsOf } from './check-symbols.js';
import type { SymbolName } from './claim.js';
import { aboveMax, basesOf, isClass } from './classes.js';
import { hasWord, lineOf, type KnownTree } from './known-tree.js';
import { contradicted, unverified, verified, type Checking, type Verdict } from './verdict.js';

/** What the head of a class says that it is made from, and what stands above that. */
export async function checkExtends(
  { tree }: Checking,
  symbol: SymbolName,
  base: SymbolName,
): Promise<Verdict> {
  const definitions = await definitionsOf(tree, symbol);
  const known = definitions.filter(isClass);
  const [first] = known;
  if (first === undefined) return ofFunction(tree, symbol, base, definitions);
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
  // What every stream or event emitter is made from may stand above what is not here.
  if (!isWhole && !baseIsKnown && (above.length !== 1 || general.test(base.name)))
    return unverified(`What stands above ${symbol.name} is not all known.`);
  const written = above.length === 0 ? 'nothing' : above.join(', ');
  return contradicted(
    `${symbol.name} is made from ${written}, at ${first.file_path}:${first.line}.`,
    above.length === 0 ? 'Say that it stands alone.' : `Say ${written}.`,
    evidence,
  );
}

const general =
  /^(?:Object|Function|Error|EventEmitter|EventTarget|Event|Stream|Readable|Writable|Duplex|Transform|PassThrough|Component|Base\w*|Abstract\w*)$/;

/** `inherits(X, Y)`: how functions are made from others. */
async function ofFunction(
  tree: KnownTree,
  symbol: SymbolName,
  base: SymbolName,
  definitions: readonly Definition[],
): Promise<Verdict> {
  for (const { file_path, kind } of definitions) {
    if (!kind.includes('function')) continue;
    const text = (await tree.text(file_path)) ?? '';
    const match = new RegExp(
      `\\binherits\\(\\s*${symbol.name}\\s*,\\s*(?:[\\w$]{1,40}\\.)?([\\w$]{1,60})\\s*\\)`,
    ).exec(text);
    if (match === null) continue;
    const evidence = await tree.evidence(file_path, lineOf(text, match.index));
    const its = match[1] ?? '';
    if (its === base.name) return verified(`${symbol.name} inherits from it.`, evidence);
    // A short name stands for another.
    const isOther = (await tree.uses(base.name)).definitions.length > 0;
    const said = `${symbol.name} inherits from ${its}.`;
    return isOther ? contradicted(said, `Say ${its}.`, evidence) : unverified(said, evidence);
  }
  return unverified(`No class ${symbol.name} is known.`);
}
