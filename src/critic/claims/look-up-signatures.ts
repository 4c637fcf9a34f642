import type { Definition } from '../../pgc/shapes.js';
import { holds, notChecked, wrong, type SymbolName, type Verdict } from './claim.js';
import type { Looking } from './looking.js';
import type { Tree } from './tree.js';
import { testPath } from './words.js';

interface Signature {
  definition: Definition;
  min: number;
  max: number;
}

/** Does a definition take so many parameters? Those with a default may be left out. */
export async function lookUpParameterCount(
  { tree }: Looking,
  symbol: SymbolName,
  value: number,
): Promise<Verdict> {
  const signatures = await signaturesOf(tree, symbol);
  const [first] = signatures ?? [];
  if (signatures === undefined || first === undefined) return unknown(symbol);
  const evidence = await tree.evidenceOf(first.definition);
  const shown = shownBy(first);
  if (signatures.some(({ min, max }) => min <= value && value <= max))
    return holds(shown, evidence);
  return wrong(shown, `Say ${first.max}.`, evidence);
}

function unknown({ name }: SymbolName): Verdict {
  return notChecked(`The index has no signature of ${name} with all its parameters.`);
}

function shownBy({ definition, max }: Signature): string {
  return `${definition.symbol} takes ${max}: ${definition.signature.slice(0, 160)}`;
}

/** Of all definitions; undefined: one of them takes any number, or is not known in full. */
async function signaturesOf(tree: Tree, symbol: SymbolName): Promise<Signature[] | undefined> {
  const definitions = (await tree.definitionsOf(symbol)).filter(
    ({ file_path, kind }) => !testPath.test(file_path) && /function|method|constructor/.test(kind),
  );
  const signatures: Signature[] = [];
  for (const definition of definitions) {
    const names = parametersOf(definition);
    const count = /\| params:(\d{1,3})\b/.exec(definition.signature)?.[1];
    const max = names?.length ?? (count === undefined ? undefined : Number(count));
    const isOpen =
      names?.some((each) => each.includes('...')) || (await readsArguments(tree, definition));
    if (max === undefined || isOpen) return undefined;
    const needed = names?.filter((each) => !/[?=]/.test(each.replaceAll('=>', ''))).length;
    signatures.push({ definition, min: needed ?? max, max });
  }
  return signatures;
}

function parametersOf({ signature, symbol }: Definition): string[] | undefined {
  const at = signature.indexOf('(', Math.max(0, signature.indexOf(symbol)));
  if (at < 0) return undefined;
  let depth = 0;
  for (let end = at; end < signature.length; end += 1) {
    const sign = signature[end] ?? '';
    if (sign === '(') depth += 1;
    if (sign === ')') depth -= 1;
    if (depth === 0)
      return parameterList(signature.slice(at + 1, end)).filter((each) => each !== 'void');
  }
  return undefined;
}

async function readsArguments(tree: Tree, definition: Definition): Promise<boolean> {
  const { file_path, line, line_end } = definition;
  if (!/\.[cm]?[jt]sx?$/.test(file_path)) return false;
  const lines = ((await tree.text(file_path)) ?? '').split('\n').slice(line - 1, line_end);
  return lines.some((each) => /\barguments\b/.test(each));
}

/** `a, b = 1, { c }, f(x, y)`: split at commas outside brackets. */
function parameterList(list: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let begin = 0;
  for (let at = 0; at <= list.length; at += 1) {
    const sign = list[at] ?? ',';
    if ('([{<'.includes(sign)) depth += 1;
    if (')]}'.includes(sign) || (sign === '>' && list[at - 1] !== '=')) depth -= 1;
    if (at < list.length && (sign !== ',' || depth !== 0)) continue;
    parts.push(list.slice(begin, at).trim());
    begin = at + 1;
  }
  return parts.filter((each) => each !== '');
}
