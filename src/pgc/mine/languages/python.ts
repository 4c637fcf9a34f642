import type { Node } from 'web-tree-sitter';
import { docOf, lineBreakBefore, lineCommentsStart, sentences } from '../comment.js';
import { Draft, receiverCharsMax, type SymbolDraft } from '../draft.js';
import type { Grammar } from '../grammar.js';
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
  const miner = new PythonMiner(text);
  grammar.captures(text, (name, node) => miner.visit(name, node));
  return miner.draft;
}

class PythonMiner {
  readonly draft: Draft;
  readonly #scopes: SymbolDraft[] = [];
  #decorated = { start: 0, definition: -1 };

  constructor(readonly text: string) {
    this.draft = new Draft(text);
  }

  visit(capture: string, node: Node): void {
    while (this.#scopes.length > 0 && (this.#scopes.at(-1)?.end ?? 0) <= node.startIndex)
      this.#scopes.pop();
    switch (capture) {
      case 'call': {
        // PEP 8 names classes in capitals: calling one constructs.
        const callee = node.text;
        const kind = /^_*[A-Z]\w*[a-z]/.test(callee) ? 'construct' : 'direct';
        this.draft.calls.push({ callee, at: node.startIndex, kind, receiver: '' });
        return;
      }
      case 'member': {
        this.#memberCall(node);
        return;
      }
      case 'decorated':
        this.#decorated = {
          start: node.startIndex,
          definition: node.childForFieldName('definition')?.startIndex ?? -1,
        };
        return;
      case 'class': {
        this.#class(node);
        return;
      }
      case 'function': {
        this.#function(node);
        return;
      }
      case 'assignment': {
        this.#assignment(node);
        return;
      }
      case 'import': {
        this.#import(node);
        return;
      }
      case 'from': {
        this.#importFrom(node);
        return;
      }
      case 'unused': {
        this.draft.unused.add(node.endIndex);
        return;
      }
      case 'error': {
        this.draft.error(node.startIndex, node.endIndex);
        return;
      }
    }
  }

  #memberCall(node: Node): void {
    const attribute = node.childForFieldName('attribute');
    if (attribute === null) return;
    const before = this.text
      .slice(node.startIndex, attribute.startIndex)
      .slice(0, 4 * receiverCharsMax);
    const receiver = compact(before)
      .replace(/\s*\.$/, '')
      .slice(0, receiverCharsMax);
    this.draft.calls.push({
      callee: attribute.text,
      at: attribute.startIndex,
      kind: 'member',
      receiver,
    });
  }

  #class(node: Node): void {
    const name = node.childForFieldName('name')?.text ?? '';
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
    this.#scopes.push(this.#symbol(name, 'class', node, signature, docstring(body)));
  }

  #function(node: Node): void {
    const name = node.childForFieldName('name')?.text ?? '';
    const parameters = node.childForFieldName('parameters');
    const source = compact(parameters?.text ?? '()');
    const list = splitList(source.slice(1, -1));
    const kind = this.#scopes.at(-1)?.kind === 'class' ? 'method' : 'function';
    const counted = list.filter(
      (each, at) =>
        !/^[*/]$/.test(each) && !(at === 0 && kind === 'method' && /^(?:self|cls)\b/.test(each)),
    );
    const returns = node.childForFieldName('return_type');
    const signature = renderSignature(
      kind,
      name,
      {
        params: counted.length,
        returns: returns === null ? undefined : compact(returns.text),
        async: this.text.startsWith('async', node.startIndex),
      },
      list.length === 0 ? '' : source,
    );
    this.#scopes.push(
      this.#symbol(name, kind, node, signature, docstring(node.childForFieldName('body'))),
    );
  }

  #assignment(node: Node): void {
    const left = node.childForFieldName('left');
    if (left?.type !== 'identifier') return;
    const name = left.text;
    const kind = /^_*[A-Z][A-Z0-9_]*$/.test(name) ? 'constant' : 'variable';
    const type = node.childForFieldName('type');
    const signature = renderSignature(kind, name, {
      type: type === null ? undefined : compact(type.text),
    });
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
    const target = compact(node.childForFieldName('module_name')?.text ?? '');
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
    const outer = this.#scopes.at(-1);
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
