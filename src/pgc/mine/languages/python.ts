import type { Node } from 'web-tree-sitter';
import { docOf, lineBreakBefore, lineCommentsStart, sentences } from '../comment.js';
import type { Draft, SymbolDraft } from '../draft.js';
import type { Grammar } from '../grammar.js';
import { parametersOf, ScopedMiner, textOf } from '../scoped-draft.js';
import { compact, renderSignature, splitList } from '../signature.js';

export const pythonQuery = `
(decorated_definition) @decorated
(class_definition) @class
(function_definition) @function
(module (expression_statement (assignment) @assignment))
(import_statement) @import
(import_from_statement) @from
(call function: (identifier) @call)
(call function: (attribute) @member)
(expression_statement (call function: (_) @unused))
(ERROR) @error
`;

export function minePython(grammar: Grammar, text: string): Draft {
  return new PythonMiner(text).mine(grammar);
}

class PythonMiner extends ScopedMiner {
  #decorated = { start: 0, definition: -1 };

  protected readonly visitors: Record<string, (node: Node) => void> = {
    // PEP 8 names classes in capitals: calling one constructs.
    call: (node) =>
      this.draft.call(
        node.text,
        node.startIndex,
        /^_*[A-Z]\w*[a-z]/.test(node.text) ? 'construct' : 'direct',
      ),
    member: (node) => this.draft.callOn(node, node.childForFieldName('attribute')),
    decorated: (node) => {
      const definition = node.childForFieldName('definition')?.startIndex ?? -1;
      this.#decorated = { start: node.startIndex, definition };
    },
    class: (node) => this.#class(node),
    function: (node) => this.#function(node),
    assignment: (node) => this.#assignment(node),
    import: (node) => this.#import(node),
    from: (node) => this.#importFrom(node),
  };

  #class(node: Node): void {
    const name = textOf(node, 'name');
    const bases = node.childForFieldName('superclasses');
    const body = node.childForFieldName('body');
    const methods = (body?.namedChildren ?? []).filter(
      (each) => (each.childForFieldName('definition') ?? each).type === 'function_definition',
    ).length;
    const named = splitList(bases?.text.slice(1, -1) ?? '').filter((each) => !each.includes('='));
    const signature = renderSignature('class', name, {
      extends: named.map(compact).join(', '),
      methods,
    });
    this.#open(name, 'class', node, signature);
  }

  #function(node: Node): void {
    const name = textOf(node, 'name');
    const { list, tail } = parametersOf(node);
    const kind = this.draft.scope?.kind === 'class' ? 'method' : 'function';
    const counted = list.filter(
      (each, at) =>
        !/^[*/]$/.test(each) && !(at === 0 && kind === 'method' && /^(?:self|cls)\b/.test(each)),
    );
    const signature = renderSignature(
      kind,
      name,
      {
        params: counted.length,
        returns: textOf(node, 'return_type'),
        async: this.text.startsWith('async', node.startIndex),
      },
      tail,
    );
    this.#open(name, kind, node, signature);
  }

  #open(name: string, kind: string, node: Node, signature: string): void {
    const doc = docstring(node.childForFieldName('body'));
    this.draft.enter(name, kind, node, this.#symbol(name, kind, node, signature, doc));
  }

  #assignment(node: Node): void {
    const left = node.childForFieldName('left');
    if (left?.type !== 'identifier') return;
    const name = left.text;
    const kind = /^_*[A-Z][A-Z0-9_]*$/.test(name) ? 'constant' : 'variable';
    const signature = renderSignature(kind, name, { type: textOf(node, 'type') });
    this.#symbol(name, kind, node, signature, '');
  }

  #import(node: Node): void {
    for (const each of node.childrenForFieldName('name')) {
      const target = (each.childForFieldName('name') ?? each).text;
      const alias = each.childForFieldName('alias')?.text;
      this.draft.imports.push({
        target,
        names: [`*:${alias ?? target}`],
        at: node.startIndex,
      });
    }
  }

  #importFrom(node: Node): void {
    const target = textOf(node, 'module_name');
    const names = node.childrenForFieldName('name').map((each) => {
      const name = (each.childForFieldName('name') ?? each).text;
      const alias = each.childForFieldName('alias')?.text;
      return alias === undefined ? name : `${name}:${alias}`;
    });
    const isAll = node.namedChildren.some((child) => child.type === 'wildcard_import');
    this.draft.imports.push({ target, names: isAll ? ['*'] : names, at: node.startIndex });
  }

  #symbol(name: string, kind: string, node: Node, signature: string, doc: string): SymbolDraft {
    const start = node.startIndex;
    const outer = this.draft.scope?.symbol;
    const first = this.#decorated.definition === start ? this.#decorated.start : start;
    const comment = this.#commentAbove(first);
    const isVisible = !name.startsWith('_') || /^__\w+__$/.test(name);
    const symbol: SymbolDraft = {
      name,
      kind,
      start,
      end: node.endIndex,
      wordsStart: comment?.start ?? first,
      signature,
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
