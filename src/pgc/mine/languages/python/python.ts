import type { Node } from 'web-tree-sitter';
import { docOf, lineBreakBefore, lineCommentsStart, sentences } from '../../comment.js';
import type { Draft, SymbolDraft } from '../../draft.js';
import type { Grammar } from '../../grammar.js';
import { parametersOf, ScopedMiner, textOf } from '../../scoped-draft.js';
import { compact, renderSignature, splitList } from '../../signature.js';
import { PythonStatements } from './python-statements.js';
import type { PythonSymbols } from './python-text.js';

export const pythonQuery = `
(module) @module
(expression_statement (call function: (_) @unused))
(ERROR) @error
`;

export function minePython(grammar: Grammar, text: string): Draft {
  return new PythonMiner(text).mine(grammar);
}

class PythonMiner extends ScopedMiner implements PythonSymbols {
  protected readonly visitors: Record<string, (node: Node) => void> = {
    module: (node) => new PythonStatements(this).module(node),
  };

  call(callee: Node, expression: string): void {
    this.draft.reach(callee.startIndex);
    if (callee.type === 'identifier') {
      // PEP 8 names classes in capitals: calling one constructs.
      const kind = /^_*[A-Z]\w*[a-z]/.test(callee.text) ? 'construct' : 'direct';
      this.draft.call(callee.text, callee.startIndex, kind, '', expression);
    } else if (callee.type === 'attribute')
      this.draft.callOn(callee, callee.childForFieldName('attribute'), 'member', expression);
  }

  open(node: Node, kind: 'class' | 'function' | 'method', from: number): SymbolDraft {
    this.draft.reach(node.startIndex);
    const name = textOf(node, 'name');
    const signature =
      kind === 'class' ? classSignature(node, name) : this.#functionSignature(node, name, kind);
    const doc = docstring(node.childForFieldName('body'));
    const symbol = this.#symbol(name, { kind, node, signature, doc, from });
    this.draft.enter(name, kind, node, symbol);
    return symbol;
  }

  variable(name: string, node: Node): SymbolDraft {
    this.draft.reach(node.startIndex);
    const kind = /^_*[A-Z][A-Z0-9_]*$/.test(name) ? 'constant' : 'variable';
    const signature = renderSignature(kind, name, { type: textOf(node, 'type') });
    return this.#symbol(name, { kind, node, signature, doc: '', from: node.startIndex });
  }

  #functionSignature(node: Node, name: string, kind: string): string {
    const { list, tail } = parametersOf(node);
    const counted = list.filter(
      (each, at) =>
        !/^[*/]$/.test(each) && !(at === 0 && kind === 'method' && /^(?:self|cls)\b/.test(each)),
    );
    const properties = {
      params: counted.length,
      returns: textOf(node, 'return_type'),
      async: this.text.startsWith('async', node.startIndex),
    };
    return renderSignature(kind, name, properties, tail);
  }

  #symbol(name: string, { kind, node, signature, doc, from }: Written): SymbolDraft {
    const outer = this.draft.scope?.symbol;
    const comment = this.#commentAbove(from);
    const isVisible = !name.startsWith('_') || /^__\w+__$/.test(name);
    const symbol: SymbolDraft = {
      ...{ name, kind, signature, start: node.startIndex, end: node.endIndex },
      wordsStart: comment?.start ?? from,
      container: outer?.name ?? '',
      exported: isVisible && (outer === undefined || (outer.kind === 'class' && outer.exported)),
      doc: doc === '' ? (comment?.doc ?? '') : doc,
      declaration: false,
    };
    this.draft.symbols.push(symbol);
    return symbol;
  }

  #commentAbove(at: number): { doc: string; start: number } | undefined {
    const line = lineBreakBefore(this.text, at);
    if (line === undefined) return undefined;
    const start = lineCommentsStart(this.text, line, '#');
    return start === undefined
      ? undefined
      : { doc: docOf(this.text.slice(start, line), 'jsdoc'), start };
  }
}

interface Written {
  kind: string;
  node: Node;
  signature: string;
  doc: string;
  /** Where its decorators begin. */
  from: number;
}

function classSignature(node: Node, name: string): string {
  const bases = node.childForFieldName('superclasses');
  const body = node.childForFieldName('body');
  const methods = (body?.namedChildren ?? []).filter(
    (each) => (each.childForFieldName('definition') ?? each).type === 'function_definition',
  ).length;
  const named = splitList(bases?.text.slice(1, -1) ?? '').filter((each) => !each.includes('='));
  return renderSignature('class', name, { extends: named.map(compact).join(', '), methods });
}

/** The prose of the string that a body begins with, up to its sections (`Args:`, `:param x:`, `>>>`). */
function docstring(body: Node | null): string {
  const first = body?.firstNamedChild;
  const string = first?.type === 'expression_statement' ? first.firstNamedChild : first;
  if (string?.type !== 'string') return '';
  const content = /^[a-z]*("""|'''|"|')([\s\S]*)\1$/i.exec(string.text)?.[2] ?? '';
  const lines = content.split('\n').map((line) => line.trim());
  const end = lines.findIndex((line) =>
    /^(?:(?:Args|Arguments|Parameters|Params|Returns?|Raises|Yields?|Examples?|Attributes|Notes?)\s*:?$|:\w+|>>>|-{3,}$)/.test(
      line,
    ),
  );
  return sentences(
    (end < 0 ? lines : lines.slice(0, end)).join(' ').replace(/``?([^`]*)``?/g, '$1'),
  );
}
