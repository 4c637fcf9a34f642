import type { Definition } from '../../pgc/shapes.js';
import { holds, notChecked, wrong, type SymbolName, type Verdict } from './claim.js';
import type { Looking } from './looking.js';
import { testPath } from './words.js';

/** How a language says that an error leaves a function, by the ending of the file. A text that only speaks of it goes on in words. */
const throwing: readonly { file: RegExp; word: RegExp; catches: RegExp }[] = [
  {
    file: /\.(?:[cm]?[jt]sx?|java|cc|cpp|cxx|hpp|hh|php|cs|kt|swift|scala)$/,
    word: /^\s*(?:(?:if|else)\b.*\s)?throw(?:\s+new\s+[\w.$\\:]+\s*(?:[(<{;]|$)|\s+[\w.$:>()[\]-]+\s*(?:[(<{;/}]|$)|\s*;)/,
    catches: /\bcatch\b/,
  },
  {
    file: /\.(?:py|rb)$/,
    word: /^\s*raise(?:\s+[\w.:]+\s*(?:[(,#]|$|from\b)|\s*(?:#|$)|\s+["'])/,
    catches: /^\s*(?:except|rescue)\b/,
  },
];
/** A function within the function, whose errors may be another's. */
const inner = /=>|\bfunction\b|\blambda\b|\bdef\b|\bclass\b/;

/**
 * Does a function throw? By its own lines: one that throws shows it. What it calls may throw as well, hence `never` is not
 * confirmed, and of one that catches nothing is said.
 */
export async function lookUpThrows(
  { tree }: Looking,
  symbol: SymbolName,
  isNever: boolean,
): Promise<Verdict> {
  const all = (await tree.definitionsOf(symbol)).filter(
    ({ file_path, kind, declaration }) =>
      !declaration && !testPath.test(file_path) && /function|method|constructor/.test(kind),
  );
  const [definition] = all;
  if (definition === undefined || all.length > 1)
    return notChecked(`The index has ${all.length === 0 ? 'no' : 'more than one'} ${symbol.name}.`);
  const line = await throwLine(tree, definition);
  if (line === undefined)
    return notChecked(
      `No line of ${symbol.name} itself throws for certain; what it calls was not looked at.`,
    );
  const { file_path } = definition;
  const evidence = await tree.evidence(file_path, line, line, symbol.name);
  const reason = `${symbol.name} throws at ${file_path}:${line}.`;
  if (!isNever) return holds(reason, evidence);
  return wrong(reason, `Say when ${symbol.name} throws.`, evidence);
}

/** The first line that certainly lets an error out. */
async function throwLine(
  tree: Looking['tree'],
  { file_path, line, line_end }: Definition,
): Promise<number | undefined> {
  const language = throwing.find(({ file }) => file.test(file_path));
  const text = await tree.text(file_path);
  if (language === undefined || text === undefined) return undefined;
  const body = text.split('\n').slice(line, line_end);
  if (body.some((each) => language.catches.test(each))) return undefined;
  const at = body.findIndex((each) => language.word.test(each));
  if (at < 0 || body.slice(0, at).some((each) => inner.test(each))) return undefined;
  return line + at + 1;
}
