import type { CallSite, Definition, Step } from '../../pgc/shapes.js';
import { isConstructor } from '../../pgc/bind/visibility.js';

/** A function definition, as `path:line` in the shard that holds it. */
export interface Node {
  anchor: string;
  name: string;
  /** The name that calls of it show: of a constructor, its class. */
  calledAs: string;
  container: string;
  path: string;
  line: number;
  agent: string;
  /** Of its file; empty: source. */
  role: string;
}

/** How other shards know it: exactly this one. */
export function referenceTo({ path, container, name, line }: Node): string {
  return `${path}#${container}.${name}:${line}`;
}

/** Where a definition stands. */
export function nodeOf({
  symbol,
  container,
  file_path: path,
  line,
  agent,
  role = '',
}: Definition): Node {
  const calledAs = calledName(symbol, container);
  return { anchor: `${path}:${line}`, name: symbol, calledAs, container, path, line, agent, role };
}

/** The function that a site in the same shard names: the callee, or the caller. */
export function nodeAt({ symbol, container, definition, agent, role = '' }: CallSite): Node {
  const cut = definition.lastIndexOf(':');
  const path = definition.slice(0, cut);
  const line = Number(definition.slice(cut + 1));
  const calledAs = calledName(symbol, container);
  return { anchor: definition, name: symbol, calledAs, container, path, line, agent, role };
}

function calledName(symbol: string, container: string): string {
  return isConstructor(symbol) && container !== '' ? container : symbol;
}

/** Names under which a call may mean something. */
export function namesOf({ symbol, container, lookup }: CallSite): string[] {
  return [calledName(symbol, container), ...(lookup === null ? [] : [lookup.name])];
}

export function stepOf(node: Node, callSite: string, certainty: Step['certainty']): Step {
  return {
    symbol: node.name,
    file_path: node.path,
    line: node.line,
    agent: node.agent,
    call_site: callSite,
    certainty,
  };
}
