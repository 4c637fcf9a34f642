import { importsInto, pathOf } from '../bind/index-cache.js';
import { hasModules } from '../format/facts.js';
import type { ShardIndex } from '../format/shard-index.js';
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

/** What a call leads to; undefined: nothing that could be judged. */
type Target = Pick<FileUse, 'to_path' | 'to_symbol'> | undefined;

/**
 * Every place of a shard where one file uses another one: call sites whose definitions all lie in one part
 * of the tree, as `partOf` says, and imports of modules of the tree. A call that may mean definitions in
 * several parts is no evidence against any of them; nor is one that leads to a declaration only.
 * There are millions: what they have in common is worked out once.
 */
export function* fileUses(
  graph: CodeGraph,
  shard: number,
  partOf: (path: string) => string | undefined,
): Generator<FileUse> {
  const index = graph.nodes.index(shard);
  for (const name of calledNames(index)) yield* callUses(graph, shard, name, partOf);
  for (let file = 0; file < index.fileCount; file += 1) yield* importUses(graph, index, file);
}

function* callUses(
  graph: CodeGraph,
  shard: number,
  name: string,
  partOf: (path: string) => string | undefined,
): Generator<FileUse> {
  const index = graph.nodes.index(shard);
  const calls = index.callsTo(name);
  const targets = graph.targetsOfAll(shard, calls);
  /** By the nodes of a call: the files of a shard mostly mean the same by a name. */
  const known = new Map<string, Target>();
  for (const [at, call] of calls.entries()) {
    const nodes = targets[at] ?? [];
    if (nodes.length === 0) continue;
    const key = nodes.join();
    if (!known.has(key)) known.set(key, targetOf(graph, nodes, partOf));
    const to = known.get(key);
    const from_path = pathOf(index, call.file);
    if (to === undefined || to.to_path === from_path) continue;
    const from_symbol = call.caller >= 0 ? index.nameAt(index.outline(call.caller).name) : '';
    const type = call.kind === 'construct' ? 'constructs' : 'calls';
    yield { from_path, line: call.line, from_symbol, ...to, type };
  }
}

function targetOf(
  graph: CodeGraph,
  nodes: readonly NodeKey[],
  partOf: (path: string) => string | undefined,
): Target {
  const targets = nodes.filter((node) => graph.isDefinition(node));
  const [first] = targets;
  if (first === undefined || !areInOnePart(graph, targets, partOf)) return undefined;
  const { file_path, symbol } = graph.nodes.facts(first);
  return { to_path: file_path, to_symbol: symbol };
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
    for (const to_path of graph.modules.filesOf([...modules])) {
      if (to_path === from_path) continue;
      yield { from_path, line, from_symbol: '', to_path, to_symbol, type: 'imports' };
    }
  }
}
