import { importsInto } from '../index-memory.js';
import { hasModules } from '../facts.js';
import type { CallRow, ShardIndex } from '../shard-index.js';
import { calledNames, type CodeGraph } from './code-graph.js';
import type { NodeKey } from './nodes.js';

/** One place where a file uses another one. */
export interface FileUse {
  from_path: string;
  line: number;
  /** Empty: at file level. */
  from_symbol: string;
  to_path: string;
  /** What is used; of an import, all that it names. */
  to_symbol: string;
  type: 'calls' | 'constructs' | 'imports';
}

/**
 * Every place of a tree where one file uses another one: call sites whose definitions all lie in one part
 * of the tree, as `partOf` says, and imports of modules of the tree. A call that may mean definitions in
 * several parts is no evidence against any of them; nor is one that leads to a declaration only.
 */
export function* fileUses(
  graph: CodeGraph,
  partOf: (path: string) => string | undefined,
): Generator<FileUse> {
  for (const [shard, index] of graph.shards.entries()) {
    for (const name of calledNames(index)) {
      for (const call of index.callsTo(name)) {
        const use = callUse(graph, shard, call, partOf);
        if (use !== undefined) yield use;
      }
    }
    for (let file = 0; file < index.fileCount; file += 1) yield* importUses(graph, index, file);
  }
}

function callUse(
  graph: CodeGraph,
  shard: number,
  call: CallRow,
  partOf: (path: string) => string | undefined,
): FileUse | undefined {
  const index = graph.shards[shard];
  const targets = graph.targets(shard, call).filter((node) => graph.isDefinition(node));
  const [first] = targets;
  if (index === undefined || first === undefined) return undefined;
  const { path } = index.file(call.file);
  const { file_path, symbol } = graph.nodes.facts(first);
  if (file_path === path || !areInOnePart(graph, targets, partOf)) return undefined;
  const from_symbol = call.caller >= 0 ? index.symbol(call.caller).name : '';
  const type = call.kind === 'construct' ? 'constructs' : 'calls';
  const to = { to_path: file_path, to_symbol: symbol };
  return { from_path: path, line: call.line, from_symbol, ...to, type };
}

function areInOnePart(
  graph: CodeGraph,
  targets: readonly NodeKey[],
  partOf: (path: string) => string | undefined,
): boolean {
  if (targets.length === 1) return true;
  return new Set(targets.map((node) => partOf(graph.nodes.facts(node).file_path))).size === 1;
}

function* importUses(graph: CodeGraph, index: ShardIndex, file: number): Generator<FileUse> {
  const { path: from_path, language } = index.file(file);
  if (!hasModules(language)) return;
  const { bindings } = importsInto(index, file);
  for (const { names, line } of index.importsOf(file)) {
    const locals = names.map((each) => each.slice(each.indexOf(':') + 1));
    const modules = new Set(locals.flatMap((each) => bindings.get(each)?.modules ?? []));
    const to_symbol = names.map((each) => each.split(':')[0] ?? each).join(', ');
    for (const to_path of graph.far.filesOf([...modules])) {
      if (to_path === from_path) continue;
      yield { from_path, line, from_symbol: '', to_path, to_symbol, type: 'imports' };
    }
  }
}
