import type { ShardIndex, SymbolRow } from '../format/shard-index.js';
import { hasRole, saidRoleAt } from '../source/role.js';

/** More documents than an index can hold; a shard begins at a multiple of it. */
const shardStride = 2 ** 32;
/** At the limit the memory starts anew. */
const nodesRemembered = 500_000;
const functionKinds = new Set(['function', 'method', 'macro']);

/**
 * A symbol, or what a file holds outside all symbols: `shard * 2^32 + document`, never a name. Definitions of
 * one name in one file are one node, the first of them: alternatives of the preprocessor, overloads.
 */
export type NodeKey = number;

export interface NodeFacts {
  /** `path#name`, `path#Container.name`, or the path alone for what lies outside all symbols. */
  id: string;
  /** Empty: the file. */
  symbol: string;
  container: string;
  /** As the miner says; `file` for what lies outside all symbols. */
  kind: string;
  file_path: string;
  line: number;
  line_end: number;
  exported: boolean;
  agent: string;
}

/** Where a node is found in the indexes. */
export interface NodePlace {
  index: ShardIndex;
  shard: number;
  document: number;
  /** Undefined: what lies outside all symbols. */
  row: SymbolRow | undefined;
  file: number;
}

/** Symbols of all shards as nodes of one graph. */
export class Nodes {
  readonly #first = new Map<NodeKey, NodeKey>();

  constructor(readonly shards: readonly ShardIndex[]) {}

  /** The node of a document: of several definitions that are one, the first. */
  of(shard: number, document: number): NodeKey {
    const key = keyOf(shard, document);
    let known = this.#first.get(key);
    if (known === undefined) {
      known = keyOf(shard, this.#twins(shard, document)[0] ?? document);
      if (this.#first.size >= nodesRemembered) this.#first.clear();
      this.#first.set(key, known);
    }
    return known;
  }

  /** What a file holds outside all symbols. */
  ofFile(shard: number, file: number): NodeKey {
    return keyOf(shard, this.index(shard).symbolCount + file);
  }

  at(node: NodeKey): NodePlace {
    const shard = Math.floor(node / shardStride);
    const document = node % shardStride;
    const index = this.index(shard);
    const row = document < index.symbolCount ? index.symbol(document) : undefined;
    const file = row?.file ?? document - index.symbolCount;
    return { index, shard, document, row, file };
  }

  /** All symbols that a node is made of. */
  symbolsOf(node: NodeKey): number[] {
    const { shard, document, row } = this.at(node);
    return row === undefined ? [] : this.#twins(shard, document);
  }

  facts(node: NodeKey): NodeFacts {
    const { index, row, file } = this.at(node);
    const { path: file_path, lines } = index.file(file);
    const { agent } = index.info;
    if (row === undefined) {
      const none = { symbol: '', container: '', kind: 'file', exported: false };
      return { id: file_path, ...none, file_path, line: 1, line_end: lines, agent };
    }
    const { name: symbol, container, kind, line_start: line, line_end, exported } = row;
    const id = `${file_path}#${container === '' ? '' : `${container}.`}${symbol}`;
    return { id, symbol, container, kind, file_path, line, line_end, exported, agent };
  }

  /** Whether it is for one of these things; none wanted: for any. */
  isFor(node: NodeKey, roles: readonly string[]): boolean {
    return hasRole({ role: this.saidRole(node) }, roles);
  }

  /** What is compiled for tests alone is a test, in any file. */
  saidRole(node: NodeKey): string {
    const { index, file, row, document } = this.at(node);
    return saidRoleAt(index, file, row === undefined ? -1 : document);
  }

  /** The innermost symbol around a line that bears the name, or what the file holds outside all symbols. */
  around(shard: number, file: number, line: number, symbol: string): NodeKey {
    const index = this.index(shard);
    const innermost = index.symbolsOf(file).findLast((id) => {
      const row = index.symbol(id);
      return row.name === symbol && row.line_start <= line && line <= row.line_end;
    });
    return innermost === undefined ? this.ofFile(shard, file) : this.of(shard, innermost);
  }

  /** Whether only its own file can use it. */
  isPrivate(node: NodeKey): boolean {
    const { index } = this.at(node);
    return this.symbolsOf(node).every((id) => {
      const { exported, declaration } = index.symbol(id);
      return !exported && !declaration;
    });
  }

  index(shard: number): ShardIndex {
    const index = this.shards[shard];
    if (index === undefined) throw new RangeError(`no shard ${shard}`);
    return index;
  }

  /** All definitions of the same name, class and sort in the same file. */
  #twins(shard: number, document: number): number[] {
    const index = this.index(shard);
    if (document >= index.symbolCount) return [document];
    const own = index.symbol(document);
    return index.symbolsNamed(own.name).filter((id) => {
      const other = index.symbol(id);
      return (
        other.file === own.file &&
        other.container === own.container &&
        other.declaration === own.declaration &&
        (other.kind === own.kind || (functionKinds.has(other.kind) && functionKinds.has(own.kind)))
      );
    });
  }
}

function keyOf(shard: number, document: number): NodeKey {
  return shard * shardStride + document;
}
