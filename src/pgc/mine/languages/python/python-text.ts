import type { Node } from 'web-tree-sitter';
import type { Draft, SymbolDraft } from '../../draft.js';
import type { PythonFlow } from './python-flow.js';
import type { PythonImports } from './python-imports.js';
import type { PythonValues } from './python-values.js';

/** Makes the symbols of a text. */
export interface PythonSymbols {
  draft: Draft;
  /** A class or a function, which is the scope of what follows; `from`: where its decorators begin. */
  open(node: Node, kind: 'class' | 'function' | 'method', from: number): SymbolDraft;
  variable(name: string, node: Node): SymbolDraft;
  call(callee: Node, expression: string): void;
}

export interface ClassPart {
  symbol: SymbolDraft;
  /** The name by which it is meant. */
  key: string;
  /** Its constants are values of it. */
  isEnum: boolean;
}

export interface FunctionPart {
  returned: Set<string>;
  yielded: Set<string>;
  /** What a `yield` in it comes to. */
  sent: string;
}

/** One text while its statements are read. */
export interface PythonText {
  symbols: PythonSymbols;
  flow: PythonFlow;
  imports: PythonImports;
  values: PythonValues;
  /** Those around, outer before inner. */
  classes: ClassPart[];
  functions: FunctionPart[];
}
