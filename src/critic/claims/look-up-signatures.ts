import type { Definition } from '../../pgc/shapes.js';
import { holds, notChecked, wrong, type SymbolName, type Verdict } from './claim.js';
import type { Looking } from './looking.js';
import type { Tree } from './tree.js';
import { testPath } from './words.js';
import { plural } from '../impact/phrases.js';

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

const listChars = 160;

function unknown({ name }: SymbolName): Verdict {
  return notChecked(`The index has no signature of ${name} with all its parameters.`);
}

function shownBy({ definition, max }: Signature): string {
  // Behind the figures of the index stands the list of parameters.
  const list = /\(.*\)$/s.exec(definition.signature)?.[0] ?? '';
  const shown = list === '' ? '' : `: ${definition.symbol}${list.slice(0, listChars)}`;
  return `${definition.symbol} takes ${plural(max, 'parameter')}${shown}`;
}

/** Of all definitions; undefined: one of them takes any number, or is not known in full. */
async function signaturesOf(tree: Tree, symbol: SymbolName): Promise<Signature[] | undefined> {
  const definitions = (await tree.definitionsOf(symbol)).filter(
    ({ file_path, kind }) => !testPath.test(file_path) && /function|method|constructor/.test(kind),
  );
  const signatures: Signature[] = [];
  for (const definition of definitions) {
    const range = parameterRange(definition.signature);
    if (range === undefined || (await readsArguments(tree, definition))) return undefined;
    signatures.push({ definition, ...range });
  }
  return signatures;
}

/** How many arguments a signature takes; undefined: any number, or it is not known. */
export function parameterRange(signature: string): { min: number; max: number } | undefined {
  const max = Number(/\bparams:(\d{1,3})\b/.exec(signature)?.[1] ?? -1);
  const list = /\(.*\)$/s.exec(signature)?.[0] ?? '';
  if (max < 0 || list.includes('...')) return undefined;
  const optional = list.match(/[\w}\]]\?\s*:|[^=!<>]=[^=>]/g) ?? [];
  return { min: max - optional.length, max };
}

async function readsArguments(tree: Tree, definition: Definition): Promise<boolean> {
  const { file_path, line, line_end } = definition;
  if (!/\.[cm]?[jt]sx?$/.test(file_path)) return false;
  const lines = ((await tree.text(file_path)) ?? '').split('\n').slice(line - 1, line_end);
  return lines.some((each) => /\barguments\b/.test(each));
}
